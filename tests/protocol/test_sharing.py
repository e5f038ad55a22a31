"""What the coordinator does about noise shares that will not come."""

import numpy as np
import pytest
from stage import START, Stage

from protocol.machine import Record
from protocol.participation import Drawn, DrawShares
from protocol.terms import Aggregate

FOUR = {"a": [0], "b": [1, 2], "c": [3]}


def four(remedy, **rules):
    """A round of four clients, each asked for one of four shares."""
    return Stage(FOUR, shares="expected", on_deficit=remedy, quorum=0.1, **rules).gather()


def asked(stage):
    """The aggregation that the machine asked for last."""
    return [one for one in stage.history if isinstance(one, Aggregate)][-1]


@pytest.mark.parametrize(("shares", "promised"), [("none", 0), ("whole", 1), ("expected", 4), ("quorum", 3)])
def test_the_question_tells_how_many_shares_make_the_whole_noise(shares, promised):
    """All who take part, or a quorum of them; a quorum's shares are never short."""
    stage = Stage(FOUR, shares=shares, on_deficit="abort", quorum=0.75).gather()
    assert stage.did[-1].message.promised == promised
    stage.update("a")
    stage.lose("c")
    assert ("noise.short" in stage.update("b")) == (shares == "expected")


def test_the_dead_count_among_the_promised_and_leavers_do_not():
    """Promised are the members' shares when the round opens: the lost are members, those who left are not."""
    stage = four("proceed")
    stage.lose("c")
    stage.update("a")
    stage.update("b")
    stage.aggregated()
    assert stage.did[-1].message.promised == 4
    stage.leave("c3")
    stage.update("a")
    stage.update("b")
    stage.aggregated()
    assert stage.did[-1].message.promised == 3


def test_a_share_of_another_number_is_refused():
    """An answer to a question that promised otherwise would have other noise."""
    assert four("proceed").update("a", promised=3) == ["update.refused: wrong-shares"]


def test_proceed_goes_on_and_flags_the_round():
    """The model is made of what is there, and the log has the count."""
    stage = four("proceed")
    stage.update("a")
    stage.update("b")
    assert stage.lose("c")[-2:] == ["noise.short", "aggregate c0 c1 c2"]
    assert stage.fields("noise.short") == {"round": 1, "promised": 4, "received": 3, "remedy": "proceed"}
    assert (asked(stage).noise.received, asked(stage).noise.topped_up) == (3, 0)


def test_abort_discards_the_round():
    """The round is closed without anybody, its model is the one before, and the next one opens."""
    stage = four("abort")
    stage.update("a")
    stage.update("b")
    stage.lose("c")
    assert asked(stage).noise.discarded == "3 of 4 noise shares came"
    did = stage.aggregated(START)
    closed = stage.fields("round.closed")
    assert (closed["participants"], closed["missing"]) == ([], ["c0", "c1", "c2", "c3"])
    assert closed["theta"].tolist() == START.tolist()
    assert did == ["round.closed", "train -> a b"]


def test_a_top_up_asks_those_who_answered_and_adds_their_noise():
    """Each giver's row is its model and what it gave; then the model is made."""
    stage = four("top-up")
    stage.update("a")
    stage.update("b")
    assert stage.lose("c")[-3:] == ["noise.short", "topup -> a", "topup -> b"]
    assert (stage.did[-1].message.lacking, stage.did[-1].message.givers) == (1, 3)
    assert stage.shares("b", noise=np.array([[1.0, 2.0], [3.0, 4.0]])) == ["shares.received"]
    assert stage.shares("a") == ["shares.received", "aggregate c0 c1 c2"]
    assert asked(stage).thetas.tolist() == [[0.75, 1.25], [2.25, 3.75], [5.25, 6.75]]
    assert (asked(stage).noise.givers, asked(stage).noise.topped_up) == (("c0", "c1", "c2"), 1)


def test_who_dies_during_a_top_up_is_replaced_by_the_others():
    """Its update stays, the rest are asked anew, and what the first question brought counts no more."""
    stage = four("top-up")
    stage.update("a")
    stage.update("b")
    stage.lose("c")
    stage.shares("a")
    assert stage.lose("b") == ["lost.received", "client.lost", "topup -> a"]
    assert stage.did[-1].message.givers == 1
    assert stage.shares("a", givers=3) == ["frame.refused: wrong-shares"]
    assert stage.shares("a") == ["shares.received", "aggregate c0 c1 c2"]
    assert asked(stage).noise.givers == ("c0",)


def test_a_top_up_without_anybody_is_a_discarded_round():
    """Nobody is left to ask."""
    stage = four("top-up")
    stage.update("a")
    stage.lose("b")
    stage.lose("c")
    assert stage.lose("a")[-2:] == ["round.discarded", "aggregate c0"]


def test_a_silent_giver_is_not_waited_for_beyond_the_deadline():
    """A top-up has the deadline of a round of its own."""
    stage = four("top-up", deadline=5.0)
    stage.update("a")
    stage.update("b")
    stage.lose("c")
    stage.shares("a")
    assert stage.machine.wake_at == 1.0
    assert stage.wait(1.0) == ["run.waiting"]
    assert stage.machine.progress.waiting == ("b",)
    assert stage.wait(4.0) == ["client.silent", "topup -> a"]


def test_under_wait_a_giver_may_come_back():
    """What a lost giver owes is asked of its next process."""
    stage = four("top-up", wait=True)
    for host in ("a", "b"):
        stage.update(host)
    stage.leave("c3")
    assert stage.lose("c")[-2:] == ["topup -> a", "topup -> b"]
    stage.shares("a")
    assert stage.lose("b") == ["lost.received", "client.lost"]
    assert stage.join("b", 2)[-1] == "topup -> b"
    assert stage.shares("b")[-1] == "aggregate c0 c1 c2"


def test_a_late_update_is_refused_during_a_top_up():
    """The round takes noise only: whoever comes back takes part from the next one on."""
    stage = four("top-up")
    stage.update("a")
    stage.update("b")
    stage.lose("c")
    assert stage.join("c", 2) == ["join.received", "client.rejoined", "welcome -> c"]
    assert stage.update("c") == ["update.refused: stale-round"]
    assert stage.leave("c3") == ["leave.received", "client.left"]
    assert stage.enrol("d", "c4")[1:3] == ["clients.enrolled", "client.added"]
    assert stage.fields("client.added")["round"] == 2


def test_a_model_beyond_the_budget_is_not_made_known():
    """The run ends with the model before, and says why."""
    stage = four("proceed")
    for host in FOUR:
        stage.update(host)
    assert stage.aggregated(exceeded="the budget is 9")[0] == "run.finished"
    assert stage.fields("run.finished") | {"model": ""} == {
        "round": 0, "outcome": "completed", "reason": "the budget is 9", "model": ""
    }  # fmt: skip


def test_no_round_opens_without_budget():
    """Neither after a round that used it up, nor where it never had room for one."""
    stage = four("proceed")
    for host in FOUR:
        stage.update(host)
    assert stage.aggregated(exhausted="the budget is 9")[:2] == ["round.closed", "run.finished"]
    stage = Stage(FOUR, exhausted="the budget is 1").gather()
    assert [one.event for one in stage.did if isinstance(one, Record)][-1] == "run.finished"


def test_a_host_draws_what_it_is_asked_for():
    """The instruction has every number that the noise depends on; the answer repeats them."""
    from protocol.codec import Envelope
    from protocol.machine import Arrived
    from protocol.messages import COORDINATOR, TopUp
    from protocol.participation import Participation

    def hear(message):
        return host.step(Arrived(0.0, COORDINATOR, Envelope(message, 7, 0, 100)))

    host = Participation(np.array([4, 7]), 2, pid=1)
    for wrong in (TopUp(3, np.array([5]), 10, 4, 6), TopUp(3, np.array([4]), 10, 10, 6)):
        assert hear(wrong)[0].event == "frame.refused"
    _, draw = hear(TopUp(3, np.array([7]), 10, 4, 6))
    assert isinstance(draw, DrawShares)
    assert (draw.round, draw.clients.tolist(), draw.promised, draw.lacking, draw.givers) == (3, [7], 10, 4, 6)
    (said,) = host.step(Drawn(0.0, np.ones((1, 2))))
    assert (said.message.name, said.message.promised, said.message.noise.tolist()) == ("shares", 10, [[1.0, 1.0]])
    assert said.answers == 7
