"""The coordinator's machine while clients are enrolled and leave."""

import numpy as np
import pytest
from stage import Stage, terms

from protocol.coordination import Coordination
from protocol.machine import Say
from protocol.messages import Train

THREE = {"a": [0], "b": [1], "c": [2]}
PACKED = {"a": [0], "b": [1, 2, 3]}
POLICIES = pytest.mark.parametrize("wait", [False, True], ids=["skip", "wait"])


def trains(stage):
    """The questions of the last step: to whom, and the clients that they name."""
    said = [one for one in stage.did if isinstance(one, Say) and isinstance(one.message, Train)]
    return [(one.peers, one.message.clients.tolist()) for one in said]


def last_model(stage):
    """Who is in the last model, and who is missing."""
    record = stage.fields("round.closed")
    return record["participants"], record["missing"]


# --- enrolment -------------------------------------------------------------------------------------------------------


def test_an_enrolment_in_the_log():
    """Who, on which host, from which round on, by whom; and the shell lets the host in."""
    stage = Stage(THREE).gather()
    assert stage.enrol("d", "c3", "c4") == ["enrol.received", "clients.enrolled", "client.added", "admit d"]
    record = stage.fields("clients.enrolled")
    assert (record["round"], record["clients"], record["hosts"]) == (2, ["c3", "c4"], ["d", "d"])
    assert record["clicks"] == ["perfect", "perfect"]
    assert record["interactions"].tolist() == [7, 7]
    assert stage.fields("client.added") == {"round": 2, "name": "d", "clients": ["c3", "c4"], "by": "ann"}


@POLICIES
def test_a_new_host_that_joins_in_the_open_round_is_asked_in_the_next(wait):
    """It is welcomed, has no part in the open round, and is then one of all."""
    stage = Stage(THREE, wait=wait).gather()
    stage.enrol("d", "c3")
    assert stage.join("d") == ["join.received", "client.joined", "welcome -> d"]
    assert stage.update("d", clients=[3]) == ["update.refused: not-asked"]
    for host in THREE:
        stage.update(host)
    assert stage.aggregated() == ["round.closed", "train -> a b c d"]
    assert last_model(stage) == (["c0", "c1", "c2"], [])
    stage.play_round()
    assert last_model(stage) == (["c0", "c1", "c2", "c3"], [])


def test_the_new_clients_rows_come_last_with_their_counts():
    """The aggregation sees them by their numbers, which are appended."""
    stage = Stage(THREE).gather()
    stage.enrol("d", "c3", "c4")
    stage.join("d")
    stage.play_round()
    for host in ("d", "c", "b", "a"):
        stage.update(host)
    asked = stage.did[-1]
    assert asked.clients.tolist() == [0, 1, 2, 3, 4]
    assert asked.interactions.tolist() == [1, 2, 3, 7, 7]
    np.testing.assert_array_equal(asked.thetas[:, 0], [0.25, 1.25, 2.25, 3.25, 4.25])


def test_a_new_client_is_asked_for_its_own_number_of_interactions():
    """Its update is checked against what was enrolled."""
    stage = Stage(THREE).gather()
    stage.enrol("d", "c3")
    stage.join("d")
    stage.play_round()
    assert stage.update("d", interactions=np.array([4])) == ["update.refused: wrong-count"]
    assert stage.update("d") == ["update.received"]


def test_under_skip_a_new_host_that_does_not_come_is_missing():
    """The round does not wait for whom it never saw."""
    stage = Stage(THREE).gather()
    stage.enrol("d", "c3")
    stage.play_round()
    stage.play_round()
    assert last_model(stage) == (["c0", "c1", "c2"], ["c3"])


def test_under_wait_the_next_round_waits_for_the_new_host():
    """It opens for those who are here, and closes once the new one has answered."""
    stage = Stage(THREE, wait=True).gather()
    stage.enrol("d", "c3")
    assert stage.play_round() == ["round.closed", "train -> a b c"]
    for host in THREE:
        assert stage.update(host) == ["update.received"]
    assert stage.join("d")[-1] == "train -> d"
    assert stage.update("d") == ["update.received", "aggregate c0 c1 c2 c3"]


@pytest.mark.parametrize("state", ["gathering", "training"])
def test_what_cannot_be_enrolled_is_refused_and_changes_nothing(state):
    """Names that are taken, nobody, and senseless counts."""
    stage = Stage(THREE)
    stage.begin() if state == "gathering" else stage.gather()
    stage.enrol("d", "c3")
    assert stage.enrol("d", "c4") == ["frame.refused: unexpected"]
    assert stage.enrol("e", "c3") == ["frame.refused: unexpected"]
    assert stage.enrol("e", "c0") == ["frame.refused: unexpected"]
    assert stage.enrol("e") == ["frame.refused: unexpected"]
    assert stage.enrol("e", "c4", interactions=np.array([0])) == ["frame.refused: unexpected"]
    assert "interactions must be at least 1, got [0]" in stage.fields("frame.refused")["detail"]
    assert stage.machine.members.clients == ["c0", "c1", "c2", "c3"]
    assert stage.join("d")[0] == "join.received"


def test_a_host_that_was_not_enrolled_is_a_stranger():
    """And none once it is."""
    stage = Stage(THREE).gather()
    assert stage.join("d", clients=[3]) == ["frame.refused: unexpected"]
    stage.enrol("d", "c3")
    assert stage.join("d")[:2] == ["join.received", "client.joined"]


def test_an_enrolment_while_gathering_is_gathered_too():
    """The first round has all who were enrolled before it."""
    stage = Stage(THREE)
    stage.begin()
    stage.enrol("d", "c3")
    assert stage.fields("client.added")["round"] == 1
    for host in THREE:
        stage.join(host)
    assert stage.machine.state == "gathering"
    assert stage.join("d")[-1] == "train -> a b c d"


# --- leaving ---------------------------------------------------------------------------------------------------------


@POLICIES
def test_a_client_that_leaves_while_it_works_is_in_this_round_and_in_no_later_one(wait):
    """Its host is here and was asked: its update still counts, then it is told to go."""
    stage = Stage(THREE, wait=wait).gather()
    assert stage.leave("c1") == ["leave.received", "client.left"]
    assert stage.fields("client.left") == {"round": 2, "name": "b", "clients": ["c1"], "by": "ann"}
    for host in THREE:
        stage.update(host)
    assert stage.aggregated() == ["round.closed", "finish -> b", "train -> a c"]
    assert last_model(stage) == (["c0", "c1", "c2"], [])
    assert stage.did[1].message.reason == "left"
    assert stage.update("b", clients=[1]) == ["update.refused: not-asked"]
    stage.play_round()
    assert last_model(stage) == (["c0", "c2"], [])


@POLICIES
def test_a_client_that_leaves_after_its_answer_is_in_this_round_and_in_no_later_one(wait):
    """What is in the books stays there, and the log says so."""
    stage = Stage(THREE, wait=wait).gather()
    stage.update("b")
    assert stage.leave("c1") == ["leave.received", "client.left"]
    assert stage.fields("client.left")["round"] == 2
    stage.update("a")
    assert stage.update("c") == ["update.received", "aggregate c0 c1 c2"]
    assert stage.aggregated() == ["round.closed", "finish -> b", "train -> a c"]


def test_the_client_of_a_lost_host_leaves_at_once_and_the_waiting_round_closes():
    """Under wait a dead host holds everything up; its leaving lets the round go."""
    stage = Stage(THREE, wait=True).gather()
    stage.update("a")
    stage.update("b")
    stage.lose("c")
    assert stage.leave("c2") == ["leave.received", "client.left", "aggregate c0 c1"]
    assert stage.fields("client.left")["round"] == 1
    assert stage.aggregated() == ["round.closed", "train -> a b"]
    assert last_model(stage) == (["c0", "c1"], [])


def test_the_death_of_a_host_whose_client_is_leaving_does_not_hold_a_round_up():
    """Even under wait nobody waits for who will not come back; it is missing in the round that it was asked in."""
    stage = Stage(THREE, wait=True).gather()
    stage.leave("c2")
    stage.update("a")
    assert stage.update("b") == ["update.received"]
    assert stage.lose("c") == ["lost.received", "client.lost", "aggregate c0 c1"]
    stage.aggregated()
    assert last_model(stage) == (["c0", "c1"], ["c2"])


def test_a_leaving_host_that_comes_back_is_asked_for_what_it_owes():
    """Its question was lost, or its process was restarted: the open round still wants its answer."""
    stage = Stage(THREE, wait=True).gather()
    stage.leave("c2")
    assert stage.join("c") == ["join.received", "welcome -> c", "train -> c"]
    stage.lose("c")
    assert stage.join("c", 2) == ["join.received", "client.rejoined", "welcome -> c", "train -> c"]
    stage.update("a")
    stage.update("b")
    assert stage.update("c") == ["update.received", "aggregate c0 c1 c2"]


def test_the_client_of_a_silent_host_leaves_at_once():
    """It was not asked in the open round, so that this round is the first without it."""
    stage = Stage(THREE, deadline=5).gather()
    stage.update("a")
    stage.update("b")
    stage.wait(5)
    stage.aggregated()
    stage.leave("c2")
    assert stage.fields("client.left")["round"] == 2
    assert stage.join("c") == ["join.received", "finish -> c"]
    stage.play_round()
    assert last_model(stage) == (["c0", "c1"], [])


def test_one_client_of_a_packed_host_leaves_and_the_others_are_asked_by_name():
    """The host lives on: the question names who is left, and its join still tells of all."""
    stage = Stage(PACKED, rounds=9).gather()
    stage.leave("c2")
    for host in PACKED:
        stage.update(host)
    stage.aggregated()
    assert trains(stage) == [(("a",), []), (("b",), [1, 3])]
    assert stage.update("b", clients=[1, 2, 3]) == ["update.refused: not-asked"]
    assert stage.update("b", clients=[2]) == ["update.refused: not-asked"]
    assert stage.update("b", clients=[1]) == ["update.received"]
    assert stage.join("b") == ["join.received", "welcome -> b", "train -> b"]
    assert trains(stage) == [(("b",), [3])]
    stage.update("a")
    assert stage.update("b", clients=[3]) == ["update.received", "aggregate c0 c1 c3"]
    stage.aggregated()
    assert stage.update("b") == ["update.received"]  # both at once


def test_the_last_client_of_a_packed_host_takes_it_along():
    """Then the host is told to finish, and so is whatever joins in its name later."""
    stage = Stage(PACKED, rounds=9).gather()
    stage.leave("c1")
    stage.leave("c2", "c3")
    assert stage.play_round() == ["round.closed", "finish -> b", "train -> a"]
    assert stage.join("b", 2) == ["join.received", "finish -> b"]
    assert stage.join("b", 3) == ["join.received", "finish -> b"]
    assert stage.machine.progress.present == 1
    assert stage.lose("b", 3) == ["lost.received"]
    assert stage.play_round() == ["round.closed", "train -> a"]


def test_who_is_unknown_or_has_left_does_not_leave_again():
    """The order is heard, and nothing else happens."""
    stage = Stage(THREE).gather()
    assert stage.leave("nobody") == ["leave.received"]
    stage.leave("c1")
    assert stage.leave("c1") == ["leave.received"]
    stage.play_round()
    assert stage.leave("c1") == ["leave.received"]


def test_a_new_client_that_leaves_before_its_first_round_is_in_none():
    """Enrolled for round 2, gone in round 1."""
    stage = Stage(THREE).gather()
    stage.enrol("d", "c3")
    stage.leave("c3")
    assert stage.fields("client.left")["round"] == 1
    assert stage.join("d") == ["join.received", "finish -> d"]
    assert stage.play_round() == ["round.closed", "train -> a b c"]
    stage.play_round()
    assert last_model(stage) == (["c0", "c1", "c2"], [])


def test_leaving_while_gathering_can_complete_the_gathering():
    """Who left is not waited for."""
    stage = Stage(THREE, wait=True)
    stage.begin()
    stage.join("a")
    stage.join("b")
    assert stage.leave("c2") == ["leave.received", "client.left", "train -> a b"]


def test_the_quorum_is_of_those_who_take_part():
    """Half of two is one, once the third has left."""
    stage = Stage(THREE, quorum=0.6, deadline=5).gather()
    stage.leave("c1", "c2")
    stage.play_round()
    stage.update("a")
    stage.aggregated()
    assert last_model(stage) == (["c0"], [])


# --- nobody is left --------------------------------------------------------------------------------------------------

DESERTED = "every client has left before round {}"


@POLICIES
def test_a_run_that_everybody_leaves_ends_with_its_reason(wait):
    """The open round is closed with their last answers; no round can follow it."""
    stage = Stage(THREE, wait=wait).gather()
    stage.leave("c0", "c1", "c2")
    for host in THREE:
        stage.update(host)
    assert stage.aggregated() == ["round.closed", "run.finished", "finish -> a b c", "quit: aborted"]
    assert stage.machine.reason == DESERTED.format(2)
    assert stage.fields("run.finished")["round"] == 1


@POLICIES
def test_a_run_whose_last_lost_clients_leave_ends_at_once(wait):
    """Nobody can ever answer in the open round."""
    stage = Stage(THREE, wait=wait).gather()
    stage.play_round()
    for host in THREE:
        stage.lose(host)
    assert stage.leave("c0", "c1") == ["leave.received", "client.left", "client.left"]
    assert stage.leave("c2") == ["leave.received", "client.left", "run.finished", "quit: aborted"]
    assert stage.machine.reason == DESERTED.format(2)


@POLICIES
def test_a_run_whose_leaving_clients_die_ends_at_once(wait):
    """They were asked for the last time, and cannot answer any more."""
    stage = Stage(THREE, wait=wait).gather()
    stage.leave("c0", "c1", "c2")
    stage.lose("a")
    stage.lose("b")
    assert stage.lose("c")[-2:] == ["run.finished", "quit: aborted"]
    assert stage.machine.reason == DESERTED.format(1)


@POLICIES
def test_an_answer_of_those_who_left_still_makes_a_model(wait):
    """One had answered before it all: the round is closed with it, then the run ends."""
    stage = Stage(THREE, wait=wait, quorum=0.1).gather()
    stage.update("a")
    stage.leave("c0", "c1", "c2")
    stage.lose("b")
    assert stage.lose("c") == ["lost.received", "client.lost", "aggregate c0"]
    assert stage.aggregated()[1] == "run.finished"


@POLICIES
def test_new_clients_take_over_a_round_that_all_others_have_left(wait):
    """They were to come in the next round; the open one has nobody else, so it is theirs, and the log says so."""
    stage = Stage(THREE, wait=wait).gather()
    for host in THREE:
        stage.lose(host)
    stage.enrol("d", "c3")
    stage.enrol("e", "c4")
    stage.join("d")
    stage.leave("c0", "c1", "c2")
    assert trains(stage) == [(("d",), [])]
    assert stage.fields("client.added") == {"round": 1, "name": "e", "clients": ["c4"], "by": "coordinator"}
    stage.join("e")
    stage.update("d")
    assert stage.update("e") == ["update.received", "aggregate c3 c4"]
    stage.aggregated()
    assert last_model(stage) == (["c3", "c4"], [])


@POLICIES
def test_new_clients_take_over_from_those_who_die_while_they_leave(wait):
    """Whoever was leaving is out of the round that is opened again, and the log says so."""
    stage = Stage({"a": [0]}, wait=wait).gather()
    stage.enrol("d", "c3")
    stage.join("d")
    stage.leave("c0")
    assert stage.fields("client.left")["round"] == 2
    assert stage.lose("a") == ["lost.received", "client.lost", "client.left", "client.added", "train -> d"]
    assert stage.fields("client.left")["round"] == 1
    stage.update("d")
    stage.aggregated()
    assert last_model(stage) == (["c3"], [])


def test_everybody_leaves_before_the_first_round():
    """There is no round 1."""
    stage = Stage(THREE)
    stage.begin()
    stage.join("a")
    stage.leave("c0", "c1")
    assert stage.leave("c2")[-2:] == ["run.finished", "quit: aborted"]
    assert stage.machine.reason == DESERTED.format(1)


def test_everybody_leaves_while_staging_and_others_come():
    """The timeline may exchange all clients before one round; only then is it told whether anybody is there."""
    stage = Stage(THREE, cues=frozenset({1})).gather()
    assert stage.leave("c0", "c1", "c2")[-1] == "finish -> a b c"
    stage.enrol("d", "c3")
    stage.join("d")
    assert stage.ready(1) == ["ready.received", "train -> d"]


def test_everybody_leaves_while_staging_and_nobody_comes():
    """The run ends when the timeline is done."""
    stage = Stage(THREE, cues=frozenset({1})).gather()
    stage.leave("c0", "c1", "c2")
    assert stage.machine.state == "staging"
    assert stage.ready(1) == ["ready.received", "run.finished", "quit: aborted"]


# --- going on --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("closed", "expected"), [(1, ["c0", "c1", "c2"]), (2, ["c0", "c2"]), (5, ["c0", "c2"])])
def test_a_run_that_goes_on_knows_who_left_by_which_round(closed, expected):
    """`until` is the first round without a client, be it in the past or not yet."""
    stage = Stage(THREE, closed=closed, rounds=9, until={"c1": 3}).gather()
    stage.play_round()
    assert last_model(stage) == (expected, [])


@pytest.mark.parametrize(("closed", "expected"), [(1, ["c0", "c1"]), (2, ["c0", "c1", "c2"]), (5, ["c0", "c1", "c2"])])
def test_a_run_that_goes_on_knows_who_comes_in_which_round(closed, expected):
    """`since` is the first round with a client, be it in the past or not yet."""
    stage = Stage(THREE, closed=closed, rounds=9, since={"c2": 3}).gather()
    stage.play_round()
    assert last_model(stage) == (expected, [])


def test_a_run_that_goes_on_does_not_gather_who_is_gone():
    """Nobody waits for a host whose clients left, and it is told so if it comes."""
    stage = Stage(THREE, closed=4, rounds=9, wait=True, until={"c1": 3})
    stage.begin()
    assert stage.join("b") == ["join.received", "finish -> b"]
    stage.join("a")
    assert stage.join("c")[-1] == "train -> a c"


def test_a_run_that_goes_on_does_not_gather_who_is_about_to_go():
    """Its last round may be the one that is opened again: it is asked if it comes, and not waited for."""
    stage = Stage(THREE, closed=4, rounds=9, wait=True, until={"c1": 6})
    stage.begin()
    stage.join("a")
    assert stage.join("c")[-1] == "train -> a c"
    assert stage.join("b")[-1] == "train -> b"


def test_a_run_that_everybody_had_left_does_not_go_on():
    """It says so at once."""
    stage = Stage(THREE, closed=4, rounds=9, until={"c0": 3, "c1": 4, "c2": 5})
    assert stage.begin() == ["run.finished", "quit: aborted"]
    assert stage.machine.reason == DESERTED.format(5)


def test_who_left_before_it_came_never_comes():
    """Enrolled for round 6, gone in round 5, and the coordinator died in between."""
    agreed = terms(THREE, rounds=9, since={"c2": 6}, until={"c2": 5})
    machine = Coordination(agreed, np.zeros(2), 4)
    assert not machine.members.stays("c2")
    machine.members.turn(6)
    assert machine.members.active.tolist() == [True, True, False]


def test_a_run_whose_members_were_all_to_leave_ends_when_it_is_resumed():
    """They were to leave after the open round; a new coordinator lets them leave before it, and the log says so."""
    stage = Stage({"a": [0], "b": [1]}, closed=2, rounds=5, until={"c0": 4, "c1": 4})
    assert stage.begin() == ["client.left", "client.left", "run.finished", "quit: aborted"]
    assert stage.fields("client.left")["round"] == 3
