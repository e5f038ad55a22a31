"""Metrics over rounds in numbers: of one run, or the mean over repeats with its band."""

import shutil
import subprocess
import sys

import pytest

from analysis.curves import curves
from analysis.pack import pack
from protocol.errors import UserError
from protocol.journal import Journal


def test_a_curve_is_the_metrics_values(played, small):
    """NDCG by round, labelled with the scenario."""
    (drawn,) = curves([played], "ndcg_at_10")
    assert (drawn.label, drawn.rounds, drawn.values) == ("small", [0, 1, 2, 3], small.ndcg)
    told = drawn.as_dict()
    assert (told["runs"], told["rounds"], told["values"]) == ((str(played),), [0, 1, 2, 3], small.ndcg)


def test_a_metric_of_clients_is_their_mean(played):
    """Online nDCG in a round is drawn as the mean over the clients."""
    (drawn,) = curves([played], "online_ndcg_at_10")
    assert drawn.rounds == [1, 2, 3]
    assert drawn.values == [0.5, 0.75, 0.25]


def test_runs_of_one_scenario_are_told_apart(played, tmp_path):
    """Labels are names where these differ, and names with times where they do not."""
    other = tmp_path / "small" / "20270101-120000-8"
    shutil.copytree(played, other)
    assert [one.label for one in curves([played, other], "online")] == [
        "small/20260101-120000-7",
        "small/20270101-120000-8",
    ]


def test_a_packed_run_is_labelled_like_its_directory_or_by_its_own_name(played, tmp_path):
    """run.duckdb says nothing, small-one.duckdb does."""
    copy = tmp_path / "small" / "20270101-120000-8"
    shutil.copytree(played, copy)
    runs = [pack(copy), pack(copy, tmp_path / "one.duckdb")]
    assert [drawn.label for drawn in curves(runs, "online")] == ["small", "one"]


def test_an_unknown_metric_lists_the_known(played, tmp_path):
    """The sentence has what there is."""
    with pytest.raises(UserError, match="one of ndcg_at_10, online, online_ndcg_at_10; got 'ndcg'"):
        curves([played], "ndcg")
    (tmp_path / "journal").mkdir()
    with pytest.raises(UserError, match="none yet"):
        curves([tmp_path], "ndcg_at_10")


def test_what_a_command_does_not_need_is_not_imported():
    """Asking a run starts without matplotlib, prompt_toolkit, the compiler and the network."""
    program = (
        "import sys, analysis, analysis.curves, analysis.tables, analysis.summary, analysis.pack, analysis.prompt\n"
        "print([name for name in ('matplotlib', 'prompt_toolkit', 'numba', 'zmq') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def repeat(runs, name, seed, values, **changes):
    """A run that measured these values, finished."""
    run = runs / name / f"20260101-00000{seed}-{seed}"
    coordinator, evaluator = Journal(run, "coordinator", lambda: 0.0), Journal(run, "evaluator", lambda: 0.0)
    scenario = {"name": name, "seed": seed, "data": {"source": "x", "fold": 1}} | changes
    coordinator.append("run.started", scenario=scenario, seed=seed)
    coordinator.append("run.finished", outcome="completed", round=len(values) - 1)
    evaluator.append("metric.measured", name="ndcg_at_10", rounds=list(range(len(values))), values=values)
    for journal in (coordinator, evaluator):
        journal.close()
    return run


def test_repeats_are_a_mean_with_its_band(tmp_path):
    """Three seeds: t(2) at 95 % is 4.3027, and a round that one run lacks is left out."""
    runs = [repeat(tmp_path, "a", 1, [0.1, 0.2]), repeat(tmp_path, "a", 2, [0.2, 0.4, 0.5])]
    runs.append(repeat(tmp_path, "a", 3, [0.3, 0.6, 0.9]))
    (drawn,) = curves(runs, "ndcg_at_10")
    assert drawn.label == "a, mean of 3 runs"
    assert drawn.rounds == [0, 1]
    assert drawn.values == pytest.approx([0.2, 0.4])
    assert [high - mean for high, mean in zip(drawn.high, drawn.values, strict=True)] == pytest.approx(
        [4.302653 * 0.1 / 3**0.5, 4.302653 * 0.2 / 3**0.5], rel=1e-6
    )
    assert [mean - low for low, mean in zip(drawn.low, drawn.values, strict=True)] == pytest.approx(
        [high - mean for high, mean in zip(drawn.high, drawn.values, strict=True)]
    )
    assert [len(one.runs) for one in curves(runs, "ndcg_at_10", each=True)] == [1, 1, 1]


def test_another_setting_is_another_curve(tmp_path):
    """Folds are repeats; anything else is not."""
    runs = [
        repeat(tmp_path, "a", 1, [0.1]),
        repeat(tmp_path, "a", 2, [0.1], data={"source": "x", "fold": 2}),
        repeat(tmp_path, "b", 1, [0.3]),
        repeat(tmp_path, "a", 4, [0.2], rounds=7),
    ]
    drawn = curves(runs, "ndcg_at_10")
    assert [len(one.runs) for one in drawn] == [2, 1, 1]
    assert drawn[1].label.startswith("b")
