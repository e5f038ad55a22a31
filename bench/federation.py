"""How fast whole runs are: real commands, timed by their own logs, each beside a floor or a rival's figure.

Rivals' figures were measured once on a machine with 2 cores (docs/performance.md); the ZeroMQ floor is measured here.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psutil

from bench.floor import bare_round_trip
from bench.measurement import Measurement, at_least, at_most, within
from protocol.journal import journal_path, read_journal

__all__ = ["measure"]

COMMAND: Final = str(Path(sys.executable).with_name("foltr"))
TINY: Final = "synthetic:mq2007?queries=10&documents=3"
AUTHORS_INTERACTIONS: Final = 3_900.0  # a second, FPDGD's published code, 1,000 clients
AUTHORS_ROUNDS: Final = 48.0  # a second, FPDGD's published code, 10 clients, every round evaluated
FLOWER_ROUNDS: Final = {10: 9.8, 1000: 0.2}  # Flower 1.41 simulation, a trivial client
PFL_ROUNDS: Final = {10: 1300.0, 1000: 17.0}  # pfl 0.6, in-process, no log, a trivial client
FLOWER_START: Final = 4.9  # seconds to the first round, 10 clients
WINDOW: Final = 500  # rounds; the quickest window counts, as the least of repeats does elsewhere


def measure() -> Iterator[Measurement]:
    """Run them one after the other; a minute or two."""
    with tempfile.TemporaryDirectory(prefix="foltr-bench-") as scratch:
        yield from _measure_in(Path(scratch))


def _measure_in(runs: Path) -> Iterator[Measurement]:
    _run(runs, rounds=2)  # the data set and the kernels are cached from here on
    floor = 1e3 * bare_round_trip()
    round_ms = 1e3 / _rounds_a_second(_run(runs, rounds=4000, sets=("evaluation.every=4000",)))
    yield within("a round, 10 client processes, B=5, log on", round_ms, "ms", floor, times=1.8)
    thousand = ("clients[0].count=1000", "clients[0].interactions=4", "federation.hosts=2", "evaluation.every=150")
    speed = 4000 * _rounds_a_second(_run(runs, rounds=150, sets=thousand), window=50)
    name = "interactions, 1,000 clients x B=4, 2 hosts, log on"
    yield at_least(name, speed, "/s", AUTHORS_INTERACTIONS, limit=100 * AUTHORS_INTERACTIONS)
    for engine, times in (("processes", 25), ("inline", 100)):
        whole = 10_000 / _seconds_measured(_run(runs, rounds=10_000, engine=engine))
        name = f"rounds, 10 clients x B=5 x 10,000, evaluated and logged, {engine}"
        yield at_least(name, whole, "/s", AUTHORS_ROUNDS, limit=times * AUTHORS_ROUNDS)
    for engine, rivals, factors in (("processes", FLOWER_ROUNDS, (100, 1000)), ("inline", PFL_ROUNDS, (3, 10))):
        for (clients, rival), factor in zip(rivals.items(), factors, strict=True):
            trivial = (f"clients[0].count={clients}", "clients[0].interactions=1", f"data.source={TINY}")
            rounds = 3000 if clients == 10 else 300
            done = _run(runs, rounds=rounds, engine=engine, sets=(*trivial, f"evaluation.every={rounds}"))
            speed = _rounds_a_second(done, window=rounds // 6)
            yield at_least(f"rounds, {clients:,} trivial clients, {engine}", speed, "/s", rival, limit=factor * rival)
    began = time.time()
    first = next(one["ts"] for one in _closed(_run(runs, rounds=1)) if one["round"] == 1)
    yield at_most("first round from a cold command, 10 processes", first - began, "s", FLOWER_START, limit=2)
    yield _hundred_thousand(runs)


def _run(runs: Path, rounds: int, engine: str = "processes", sets: tuple[str, ...] = ()) -> Path:
    """Run the quickstart with other settings; its directory."""
    words = [word for one in (f"rounds={rounds}", *sets) for word in ("--set", one)]
    command = [COMMAND, "run", "quickstart", "--engine", engine, "--runs", str(runs), *words]
    subprocess.run(command, check=False, capture_output=True)  # an unmet expectation is no failure here
    return (runs / "latest").resolve()


def _closed(run: Path) -> list[dict[str, float]]:
    return [one for one in read_journal(journal_path(run, "coordinator")) if one["event"] == "round.closed"]


def _rounds_a_second(run: Path, window: int = WINDOW) -> float:
    """The speed in the quickest window of rounds."""
    moments = [one["ts"] for one in _closed(run)][1:]
    return max(window / (end - start) for start, end in zip(moments, moments[window:], strict=False))


def _seconds_measured(run: Path) -> float:
    """Seconds from a run's start until its last model was measured."""
    start = next(read_journal(journal_path(run, "coordinator")))["ts"]
    measured = [one["ts"] for one in read_journal(journal_path(run, "evaluator")) if one["event"] == "metric.measured"]
    return float(measured[-1] - start)


def _hundred_thousand(runs: Path) -> Measurement:
    """The memory of a federation of 100,000 clients with 5 interactions each: all its processes at their peak."""
    words = ["--set", "clients[0].count=100000", "--set", "rounds=2", "--set", "evaluation.every=2"]
    process = subprocess.Popen(
        [COMMAND, "run", "quickstart", "--runs", str(runs), *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, _memory(process.pid))
        time.sleep(0.05)
    return at_most("memory of 100,000 clients, 2 rounds, log on", peak / 1e9, "GB", 100_000 * 46 * 8 / 1e9, limit=3)


def _memory(pid: int) -> float:
    """Bytes that a process and its children have of their own."""
    total = 0.0
    try:
        for one in [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]:
            total += one.memory_full_info().uss
    except psutil.Error:
        pass  # one of them has ended just now
    return total
