"""The coordinator's machine before a round of the timeline: it asks for what is due, and waits for who was started."""

import pytest
from stage import Stage

from protocol.messages import SUPERVISOR, Cue, Disturb, Heal

THREE = {"a": [0], "b": [1], "c": [2]}
POLICIES = pytest.mark.parametrize("wait", [False, True], ids=["skip", "wait"])


def staged(cued=1, **rules):
    """A run whose next round is cued."""
    return Stage(THREE, cues=frozenset({cued}), **rules).gather()


@POLICIES
def test_the_first_round_can_be_cued(wait):
    """Everybody is here, then the cue goes out, then the round opens; the second round needs no cue."""
    stage = Stage(THREE, cues=frozenset({1}), wait=wait)
    stage.begin()
    stage.join("a")
    stage.join("b")
    assert stage.join("c")[-1] == "cue -> supervisor"
    assert stage.machine.state == "staging"
    assert stage.ready(1) == ["ready.received", "train -> a b c"]
    assert stage.play_round() == ["round.closed", "train -> a b c"]


@POLICIES
def test_a_later_round_can_be_cued(wait):
    """The cue names the round that waits, after the model before it is in the log."""
    stage = staged(2, wait=wait)
    assert stage.play_round() == ["round.closed", "cue -> supervisor"]
    assert stage.did[-1].message.round == 2
    assert stage.ready(2) == ["ready.received", "train -> a b c"]


def test_a_cue_is_sent_once():
    """Whatever happens while the round waits, the timeline does its part once."""
    stage = staged()
    stage.join("a")
    stage.lose("b")
    stage.join("b", 2)
    stage.leave("c2")
    stage.enrol("d", "c3")
    stage.ready(7)
    said = [one for one in stage.history if isinstance(getattr(one, "message", None), Cue)]
    assert len(said) == 1
    assert said[0].peers == (SUPERVISOR,)


@pytest.mark.parametrize("number", [0, 2, 2**63 - 1])
def test_being_ready_for_another_round_is_not_being_ready(number):
    """A word that comes too late or too early opens nothing."""
    stage = staged()
    assert stage.ready(number, "a") == ["ready.received"]
    assert stage.machine.state == "staging"
    assert stage.ready(1)[-1] == "train -> a b c"


@POLICIES
def test_a_round_waits_for_who_was_started_for_it(wait):
    """A restarted host is asked with everyone, not afterwards: its loss before the restart is not held against it."""
    stage = staged(wait=wait)
    stage.lose("b")
    assert stage.ready(1, "b") == ["ready.received"]
    assert stage.join("b", 2) == ["join.received", "client.rejoined", "welcome -> b", "train -> a b c"]


def test_a_host_that_is_back_already_is_not_waited_for():
    """It may be quicker than the supervisor's word."""
    stage = staged()
    stage.lose("b")
    stage.join("b", 2)
    assert stage.ready(1, "b") == ["ready.received", "train -> a b c"]


def test_a_started_host_that_dies_on_its_way_does_not_block():
    """The death of the process that was waited for opens the round without it."""
    stage = staged()
    stage.lose("b", 1)
    stage.ready(1, "b")
    assert stage.lose("b", 1) == ["lost.received"]  # the same news again
    assert stage.lose("b", 2) == ["lost.received", "train -> a c"]


def test_a_started_host_that_died_before_the_word_does_not_block():
    """The supervisor's words come in order: the second death is known when it is ready."""
    stage = staged()
    stage.lose("b", 1)
    stage.lose("b", 2)
    assert stage.ready(1, "b") == ["ready.received", "train -> a c"]


def test_a_new_host_that_dies_before_it_joins_does_not_block():
    """It never was here, so that any death of it is the one of the process that was waited for."""
    stage = staged()
    stage.enrol("d", "c3")
    stage.ready(1, "d")
    assert stage.lose("d", 9) == ["lost.received", "client.lost", "train -> a b c"]


def test_who_is_expected_and_is_no_host_is_not_waited_for():
    """The timeline starts other nodes, too."""
    assert staged().ready(1, "evaluator")[-1] == "train -> a b c"


def test_a_loss_while_staging_opens_nothing_by_itself():
    """The round waits for the timeline, and then asks who is here."""
    stage = staged()
    assert stage.lose("b") == ["lost.received", "client.lost"]
    assert stage.ready(1) == ["ready.received", "train -> a c"]


def test_a_join_while_staging_is_welcomed_and_opens_nothing_by_itself():
    """A host that repeats itself is not asked before its time."""
    assert staged().join("a") == ["join.received", "welcome -> a"]


def test_an_update_while_staging_is_for_no_open_round():
    """Late for the closed one, early for the next."""
    stage = staged(2)
    stage.play_round()
    assert stage.update("a", 1) == ["update.refused: stale-round"]
    assert stage.update("a", 2) == ["update.refused: future-round"]


def test_a_stop_while_staging_ends_the_run():
    """The last closed round is the result."""
    stage = staged(2)
    stage.play_round()
    assert stage.stop() == ["stop.received", "run.finished", "finish -> a b c", "quit: stopped"]
    assert stage.fields("run.finished")["round"] == 1


def test_clients_leave_and_come_before_the_round_that_waits():
    """What the timeline does before round 1 is so in round 1."""
    stage = staged()
    assert stage.leave("c1") == ["leave.received", "client.left", "finish -> b"]
    assert stage.fields("client.left")["round"] == 1
    stage.enrol("d", "c3")
    assert stage.fields("clients.enrolled")["round"] == 1
    stage.ready(1, "d")
    assert stage.join("d")[-1] == "train -> a c d"
    assert stage.play_round()[0] == "round.closed"
    assert stage.fields("round.closed")["participants"] == ["c0", "c2", "c3"]


def test_a_host_that_is_expected_and_whose_clients_leave_is_not_waited_for():
    """Nobody comes for clients that are gone."""
    stage = staged()
    stage.lose("b")
    stage.ready(1, "b")
    assert stage.leave("c1") == ["leave.received", "client.left", "train -> a c"]


def test_nothing_is_due_by_the_clock_while_a_round_is_staged():
    """The supervisor decides when the timeline is done."""
    assert staged().machine.wake_at is None


def test_a_run_that_goes_on_is_cued_again():
    """The supervisor knows what it has done before; the coordinator does not."""
    stage = Stage(THREE, closed=4, rounds=9, cues=frozenset({5})).gather()
    assert stage.machine.state == "staging"
    assert stage.did[-1].message.round == 5


def test_a_deadline_counts_from_the_opening_not_from_the_cue():
    """What the timeline takes is not the hosts' fault."""
    stage = staged(deadline=5)
    stage.now = 1000.0
    stage.ready(1)
    assert stage.wait(4.5) == ["run.waiting"]


@pytest.mark.parametrize("state", ["gathering", "staging", "training"])
def test_the_weather_can_change_at_any_time(state):
    """A fault begins and ends as the supervisor says; the shell does the rest."""
    stage = Stage(THREE, cues=frozenset({1} if state == "staging" else ()))
    stage.begin() if state == "gathering" else stage.gather()
    assert stage.machine.state == state
    disturb = Disturb("rain", "drop", ("a",), '{"probability": 0.5}')
    assert stage.hear(SUPERVISOR, disturb) == ["disturb.received", "impose rain"]
    assert stage.did[-1].how is disturb
    assert stage.hear(SUPERVISOR, Heal("rain")) == ["heal.received", "heal rain"]
    assert stage.machine.state == state
