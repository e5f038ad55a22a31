"""Aggregation rules in whole runs: what is logged of them, resumed, checked, verified, and when a run must stop."""

import json

import pytest

from analysis import open_run
from analysis.check import check, verdict
from analysis.questions import find_question
from analysis.verify import verify
from nodes.launch import launch, resume
from protocol.errors import UserError
from protocol.journal import journal_path, read_journal
from scenarios.load import from_dict


def scenario(source, rule, rounds=30, clients=6, timeline=(), **aggregation):
    """A small inline run with one client that sends random weights."""
    return from_dict(
        {
            "name": "defended",
            "rounds": rounds,
            "data": {"source": source},
            "federation": {"engine": "inline", "hosts": "per-client"},
            "evaluation": {"every": rounds},
            "aggregation": {"rule": rule, **aggregation},
            "clients": [
                {"count": clients - 1, "clicks": "informational"},
                {"id": "mallory", "clicks": "informational", "attack": {"kind": "random"}},
            ],
            "timeline": list(timeline),
        }
    )


def models(run):
    """The hash of every model."""
    return [one["model"] for one in read_journal(journal_path(run, "coordinator")) if one["event"] == "round.closed"]


@pytest.fixture
def source(letor_folder):
    """Twelve features, so that a model is short."""
    return f"letor:{letor_folder}"


@pytest.mark.parametrize("rule", ["guarded", "centred_clipping", "fldetector"])
def test_a_rule_that_remembers_survives_its_coordinator(tmp_path, source, rule):
    """Killed in round 20 and resumed: every model as in an undisturbed run, the log checks and verifies."""
    calm, ending = launch(scenario(source, rule), tmp_path / "calm")
    assert ending.outcome == "completed"
    killed = scenario(source, rule, timeline=[{"at_round": 20, "kill": "coordinator"}])
    run, ending = launch(killed, tmp_path / "killed")
    assert ending.outcome == "aborted"
    assert resume(run).outcome == "completed"
    assert models(run) == models(calm)
    with open_run(run) as opened:
        assert verdict(check(opened)) == "held"
    found = verify(run, everything=True)
    assert (found.verdict, found.models_derived, found.limits) == ("held", 31, [])


def test_decisions_tell_who_was_used_and_why(tmp_path, source):
    """Krum uses one client a round, never the liar; the question names the others as excluded."""
    run, _ = launch(scenario(source, "krum", tolerate=1), tmp_path)
    with open_run(run) as opened:
        used = opened.rows("select round, list(client) as who from decisions where used group by round order by round")
        assert [row["round"] for row in used] == list(range(1, 31))
        assert all(len(row["who"]) == 1 and row["who"] != ["mallory"] for row in used)
        best = opened.rows("select round, arg_min(client, score) as who from decisions group by round order by round")
        assert [row["who"] for row in used] == [[row["who"]] for row in best]
        rows = opened.rows(find_question("who-was-excluded").sql)
        assert (rows[0]["client"], rows[0]["reason"], rows[0]["times"]) == ("mallory", "excluded", 30)
        told = json.loads(opened.rows("select aggregation from rounds where round = 1")[0]["aggregation"])
        assert sorted(told) == ["scores", "used"]


def test_fltrust_takes_the_coordinators_own_judgements(tmp_path, source):
    """The run is verified from its log and the data set; the random weights are trusted less than the honest work."""
    run, ending = launch(scenario(source, "fltrust", judged=10), tmp_path)
    assert ending.outcome == "completed"
    found = verify(run)
    assert (found.verdict, found.models_derived) == ("held", 31)
    with open_run(run) as opened:
        trust = opened.rows("select client = 'mallory' as liar, avg(score) as s from decisions group by 1 order by 1")
        assert trust[0]["s"] > 2 * trust[1]["s"]
        assert verdict(check(opened)) == "held"


def test_a_run_stops_when_too_few_answer_for_its_rule(tmp_path, source):
    """A smaller m would break the promise silently: the sentence has the inequality, and resuming is possible."""
    gone = [{"at_round": 5, "leave": ["client-1", "client-2"]}]
    with pytest.raises(UserError, match=r"round 5 cannot be aggregated: krum needs n > 2m, .*; got n = 2, m = 1"):
        launch(scenario(source, "krum", clients=4, tolerate=1, timeline=gone), tmp_path)
