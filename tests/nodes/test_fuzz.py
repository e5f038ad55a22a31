"""Five hundred seeded schedules of faults: every log passes every check, and no fault leaves a trace in the models."""

import pytest

from analysis.check import problems
from nodes.fuzz import fuzz, make_schedule

SCHEDULES = 500
CHUNK = 50


@pytest.mark.parametrize("first", range(0, SCHEDULES, CHUNK))
def test_schedules_of_faults_hold(tmp_path, first):
    """`foltr fuzz --schedules 1 --seed N` tries a failed one again."""
    failed = {seed: problem for seed, problem in fuzz(CHUNK, first, tmp_path, problems) if problem}
    assert failed == {}


def test_the_schedules_have_everything_in_them():
    """Among the schedules of the suite is every kind of fault, both policies, crashes between log and send."""
    schedules = [make_schedule(seed) for seed in range(SCHEDULES)]
    happened = {key for one in schedules for entry in one.tables["timeline"] for key in entry}
    assert happened >= {
        "kill", "pause", "restart", "leave", "add", "delay", "drop", "duplicate", "reorder", "corrupt", "partition",
        "throttle",
    }  # fmt: skip
    assert {one.tables["federation"]["on_missing"] for one in schedules} == {"skip", "wait"}
    assert sum(bool(one.crashes) for one in schedules) > 100
    killed = [entry["kill"] for one in schedules for entry in one.tables["timeline"] if "kill" in entry]
    assert "coordinator" in killed


def test_a_schedule_is_a_function_of_its_seed():
    """The line that a failure prints reproduces it."""
    assert make_schedule(7) == make_schedule(7)
    assert make_schedule(7) != make_schedule(8)
