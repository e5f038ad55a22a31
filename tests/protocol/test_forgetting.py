"""Forgetting as the coordinator's machine sees it: when it begins, whom a step asks, and what comes after."""

import pytest
from stage import Stage

from protocol.forgetting import Step
from protocol.messages import Train
from protocol.rounds import State

FORGET = '{"method": "federaser"}'
HOSTS = {"a": [0], "b": [1], "c": [2]}


def leaving(**rules):
    """A run of three rounds whose client c0 asked in round 1 to be forgotten."""
    stage = Stage(HOSTS, **rules).gather()
    stage.leave("c0", forget=FORGET)
    return stage


def trains(stage):
    """What the last step asked for: whom, which round, with which norms."""
    asked = [one for one in stage.did if isinstance(getattr(one, "message", None), Train)]
    return [(one.peers, one.message.round, one.message.draws, one.message.norms.tolist()) for one in asked]


def test_unlearning_begins_when_the_leaver_is_gone():
    """The round in which it still takes part is closed first; then the log is asked for what was kept."""
    stage = leaving()
    assert stage.machine.state is State.TRAINING
    assert stage.play_round()[-1] == "recall c0 up to 1"
    assert stage.machine.state is State.RECALLING
    assert stage.fields("forget.asked")["clients"] == ("c0",)


def test_a_step_asks_those_who_kept_an_update_and_gives_them_their_norms():
    """c2 has none: it sits the step out, is not missing, and is asked again in training."""
    stage = leaving()
    stage.play_round()
    stage.recalled(Step(1, 7, ("c1",), (0.5,)))
    assert trains(stage) == [(("b",), 3, 7, [0.0, 0.5, 0.0])]
    assert stage.fields("round.closed") | {"theta": 0} == stage.fields("round.closed") | {
        "theta": 0,
        "participants": [],
    }
    stage.update("b")
    stage.aggregated()
    closed = stage.fields("round.closed")
    assert (closed["round"], closed["phase"], closed["participants"], closed["missing"]) == (
        3,
        "unlearning",
        ["c1"],
        [],
    )
    assert stage.fields("client.forgotten")["clients"] == ("c0",)
    assert trains(stage) == [(("b", "c"), 4, 4, [])]


def test_training_goes_on_for_all_its_rounds_and_nobody_is_forgotten_twice():
    """Three rounds of training, a start and a step: five rounds; a repeated wish changes nothing."""
    stage = leaving()
    stage.play_round()
    stage.recalled(Step(1, 2, ("c1", "c2"), (0.5, 0.5)))
    stage.leave("c0", forget=FORGET)
    told = []
    for _ in range(3):
        told = stage.play_round()
    assert told[-1] == "quit: completed"
    assert stage.machine.closed == 5


def test_a_step_that_nobody_is_left_for_leaves_the_model_as_it_is():
    """The only client that kept an update leaves before its turn; the round is closed without anybody."""
    stage = leaving()
    stage.play_round()
    stage.recalled(Step(1, 2, ("c2",), (0.5,)), Step(2, 3, ("c1",), (0.5,)), theta=(4.0, 4.0))
    stage.leave("c1")
    stage.update("c")
    stage.aggregated()
    closed = stage.fields("round.closed")
    assert (closed["round"], closed["participants"], closed["theta"].tolist()) == (4, [], [3.0, 3.0])
    assert trains(stage) == [(("c",), 5, 5, [])]


@pytest.mark.parametrize("then", ["train", "end"])
def test_the_run_ends_with_the_unlearned_model_if_that_is_wanted(then):
    """`then` says what comes after the last step."""
    stage = Stage(HOSTS).gather()
    stage.leave("c0", forget=f'{{"method": "federaser", "then": "{then}"}}')
    stage.play_round()
    stage.recalled(Step(1, 2, ("c1", "c2"), (0.5, 0.5)))
    assert (stage.play_round()[-1] == "quit: completed") == (then == "end")


def test_who_left_before_can_still_ask_to_be_forgotten():
    """The wish comes rounds later, and is met before the next round."""
    stage = Stage(HOSTS).gather()
    stage.leave("c0")
    stage.play_round()
    stage.leave("c0", forget=FORGET)
    assert stage.play_round()[-1] == "recall c0 up to 2"
