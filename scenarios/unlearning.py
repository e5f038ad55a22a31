"""From a request to be forgotten to the model that unlearning starts from and the rounds that follow.

Whoever can read a log gives a `Memory` of it; the rest is the same for a live run and for one that is over.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from learning.unlearning import Made, Method, Story, lineage, make_method
from protocol.forgetting import Beginning, Step

__all__ = ["ROUTES", "WITHOUT_UPDATES", "Memory", "begin_unlearning", "needs_weights", "unlearning_method"]

ROUTES: Final = ("train", "end")
"""What comes after unlearning: training goes on, or the run ends."""

WITHOUT_UPDATES: Final = ("retrain", "rollback")
"""Methods that forget also where clients send something else than weights."""

Floats = NDArray[np.float64]


class Memory(Protocol):
    """What a log remembers of a run, up to its last round that counts.

    after     that round
    restarts  where the model went back before: (first, origin) of each phase of unlearning
    """

    @property
    def after(self) -> int:
        """The last round that counts."""

    @property
    def restarts(self) -> Sequence[tuple[int, int]]:
        """Where the model went back before."""

    def norms(self, rounds: Sequence[int]) -> Mapping[int, Mapping[str, float]]:
        """By round, ‖θ_c − θ_t‖ of each client whose update is in the round's model."""

    def draws(self, rounds: Sequence[int]) -> Sequence[int]:
        """The numbers of the random streams of rounds."""

    def model(self, number: int) -> Floats:
        """The model of a round."""

    def made(self, rounds: Sequence[int]) -> Iterator[Made]:
        """The updates of rounds with their weights; raises UserError where the log lacks them."""


def needs_weights(settings: Mapping[str, Any]) -> bool:
    """Whether a `forget` table wants updates with their weights in the log."""
    return unlearning_method(settings).needs_weights


def unlearning_method(settings: Mapping[str, Any]) -> Method:
    """The method of a `forget` table; `then` is not the method's business."""
    return make_method({name: value for name, value in settings.items() if name != "then"})


def begin_unlearning(
    settings: Mapping[str, Any], leavers: Sequence[str], remaining: Sequence[str], memory: Memory, initial: Floats
) -> Beginning:
    """Where unlearning starts, and its steps: none for rounds of which nobody that remains has an update."""
    method = unlearning_method(settings)
    rounds = lineage(memory.after, memory.restarts)
    last = memory.model(rounds[-1]) if rounds else initial
    norms = memory.norms(rounds) if method.steps is None or method.steps.every == 1 else {}
    joined = next((one for one in rounds if any(client in norms[one] for client in leavers)), None) if norms else None
    theta, origin = method.start(Story(initial, last, tuple(leavers), rounds, joined, memory.model, memory.made))
    if method.steps is None:
        return Beginning(theta, origin, memory.after, (), 0, calibrated=False)
    kept = rounds[:: method.steps.every]
    found = norms or memory.norms(kept)
    draws = memory.draws(kept) if method.steps.again else ()
    steps: list[Step] = []
    for place, number in enumerate(kept):
        own = {client: found[number][client] for client in remaining if client in found[number]}
        if own:
            drawn = draws[place] if draws else memory.after + len(steps) + 1
            steps.append(Step(number, drawn, tuple(own), tuple(own.values())))
    return Beginning(theta, origin, memory.after, tuple(steps), method.steps.interactions, method.steps.calibrated)
