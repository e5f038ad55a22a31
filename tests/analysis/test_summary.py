"""The end of a run: what it came to, and whether that is what was expected."""

import json

import pytest

from analysis import open_run
from analysis.summary import Expectation, summarise
from protocol.journal import Journal


def test_the_small_run(run, small):
    """Every figure of the summary, and a verdict with its reasons."""
    summary = summarise(run)
    online = 0.5 + 0.9995 * 0.75 + 0.9995**2 * 0.25
    assert summary.rounds == 3
    assert summary.model == f"{3:064x}"
    assert summary.metrics == {
        "ndcg_at_10": small.ndcg[-1],
        "online": pytest.approx(online, rel=1e-14),
        "online_ndcg_at_10": 0.25,
    }
    assert (summary.name, summary.outcome, summary.reason) == ("small", "completed", None)
    assert (summary.rounds_with_missing, summary.updates_missing) == (1, 1)
    assert summary.expectations == (
        Expectation("ndcg_at_10", ">= 0.30", 0.4, holds=True),
        Expectation("online", "< 0.1", summary.metrics["online"], holds=False),
        Expectation("client.rejoined", "sometimes", 1, holds=True),
        Expectation("client.silent", "sometimes", 0, holds=False),
    )
    assert summary.verdict == "failed"


def test_it_is_json(run):
    """The summary goes through JSON unchanged."""
    whole = summarise(run).as_dict()
    lists = {name: list(whole[name]) for name in ("expectations", "broken", "privacy", "privacy_remarks")}
    assert json.loads(json.dumps(whole)) == whole | lists
    assert whole["run"] == str(run.path)


def log(run, expect, outcome=None, measured=1):
    """A run of one round."""
    coordinator, evaluator = Journal(run, "coordinator"), Journal(run, "evaluator")
    coordinator.append("run.started", scenario={"name": "x", "expect": expect})
    for number in (0, 1):
        coordinator.append("round.closed", round=number, model=f"m{number}", theta=[0.0], participants=[], missing=[])
    if outcome:
        coordinator.append("run.finished", outcome=outcome, reason="someone asked")
    evaluator.append("metric.measured", name="ndcg_at_10", rounds=[measured], values=[0.5])
    coordinator.close()
    evaluator.close()
    return run


@pytest.mark.parametrize(
    ("expect", "outcome", "measured", "verdict"),
    [
        ({}, "completed", 1, "held"),
        ({"ndcg_at_10": "== 0.5", "sometimes": ["round.closed"]}, "completed", 1, "held"),
        ({"ndcg_at_10": "> 0.5"}, "completed", 1, "failed"),
        ({"sometimes": ["client.lost"]}, "completed", 1, "failed"),
        ({"ndcg_at_10": ">= 0.1"}, "stopped", 1, "unknown"),
        ({"ndcg_at_10": ">= 0.1"}, None, 1, "unknown"),
        ({"ndcg_at_10": ">= 0.1"}, "completed", 0, "unknown"),
        ({"maxrr": ">= 0.1"}, "completed", 1, "unknown"),
        ({"maxrr": ">= 0.1", "ndcg_at_10": "> 0.5"}, "completed", 1, "failed"),
    ],
)
def test_the_verdict(tmp_path, expect, outcome, measured, verdict):
    """Held, failed, or unknown: not completed, or a metric without a value of the last model."""
    with open_run(log(tmp_path, expect, outcome, measured)) as run:
        assert summarise(run).verdict == verdict


def test_a_run_without_any_record(tmp_path):
    """Killed before its first word: nothing is known, and that is said."""
    (tmp_path / "journal").mkdir()
    with open_run(tmp_path) as run:
        summary = summarise(run)
    assert (summary.rounds, summary.model, summary.metrics, summary.outcome) == (0, None, {}, None)
    assert summary.verdict == "unknown"
