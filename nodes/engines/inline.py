"""The inline engine: every node in one process, an in-memory network, a virtual clock.

The same shells and machines as with processes, and real frames: what differs is who carries them. Frames are delivered
in the order in which they were sent; when none is under way, the clock jumps to the next moment that somebody waits
for. A node that is killed is forgotten with what its log had not flushed; one that is paused gets its frames later.
Only the evaluator works beside the rounds, in a thread of its own: it reads the log, and its kernels release the
interpreter's lock.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from nodes.adversary import AdversaryShell
from nodes.client_host import HostShell
from nodes.coordinator import CoordinatorShell
from nodes.director import Director
from nodes.ending import Ending, Interruption
from nodes.engines.evaluation import Evaluation
from nodes.evaluator import EVALUATOR, Evaluator
from nodes.past import Past, read_past
from nodes.shell import Shell
from nodes.watcher import Watcher
from protocol.codec import Codec
from protocol.errors import UserError
from protocol.journal import Journal
from protocol.messages import ADVERSARY, COORDINATOR, SUPERVISOR, Cue, Lost, Message, Progress, Ready, Stop
from protocol.presence import announce, withdraw
from scenarios.plan import Plan, open_data
from scenarios.roster import Client

__all__ = ["Crash", "Federation", "VirtualClock", "act_out"]

REPLACED: Final = "replaced"
"""What ends a node that another takes the place of: nobody misses it."""


def act_out(plan: Plan, watcher: Watcher, interruption: Interruption, past: Past | None = None) -> Ending:
    """Run the plan to its end in this process, from where it stood if it goes on."""
    federation = Federation(plan, watcher, interruption, past)
    announce(plan.run)
    watcher.started(plan)
    try:
        ending = federation.run()
    finally:
        federation.close()
        withdraw(plan.run)
    if federation.progress is not None:
        watcher.progressed(federation.progress, federation.measured)
    return ending


class Crash(Exception):  # noqa: N818 - what happens to the coordinator, not an error of ours
    """The coordinator dies between logging a frame and sending it; raised by a test's network."""


@dataclass(slots=True)
class VirtualClock:
    """Seconds that pass only when nothing else is left to do."""

    now: float = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now


class Federation:
    """All nodes of a run, the loop that carries what they say, and the hands of its director."""

    def __init__(
        self,
        plan: Plan,
        watcher: Watcher,
        interruption: Interruption,
        past: Past | None = None,
        before_send: Callable[[], None] | None = None,
    ) -> None:
        self.plan = plan
        self.progress: Progress | None = None
        self.frames: deque[tuple[str, str, bytes]] = deque()
        self.clock = VirtualClock()
        self._watcher, self._interruption = watcher, interruption
        self.before_send = before_send  # lets a test crash the coordinator between log and send
        self._data = open_data(plan.scenario)
        self._codec = Codec(plan.largest_frame)
        self._said = 0
        self._pids = 0
        self._abandoned: Ending | None = None
        self._paused: dict[str, list[tuple[str, str, bytes]]] = {}
        self._journal = Journal(plan.run, SUPERVISOR)
        self.director = Director(plan, self, self._journal, self.clock)
        if past is not None:
            self.director.recall(past.performed, past.closed)
        self.coordinator = self._new_coordinator(past)
        self.shells: dict[str, Shell] = {COORDINATOR: self.coordinator}
        for host in plan.hosts:
            self.shells[host] = self._new_node(host)
        for node in plan.adversary:
            self.shells[node] = self._new_node(node)
        self._evaluation = Evaluation(Evaluator(plan, self._data))

    @property
    def measured(self) -> tuple[int, float] | None:
        """The last measured round and its nDCG."""
        return self._evaluation.evaluator.latest

    def run(self) -> Ending:
        """Carry frames until the coordinator is done and everybody has heard of it."""
        self._evaluation.start()
        for shell in list(self.shells.values()):
            shell.begin()
        while self.coordinator.outcome is None and self._abandoned is None:
            if self._interruption.asked and not self._interruption.told:
                self._interruption.told = True
                self.tell(Stop(self._interruption.reason))
            try:
                if self.frames:
                    self._deliver(*self.frames.popleft())
                else:
                    self._jump()
            except Crash:
                self.kill(COORDINATOR, "KILL")
        if self._abandoned is not None:
            ending = self._abandoned
            self._journal.append("run.abandoned", outcome=ending.outcome, reason=ending.reason)
            return ending
        while self.frames:
            sender, peer, frame = self.frames.popleft()
            if peer in self.shells and peer != COORDINATOR:
                self.shells[peer].on_frame(sender, frame)
        self.progress = self.coordinator.coordination.progress
        return Ending(self.progress.outcome, self.progress.reason)

    def close(self) -> None:
        """Close every log, and let the evaluator come to its end."""
        for shell in self.shells.values():
            shell.journal.close()
        self._journal.close()
        self._evaluation.finish()

    def lives(self, node: str) -> bool:
        """Whether a node has a process, so to speak."""
        return node in self.shells

    # --- hands -------------------------------------------------------------------------------------------------------

    def kill(self, node: str, signal: str) -> None:
        """Forget a node and what its log had not flushed; any signal ends an inline node."""
        if node == EVALUATOR:
            return  # it has no process of its own that could die, and keeps no state but its log
        shell = self.shells.pop(node, None)
        if shell is None:
            raise UserError(f"{node} is not running; running are {', '.join(self.shells)}")
        shell.journal.abandon()
        self._paused.pop(node, None)
        always = self.plan.scenario.federation.restart == "always"
        if node == COORDINATOR:
            self.frames = deque(one for one in self.frames if COORDINATOR not in one[:2] or one[0] == SUPERVISOR)
            if always or signal == REPLACED:
                self.restart(COORDINATOR)
            else:
                self._abandoned = Ending("aborted", f"the coordinator died; foltr resume {self.plan.run} goes on")
            return
        assert isinstance(shell, HostShell | AdversaryShell)
        self.tell(Lost(node, shell.pid))
        if always:
            self.restart(node)

    def pause(self, node: str) -> None:
        """Keep a node's frames from it."""
        self._paused.setdefault(node, [])

    def unpause(self, node: str) -> None:
        """Give a node the frames that came while it was paused."""
        self.frames.extend(self._paused.pop(node, []))

    def restart(self, node: str) -> None:
        """Start a node, ending it first if it lives."""
        if node in self.shells:
            self.kill(node, REPLACED)
        if node in self.shells or node == EVALUATOR:
            return
        if node == COORDINATOR:
            self.coordinator = self._new_coordinator(read_past(self.plan.run))
            self.shells[node] = self.coordinator
            self.coordinator.begin()
            self.director.remind()
        else:
            self.shells[node] = self._new_node(node)
            self.shells[node].begin()

    def prepare(self, client: Client) -> str:
        """Make room for the host of a new client; there are no keys."""
        self.plan = replace(self.plan, added=(*self.plan.added, client))
        return ""

    def start(self, client: Client) -> None:
        """Start the host of a new client."""
        self.shells[client.id] = self._new_node(client.id)
        self.shells[client.id].begin()

    def tell(self, message: Message) -> None:
        """Say something to the coordinator."""
        self._said += 1
        self.frames.append((SUPERVISOR, COORDINATOR, self._codec.encode(message, self._said)))

    # --- carrying ----------------------------------------------------------------------------------------------------

    def _deliver(self, sender: str, peer: str, frame: bytes) -> None:
        if peer == SUPERVISOR:
            self._listen(self._codec.decode(frame).message)
        elif peer in self._paused:
            self._paused[peer].append((sender, peer, frame))
        elif peer in self.shells:
            self.shells[peer].on_frame(sender, frame)
            if peer == COORDINATOR:
                self.coordinator.report()
            elif self.shells[peer].outcome is not None:
                self.shells.pop(peer).journal.close()  # it has left

    def _listen(self, message: Message) -> None:
        if isinstance(message, Cue):
            self.tell(Ready(message.round, self.director.perform(message.round)))
            return
        assert isinstance(message, Progress)
        self.progress = message
        self.director.round = max(self.director.round, message.round + 1)
        self._watcher.progressed(message, self.measured)

    def _jump(self) -> None:
        """Nothing is under way: it is the next moment that somebody waits for."""
        awake = [shell for node, shell in self.shells.items() if node not in self._paused]
        moments = [self.director.wake_at, *(shell.wake_at for shell in awake)]
        wakes = [moment for moment in moments if moment is not None]
        if not wakes:
            owing = self.coordinator.coordination.ledger.owing()
            reason = f"the run waits for {', '.join(owing)}, and nothing will bring them back"
            self._abandoned = Ending("aborted", reason)
            return
        self.clock.now = max(self.clock.now, min(wakes))
        self.director.on_time()
        for shell in awake:
            if shell in self.shells.values():  # the director may have ended it just now
                shell.on_time()

    def _new_coordinator(self, past: Past | None) -> CoordinatorShell:
        plan = self.plan if past is None else past.onto(self.plan)
        return CoordinatorShell(plan, _End(self, COORDINATOR), self.clock, past)

    def _new_node(self, host: str) -> HostShell | AdversaryShell:
        self._pids += 1
        if host == ADVERSARY:
            return AdversaryShell(self.plan, _End(self, host), self.clock, self._pids)
        return HostShell(self.plan, host, self._data, _End(self, host), self.clock, self._pids)


@dataclass(frozen=True, slots=True)
class _End:
    """One node's end of the network."""

    federation: Federation
    sender: str

    def send(self, peer: str, frame: bytes) -> bool:
        """Put a frame on its way."""
        if self.sender == COORDINATOR and self.federation.before_send is not None:
            self.federation.before_send()
        self.federation.frames.append((self.sender, peer, frame))
        return True
