"""The inline engine: every node in one process, an in-memory network, a virtual clock.

The same shells and machines as with processes, and real frames: what differs is who carries them. Frames are delivered
in the order in which they were sent; when none is under way, the clock jumps to the next moment that a machine waits
for. Only the evaluator works beside the rounds, in a thread of its own: it reads the log, and its kernels release the
interpreter's lock.
"""

import threading
from collections import deque
from dataclasses import dataclass
from typing import Final

from nodes.client_host import HostShell
from nodes.coordinator import CoordinatorShell
from nodes.ending import Ending, Interruption
from nodes.evaluator import Evaluator
from nodes.shell import Shell
from nodes.watcher import Watcher
from protocol.codec import Codec
from protocol.messages import COORDINATOR, SUPERVISOR, Progress, Stop
from scenarios.plan import Plan, open_data

__all__ = ["act_out"]

_PAUSE: Final = 0.005  # seconds between two looks at a log that had nothing new


@dataclass(slots=True)
class VirtualClock:
    """Seconds that pass only when nothing else is left to do."""

    now: float = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now


class Network:
    """Frames under way, each with its sender and its recipient."""

    def __init__(self) -> None:
        self.frames: deque[tuple[str, str, bytes]] = deque()

    def link(self, sender: str) -> "NetworkLink":
        """The sender's way to everybody."""
        return NetworkLink(self, sender)


@dataclass(frozen=True, slots=True)
class NetworkLink:
    """One node's end of the network."""

    network: Network
    sender: str

    def send(self, peer: str, frame: bytes) -> bool:
        """Put a frame on its way."""
        self.network.frames.append((self.sender, peer, frame))
        return True


def act_out(plan: Plan, watcher: Watcher, interruption: Interruption) -> Ending:
    """Run the plan to its end in this process."""
    federation = _Federation(plan, watcher, interruption)
    watcher.started(plan)
    try:
        federation.run()
    finally:
        federation.close()
    progress = federation.coordinator.coordination.progress
    watcher.progressed(progress, federation.evaluation.evaluator.latest)
    return Ending(progress.outcome, progress.reason)


class _Federation:
    """All nodes of a run, and the loop that carries what they say."""

    def __init__(self, plan: Plan, watcher: Watcher, interruption: Interruption) -> None:
        data = open_data(plan.scenario)
        self.network, self.clock = Network(), VirtualClock()
        self.watcher, self.interruption = watcher, interruption
        self.codec = Codec(plan.largest_frame)
        self.coordinator = CoordinatorShell(plan, self.network.link(COORDINATOR), self.clock)
        self.shells: dict[str, Shell] = {COORDINATOR: self.coordinator}
        for pid, host in enumerate(plan.hosts, start=1):
            self.shells[host] = HostShell(plan, host, data, self.network.link(host), self.clock, pid)
        self.evaluation = Evaluation(Evaluator(plan, data))

    def run(self) -> None:
        """Carry frames until the coordinator is done and everybody has heard of it."""
        self.evaluation.start()
        for shell in self.shells.values():
            shell.begin()
        while self.coordinator.outcome is None:
            if self.interruption.asked and not self.interruption.told:
                self.interruption.told = True
                stop = self.codec.encode(Stop(self.interruption.reason), 1)
                self.network.frames.append((SUPERVISOR, COORDINATOR, stop))
            if self.network.frames:
                self._deliver(*self.network.frames.popleft())
            else:
                self._jump()
        while self.network.frames:
            sender, peer, frame = self.network.frames.popleft()
            if peer != COORDINATOR:
                self._deliver(sender, peer, frame)

    def close(self) -> None:
        """Close every log, and let the evaluator come to its end."""
        for shell in self.shells.values():
            shell.journal.close()
        self.evaluation.finish()

    def _deliver(self, sender: str, peer: str, frame: bytes) -> None:
        if peer == SUPERVISOR:
            progress = self.codec.decode(frame).message
            assert isinstance(progress, Progress)
            self.watcher.progressed(progress, self.evaluation.evaluator.latest)
            return
        self.shells[peer].on_frame(sender, frame)
        if peer == COORDINATOR:
            self.coordinator.report()

    def _jump(self) -> None:
        """Nothing is under way: it is the next moment that somebody waits for."""
        wakes = [shell.machine.wake_at for shell in self.shells.values()]
        self.clock.now = max(self.clock.now, min(wake for wake in wakes if wake is not None))
        for shell in self.shells.values():
            shell.on_time()


class Evaluation(threading.Thread):
    """The evaluator beside the rounds."""

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__(name="evaluator")
        self.evaluator = evaluator
        self._over = threading.Event()
        self._error: BaseException | None = None

    def run(self) -> None:
        """Follow the log until its end, or until there is nothing new after the run is over."""
        try:
            while not self.evaluator.finished:
                over = self._over.is_set()
                if not self.evaluator.follow():
                    if over:
                        break
                    self._over.wait(_PAUSE)
        except BaseException as error:  # noqa: BLE001 - raised again where the run can hear it
            self._error = error

    def finish(self) -> None:
        """The run is over: measure the rest; raise what went wrong."""
        self._over.set()
        self.join()
        self.evaluator.journal.close()
        if self._error is not None:
            raise self._error
