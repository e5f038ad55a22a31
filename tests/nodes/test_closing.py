"""Runs with a privacy mechanism: what is counted, what it costs, and that every bit can be derived again."""

import json

import orjson
import pytest

from analysis.check import check, verdict
from analysis.pack import pack
from analysis.runs import open_run
from analysis.verify import verify
from nodes.launch import launch, resume
from protocol.journal import journal_path, read_journal
from scenarios.load import from_dict

FOUR_DIE = [{"at_round": 3, "kill": ["client-2", "client-4", "client-6", "client-8"], "restart_after": 2}]
ALL_DIE = [{"at_round": 3, "kill": ["client-2", "client-4", "client-6", "client-8", "client-10"], "restart_after": 2}]


def run_of(where, timeline=(), clients=10, engine="inline", rounds=6, interactions=2, **privacy):
    """A small run of clients with shares of Laplace noise, each on a host of its own."""
    tables = {
        "name": "small",
        "rounds": rounds,
        "data": {"source": "synthetic:mq2007?queries=12&documents=6"},
        "federation": {"engine": engine, "hosts": "per-client", "quorum": 0.1},
        "evaluation": {"every": rounds},
        "learner": {"interactions": interactions},
        "clients": [{"count": clients, "clicks": "informational"}],
        "privacy": {"mechanism": "laplace-shares", "epsilon": 4.5, "sensitivity": 5} | privacy,
        "timeline": list(timeline),
    }
    return launch(from_dict(tables), where)


def accounts(run):
    """The view `privacy` by round."""
    with open_run(run) as opened:
        return {row["round"]: row for row in opened.rows("from privacy order by round")}


def models(run):
    """The hash of every model."""
    return [one["model"] for one in read_journal(journal_path(run, "coordinator")) if one["event"] == "round.closed"]


def is_whole(run):
    """Whether every check holds and every model and update comes out again."""
    with open_run(run) as opened:
        held = verdict(check(opened)) == "held"
    verified = verify(run, everything=True)
    assert verified.models_derived == verified.models, verified.sentence()
    assert verified.updates_recomputed == verified.updates, verified.sentence()
    return held and verified.verdict == "held"


@pytest.mark.parametrize(
    ("remedy", "epsilon", "total"), [("proceed", 6.5289, 40.0 - 8.9422), ("top-up", 4.5, 27.0), ("abort", 0.0, 18.0)]
)
def test_a_round_that_lacks_shares_is_told_and_dealt_with(tmp_path, remedy, epsilon, total):
    """Six of ten shares in two rounds: ε rises, or is topped up, or the rounds are discarded; all is derived again."""
    run, ending = run_of(tmp_path, FOUR_DIE, on_deficit=remedy)
    found = accounts(run)
    assert ending.outcome == "completed"
    assert [found[number]["received"] for number in range(1, 7)] == [10, 10, 6, 6, 10, 10]
    assert {one["promised"] for one in found.values()} == {10}
    assert found[3]["epsilon"] == pytest.approx(epsilon, abs=1e-4)
    assert found[6]["epsilon_basic"] == pytest.approx(total, abs=1e-3)
    assert found[6]["message"] is None
    assert (len(found[3]["givers"]), found[3]["topped_up"]) == ((6, 4) if remedy == "top-up" else (0, 0))
    assert (models(run)[3] == models(run)[2]) == (remedy == "abort")
    assert is_whole(run)
    packed = pack(run, tmp_path / "run.duckdb")
    with open_run(packed) as opened:
        assert verdict(check(opened)) == "held"
        assert [row["value"] for row in opened.rows("select value from metrics where name = 'epsilon' and round = 3")]


def test_half_of_the_shares_leave_no_epsilon(tmp_path):
    """Five of ten: the log has no finite ε of the round, nor of the run from there on; the metric is infinite."""
    run, _ = run_of(tmp_path, ALL_DIE)
    found = accounts(run)
    assert (found[2]["epsilon_basic"], found[3]["epsilon"], found[6]["epsilon_basic"]) == (9.0, None, None)
    assert found[6]["epsilon"] == 4.5
    with open_run(run) as opened:
        (row,) = opened.rows("select value from metrics where name = 'epsilon' and round = 3")
        assert row["value"] == float("inf")


@pytest.mark.parametrize(
    ("budget", "timeline", "rounds", "why"),
    [(20, (), 4, "18 of it is spent, and round 5 would cost 4.5"), (100, ALL_DIE, 2, "9 of it is spent, and round 3")],
)
def test_a_run_ends_before_its_budget_is_exceeded(tmp_path, budget, timeline, rounds, why):
    """By its next round's ε, or by what a round without enough shares would really cost; the run says so."""
    run, ending = run_of(tmp_path, timeline, budget=budget)
    assert ending.outcome == "completed"
    assert why in ending.reason
    assert max(accounts(run)) == rounds


@pytest.mark.parametrize("mechanism", ["central-gaussian", "local-gaussian"])
def test_gaussian_runs_can_be_derived_again(tmp_path, mechanism):
    """The coordinator's noise, and the clients', come from streams of their own; nothing is ever short."""
    run, _ = run_of(tmp_path, FOUR_DIE, clients=9, mechanism=mechanism)
    found = accounts(run)
    assert {one["promised"] for one in found.values()} == {0 if mechanism == "central-gaussian" else 1}
    assert (found[1]["message"] is None) == (mechanism == "central-gaussian")
    assert found[6]["delta_basic"] == pytest.approx(6e-5)
    assert is_whole(run)


def test_a_quorum_of_shares_is_never_short(tmp_path):
    """With the noise of a quorum, six of ten have more than enough."""
    run, _ = run_of(tmp_path, FOUR_DIE, shares="quorum", on_deficit="abort")
    assert {one["epsilon"] for one in accounts(run).values()} == {4.5}
    assert is_whole(run)


def test_processes_top_up_with_the_bits_of_the_inline_engine(tmp_path):
    """Real processes are killed and topped up for: every model is the inline run's."""
    inline, _ = run_of(tmp_path, FOUR_DIE, on_deficit="top-up")
    processes, _ = run_of(tmp_path, FOUR_DIE, on_deficit="top-up", engine="processes")
    assert models(processes) == models(inline)


def test_a_resumed_run_goes_on_with_its_account(tmp_path):
    """Cut after its third round, a run comes to the same models and the same sums."""
    run, _ = run_of(tmp_path, interactions=3, budget=100)
    whole, account = models(run), accounts(run)[6]
    journal = journal_path(run, "coordinator")
    lines = journal.read_bytes().splitlines(keepends=True)
    closed = [at for at, line in enumerate(lines) if b'"round.closed"' in line]
    journal.write_bytes(b"".join(lines[: closed[3] + 2]))
    resume(run)
    assert models(run) == whole
    assert accounts(run)[6] == account


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda one: one["privacy"].update(received=7), "counts 7 shares, and has 6 clients"),
        (lambda one: one.pop("privacy"), "has no account of its privacy"),
        (lambda one: one["privacy"].update(promised=9), "has one of 10 shares in model 3 of 9"),
        (lambda one: one["privacy"].update(givers=[], topped_up=0), "lacks 4 of 10 shares after a top-up"),
        (lambda one: one["privacy"]["givers"].append("client-2"), "client-2 is said to have given noise for model 3"),
    ],
)
def test_a_wrong_count_is_found(tmp_path, change, sentence):
    """The checker of noise shares fails on a log whose count was changed."""
    run, _ = run_of(tmp_path, FOUR_DIE, on_deficit="top-up")
    journal = journal_path(run, "coordinator")
    records = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    change(next(one for one in records if one["event"] == "round.closed" and one["round"] == 3))
    journal.write_bytes(b"".join(orjson.dumps(one) + b"\n" for one in records))
    with open_run(run) as opened:
        (found,) = [one for one in check(opened) if one.name == "noise-shares-are-counted"]
    assert found.verdict == "failed"
    assert any(sentence in offender["detail"] for offender in found.offenders)
