"""Runs of evolution strategies: the same bits everywhere, and nothing on the wire but seeds and two figures."""

import json
from itertools import pairwise
from math import log

import pytest

from analysis.check import problems
from analysis.pack import pack
from analysis.rerun import variation
from analysis.runs import open_run
from analysis.summary import summarise
from analysis.verify import verify
from analysis.wording import summary_text
from nodes.launch import launch
from protocol.journal import journal_path, read_journal
from scenarios.load import from_dict
from scenarios.problems import ScenarioError

SCENARIO = {
    "name": "es",
    "rounds": 6,
    "data": {"source": "synthetic:mq2007?queries=12&documents=6"},
    "federation": {"engine": "inline", "on_missing": "wait", "restart": "always"},
    "learner": {"kind": "es", "p": 0.5},
    "clients": [{"count": 5, "clicks": "informational"}],
}
KILLED = [
    {"at_round": 2, "kill": "client-2", "restart_after": "1s"},
    {"at_round": 4, "kill": "coordinator"},
    {"at_round": 5, "restart": "client-4"},
]


def run_of(where, **tables):
    """A run of the scenario with some of its keys different."""
    federation = SCENARIO["federation"] | tables.pop("federation", {})
    run, ending = launch(from_dict(SCENARIO | {"federation": federation} | tables), where)
    assert ending.outcome == "completed", ending
    return run


def models(run):
    """The hash of every model."""
    records = read_journal(journal_path(run, "coordinator"))
    return [record["model"] for record in records if record["event"] == "round.closed"]


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    """An undisturbed run in one process."""
    return run_of(tmp_path_factory.mktemp("runs"))


def test_every_layout_and_every_crash_gives_the_same_models(calm, tmp_path):
    """One host, a host a client, two processes whose coordinator is killed: Adam's memory comes back from the log."""
    expected = models(calm)
    assert len(expected) == 7
    assert all(one != other for one, other in pairwise(expected))
    assert models(run_of(tmp_path, federation={"hosts": "per-client"}, timeline=KILLED)) == expected
    assert models(run_of(tmp_path, federation={"hosts": 2, "engine": "processes"}, timeline=KILLED[1:2])) == expected


def test_a_run_can_be_checked_and_computed_again(calm, tmp_path):
    """Every model from the trials, every trial from the models; also out of a packed file."""
    assert problems(calm) == []
    found = verify(calm, everything=True)
    assert (found.verdict, found.models_derived, found.updates_recomputed) == ("held", 7, 30)
    packed = pack(calm, tmp_path / "es.duckdb")
    assert problems(packed) == []
    assert verify(packed, everything=True).updates_recomputed == 30


def test_the_coordinator_hears_nothing_but_seeds_and_figures(calm):
    """Its log has no online measure and no weights of a client; what users saw is in the hosts' log, true and whole."""
    heard = [one for one in read_journal(journal_path(calm, "coordinator")) if one["event"] == "trial.received"]
    assert len(heard) == 6
    told = {"event", "ts", "node", "seq", "cause", "round", "direction", "message", "peers", "id", "bytes"}
    assert {name for one in heard for name in one} == told | {"clients", "interactions", "seeds", "fitness"}
    assert all(one["bytes"] < 32 * 5 + 100 for one in heard)
    with open_run(calm) as run:
        rows = run.rows("select * from updates order by round, client")
        values = run.rows("select value from metrics where name = 'maxrr' order by round, client")
        online = run.rows("select count(*) as n from metrics where name in ('online', 'online_ndcg_at_10')")
    assert [row["maxrr"] for row in rows] == [one["value"] for one in values]
    assert len(rows) == 30
    assert online == [{"n": 36}]
    assert any((row["f_plus"] + row["f_minus"]) / 2 != row["maxrr"] for row in rows)  # privatised
    assert all(row["theta"] is None and row["seed"] < 2**53 for row in rows)


def test_the_summary_tells_what_is_private(calm):
    """P = 0.5 of eleven values is a local ε of ln 10 for one interaction; where the truth is told there is none."""
    with open_run(calm) as run:
        summary = summarise(run)
    assert summary.local_epsilon == pytest.approx(log(10))
    assert "local ε = 2.303 for what a client tells of one interaction" in summary_text(summary, "foltr", "latest")


def test_what_cannot_be_replayed_is_refused_in_one_sentence(calm):
    """Without a client works; by a rule of models does not."""
    with open_run(calm) as run:
        without = variation(run, without=["client-3"])
        median = variation(run, rule="fedavg")
    assert from_dict(without).learner.kind == "es"
    with pytest.raises(ScenarioError, match=r"es sends no weights.*only \"adam\"; got \"fedavg\""):
        from_dict(median)
    assert json.loads(json.dumps(without)) == without
