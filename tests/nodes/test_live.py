"""A live run can be operated, killed, grown, stopped and resumed, and nothing is lost."""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from nodes import control
from nodes.launch import launch
from protocol.journal import journal_path, read_journal
from scenarios.load import load_scenario

SMALL = "synthetic:mq2007?queries=40&documents=10"


def records(run, node, event):
    """All records of an event in a node's log."""
    return [one for one in read_journal(journal_path(run, node)) if one["event"] == event]


def models(run):
    """The sha256 of every round's model; a round is closed once."""
    closed = records(run, "coordinator", "round.closed")
    assert [one["round"] for one in closed] == list(range(len(closed)))
    return [one["model"] for one in closed]


def eventually(condition, seconds=60.0):
    """Wait for a condition and give its value; fail if it does not come true."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError("it did not happen")


@pytest.fixture
def live(tmp_path, foltr):
    """A detached run with six clients and a way to give it orders."""

    def start(*sets):
        words = [word for one in ("clients[0].count=6", f"data.source={SMALL}", *sets) for word in ("--set", one)]
        done = foltr("run", "quickstart", "--detach", "--json", *words)
        assert done.returncode == 0, done.stderr
        facts = json.loads(done.stdout)
        run = tmp_path / "runs" / "latest"
        eventually(lambda: len(records(run.resolve(), "coordinator", "round.closed")) > 3)
        return run.resolve(), facts["pid"]

    yield start
    foltr("stop", "latest")
    for process in psutil.process_iter(["cmdline"]):
        if any(str(tmp_path) in word for word in process.info["cmdline"] or ()):
            process.kill()


def ended(run):
    """The record of a run's end, if it has one."""
    return records(run, "coordinator", "run.finished")


def order(foltr, *words):
    """Give an order that must be obeyed; what was done."""
    done = foltr(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_orders_are_obeyed_and_logged_with_who_gave_them(live, foltr):
    """ps, kill, pause, unpause, restart, add, leave and stop, from another terminal."""
    run, _ = live("rounds=1000000", "expect.sometimes=[]")
    nodes = {row["name"]: row for row in order(foltr, "ps", "latest")}
    assert {name for name in nodes if name.startswith("client-")} == {f"client-{one}" for one in range(1, 7)}
    assert all(psutil.pid_exists(row["pid"]) and row["state"] == "running" for row in nodes.values())
    assert order(foltr, "kill", "latest", "client-3") == ["kill: client-3"]
    assert order(foltr, "add", "latest", "--count", "2", "--clicks", "informational") == [
        "added client-7",
        "added client-8",
    ]
    assert order(foltr, "leave", "latest", "client-5") == ["client-5 leaves"]
    assert order(foltr, "pause", "latest", "client-1") == ["pause: client-1"]
    states = {row["name"]: row["state"] for row in order(foltr, "ps", "latest")}
    assert (states["client-3"], states["client-1"], states["client-7"]) == ("dead", "paused", "running")
    order(foltr, "unpause", "latest", "client-1")
    order(foltr, "restart", "latest", "client-3")
    want = {"client-1", "client-2", "client-3", "client-4", "client-6", "client-7", "client-8"}
    eventually(lambda: set(records(run, "coordinator", "round.closed")[-1]["participants"]) == want)
    order(foltr, "stop", "latest")
    assert eventually(lambda: ended(run))[0]["outcome"] == "stopped"
    given = {one["name"]: one["by"] for one in records(run, "supervisor", "order.received")}
    assert set(given) == {"ps", "kill", "add", "leave", "pause", "unpause", "restart", "stop"}
    assert all("@" in by for by in given.values())
    (left,) = records(run, "coordinator", "client.left")
    later = [one for one in records(run, "coordinator", "round.closed") if one["round"] >= left["round"]]
    assert later
    assert not any("client-5" in one["participants"] + one["missing"] for one in later)


def test_what_was_typed_becomes_a_scenario_with_the_same_models(live, foltr, tmp_path):
    """`scenario from-run` after kills, a restart, an addition and a leave: the same bits, in another engine."""
    run, _ = live("rounds=1000000")
    for verb, whom, settings in (
        ("kill", ("client-2",), {}),
        ("add", (), {"clicks": "perfect"}),
        ("restart", ("client-2",), {}),
        ("leave", ("client-4",), {}),
        ("kill", ("client-6",), {}),
        ("stop", (), {}),
    ):
        control.order(run, verb, whom, **settings)
        time.sleep(0.3)
    eventually(lambda: ended(run))
    done = foltr("scenario", "from-run", "latest")
    (tmp_path / "again.toml").write_text(done.stdout)
    rounds = len(models(run)) - 1
    scenario = load_scenario(tmp_path / "again.toml", [f"rounds={rounds}"], engine="inline")
    again, ending = launch(scenario, tmp_path / "again")
    assert ending.outcome == "completed"
    assert models(again) == models(run)


MISTAKES = {
    ("kill", "latest", "client-99"): "'client-99' is not a node; known are client-1",
    ("kill", "latest", "200%"): "a fraction must be above 0% and at most 100%",
    ("kill", "latest", "client-1", "--signal", "NOISE"): "a signal must be one of",
    ("add", "latest", "--id", "client-2"): "a new client's id must be unique",
    ("unpause", "latest", "evaluatr"): "'evaluatr' is not a node",
}


def test_an_order_that_cannot_be_obeyed_is_one_sentence(live, foltr):
    """The sentence names the value and the choices; the run goes on."""
    run, _ = live("rounds=1000000")
    for words, sentence in MISTAKES.items():
        done = foltr(*words)
        assert done.returncode == 2
        assert sentence in done.stderr
        assert "Traceback" not in done.stderr
    before = len(records(run, "coordinator", "round.closed"))
    eventually(lambda: len(records(run, "coordinator", "round.closed")) > before)


def test_an_order_to_a_run_that_is_over_says_so(foltr):
    """Nobody is there to obey."""
    foltr("run", "quickstart", "--engine", "inline", "--set", "rounds=3", "--set", f"data.source={SMALL}")
    done = foltr("kill", "latest", "client-1")
    assert done.returncode == 2
    assert "is not live" in done.stderr


@pytest.mark.parametrize("victim", ["coordinator", "supervisor"])
def test_a_run_killed_hard_is_resumed_with_the_same_bits(live, foltr, tmp_path, victim):
    """The coordinator or the whole run killed with -9: `resume` goes on from the last closed round to the same end."""
    run, supervisor = live("rounds=2000")
    nodes = {one["name"]: one["pid"] for one in records(run, "supervisor", "node.started")}
    os.kill(nodes["coordinator"] if victim == "coordinator" else supervisor, signal.SIGKILL)
    eventually(
        lambda: not psutil.pid_exists(nodes["client-1"]) or psutil.Process(nodes["client-1"]).status() == "zombie"
    )
    eventually(lambda: foltr("ps", "latest").returncode == 2)
    stood = len(models(run)) - 1
    assert 0 < stood < 2000
    done = foltr("resume", "latest", "--json")
    assert json.loads(done.stdout)["outcome"] == "completed", done.stderr
    assert [one["round"] for one in records(run, "coordinator", "run.resumed")] == [stood]
    overrides = ["rounds=2000", "clients[0].count=6", f"data.source={SMALL}"]
    calm, _ = launch(load_scenario("quickstart", overrides, engine="inline"), tmp_path / "calm")
    assert models(run) == models(calm)
    measured = [number for one in records(run, "evaluator", "metric.measured") for number in one["rounds"]]
    assert sorted(measured) == list(range(2001))
    assert foltr("resume", "latest").returncode == 2


def test_chaos_leaves_no_trace_in_the_models(live, foltr, tmp_path):
    """Random nodes, the coordinator among them, killed -9 twenty times in a run that waits: the same bits."""
    chance = random.Random(11)
    run, _ = live("rounds=1000000", "federation.on_missing=wait", "federation.restart=always")
    killed = []
    until = time.monotonic() + 120
    while len(killed) < 20 and time.monotonic() < until and not ended(run):
        names = {one["name"]: one["pid"] for one in records(run, "supervisor", "node.started")}
        victim = "coordinator" if len(killed) % 7 == 3 else chance.choice(sorted(names.keys() - {"coordinator"}))
        if victim in names:
            try:
                os.kill(names[victim], signal.SIGKILL)
            except ProcessLookupError:
                continue
            killed.append(victim)
            time.sleep(0.15)
    assert len(killed) == 20, "the run ended, or the machine is too slow"
    assert killed.count("coordinator") >= 2
    stood = len(models(run))
    eventually(lambda: len(models(run)) > stood + 10)
    assert order(foltr, "stop", "latest")
    assert ended(run)
    overrides = [f"rounds={len(models(run)) - 1}", "clients[0].count=6", f"data.source={SMALL}"]
    calm, _ = launch(load_scenario("quickstart", overrides, engine="inline"), tmp_path / "calm")
    assert models(run) == models(calm)


def test_a_full_disk_stops_the_run_with_a_sentence_and_can_be_resumed(tmp_path, foltr):
    """When the log cannot grow, the run ends with the reason; with room again, it goes on to the same models."""

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    words = [
        Path(sys.executable).with_name("foltr"),
        "run",
        "quickstart",
        "--set",
        "rounds=600",
        "--set",
        "clients[0].count=3",
        "--set",
        f"data.source={SMALL}",
    ]
    foltr("data", "describe", SMALL)
    done = subprocess.run(
        words, cwd=tmp_path, capture_output=True, text=True, preexec_fn=small_files, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "the log cannot be written: File too large" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    run = (tmp_path / "runs" / "latest").resolve()
    assert 0 < len(models(run)) < 600
    assert json.loads(foltr("resume", "latest", "--json").stdout)["outcome"] == "completed"
    overrides = ["rounds=600", "clients[0].count=3", f"data.source={SMALL}"]
    calm, _ = launch(load_scenario("quickstart", overrides, engine="inline"), tmp_path / "calm")
    assert models(run) == models(calm)
