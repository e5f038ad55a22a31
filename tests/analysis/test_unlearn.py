"""Unlearning from the log: the same bits as live, a proof, an erasure record, a log without the leaver's updates."""

import json
from pathlib import Path

import pytest

from analysis.check import check, verdict
from analysis.erasure import log_hashes, write_erasure
from analysis.pack import pack
from analysis.proof import curves_of, forgotten, proven, results_text
from analysis.report import report_body
from analysis.runs import open_run
from analysis.unlearn import forgetful_runs, settings_of
from analysis.verify import verify
from nodes.erasing import erase_client
from nodes.launch import launch
from nodes.together import Job, launch_together
from protocol.errors import UserError
from protocol.journal import journal_path, read_journal
from scenarios.load import from_dict

ROUNDS = 14
METHODS = ["federaser", "fedavg-retrain", "accumulate", "subtract", "rollback", "retrain"]


def scenario(source: str, *timeline: dict):
    """Four honest clients, one that comes late, one that is away for a while, and a liar."""
    happenings = [{"at_round": 6, "add": 1, "id": "late"}, {"at_round": 5, "kill": "client-1", "restart_after": 2}]
    return from_dict(
        {
            "name": "taught",
            "rounds": ROUNDS,
            "data": {"source": source},
            "federation": {"engine": "inline", "hosts": "per-client"},
            "clients": [
                {"count": 4, "clicks": "navigational"},
                {"id": "mallory", "clicks": "navigational", "attack": {"kind": "sign_flip", "z": 2}},
            ],
            "timeline": [*happenings, *timeline],
        }
    )


def models(run: Path, phase: str | None = None) -> list[str]:
    """The models of a run, of one phase if it is named."""
    closed = (one for one in read_journal(journal_path(run, "coordinator")) if one["event"] == "round.closed")
    return [one["model"] for one in closed if phase is None or one.get("phase", "training") == phase]


@pytest.fixture(scope="module")
def source(letor_folder):
    """The small data set."""
    return f"letor:{letor_folder}"


@pytest.fixture(scope="module")
def parent(tmp_path_factory, source):
    """The run that is to forget."""
    return launch(scenario(source), tmp_path_factory.mktemp("parent"))[0]


@pytest.fixture(scope="module")
def children(tmp_path_factory, parent):
    """A run a method, from the parent's packed log, by method."""
    with open_run(pack(parent, parent.parent / "taught.duckdb")) as opened:
        made, after = forgetful_runs(opened, ["mallory"], settings_of(METHODS, [3], [2]), "inline")
    assert after == ROUNDS
    jobs, counted = [Job(one.scenario, one.unlearning) for one in made], []
    ended = launch_together(jobs, tmp_path_factory.mktemp("children"), str(parent), 1, counted.append)
    assert counted == list(range(1, len(METHODS) + 1))
    assert {ending.outcome for _, ending in ended} == {"completed"}
    return {one.settings["method"]: (one.settings, run) for one, (run, _) in zip(made, ended, strict=True)}


@pytest.mark.parametrize("method", METHODS)
def test_live_and_from_the_log_give_the_same_bits(tmp_path, source, children, method):
    """A client that leaves after the last round is forgotten live with the models that its log gives later."""
    settings, run = children[method]
    leave = {"at_round": ROUNDS + 1, "leave": "mallory", "forget": settings}
    live, ending = launch(scenario(source, leave), tmp_path)
    assert ending.outcome == "completed"
    assert models(live, "unlearning") == models(run)


@pytest.mark.parametrize("method", METHODS)
def test_every_child_is_checked_and_verified_and_knows_its_parent(parent, children, method):
    """All checks hold; what is made of another run's updates cannot be made again from the child alone."""
    _, run = children[method]
    with open_run(run) as opened:
        assert verdict(check(opened)) == "held"
        assert opened.rows("select parent from run") == [{"parent": str(parent)}]
    expected = "unknown" if method in ("accumulate", "subtract") else "held"
    assert verify(run, everything=True).verdict == expected


def test_the_report_tells_who_was_forgotten_and_how(children, parent):
    """A part of its own, on the page of a run that forgot and on no other."""
    page = report_body(children["federaser"][1], "child")
    assert all(word in page for word in ("Forgetting", "mallory", "method federaser, every 3, interactions 2"))
    assert "Forgetting" not in report_body(parent, "parent")


def test_the_proof_compares_with_exact_retraining(parent, children):
    """Retraining is its own ground truth; others are some way off and as much cheaper as theory says."""
    found = [forgotten(settings, run) for settings, run in children.values()]
    made = {one.settings["method"]: one for one in proven(found, found[-1], parent, ["mallory"], ROUNDS)}
    exact, near = made["retrain"].proof, made["federaser"].proof
    assert (exact["distance"], exact["kendall_tau"], exact["rbo_at_10"]) == (0, 1, pytest.approx(1))
    assert exact["ratios"]["interactions"] == 1
    assert near["distance"] > 0
    assert -1 <= near["kendall_tau"] < 1
    assert near["theory"] == {"interactions": 5 / 2 * 3, "rounds": 3.0}
    assert near["ratios"]["rounds"] == ROUNDS / 5
    assert made["rollback"].proof["theory"] is None
    text = results_text(list(made.values()))
    assert len(text.splitlines()) == 1 + len(METHODS)
    curve = curves_of(found)[0]
    assert curve.rounds == [0, 1, 4, 7, 10, 13]


def test_an_erasure_record_is_held_against_the_files(parent, children):
    """A byte more in the child's log breaks it; a parent that is gone is said to be."""
    settings, run = children["federaser"]
    path = write_erasure(forgotten(settings, run), parent, log_hashes(parent), ["mallory"], ROUNDS)
    assert json.loads(path.read_text())["asked"]["clients"] == ["mallory"]
    assert verify(run).verdict == "held"
    journal = run / "journal" / "evaluator.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole + b"{}\n")
    found = verify(run)
    assert found.problems == ["evaluator.jsonl of the erasure record's own log"]
    journal.write_bytes(whole)
    path.write_text(path.read_text().replace(str(parent), "/nowhere"))
    assert "the log before erasure, which is not there any more" in verify(run).limits
    path.unlink()


def test_a_log_can_lose_a_clients_updates_and_still_be_checked(tmp_path, source):
    """Weights, lengths and what users saw are gone; models stay, and what cannot be computed again is said."""
    run, _ = launch(scenario(source), tmp_path)
    before = models(run)
    pack(run)
    assert erase_client(run, "mallory") == ROUNDS
    assert erase_client(run, "mallory") == 0
    assert not (run / "run.duckdb").exists()
    assert models(run) == before
    with open_run(run) as opened:
        rows = opened.rows("select client, count(theta) as kept, count(norm) as told from updates group by client")
        checks = {one.name: one.verdict for one in check(opened)}
    assert {row["client"]: row["kept"] for row in rows}["mallory"] == 0
    assert {row["client"]: row["told"] for row in rows}["mallory"] == 0
    assert min(row["kept"] for row in rows if row["client"] != "mallory") > 0
    assert checks.pop("aggregations-can-be-repeated") == "unknown"
    assert set(checks.values()) == {"held"}
    found = verify(run, everything=True)
    assert (found.verdict, found.problems) == ("held", [])
    assert any("erased" in one for one in found.limits)


def test_what_cannot_be_forgotten_is_refused_in_one_sentence(parent):
    """Unknown clients, rounds and methods."""
    with open_run(parent) as opened:
        for leavers, at, words in (
            (["bob"], None, "one of client-1"),
            ([], None, "nobody"),
            (["late"], 99, "round 99"),
        ):
            with pytest.raises(UserError, match=words):
                forgetful_runs(opened, leavers, settings_of(["rollback"], [1], [1]), "inline", at)
    with pytest.raises(UserError, match="federaser, retrain"):
        settings_of(["amnesia"], [1], [1])
    with pytest.raises(UserError, match="one of client-1"):
        erase_client(parent, "bob")
