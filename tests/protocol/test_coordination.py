"""The coordinator's machine: stimuli in, instructions out; no sockets, no clock, no mathematics."""

import hashlib

import numpy as np
import pytest
from stage import HOSTS, START, Stage

from protocol.errors import REFUSALS, Refusal
from protocol.machine import Say
from protocol.messages import SUPERVISOR, Finish, Lost, Train, Welcome
from protocol.rounds import NOTICE_AFTER
from protocol.terms import Aggregate, fingerprint

THREE = {"a": [0], "b": [1], "c": [2]}


def said(stage, message):
    """What the machine said of a kind in its last step."""
    return [one for one in stage.did if isinstance(one, Say) and isinstance(one.message, message)]


def train(stage):
    """The one question of the last step."""
    (only,) = said(stage, Train)
    return only


# --- a run in which nothing goes wrong -------------------------------------------------------------------------------


def test_an_undisturbed_run_word_for_word():
    """Join, Welcome, then Train, Update, aggregate until the last round, which finishes."""
    stage = Stage(rounds=2)
    assert stage.begin() == ["round.closed"]
    assert stage.join("host-1") == ["join.received", "client.joined", "welcome -> host-1"]
    assert stage.join("host-2") == ["join.received", "client.joined", "welcome -> host-2", "train -> host-1 host-2"]
    assert stage.update("host-2") == ["update.received"]
    assert stage.update("host-1") == ["update.received", "aggregate c0 c1 c2"]
    assert stage.aggregated() == ["round.closed", "train -> host-1 host-2"]
    assert stage.update("host-1") == ["update.received"]
    assert stage.update("host-2") == ["update.received", "aggregate c0 c1 c2"]
    assert stage.aggregated() == ["round.closed", "run.finished", "finish -> host-1 host-2", "quit: completed"]
    assert stage.machine.state == "finished"
    assert (stage.machine.closed, stage.machine.outcome, stage.machine.reason) == (2, "completed", "")


def test_the_first_round_starts_from_the_start_model_and_asks_everyone():
    """One frame serves all hosts: the model and an empty list of clients."""
    question = train(Stage().gather()).message
    assert question.round == 1
    assert question.theta is START
    assert len(question.clients) == 0


def test_each_round_starts_from_the_model_before_it():
    """Model t is what the aggregation of round t gave, to the bit."""
    stage = Stage().gather()
    for number, made in enumerate(([0.1, 0.2], [1e-300, -0.0]), start=1):
        for host in HOSTS:
            stage.update(host)
        stage.aggregated(made)
        assert stage.machine.closed == number
        assert train(stage).message.round == number + 1
        assert train(stage).message.theta.tobytes() == np.array(made).tobytes()


@pytest.mark.parametrize("order", [["a", "b", "c"], ["c", "a", "b"], ["b", "c", "a"]])
def test_updates_are_folded_in_client_order_whatever_the_order_of_arrival(order):
    """The aggregation sees the rows by client number with their counts."""
    stage = Stage(THREE).gather()
    for host in order:
        stage.update(host)
    (asked,) = [one for one in stage.did if isinstance(one, Aggregate)]
    np.testing.assert_array_equal(asked.thetas, [[0.25, 0.75], [1.25, 1.75], [2.25, 2.75]])
    np.testing.assert_array_equal(asked.interactions, [1, 2, 3])
    assert asked.before is START


def test_the_log_of_a_closed_round_has_the_model_and_who_made_it():
    """Weights, their fingerprint, participants, missing ones and what the rule tells."""
    stage = Stage().gather()
    assert stage.fields("round.closed") == {
        "round": 0,
        "theta": START,
        "model": hashlib.sha256(START.tobytes()).hexdigest(),
        "participants": [],
        "missing": [],
        "aggregation": {},
    }
    stage.play_round()
    record = stage.fields("round.closed")
    assert (record["round"], record["participants"], record["missing"]) == (1, ["c0", "c1", "c2"], [])
    assert record["aggregation"] == {"made": "up"}
    assert record["model"] == fingerprint(record["theta"])


def test_a_fingerprint_is_the_sha256_of_little_endian_float64():
    """Whatever the machine's own order of bytes."""
    assert fingerprint(np.array([1.0, 2.0])) == fingerprint(np.array([1.0, 2.0], dtype=">f8"))
    assert fingerprint(np.array([0.0])) != fingerprint(np.array([-0.0]))


def test_the_record_of_an_update_tells_what_is_in_it():
    """Clients by name, interactions, online metric, the norm of the change, and the weights."""
    stage = Stage().gather()
    stage.update("host-2")
    record = stage.fields("update.received")
    assert (record["round"], record["clients"], record["peers"]) == (1, ["c1", "c2"], ["host-2"])
    np.testing.assert_array_equal(record["interactions"], [2, 3])
    np.testing.assert_array_equal(record["online"], [0.5, 0.5])
    np.testing.assert_allclose(record["norm"], [np.hypot(0.75, 2.25), np.hypot(1.75, 3.25)], rtol=1e-15)
    np.testing.assert_array_equal(record["thetas"], [[1.25, 1.75], [2.25, 2.75]])


@pytest.mark.parametrize(("every", "kept"), [(0, []), (1, [1, 2, 3, 4]), (2, [2, 4]), (4, [4])])
def test_weights_are_logged_as_often_as_agreed(every, kept):
    """Every round, every N-th, or never."""
    stage = Stage({"a": [0]}, rounds=4, keep_weights_every=every).gather()
    for _ in range(4):
        stage.play_round()
    updates = [one.fields for one in stage.history if getattr(one, "event", "") == "update.received"]
    assert [one["round"] for one in updates if "thetas" in one] == kept


def test_a_host_may_answer_for_its_clients_one_after_another():
    """The host is waited for until all its clients have answered."""
    stage = Stage().gather()
    stage.update("host-1")
    assert stage.update("host-2", clients=[2]) == ["update.received"]
    assert stage.update("host-2", clients=[1]) == ["update.received", "aggregate c0 c1 c2"]


def test_answers_name_what_they_answer():
    """A welcome, and a question that a join brought about, carry the join's id."""
    stage = Stage().gather()
    stage.join("host-1")
    assert [one.answers for one in stage.did if isinstance(one, Say)] == [3, 3]
    assert said(stage, Welcome)[0].message.round == 0


# --- what the machine refuses ----------------------------------------------------------------------------------------

BAD_UPDATES = {
    "a round that is closed": ({"number": 1}, Refusal.STALE_ROUND),
    "round 0": ({"number": 0}, Refusal.STALE_ROUND),
    "a round that is not open": ({"number": 3}, Refusal.FUTURE_ROUND),
    "a round far away": ({"number": 2**63 - 1}, Refusal.FUTURE_ROUND),
    "another host's client": ({"clients": [0]}, Refusal.NOT_YOURS),
    "its own and another's": ({"clients": [0, 1, 2]}, Refusal.NOT_YOURS),
    "nobody": ({"clients": []}, Refusal.NOT_YOURS),
    "a client that does not exist": ({"clients": [1, 99]}, Refusal.NOT_YOURS),
    "a negative client": ({"clients": [-1]}, Refusal.NOT_YOURS),
    "the largest numbers": ({"clients": [-(2**63), 2**63 - 1]}, Refusal.NOT_YOURS),
    "clients that fall": ({"clients": [2, 1]}, Refusal.MALFORMED),
    "a client twice": ({"clients": [1, 1]}, Refusal.MALFORMED),
    "too few weights": ({"theta": np.zeros((2, 1))}, Refusal.WRONG_DIMENSION),
    "too many weights": ({"theta": np.zeros((2, 3))}, Refusal.WRONG_DIMENSION),
    "too few rows": ({"theta": np.zeros((1, 2))}, Refusal.WRONG_DIMENSION),
    "no rows": ({"theta": np.zeros((0, 2))}, Refusal.WRONG_DIMENSION),
    "too few counts": ({"interactions": np.array([2])}, Refusal.WRONG_DIMENSION),
    "too few metrics": ({"online": np.array([0.5])}, Refusal.WRONG_DIMENSION),
    "more interactions than asked for": ({"interactions": np.array([2, 1000])}, Refusal.WRONG_COUNT),
    "negative interactions": ({"interactions": np.array([-2, 3])}, Refusal.WRONG_COUNT),
    "a weight that is no number": ({"theta": np.array([[0.0, np.nan], [0, 0]])}, Refusal.NOT_FINITE),
    "an infinite weight": ({"theta": np.array([[0.0, 0], [-np.inf, 0]])}, Refusal.NOT_FINITE),
    "a change whose norm has no number": ({"theta": np.array([[1e200, 0], [0, 0]])}, Refusal.NOT_FINITE),
    "the largest weight": ({"theta": np.array([[1.7e308, 0], [0, -1.7e308]])}, Refusal.NOT_FINITE),
    "an infinite weight beside a metric of zero": (
        {"theta": np.array([[np.inf, 0], [0, 0]]), "online": np.zeros(2)},
        Refusal.NOT_FINITE,
    ),
    "infinities that cancel": (
        {"theta": np.array([[np.inf, 0], [np.inf, 0]]), "online": np.array([1.0, -1.0])},
        Refusal.NOT_FINITE,
    ),
    "metrics whose sum has no number": ({"online": np.array([1.7e308, 1.7e308])}, Refusal.NOT_FINITE),
    "a metric that is no number": ({"online": np.array([0.5, np.nan])}, Refusal.NOT_FINITE),
    "an infinite metric": ({"online": np.array([np.inf, 0.5])}, Refusal.NOT_FINITE),
}


@pytest.mark.parametrize(("changes", "reason"), BAD_UPDATES.values(), ids=BAD_UPDATES)
def test_an_update_that_may_not_be_used_is_refused_and_the_right_one_still_counts(changes, reason):
    """The refusal names reason and clients, nothing else changes, and the host's right answer is taken after it."""
    stage = Stage().gather()
    stage.play_round()
    stage.update("host-1")
    assert stage.update("host-2", **changes) == [f"update.refused: {reason}"]
    record = stage.fields("update.refused")
    assert record["peers"] == ["host-2"]
    assert record["detail"].startswith(REFUSALS[reason])
    assert len(record["clients"]) == len(changes.get("clients", [1, 2]))
    assert stage.update("host-2") == ["update.received", "aggregate c0 c1 c2"]
    np.testing.assert_array_equal(stage.did[-1].thetas, [[0.25, 0.75], [1.25, 1.75], [2.25, 2.75]])


def test_a_second_answer_is_a_duplicate():
    """Each client counts once a round, whatever its second answer says."""
    stage = Stage().gather()
    stage.update("host-1")
    assert stage.update("host-1", theta=np.array([[9.0, 9.0]])) == ["update.refused: duplicate"]
    stage.update("host-2", clients=[1])
    assert stage.update("host-2", clients=[1, 2]) == ["update.refused: duplicate"]
    stage.update("host-2", clients=[2])
    np.testing.assert_array_equal(stage.did[-1].thetas[0], [0.25, 0.75])


def test_who_was_not_asked_is_not_heard():
    """A host that was lost when the round opened has nothing to answer until it is back."""
    stage = Stage(THREE).gather()
    stage.lose("a")
    stage.update("b")
    stage.update("c")
    stage.aggregated()
    assert stage.update("a") == ["update.refused: not-asked"]


def test_a_join_for_other_clients_is_refused():
    """A host speaks for exactly its own clients."""
    stage = Stage()
    stage.begin()
    for clients in ([0], [1], [2, 1], [1, 2, 3], [], [1, 1]):
        assert stage.join("host-2", clients=clients) == ["frame.refused: not-yours"]
    assert stage.machine.progress.present == 0


def test_the_loss_of_an_unknown_host_is_refused():
    """The supervisor may name only hosts of the run, and a long name does not fill the log."""
    stage = Stage().gather()
    assert stage.hear(SUPERVISOR, Lost("x" * 4000, 1)) == ["frame.refused: unexpected"]
    assert len(stage.fields("frame.refused")["detail"]) < 200


def test_a_host_cannot_speak_as_the_supervisor():
    """Stop and Lost count only from the supervisor."""
    stage = Stage().gather()
    assert stage.hear("host-1", Lost("host-2", 1)) == ["frame.refused: unexpected"]
    assert stage.hear(SUPERVISOR, Finish("completed")) == ["frame.refused: unexpected"]
    assert stage.machine.progress.present == 2


def test_an_update_while_gathering_is_for_no_open_round():
    """A host that outlived a coordinator answers too early, or too late for a closed round."""
    stage = Stage(closed=2, rounds=9)
    stage.begin()
    assert stage.update("host-1", 3) == ["update.refused: future-round"]
    assert stage.update("host-1", 2) == ["update.refused: stale-round"]


# --- losing hosts ----------------------------------------------------------------------------------------------------


def test_skip_closes_at_once_without_a_lost_host():
    """Once everyone else has answered, a dead host is not waited for, and the next round does not ask it."""
    stage = Stage(THREE).gather()
    stage.update("a")
    stage.update("b")
    assert stage.lose("c") == ["lost.received", "client.lost", "aggregate c0 c1"]
    np.testing.assert_array_equal(stage.did[-1].interactions, [1, 2])
    assert stage.aggregated() == ["round.closed", "train -> a b"]
    record = stage.fields("round.closed")
    assert (record["participants"], record["missing"]) == (["c0", "c1"], ["c2"])


def test_a_host_lost_before_the_others_answer_is_not_waited_for():
    """The order of loss and answers does not matter."""
    stage = Stage(THREE).gather()
    assert stage.lose("c") == ["lost.received", "client.lost"]
    stage.update("a")
    assert stage.update("b") == ["update.received", "aggregate c0 c1"]


def test_what_a_host_answered_before_its_death_counts():
    """An answer is as good as its content, not as its sender's health."""
    stage = Stage(THREE).gather()
    stage.update("c")
    assert stage.lose("c") == ["lost.received", "client.lost"]
    stage.update("a")
    assert stage.update("b") == ["update.received", "aggregate c0 c1 c2"]


def test_an_update_from_a_lost_host_counts_while_its_round_is_open():
    """It was under way when its sender died; after the round it is stale."""
    stage = Stage(THREE).gather()
    stage.lose("c")
    assert stage.update("c") == ["update.received"]
    assert stage.machine.progress.present == 2
    stage.update("a")
    assert stage.update("b") == ["update.received", "aggregate c0 c1 c2"]
    stage.aggregated()
    assert stage.update("c", 1) == ["update.refused: stale-round"]


def test_a_host_lost_half_way_gives_the_clients_it_answered_for():
    """Clients are counted, not hosts."""
    stage = Stage().gather()
    stage.update("host-1")
    stage.update("host-2", clients=[2])
    assert stage.lose("host-2") == ["lost.received", "client.lost", "aggregate c0 c2"]


def test_a_host_lost_before_it_joined_is_not_gathered():
    """Under skip the run begins with those who can come."""
    stage = Stage(THREE)
    stage.begin()
    stage.join("a")
    stage.lose("b", 5)
    assert stage.join("c") == ["join.received", "client.joined", "welcome -> c", "train -> a c"]


def test_the_loss_of_the_last_missing_host_opens_the_first_round():
    """The loss itself can complete the gathering."""
    stage = Stage(THREE)
    stage.begin()
    stage.join("a")
    stage.join("b")
    assert stage.lose("c") == ["lost.received", "client.lost", "train -> a b"]


def test_under_wait_the_gathering_goes_on_until_everyone_is_there():
    """A lost host holds the first round back until it comes."""
    stage = Stage(THREE, wait=True)
    stage.begin()
    stage.join("a")
    stage.join("b")
    assert stage.lose("c") == ["lost.received", "client.lost"]
    assert stage.join("c", 2)[-1] == "train -> a b c"


def test_the_loss_of_everyone_leaves_the_round_open_until_the_deadline():
    """Nobody is asked, somebody may come back, and at the deadline the run is given up with its sentence."""
    stage = Stage(THREE, deadline=10).gather()
    for host in THREE:
        assert stage.lose(host) == ["lost.received", "client.lost"]
    assert stage.wait(9) == ["run.waiting"]
    assert stage.fields("run.waiting") == {"round": 1, "waiting": ["a", "b", "c"]}
    assert stage.wait(1) == ["run.finished", "quit: aborted"]
    assert stage.machine.reason == ("round 1 needs 2 of 3 clients (quorum 0.5), and 0 answered within 10 s")
    assert stage.fields("run.finished")["reason"] == stage.machine.reason


def test_everyone_lost_while_gathering_opens_a_round_that_asks_nobody():
    """Whoever joins then is asked at once."""
    stage = Stage(THREE)
    stage.begin()
    for host in THREE:
        stage.lose(host)
    assert stage.machine.state == "training"
    assert not said(stage, Train)
    assert stage.join("b", 2) == ["join.received", "client.rejoined", "welcome -> b", "train -> b"]


def test_a_join_of_a_dead_process_is_refused():
    """It was under way when its sender died; a new process of the same host is welcome."""
    stage = Stage(THREE).gather()
    stage.lose("a", 1)
    assert stage.join("a", 1) == ["frame.refused: unexpected"]
    assert "process 1 of a is dead" in stage.fields("frame.refused")["detail"]
    assert stage.join("a", 2) == ["join.received", "client.rejoined", "welcome -> a", "train -> a"]
    assert stage.join("a", 1) == ["frame.refused: unexpected"]


def test_the_same_loss_told_twice_is_one_loss():
    """And so is the death of a process that never joined."""
    stage = Stage(THREE).gather()
    assert stage.lose("a", 1) == ["lost.received", "client.lost"]
    assert stage.lose("a", 1) == ["lost.received"]
    assert stage.lose("a", 2) == ["lost.received"]
    assert stage.join("a", 2) == ["frame.refused: unexpected"]


def test_news_of_a_death_that_come_after_the_next_join_lose_nobody():
    """Two peers' frames may overtake each other: the new process stays, and the log has the loss once."""
    stage = Stage(THREE).gather()
    assert stage.join("a", 2) == ["join.received", "client.lost", "client.rejoined", "welcome -> a", "train -> a"]
    assert stage.lose("a", 1) == ["lost.received"]
    assert stage.machine.progress.present == 3
    stage.update("b")
    assert stage.update("c") == ["update.received"]
    assert stage.lose("a", 2) == ["lost.received", "client.lost", "aggregate c1 c2"]


def test_a_host_that_comes_back_is_asked_for_exactly_what_it_owes():
    """Clients that have answered are not asked again; nothing owed, nothing asked."""
    stage = Stage().gather()
    stage.update("host-2", clients=[1])
    stage.lose("host-2")
    assert stage.join("host-2", 2)[-1] == "train -> host-2"
    question = train(stage)
    assert question.message.clients.tolist() == [2]
    assert question.message.round == 1
    assert question.tells == {"clients": ["c2"]}
    assert stage.update("host-2", clients=[2]) == ["update.received"]
    assert stage.join("host-2", 2) == ["join.received", "welcome -> host-2"]


def test_a_host_that_only_repeats_its_join_is_given_its_work_again():
    """A question or an answer was lost on the way; no other message is needed."""
    stage = Stage().gather()
    assert stage.join("host-1") == ["join.received", "welcome -> host-1", "train -> host-1"]
    assert train(stage).message.clients.tolist() == [0]


def test_a_rejoined_host_is_asked_in_the_next_round_with_everyone():
    """Nothing is held against it."""
    stage = Stage(THREE).gather()
    stage.lose("a")
    stage.join("a", 2)
    assert stage.play_round() == ["round.closed", "train -> a b c"]
    assert stage.fields("round.closed")["missing"] == []


# --- wait ------------------------------------------------------------------------------------------------------------


def test_wait_never_closes_early_and_closes_once_the_lost_one_is_back():
    """Neither loss nor time closes the round; the returned host's answer does."""
    stage = Stage(THREE, wait=True, deadline=1).gather()
    stage.update("a")
    stage.update("b")
    assert stage.lose("c") == ["lost.received", "client.lost"]
    assert stage.wait(1000) == ["run.waiting"]
    assert stage.fields("run.waiting")["waiting"] == ["c"]
    assert stage.join("c", 2)[-1] == "train -> c"
    assert stage.update("c") == ["update.received", "aggregate c0 c1 c2"]


def test_wait_opens_a_round_without_a_lost_host_but_does_not_close_it():
    """A host that died after its answer is asked when it comes back, and the round waits for that."""
    stage = Stage(THREE, wait=True).gather()
    stage.update("c")
    stage.lose("c")
    stage.update("a")
    stage.update("b")
    assert stage.aggregated() == ["round.closed", "train -> a b"]
    stage.update("a")
    assert stage.update("b") == ["update.received"]
    stage.join("c", 2)
    assert stage.update("c") == ["update.received", "aggregate c0 c1 c2"]


# --- time ------------------------------------------------------------------------------------------------------------


def test_the_deadline_closes_without_the_silent_and_does_not_ask_them_again():
    """A silent host is skipped until it speaks."""
    stage = Stage(THREE, deadline=5).gather()
    stage.update("a")
    stage.update("b")
    assert stage.wait(4.99) == ["run.waiting"]
    assert stage.wait(0.01) == ["client.silent", "aggregate c0 c1"]
    assert stage.fields("client.silent") == {"name": "c", "clients": ["c2"], "round": 1}
    assert stage.aggregated() == ["round.closed", "train -> a b"]
    assert stage.machine.progress.present == 3


def test_a_silent_host_is_back_with_its_next_join_and_owes_the_open_round():
    """Its word is enough."""
    stage = Stage(THREE, deadline=5).gather()
    stage.update("a")
    stage.update("b")
    stage.wait(5)
    stage.aggregated()
    assert stage.join("c") == ["join.received", "client.rejoined", "welcome -> c", "train -> c"]
    assert stage.play_round() == ["round.closed", "train -> a b c"]


def test_a_silent_host_is_back_with_a_late_answer_too():
    """The answer itself is stale, but its sender lives: it is asked in the next round."""
    stage = Stage(THREE, deadline=5).gather()
    stage.update("a")
    stage.update("b")
    stage.wait(5)
    stage.aggregated()
    assert stage.update("c", 1) == ["update.refused: stale-round", "client.rejoined"]
    stage.update("a")
    stage.update("b")
    assert stage.aggregated() == ["round.closed", "train -> a b c"]


def test_a_silent_host_that_dies_is_lost():
    """It is not both: a word of the dead process does not bring it back, a new process does."""
    stage = Stage(THREE, deadline=5).gather()
    stage.update("a")
    stage.update("b")
    stage.wait(5)
    stage.aggregated()
    assert stage.lose("c") == ["lost.received", "client.lost"]
    assert stage.update("c", 1) == ["update.refused: stale-round"]
    assert stage.join("c") == ["frame.refused: unexpected"]
    assert stage.join("c", 2) == ["join.received", "client.rejoined", "welcome -> c", "train -> c"]


def test_a_deadline_below_the_quorum_ends_the_run():
    """With its sentence, in the log, in the progress and to those who are here."""
    stage = Stage(THREE, deadline=0.5, quorum=0.67).gather()
    stage.update("a")
    stage.lose("b")
    assert stage.wait(0.5) == ["client.silent", "run.finished", "finish -> a c", "quit: aborted"]
    assert stage.machine.reason == "round 1 needs 3 of 3 clients (quorum 0.67), and 1 answered within 0.5 s"
    assert stage.machine.progress.outcome == "aborted"
    assert stage.machine.progress.reason == stage.machine.reason


def test_below_the_quorum_a_round_stays_open_for_those_who_may_come_back():
    """Losses alone never abort: only the deadline does."""
    stage = Stage(THREE, quorum=0.6).gather()
    stage.update("a")
    assert stage.lose("b") == ["lost.received", "client.lost"]
    assert stage.lose("c") == ["lost.received", "client.lost"]
    stage.join("b", 2)
    assert stage.update("b") == ["update.received", "aggregate c0 c1"]


@pytest.mark.parametrize("percent", range(1, 101))
def test_the_quorum_is_the_fraction_as_it_was_written(percent):
    """0.55 of 100 clients is 55, not 56 because of binary fractions."""
    stage = Stage({"a": list(range(100))}, quorum=percent / 100).gather()
    stage.wait(30)
    assert stage.machine.reason.startswith(f"round 1 needs {percent} of 100 clients (quorum {percent / 100:g})")


def test_a_quorum_is_at_least_one_client():
    """A round without any answer makes no model."""
    stage = Stage(THREE, quorum=0.01).gather()
    stage.wait(30)
    assert stage.machine.reason.startswith("round 1 needs 1 of 3 clients")


def test_when_the_machine_wants_to_be_woken():
    """Only while a round is open: first for the notice, then for the deadline, which `wait` does not have."""
    stage = Stage(THREE, deadline=5)
    assert stage.machine.wake_at is None
    stage.now = 100.0
    stage.gather()
    assert stage.machine.wake_at == 100.0 + NOTICE_AFTER
    stage.wait(NOTICE_AFTER)
    assert stage.machine.wake_at == 105.0
    for host in THREE:
        stage.update(host)
    assert stage.machine.wake_at is None
    stage.now = 200.0
    stage.aggregated()
    assert stage.machine.wake_at == 200.0 + NOTICE_AFTER
    stage.stop()
    assert stage.machine.wake_at is None


def test_a_deadline_before_the_notice_comes_first():
    """Short deadlines are kept."""
    assert Stage(THREE, deadline=0.25).gather().machine.wake_at == 0.25


def test_under_wait_there_is_one_notice_and_no_deadline():
    """After the notice nothing is to be woken for."""
    stage = Stage(THREE, wait=True).gather()
    assert stage.machine.wake_at == NOTICE_AFTER
    stage.wait(NOTICE_AFTER)
    assert stage.machine.wake_at is None


def test_a_wake_up_before_its_time_changes_nothing():
    """Clocks and sleeps are not exact."""
    stage = Stage(THREE, deadline=5).gather()
    assert stage.wait(0.5) == []
    assert stage.wait(0.6) == ["run.waiting"]
    assert stage.wait(0.1) == []


def test_the_progress_says_for_whom_the_round_waits_once_it_is_noticed():
    """Closed rounds, hosts that are here, and the waiting after a second; all quiet in the next round."""
    stage = Stage(THREE).gather()
    stage.update("b")
    stage.lose("c")
    assert (stage.machine.progress.round, stage.machine.progress.present) == (0, 2)
    assert stage.machine.progress.waiting == ()
    stage.wait(NOTICE_AFTER)
    assert stage.machine.progress.waiting == ("a", "c")
    stage.update("a")
    assert stage.machine.progress.waiting == ()
    stage.aggregated()
    assert (stage.machine.progress.round, stage.machine.progress.waiting) == (1, ())


# --- ends ------------------------------------------------------------------------------------------------------------


def test_a_stop_while_gathering_ends_the_run_with_the_start_model():
    """Those who are here are told."""
    stage = Stage(THREE)
    stage.begin()
    stage.join("b")
    assert stage.stop("Ctrl-C") == ["stop.received", "run.finished", "finish -> b", "quit: stopped"]
    assert stage.fields("run.finished") == {
        "round": 0,
        "outcome": "stopped",
        "reason": "Ctrl-C",
        "model": fingerprint(START),
    }


def test_a_stop_before_anyone_came_tells_nobody():
    """A message needs somebody to hear it."""
    stage = Stage(THREE)
    stage.begin()
    assert stage.stop() == ["stop.received", "run.finished", "quit: stopped"]


def test_a_stop_in_an_open_round_gives_the_round_up():
    """The last closed round is the end."""
    stage = Stage(THREE).gather()
    stage.play_round()
    stage.update("a")
    assert stage.stop()[-2:] == ["finish -> a b c", "quit: stopped"]
    assert stage.fields("run.finished")["round"] == 1


@pytest.mark.parametrize("state", ["aggregating", "finished"])
def test_a_stop_is_refused_where_nothing_can_be_stopped(state):
    """An aggregation is one step of the shell, in which no message arrives; the end is the end."""
    stage = Stage({"a": [0]}, rounds=1).gather()
    stage.update("a")
    if state == "finished":
        stage.aggregated()
    assert stage.machine.state == state
    assert stage.stop() == ["frame.refused: unexpected"]


@pytest.mark.parametrize("theta", [[np.nan, 0.0], [np.inf, 0.0], [0.0], [0.0, 0.0, 0.0], [[0.0, 0.0]]])
def test_an_aggregate_that_is_no_model_ends_the_run(theta):
    """The last closed round keeps its model."""
    stage = Stage({"a": [0]}).gather()
    stage.update("a")
    assert stage.aggregated(theta) == ["run.finished", "finish -> a", "quit: aborted"]
    assert stage.machine.reason == "the aggregate of round 1 is not a finite model"
    assert (stage.machine.closed, stage.machine.theta is START) == (0, True)


@pytest.mark.parametrize("closed", [0, 7])
def test_a_run_that_goes_on_starts_with_the_round_after_the_closed_one(closed):
    """The start model is in the log already, even if no other is."""
    stage = Stage(THREE, closed=closed, rounds=9)
    assert stage.begin() == []
    for host in THREE:
        stage.join(host)
    assert said(stage, Welcome)[0].message.round == closed
    assert train(stage).message.round == closed + 1


def test_a_run_that_goes_on_after_its_last_round_only_finishes():
    """Killed between its last model and its end, it must not make another model."""
    stage = Stage(THREE, closed=3, rounds=3)
    assert stage.begin() == ["run.finished", "quit: completed"]
