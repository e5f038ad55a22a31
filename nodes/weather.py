"""Bad weather: what the network does to frames between the coordinator and its hosts, on purpose.

It stands between the coordinator's shell and its link, whatever the engine. The federation is a star, so that every
frame that can be hit passes here. Several faults add up, in the order in which they were imposed. Chance comes from a
stream of its own for each fault. The supervisor's frames are never hit.
"""

import heapq
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from learning.streams import Purpose, client_key, stream
from nodes.shell import Link
from protocol.journal import Journal
from protocol.messages import Disturb

__all__ = ["Weather"]

TO, FROM = "to", "from"
OVERTAKEN_FOR: Final = 0.05
"""Seconds that a reordered frame is held back, so that later ones overtake it."""


@dataclass(slots=True)
class Fault:
    """One fault: whom it hits, how, and its own chance."""

    name: str
    what: str
    hosts: frozenset[str]
    settings: dict[str, Any]
    chance: np.random.Generator
    free_at: float = 0.0  # throttle: when the last frame has passed

    def hits(self) -> bool:
        """Whether chance lets it hit this frame."""
        probability = float(self.settings.get("probability", 1.0))
        return probability >= 1.0 or float(self.chance.random()) < probability

    def lag(self) -> float:
        """Seconds of a delay."""
        mean = float(self.settings.get("seconds", 0.01))
        kind = self.settings.get("distribution", "fixed")
        if kind == "uniform":
            return float(self.chance.uniform(0.0, 2.0 * mean))
        return float(self.chance.exponential(mean)) if kind == "exponential" else mean


@dataclass(slots=True)
class _Frame:
    """A frame that goes through the weather, and when it may arrive."""

    bytes: bytes
    due: float


class Weather:
    """A link with faults, and the way in for frames that come from it."""

    def __init__(
        self, link: Link, deliver: Callable[[str, bytes], None], journal: Journal, clock: Callable[[], float], seed: int
    ) -> None:
        self._link = link
        self._deliver = deliver
        self._journal = journal
        self._clock = clock
        self._seed = seed
        self._faults: dict[str, Fault] = {}
        self._held: list[tuple[float, int, str, str, bytes]] = []  # due, order, way, peer, frame
        self._count = 0

    @property
    def calm(self) -> bool:
        """Whether frames pass as if there were no weather."""
        return not self._faults and not self._held

    @property
    def wake_at(self) -> float | None:
        """When the next held frame is due."""
        return self._held[0][0] if self._held else None

    def impose(self, fault: str, how: Disturb | None) -> None:
        """Begin a fault, or end it."""
        if how is None:
            self._faults.pop(fault, None)
            return
        chance = stream(self._seed, Purpose.FAULT, client_key(fault))
        self._faults[fault] = Fault(fault, how.what, frozenset(how.hosts), json.loads(how.settings), chance)

    def clear_up(self) -> None:
        """End every fault, and let everything that is held go on at once."""
        self._faults.clear()
        while self._held:
            _, _, way, peer, frame = heapq.heappop(self._held)
            self._go(way, peer, frame)

    def send(self, peer: str, frame: bytes) -> bool:
        """Send a frame through the weather."""
        if self.calm:
            return self._link.send(peer, frame)
        self._pass(TO, peer, frame)
        return True

    def arrive(self, peer: str, frame: bytes) -> None:
        """Let a frame that came through the link arrive, perhaps."""
        if self.calm:
            self._deliver(peer, frame)
        else:
            self._pass(FROM, peer, frame)

    def release(self) -> None:
        """Let held frames go on whose time has come."""
        while self._held and self._held[0][0] <= self._clock():
            _, _, way, peer, frame = heapq.heappop(self._held)
            self._go(way, peer, frame)

    def _pass(self, way: str, peer: str, frame: bytes) -> None:
        now = self._clock()
        frames = [_Frame(bytes(frame), now)]
        for fault in self._faults.values():
            if peer in fault.hosts:
                frames = [after for one in frames for after in self._hit(fault, way, peer, one)]
        for one in frames:
            if one.due > now:
                self._count += 1
                heapq.heappush(self._held, (one.due, self._count, way, peer, one.bytes))
            else:
                self._go(way, peer, one.bytes)

    def _hit(self, fault: Fault, way: str, peer: str, frame: _Frame) -> list[_Frame]:  # noqa: PLR0911 - one a fault
        """What becomes of one frame under one fault."""
        if not fault.hits():
            return [frame]
        match fault.what:
            case "drop" | "partition":
                self._tell("frame.dropped", fault, way, peer)
                return []
            case "duplicate":
                self._tell("frame.duplicated", fault, way, peer)
                return [frame, _Frame(frame.bytes, frame.due)]
            case "corrupt":
                self._tell("frame.corrupted", fault, way, peer)
                place = int(fault.chance.integers(len(frame.bytes)))
                changed = frame.bytes[place] ^ int(fault.chance.integers(1, 256))
                return [_Frame(frame.bytes[:place] + bytes([changed]) + frame.bytes[place + 1 :], frame.due)]
            case "delay":
                self._tell("frame.delayed", fault, way, peer)
                return [_Frame(frame.bytes, frame.due + fault.lag())]
            case "throttle":
                fault.free_at = max(fault.free_at, frame.due) + len(frame.bytes) / float(fault.settings["rate"])
                self._tell("frame.delayed", fault, way, peer)
                return [_Frame(frame.bytes, fault.free_at)]
            case _:  # reorder
                self._tell("frame.reordered", fault, way, peer)
                return [_Frame(frame.bytes, frame.due + OVERTAKEN_FOR)]

    def _go(self, way: str, peer: str, frame: bytes) -> None:
        if way == TO:
            self._link.send(peer, frame)
        else:
            self._deliver(peer, frame)

    def _tell(self, event: str, fault: Fault, way: str, peer: str) -> None:
        self._journal.append(event, fault=fault.name, name=peer, way=way)
