"""A shell drives one machine: frames and time in, instructions performed, everything logged. Both engines use it.

The order is fixed: what is sent is logged, the log is flushed, then the frame leaves. A node that is killed at any
instant has told nobody anything that its log does not know.
"""

import os
from collections.abc import Callable
from typing import Any, Protocol

from protocol.codec import Codec
from protocol.errors import RefusedFrame
from protocol.journal import Journal
from protocol.machine import Arrived, Began, Instruction, Machine, Quit, Record, Say, Stimulus, TimeCame

__all__ = ["Act", "Link", "Shell"]

Act = Callable[[Any], Callable[[float], Stimulus] | None]
"""Does what an instruction asks for; what it gives makes the stimulus of the time when it was done, if there is one."""


class Link(Protocol):
    """Takes frames to peers; the transport's sockets and the inline network are links."""

    def send(self, peer: str, frame: bytes) -> bool:
        """Hand a frame over; false if it is lost already."""


class Shell:
    """One node: a machine, its log, its link, and what it can do beyond talking (`acts`, by instruction)."""

    def __init__(
        self,
        machine: Machine,
        journal: Journal,
        link: Link,
        codec: Codec,
        clock: Callable[[], float],
        acts: dict[type[Instruction], Act],
    ) -> None:
        self.machine = machine
        self.journal = journal
        self.outcome: str | None = None  # set by Quit
        self._link = link
        self._codec = codec
        self._clock = clock
        self._acts = acts
        self._said = 0  # messages said so far: their ids are 1, 2, …

    def begin(self) -> None:
        """Say that the node is there, and start the machine."""
        self.journal.append("node.ready", role=self.machine.role, pid=os.getpid())
        self._feed(Began(self._clock()), None)

    def on_frame(self, peer: str, frame: bytes | memoryview) -> None:
        """Take a frame that came from a peer; what is not a message is refused and logged."""
        try:
            envelope = self._codec.decode(frame)
        except RefusedFrame as refusal:
            self.journal.append(
                "frame.refused",
                direction="received",
                peers=[peer],
                bytes=len(frame),
                reason=refusal.reason,
                detail=str(refusal),
            )
            return
        self._feed(Arrived(self._clock(), peer, envelope), f"{peer}:{envelope.id}")

    @property
    def wake_at(self) -> float | None:
        """When the node wants to be woken, if nothing happens before."""
        return self.machine.wake_at

    def on_time(self) -> None:
        """Wake the machine if its time has come."""
        wake = self.machine.wake_at
        if wake is not None and self.outcome is None:
            now = self._clock()
            if now >= wake:
                self._feed(TimeCame(now), None)

    def say(self, instruction: Say, cause: str | None = None) -> None:
        """Log a message, then send it."""
        message = instruction.message
        self._said += 1
        frame = self._codec.encode(message, self._said, instruction.answers)
        fields: dict[str, Any] = {
            "direction": "sent",
            "message": message.name,
            "peers": instruction.peers,
            "id": self._said,
            "bytes": len(frame),
        }
        number = getattr(message, "round", None)
        if number is not None:
            fields = {"round": number} | fields
        self._record(f"{message.name}.sent", fields | instruction.tells, cause)
        self.journal.flush()
        for peer in instruction.peers:
            self._link.send(peer, frame)

    def _feed(self, stimulus: Stimulus, cause: str | None) -> None:
        for instruction in self.machine.step(stimulus):
            kind = type(instruction)
            if kind is Record:
                self._record(instruction.event, instruction.fields, cause)  # type: ignore[attr-defined]
            elif kind is Say:
                self.say(instruction, cause)  # type: ignore[arg-type]
            elif kind is Quit:
                self.outcome = instruction.outcome  # type: ignore[attr-defined]
                self.journal.flush()
            elif made := self._acts[kind](instruction):
                self._feed(made(self._clock()), cause)

    def _record(self, event: str, fields: dict[str, Any], cause: str | None) -> None:
        if cause is None:
            self.journal.append(event, **fields)
        else:
            self.journal.append(event, cause=cause, **fields)
