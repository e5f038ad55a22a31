"""What the coordinator knows of forgetting: who is to be forgotten, and the rounds of unlearning that do it.

When clients have left that ask to be forgotten, the model goes back: the round `first` of the phase is closed at once,
with the model that unlearning starts from and nobody in it. Its steps follow, a round each; then training goes on from
the unlearned model, or the run ends. Rounds count on through all phases. What is to be done in the steps is asked of
the shell, which reads the log, by `Recall`; so that this file needs neither files nor mathematics.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from protocol.machine import Instruction, Record, Stimulus
from protocol.membership import Membership

__all__ = ["UNLEARNING", "Beginning", "Forgetting", "Phase", "Recall", "Recalled", "Request", "Step"]

UNLEARNING: Final = "unlearning"
"""What the log calls the phase."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Request:
    """Who asked to be forgotten, how (`method` and its settings), and whether the run is to end then."""

    clients: tuple[str, ...]
    settings: dict[str, Any]
    by: str

    @property
    def ends(self) -> bool:
        """Whether the run ends with the unlearned model."""
        return bool(self.settings.get("then") == "end")


@dataclass(frozen=True, slots=True)
class Step:
    """A round of unlearning: whose turn it is, and the norms of the updates that they kept of the round `of`.

    draws  the number that the clients' random streams have instead of the round's
    """

    of: int
    draws: int
    clients: tuple[str, ...]
    norms: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Beginning:
    """How unlearning begins and goes on.

    theta       the model to start from
    origin      the last round that stays in it; 0: none
    after       the last round of the run that is to forget
    steps       the rounds to come
    most        the interactions of a client in a step at most; 0: as many as in training
    calibrated  whether clients give their updates the kept norms
    """

    theta: Floats
    origin: int
    after: int
    steps: tuple[Step, ...]
    most: int
    calibrated: bool


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase of unlearning that has begun with the closed round `first`; `steps` are those after the round `done`."""

    first: int
    length: int
    request: Request
    most: int
    calibrated: bool
    done: int
    steps: tuple[Step, ...]

    @property
    def last(self) -> int:
        """Its last round."""
        return self.first + self.length


@dataclass(frozen=True, slots=True)
class Recall(Instruction):
    """Read in the log what the request needs: everything up to the round `closed`; these clients remain."""

    request: Request
    closed: int
    theta: Floats
    remaining: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recalled(Stimulus):
    """The result of a `Recall`."""

    beginning: Beginning


class Forgetting:
    """The requests that wait, the phase that is on, and how far the run goes."""

    def __init__(self, rounds: int, asked: Iterable[Request] = (), phases: Sequence[Phase] = ()) -> None:
        self.phase: Phase | None = None
        self.last = rounds  # the run's last round, as far as known
        self._requests = list(asked)
        self._asked = {client for request in self._requests for client in request.clients}
        for phase in phases:
            self._enter(phase)

    def ask(self, clients: Sequence[str], settings: dict[str, Any], by: str) -> Request | None:
        """Let clients be forgotten as soon as they are gone; none if all of them asked before."""
        new = tuple(client for client in clients if client not in self._asked)
        if not new:
            return None
        request = Request(new, settings, by)
        self._requests.append(request)
        self._asked.update(new)
        return request

    def due(self, members: Membership, closed: int) -> Request | None:
        """The request that can be met now: no phase is on, and its clients are gone."""
        if (self.phase is not None and closed < self.phase.last) or not self._requests:
            return None
        gone = not any(map(members.stays, self._requests[0].clients))
        return self._requests[0] if gone else None

    @property
    def waiting(self) -> bool:
        """Whether somebody is still to be forgotten."""
        return bool(self._requests)

    def begin(self, request: Request, beginning: Beginning, first: int) -> list[Record]:
        """Enter the phase that the closed round `first` begins; what the log is to say of it before that round."""
        steps = beginning.steps
        self._requests = [one for one in self._requests if one is not request]
        self._enter(Phase(first, len(steps), request, beginning.most, beginning.calibrated, first, steps))
        kept = [
            Record(
                "update.kept",
                {
                    "round": first + place,
                    "phase": UNLEARNING,
                    "of": step.of,
                    "draws": step.draws,
                    "clients": step.clients,
                    "norm": step.norms,
                },
            )
            for place, step in enumerate(steps, start=1)
        ]
        fields = {
            "round": first,
            "phase": UNLEARNING,
            "clients": request.clients,
            "settings": request.settings,
            "after": beginning.after,
            "origin": beginning.origin,
            "steps": len(steps),
            "most": beginning.most,
            "calibrated": beginning.calibrated,
            "by": request.by,
        }
        return [*kept, Record("phase.began", fields)]

    def step(self, number: int) -> Step | None:
        """The step that a round is; none if it is one of training."""
        phase = self.phase
        return phase.steps[number - phase.done - 1] if phase and phase.done < number <= phase.last else None

    def covers(self, number: int) -> bool:
        """Whether a round is one of unlearning."""
        return self.phase is not None and self.phase.first <= number <= self.phase.last

    def forgotten(self, number: int) -> list[Record]:
        """What the log is to say when a round is closed that was the last of a phase."""
        phase = self.phase
        if phase is None or number != phase.last:
            return []
        who = {"round": number, "clients": phase.request.clients, "settings": phase.request.settings}
        return [Record("client.forgotten", who | {"phase": UNLEARNING, "by": phase.request.by})]

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        self._asked.update(phase.request.clients)
        self.last = phase.last if phase.request.ends else self.last + 1 + phase.length
