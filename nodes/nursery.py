"""The nursery: the processes of a run, started by a forkserver, watched by their sentinels, none left behind."""

import multiprocessing
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Final

from nodes.process import Task, run_node
from protocol.errors import UserError
from protocol.journal import Journal

__all__ = ["PRELOAD", "Child", "Nursery", "ended_how", "start_forkserver"]

_BURIAL: Final = 5.0  # seconds that the kernel may take to end a killed process
PRELOAD: Final = ["__main__", "nodes.preload"]  # the command's own module too, or every node would import it again


def start_forkserver() -> None:
    """Let the forkserver load its imports while the run is prepared."""
    multiprocessing.set_forkserver_preload(PRELOAD)
    multiprocessing.forkserver.ensure_running()  # type: ignore[attr-defined]  # public, but without a stub


@dataclass(frozen=True, slots=True)
class Child:
    """A node's process and the pipe on which it says that it is ready or why it failed."""

    task: Task
    process: ForkServerProcess
    report: Connection
    pid: int
    started: float

    def last_words(self) -> tuple[str, str]:
        """What the process reported last: ready, failed or crashed, with its text; ("", "") if nothing."""
        words = ("", "")
        try:
            while self.report.poll():
                words = self.report.recv()
        except (EOFError, OSError):
            pass  # the pipe ends with the process
        return words


class Nursery:
    """Starts nodes and notices their end; every start and end is logged."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.children: dict[str, Child] = {}

    def start(self, task: Task) -> Child:
        """Start a node's process."""
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.get_context("forkserver").Process(target=run_node, args=(task, theirs), daemon=True)
        try:
            process.start()
        except (OSError, EOFError) as error:
            raise UserError(f"{task.name} could not be started: the forkserver is gone ({error})") from error
        theirs.close()
        assert process.pid is not None
        child = Child(task, process, ours, process.pid, time.monotonic())
        self.children[task.name] = child
        self.journal.append("node.started", name=task.name, role=task.role, pid=child.pid)
        self.journal.flush()
        return child

    def ended(self) -> Iterator[tuple[Child, int]]:
        """The children whose process has ended since the last look, each with its exit code; forgets them."""
        for name, child in list(self.children.items()):
            code = child.process.exitcode
            if code is not None:
                del self.children[name]
                self.journal.append("node.exited", name=name, role=child.task.role, pid=child.pid, code=code)
                self.journal.flush()
                yield child, code

    def wait(self, seconds: float) -> list[tuple[Child, int]]:
        """Wait until every child has ended, or for so long."""
        until = time.monotonic() + seconds
        gone: list[tuple[Child, int]] = []
        while self.children and time.monotonic() < until:
            multiprocessing.connection.wait([child.process.sentinel for child in self.children.values()], 0.05)
            gone += self.ended()
        return gone

    def kill(self, *, but: str = "") -> None:
        """End whoever is left, but one perhaps; SIGKILL ends paused processes too."""
        spared = self.children.pop(but, None)
        for child in self.children.values():
            child.process.kill()
        self.wait(_BURIAL)
        if spared is not None:
            self.children[but] = spared


def ended_how(code: int) -> str:
    """An exit code in words."""
    return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
