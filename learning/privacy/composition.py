"""What several rounds cost together: the same client takes part in all of them.

Basic composition adds up: Σ ε_i. Advanced composition allows a further probability δ' of failure and is, for rounds of
different ε (Kairouz, Oh and Viswanath, ICML 2015, theorem 3.5),

    min( Σ ε_i,  Σ ε_i tanh(ε_i/2) + √(2 ln(1/δ') Σ ε_i²) )

which pays off for many rounds of small ε. The δ_i of the rounds add up in both.
"""

from dataclasses import dataclass
from math import inf, log, sqrt, tanh

__all__ = ["Spending"]


@dataclass(frozen=True, slots=True)
class Spending:
    """The ε of rounds so far, in the sums that composition needs: of ε, of ε², of ε·tanh(ε/2)."""

    total: float = 0.0
    squares: float = 0.0
    drift: float = 0.0

    def after(self, epsilon: float) -> "Spending":
        """With one round more."""
        if epsilon == inf:
            return Spending(inf, inf, inf)
        return Spending(
            self.total + epsilon, self.squares + epsilon * epsilon, self.drift + epsilon * tanh(epsilon / 2)
        )

    @property
    def basic(self) -> float:
        """The sum."""
        return self.total

    def advanced(self, delta: float) -> float:
        """The ε that all rounds have together but for a probability `delta`; never more than the sum."""
        return min(self.total, self.drift + sqrt(2 * log(1 / delta) * self.squares))
