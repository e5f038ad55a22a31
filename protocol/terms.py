"""What the coordinator's machine is given, what it asks its shell for, and what comes back."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from protocol.forgetting import Beginning, Phase, Request
from protocol.machine import Instruction, Stimulus
from protocol.messages import Disturb

__all__ = ["Admit", "Aggregate", "Aggregated", "Impose", "NoiseCount", "Plot", "Terms", "fingerprint"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Plot:
    """Clients that act as an adversary says, and what the coordinator must know to carry their letters.

    attack   the attack as the log writes it: whoever is enrolled with it later is a member, too
    members  their ids
    is_on    whether the plot is on in a round
    full     whether the adversary sees the other clients' updates
    awaits   whether members wait for an adversary that is known to be dead
    deserts  whether members give up an adversary that does not answer by the deadline
    """

    attack: str
    members: tuple[str, ...]
    is_on: Callable[[int], bool]
    full: bool = False
    awaits: bool = False
    deserts: bool = True


@dataclass(frozen=True, slots=True)
class Terms:
    """What was agreed before the run: who takes part, on which host, and the rules of a round."""

    clients: tuple[str, ...]  # ids by number
    hosts: dict[str, Integers]  # the numbers of each host's clients, rising
    interactions: Integers  # what each client is asked for, a round
    dimension: int
    rounds: int
    wait: bool = False
    deadline: float = 30.0
    quorum: float = 0.5
    keep_weights_every: int = 1  # rounds between updates whose weights are logged; 0: never
    cues: frozenset[int] = frozenset()  # rounds before which the timeline has something to do
    since: dict[str, int] = field(default_factory=dict)  # the first round of a client that was not there from the start
    until: dict[str, int] = field(default_factory=dict)  # the first round without a client that left
    fitness: float = 0.0  # where clients send trials, the most that their figures can be; 0: they send models
    plot: Plot | None = None  # clients that collude
    shares: Literal["none", "whole", "expected", "quorum"] = "none"  # how many shares of noise a round needs
    on_deficit: Literal["proceed", "top-up", "abort"] = "proceed"  # what is done if fewer come
    exhausted: str = ""  # why no round can be opened any more
    unlearning: tuple[Request, Beginning] | None = None  # what the run is all about, if it is another's unlearning
    asked: tuple[Request, ...] = ()  # who is to be forgotten, where a run goes on
    phases: tuple[Phase, ...] = ()  # the phases of unlearning so far, where a run goes on


@dataclass(frozen=True, slots=True)
class NoiseCount:
    """The noise shares of a round: how many were promised and came, and who gave noise in the place of the others.

    discarded  why the round's updates are thrown away; empty if they are not
    """

    promised: int
    received: int
    givers: tuple[str, ...] = ()
    discarded: str = ""

    @property
    def topped_up(self) -> int:
        """How many shares were replaced."""
        return self.promised - self.received if self.givers else 0


@dataclass(frozen=True, slots=True)
class Aggregated(Stimulus):
    """The result of an `Aggregate`.

    privacy    what the model costs, as the log has it; none without a mechanism
    exceeded   why the privacy budget forbids to make the model known; empty if it does not
    exhausted  why it forbids another round; empty if it does not
    """

    theta: Floats
    info: dict[str, Any]
    privacy: dict[str, Any] | None = None
    exceeded: str = ""
    exhausted: str = ""


@dataclass(frozen=True, slots=True)
class Aggregate(Instruction):
    """Make a round's model from the updates, rows in client order; the arrays are valid until the next step."""

    thetas: Floats
    interactions: Integers
    clients: Integers  # their numbers, rising
    before: Floats
    round: int
    noise: NoiseCount


@dataclass(frozen=True, slots=True)
class Admit(Instruction):
    """Let a new host in: its name, and the public key that it will come with."""

    host: str
    key: str


@dataclass(frozen=True, slots=True)
class Impose(Instruction):
    """Treat frames badly from now on, as a `Disturb` says; without one, heal the fault of that name."""

    fault: str
    how: Disturb | None


def fingerprint(theta: Floats) -> str:
    """A model's identity: sha256 of its float64 bytes, little-endian."""
    return hashlib.sha256(theta.astype("<f8", copy=False).tobytes()).hexdigest()
