"""The coordinator's step of FOLtR-ES: a gradient out of the clients' trials, and one step of Adam up it.

    g = mean over the clients of (f̂⁺ − f̂⁻)·ε_s/(2σ)                                     (thesis §3.1.1, antithetic)
    m ← β₁m + (1 − β₁)g        v ← β₂v + (1 − β₂)g²        θ ← θ + η·(m/(1 − β₁ᵗ))/(√(v/(1 − β₂ᵗ)) + 1e-8)
                                                                                 (Kingma & Ba, ICLR 2015, Algorithm 1)

Each ε_s is made again from its seed. A client whose two figures are equal gives nothing, and costs nothing.
"""

import math
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar

import numpy as np

from learning.aggregation.rule import Aggregate, Updates
from learning.errors import LearningError
from learning.kernels.arrays import Reals, Words, read_only
from learning.kernels.compiling import compiled, fma
from learning.kernels.normal import padded
from learning.kernels.philox import GENERATOR_WORDS
from learning.learners.es import TRIAL, fill_direction

__all__ = ["Adam", "gradient"]

FIRST, SECOND, SMALL = 0.9, 0.999, 1e-8  # β₁, β₂ and what keeps the quotient finite


@dataclass(slots=True)
class Adam:
    """Takes trials [n, 3], each a seed, f̂⁺ and f̂⁻, for updates; remembers the moments m and v of the gradients.

    epsilon  the local ε of what is told of one interaction, for the log; none: the truth is told
    """

    _: KW_ONLY
    sigma: float
    learning_rate: float
    epsilon: float | None = None
    remembers: ClassVar[bool] = True
    _mean: Reals = field(default_factory=lambda: np.zeros(1), init=False)
    _square: Reals = field(default_factory=lambda: np.zeros(1), init=False)
    _left: tuple[float, float] = field(default=(1.0, 1.0), init=False)  # β₁ᵗ, β₂ᵗ

    def check(self, clients: int) -> None:
        """Serve any number of clients."""

    def __call__(self, updates: Updates) -> Aggregate:
        """The model one step on; info has how many clients, what they told on average, the gradient's length."""
        trials = updates.thetas
        g = gradient(trials, self.sigma, len(updates.before))
        self._mean = FIRST * self._mean + (1.0 - FIRST) * g
        self._square = SECOND * self._square + (1.0 - SECOND) * (g * g)
        self._left = (self._left[0] * FIRST, self._left[1] * SECOND)
        mean, square = self._mean / (1.0 - self._left[0]), self._square / (1.0 - self._left[1])
        theta = updates.before + self.learning_rate * mean / (np.sqrt(square) + SMALL)
        told = math.fsum(trials[:, 1:].ravel()) / (2 * len(trials))
        info = {"clients": len(trials), "fitness": told, "gradient": math.sqrt(math.fsum(g * g))}
        info |= {} if self.epsilon is None else {"epsilon": self.epsilon}
        return Aggregate(theta, info=info)


def gradient(trials: Reals, sigma: float, dimension: int) -> Reals:
    """The mean of (f̂⁺ − f̂⁻)·ε_s/(2σ) over trials [n, 3], [dimension]; added up in the order of the rows."""
    if trials.ndim != 2 or trials.shape[1] != TRIAL or len(trials) == 0:
        raise LearningError(f"trials must be rows of a seed and two figures, at least 1; got the shape {trials.shape}")
    total = np.zeros(dimension)
    _add_directions(read_only(trials), total, np.empty(padded(dimension)), np.empty(GENERATOR_WORDS, np.uint64))
    return total / (2.0 * sigma * len(trials))


@compiled
def _add_directions(trials: Reals, total: Reals, direction: Reals, generator: Words) -> None:
    """Add (f̂⁺ − f̂⁻)·ε_s of each row to `total`; the last two are work space."""
    for row in range(len(trials)):
        difference = trials[row, 1] - trials[row, 2]
        if difference != 0.0:
            fill_direction(generator, trials[row, 0], direction)
            for j in range(len(total)):
                total[j] = fma(difference, direction[j], total[j])
