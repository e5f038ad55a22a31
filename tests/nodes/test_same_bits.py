"""Same scenario and seed, same bits: whatever the engine, the number of processes, or the crashes survived."""

import os
import signal
import time
from pathlib import Path

import psutil
import pytest

from nodes.launch import launch
from protocol.journal import journal_path, read_journal
from scenarios.load import load_scenario

ROUNDS = 40
LAYOUTS = {
    "ten processes": ("processes", "per-client"),
    "two hosts": ("processes", "2"),
    "one host": ("processes", "1"),
    "inline": ("inline", "auto"),
    "inline, a host a client": ("inline", "per-client"),
}


def models(run: Path) -> list[str]:
    """The sha256 of every round's model, in order."""
    records = read_journal(journal_path(run, "coordinator"))
    closed = [(one["round"], one["model"]) for one in records if one["event"] == "round.closed"]
    assert [number for number, _ in closed] == list(range(len(closed)))
    return [model for _, model in closed]


def run_models(where: Path, source: str, engine: str, hosts: str, *more: str) -> list[str]:
    """The models of a run in the given layout."""
    """The models of a run in the given layout."""
    overrides = [f"rounds={ROUNDS}", f"data.source={source}", f"federation.hosts={hosts}", "expect.ndcg_at_10='>= 0'"]
    run, ending = launch(load_scenario("quickstart", [*overrides, *more], engine=engine), where)
    assert ending.outcome == "completed", ending
    return models(run)


@pytest.mark.parametrize("ranker", ["linear", "neural"])
def test_every_layout_gives_the_same_models_twice(tmp_path, letor_folder, ranker):
    """Ten processes, two hosts, one host and inline agree on every model of every round, each time they are run."""
    more = [f"ranker.kind={ranker}"] + (["ranker.hidden=8"] if ranker == "neural" else [])
    source = f"letor:{letor_folder}"
    found = {
        (layout, again): run_models(tmp_path, source, engine, hosts, *more)
        for layout, (engine, hosts) in LAYOUTS.items()
        for again in (1, 2)
    }
    expected = found["ten processes", 1]
    assert len(expected) == ROUNDS + 1
    assert len(set(expected)) > ROUNDS // 2
    assert {key: one == expected for key, one in found.items()} == dict.fromkeys(found, True)


def test_another_seed_gives_other_models(tmp_path, letor_folder):
    """The seed decides the models."""
    one = run_models(tmp_path, f"letor:{letor_folder}", "inline", "auto", "seed=1")
    other = run_models(tmp_path, f"letor:{letor_folder}", "inline", "auto", "seed=2")
    assert one[0] == other[0]
    assert one[1:] != other[1:]


def test_a_client_learns_the_same_whoever_else_takes_part(tmp_path, letor_folder):
    """A client's first update depends on its id, not on its number or its company."""

    def first_update(*overrides: str) -> list[float]:
        scenario = load_scenario("quickstart", [f"data.source=letor:{letor_folder}", "rounds=1", *overrides])
        run, _ = launch(
            scenario.model_copy(update={"federation": scenario.federation.model_copy(update={"engine": "inline"})}),
            tmp_path,
        )
        for record in read_journal(journal_path(run, "coordinator")):
            if record["event"] == "update.received":
                return record["thetas"][record["clients"].index("client-2")]
        raise AssertionError("no update")

    assert first_update("clients[0].count=2") == first_update("clients[0].count=7")


def test_kills_under_wait_leave_no_trace_in_the_models(tmp_path, letor_folder, start_foltr):
    """Hosts killed again and again in a run that waits and restarts: every model as in an undisturbed run."""
    rounds = 400
    source = f"data.source=letor:{letor_folder}"
    overrides = [source, f"rounds={rounds}", "federation.on_missing=wait", "federation.restart=always"]
    process = start_foltr("run", "quickstart", *[word for one in overrides for word in ("--set", one)])
    supervisor = psutil.Process(process.pid)
    killed = 0
    while killed < 6 and process.poll() is None:
        hosts = [one for one in supervisor.children(recursive=True) if "client-" in " ".join(one.cmdline()[:1])]
        if len(hosts) == 10:
            os.kill(hosts[killed % 10].pid, signal.SIGKILL)
            killed += 1
            time.sleep(0.1)
        time.sleep(0.01)
    out, error = process.communicate(timeout=60)
    assert killed == 6, "the run was over before it could be disturbed"
    assert "completed" in out, error
    undisturbed, _ = launch(
        load_scenario("quickstart", [source, f"rounds={rounds}"], engine="inline"), tmp_path / "calm"
    )
    assert models((tmp_path / "runs" / "latest").resolve()) == models(undisturbed)


def test_a_node_that_is_started_twice_over_is_one_node(tmp_path, letor_folder):
    """`restart = "always"` and `restart_after` both bring a client back; the bits are as without the kill."""
    shared = [
        "rounds=20",
        f"data.source=letor:{letor_folder}",
        "federation.on_missing=wait",
        "expect.ndcg_at_10='>= 0'",
    ]
    faults = """[
        {at_round=5, kill="client-1", restart_after="1s"}, {at_round=6, drop="client-1", probability=0.5, for="9s"}
    ]"""
    stormy = [*shared, "federation.restart=always", f"timeline={' '.join(faults.split())}"]
    found = []
    for changes in (shared, stormy):
        run, ending = launch(load_scenario("quickstart", changes, engine="inline"), tmp_path)
        assert ending.outcome == "completed", ending
        found.append(models(run))
    assert found[0] == found[1]


def test_whom_a_timeline_hits_does_not_depend_on_the_engine(tmp_path, letor_folder):
    """One client of ten is killed, and only that one is missing, with hosts as the engine chooses them."""
    overrides = [
        "rounds=8",
        f"data.source=letor:{letor_folder}",
        "expect.ndcg_at_10='>= 0'",
        "timeline=[{at_round=4, kill='client-3'}]",
    ]
    for engine in ("processes", "inline"):
        run, _ = launch(load_scenario("quickstart", overrides, engine=engine), tmp_path)
        closed = [one for one in read_journal(journal_path(run, "coordinator")) if one["event"] == "round.closed"]
        assert [one["missing"] for one in closed] == [[]] * 4 + [["client-3"]] * 5


def test_a_run_that_ends_in_bad_weather_ends_at_once(tmp_path, letor_folder):
    """Its hosts hear that it is over although every frame to them is lost, so that none has to be killed."""
    overrides = [
        "rounds=3",
        f"data.source=letor:{letor_folder}",
        "expect.ndcg_at_10='>= 0'",
        "federation.deadline=200ms",
        "federation.quorum=0.1",
        "timeline=[{at_round=2, drop=['client-1', 'client-2'], for='1h'}]",
    ]
    run, ending = launch(load_scenario("quickstart", overrides), tmp_path)
    assert ending.outcome == "completed", ending
    for client in ("client-1", "client-2", "client-3"):
        assert "finish.received" in [one["event"] for one in read_journal(journal_path(run, client))]


@pytest.mark.parametrize("engine", ["processes", "inline"])
def test_a_new_coordinator_is_told_who_is_dead(tmp_path, letor_folder, engine):
    """One client dies for good, then the coordinator is replaced: the run goes on without the client."""
    overrides = [
        "rounds=12",
        f"data.source=letor:{letor_folder}",
        "expect.ndcg_at_10='>= 0'",
        "timeline=[{at_round=4, kill='client-3'}, {at_round=8, restart='coordinator'}]",
    ]
    run, ending = launch(load_scenario("quickstart", overrides, engine=engine), tmp_path)
    assert ending.outcome == "completed", ending
    closed = [one for one in read_journal(journal_path(run, "coordinator")) if one["event"] == "round.closed"]
    assert [one["missing"] for one in closed] == [[]] * 4 + [["client-3"]] * 9
