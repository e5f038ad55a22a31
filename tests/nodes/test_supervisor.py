"""Real processes: they are seen, they are missed when they die, and none of them outlives the run."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import orjson
import psutil
import pytest

from protocol.journal import journal_path, read_journal

LONG = ("run", "quickstart", "--set", "rounds=100000")


def eventually(condition, seconds: float = 60.0):
    """Wait for a condition and give its value; fail if it does not come true."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError("it did not happen")


def nodes_of(pid: int) -> dict[str, psutil.Process]:
    """The living nodes below a supervisor, by name."""
    found = {}
    for child in psutil.Process(pid).children(recursive=True):
        try:
            words = child.cmdline()[0].split()
        except (psutil.Error, IndexError):
            continue
        if words[0] == "foltr" and len(words) > 2:
            found[words[1]] = child
    return found


def alive(process: psutil.Process) -> bool:
    """Whether a process does anything any more; one that only its parent has not buried yet does not."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def records(directory: Path, node: str, event: str) -> list[dict]:
    """All records of an event in the latest run."""
    path = journal_path((directory / "runs" / "latest").resolve(), node)
    return [one for one in read_journal(path) if one["event"] == event] if path.exists() else []


def rounds_closed(directory: Path) -> int:
    """How many rounds the latest run has closed; 0 if there is none yet."""
    return max((one["round"] for one in records(directory, "coordinator", "round.closed")), default=0)


@pytest.fixture
def running(tmp_path, start_foltr) -> Iterator[tuple]:
    """A long run with ten clients, some rounds in."""
    process = start_foltr(*LONG)
    eventually(lambda: rounds_closed(tmp_path))
    return process, nodes_of(process.pid)


def test_ten_clients_a_coordinator_and_an_evaluator_are_visible(running):
    """Every node is a process of its own that `ps` shows by name."""
    _, nodes = running
    assert set(nodes) == {"coordinator", "evaluator", *(f"client-{number}" for number in range(1, 11))}


def test_ctrl_c_stops_everything_cleanly(running, tmp_path):
    """After Ctrl-C the run has an end in its log, nobody is left, and the exit code says that nothing was decided."""
    process, nodes = running
    for node in nodes.values():  # a terminal sends it to the whole group
        os.kill(node.pid, signal.SIGINT)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 2
    assert "interrupted by Ctrl-C" in out
    (end,) = records(tmp_path, "coordinator", "run.finished")
    assert end["outcome"] == "stopped"
    closed = records(tmp_path, "coordinator", "round.closed")
    assert end["round"] == closed[-1]["round"]
    assert end["model"] == closed[-1]["model"]
    assert records(tmp_path, "evaluator", "metric.measured")[-1]["rounds"][-1] == end["round"]
    assert not any(map(alive, nodes.values()))


def test_sigterm_is_a_clean_stop_too(running, tmp_path):
    """A supervisor that is asked to terminate stops its run as Ctrl-C would."""
    process, nodes = running
    process.terminate()
    process.communicate(timeout=20)
    assert process.returncode == 2
    assert records(tmp_path, "coordinator", "run.finished")[0]["reason"] == "terminated by a signal"
    assert not any(map(alive, nodes.values()))


def test_kill_9_of_the_supervisor_leaves_no_orphan(running, tmp_path):
    """Nodes die with their supervisor, a paused one too, and the log stays readable up to the last flushed round."""
    process, nodes = running
    nodes["client-4"].suspend()
    process.kill()
    process.wait()
    eventually(lambda: not any(map(alive, nodes.values())))
    assert len(records(tmp_path, "coordinator", "round.closed")) >= 1


def test_a_killed_client_is_missed_and_the_run_goes_on(tmp_path, start_foltr):
    """With `skip`, rounds close without the dead; the log says who was missing from when on, and the run completes."""
    process = start_foltr("run", "quickstart", "--set", "rounds=1500")
    eventually(lambda: rounds_closed(tmp_path))
    for name in ("client-3", "client-7"):
        nodes_of(process.pid)[name].kill()
    out, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
    assert "client-3 died (signal SIGKILL)" in error
    assert "missing" in out
    lost = {one["name"] for one in records(tmp_path, "coordinator", "client.lost")}
    assert lost == {"client-3", "client-7"}
    last = records(tmp_path, "coordinator", "round.closed")[-1]
    assert last["round"] == 1500
    assert last["missing"] == ["client-3", "client-7"]
    exits = {one["name"]: one["code"] for one in records(tmp_path, "supervisor", "node.exited")}
    assert exits["client-3"] == -signal.SIGKILL
    assert exits["client-1"] == 0


def test_below_the_quorum_the_run_ends_with_its_reason(tmp_path, start_foltr):
    """When too few are left to reach the quorum by the deadline, the run is given up and says why."""
    process = start_foltr(*LONG, "--set", "federation.quorum=0.9", "--set", "federation.deadline=1s")
    eventually(lambda: rounds_closed(tmp_path))
    for name in ("client-3", "client-7"):
        nodes_of(process.pid)[name].kill()
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "needs 9 of 10 clients (quorum 0.9), and 8 answered within 1 s" in out


def test_a_killed_coordinator_is_said(running):
    """Without its coordinator a run is aborted, in one sentence, and nobody is left."""
    process, nodes = running
    nodes["coordinator"].kill()
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 2
    assert "the coordinator died (signal SIGKILL)" in out
    assert not any(map(alive, nodes.values()))


def test_a_killed_evaluator_comes_back_and_misses_nothing(running, tmp_path):
    """The evaluator reads the log from its start again: every round is measured in the end."""
    process, nodes = running
    nodes["evaluator"].kill()
    eventually(lambda: nodes_of(process.pid).get("evaluator", nodes["evaluator"]) != nodes["evaluator"])
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    measured = {number for one in records(tmp_path, "evaluator", "metric.measured") for number in one["rounds"]}
    assert measured == {one["round"] for one in records(tmp_path, "coordinator", "round.closed")}


def test_a_port_in_use_is_one_sentence(foltr):
    """The address is named, the exit code is 2, there is no traceback."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = foltr("run", "quickstart", "--set", f"federation.port={port}")
    assert done.returncode == 2
    assert done.stderr.strip() == f"foltr: the coordinator cannot listen on 127.0.0.1:{port}: the port is in use"


def test_strangers_and_garbage_do_not_disturb_a_run(tmp_path, start_foltr):
    """Bytes that are no ZeroMQ and peers without an enrolled key change nothing: the same models as alone."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = start_foltr("run", "quickstart", "--json", "--set", "rounds=600", "--set", f"federation.port={port}")
    eventually(lambda: rounds_closed(tmp_path))
    for number in range(50):
        with socket.create_connection(("127.0.0.1", port)) as stranger:
            stranger.sendall(b"GET / HTTP/1.1\r\n\r\n" if number % 2 else os.urandom(1000))
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    disturbed = orjson.loads(out)
    alone = start_foltr("run", "quickstart", "--json", "--engine", "inline", "--set", "rounds=600")
    assert disturbed["model"] == orjson.loads(alone.communicate(timeout=60)[0])["model"]


BROKEN_CLIENT = """
import sys

if sys.argv[:1] == ["-c"]:  # the forkserver, from which the nodes come
    from learning.learners import pdgd

    train = pdgd.Pdgd.train

    def broken(self, theta, round, *rest, **settings):
        if round == 5 and "client-2" in __import__("setproctitle").getproctitle():
            raise ZeroDivisionError("client-2 cannot go on")
        return train(self, theta, round, *rest, **settings)

    pdgd.Pdgd.train = broken
"""


def test_a_crash_in_a_nodes_code_is_logged_and_said_and_the_run_goes_on(tmp_path, monkeypatch, foltr):
    """Its traceback is in the log, its last words are on the console."""
    (tmp_path / "sitecustomize.py").write_text(BROKEN_CLIENT)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    words = ["rounds=30", "clients[0].count=3", "expect.ndcg_at_10='>= 0'"]
    done = foltr("run", "quickstart", *[word for one in words for word in ("--set", one)])
    assert done.returncode == 0, done.stderr
    assert "client-2 died (ZeroDivisionError: client-2 cannot go on)" in done.stderr
    run = (tmp_path / "runs" / "latest").resolve()
    crashed = [one for one in read_journal(journal_path(run, "supervisor")) if one["event"] == "node.crashed"]
    assert [one["name"] for one in crashed] == ["client-2"]
    assert all("in broken" in one["traceback"] for one in crashed)
    closed = [one for one in read_journal(journal_path(run, "coordinator")) if one["event"] == "round.closed"]
    assert [one["missing"] for one in closed] == [[]] * 5 + [["client-2"]] * 26
