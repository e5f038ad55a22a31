"""Defences held against recorded updates."""

import json

import numpy as np
import pytest

from analysis.audit import attackers, audit, with_rule
from analysis.runs import open_run
from nodes.launch import launch
from protocol.errors import UserError
from protocol.journal import journal_path, read_journal
from scenarios.load import from_dict

SOURCE = "synthetic:mq2007?queries=12&documents=6"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Six clients, one of which sends large random weights from round 5 on; ten rounds."""
    groups = [
        {"count": 5, "clicks": "informational"},
        {"id": "mallory", "clicks": "informational", "attack": {"kind": "random", "scale": 50.0, "start": 5}},
    ]
    tables = {"rounds": 10, "data": {"source": SOURCE}, "federation": {"engine": "inline"}, "clients": groups}
    run, _ = launch(from_dict(tables), tmp_path_factory.mktemp("runs"))
    return run


def test_a_rule_is_tried_on_every_round(recorded):
    """Multi-Krum leaves one out a round: mallory in the six in which it lies, an honest client in the other four."""
    with open_run(recorded) as run:
        (found,) = audit(run, ["multi_krum"])
    assert (found.tolerate, len(found.rounds), found.excluded, found.attacks, found.caught) == (1, 10, 10, 6, 6)
    assert (found.precision, found.recall, found.wrongly) == (0.6, 1.0, 4 / 54)
    assert all(one.excluded == ["mallory"] for one in found.rounds[4:])
    closed = [one for one in read_journal(journal_path(recorded, "coordinator")) if one["event"] == "round.closed"]
    last, before = (np.array(closed[at]["theta"]) for at in (-1, -2))
    assert found.rounds[-1].logged == pytest.approx(np.linalg.norm(last - before))
    assert found.rounds[-1].moved < 0.2 * found.rounds[-1].logged


def test_the_runs_own_rule_makes_the_runs_own_models(recorded):
    """No distance in any round, nobody left out, and so no precision."""
    with open_run(recorded) as run:
        (found,) = audit(run, ["fedavg"])
    assert [one.apart for one in found.rounds] == [0.0] * 10
    assert (found.precision, found.recall, found.apart) == (None, 0.0, 0.0)


def test_what_cannot_be_tried_is_said(recorded):
    """Too few clients for a rule: a row with the reason, and the others go on. No such rule: one sentence."""
    with open_run(recorded) as run:
        found = {one.rule: one for one in audit(run, ["bulyan", "nnm+median"])}
        with pytest.raises(UserError, match=r"a rule must be one of fedavg, krum.*; got 'nonsense'"):
            next(audit(run, ["median", "nonsense"]))
    assert "n ≥ 4m + 3" in found["bulyan"].problem
    assert (len(found["nnm+median"].rounds), found["nnm+median"].problem) == (10, "")


def test_a_rule_is_told_how_many_to_tolerate():
    """What is given, else what the run's own rule was told, else as many as there are attackers."""
    told = {"aggregation": {"rule": "krum", "tolerate": 3}}
    assert with_rule(told, "median", 2, 4)["aggregation"] == {"rule": "median", "tolerate": 2}
    assert with_rule(told, "median", None, 4)["aggregation"] == {"rule": "median", "tolerate": 3}
    assert with_rule({"aggregation": {}}, "nnm+krum", None, 4)["aggregation"] == {
        "rule": ["nnm", "krum"],
        "tolerate": 4,
    }
    assert with_rule(told, "fedavg", None, 4)["aggregation"] == {"rule": "fedavg"}


def test_who_attacks_is_who_changes_updates(recorded):
    """By rounds; poisoned users always, and those who only break the protocol never."""
    with open_run(recorded) as run:
        assert [attackers(run).in_round(number) for number in (4, 5)] == [set(), {"mallory"}]
        assert attackers(run).count == 1


def test_the_command_prints_one_table_and_replay_both_loops(foltr, recorded):
    """A line a rule; replay has the audit of every round, and the new run."""
    done = foltr("audit", str(recorded), "--rules", "krum,bulyan", "--json")
    assert [one["rule"] for one in json.loads(done.stdout)] == ["krum", "bulyan"]
    assert "precision" in foltr("audit", str(recorded), "--rules", "median").stdout
    told = json.loads(foltr("replay", str(recorded), "--aggregation", "median", "--json").stdout)
    assert (len(told["audit"]["rounds"]), told["audit"]["open_loop"], told["rounds"]) == (10, True, 10)
    only = foltr("replay", str(recorded), "--aggregation", "median", "--open-loop")
    assert "clients did not react to it" in only.stdout
    assert "verdict" not in only.stdout
    wrong = foltr("replay", str(recorded), "--open-loop")
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
