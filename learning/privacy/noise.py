"""The noise of a run: a function of (seed, who, round, how many shares), so that it can be drawn again."""

from dataclasses import dataclass

from learning.kernels.arrays import Integers, Reals
from learning.privacy.mechanism import Mechanism
from learning.streams import Purpose, stream

__all__ = ["Noise"]


@dataclass(frozen=True, slots=True)
class Noise:
    """A mechanism with the run's seed; d is the length of θ."""

    mechanism: Mechanism
    seed: int

    def share(self, key: int, round: int, dimension: int, promised: int) -> Reals:  # noqa: A002 (the domain's word)
        """What a client adds to its model [d], one of so many shares that are promised; 1: the whole noise."""
        random = stream(self.seed, Purpose.PRIVACY, key, round)
        return self.mechanism.client_noise(random, dimension, 1 / promised)

    def top_up(
        self,
        key: int,
        round: int,  # noqa: A002 (as above)
        dimension: int,
        promised: int,
        missing: int,
        givers: int,
    ) -> Reals:
        """What one of so many givers adds beside its share [d] to replace so many missing ones."""
        random = stream(self.seed, Purpose.TOP_UP, key, round)
        return self.mechanism.client_noise(random, dimension, missing / (promised * givers))

    def on_mean(self, mean: Reals, round: int, interactions: Integers) -> Reals:  # noqa: A002 (as above)
        """The mean [d] of models of so many interactions each, with what the coordinator adds, if it adds anything."""
        random = stream(self.seed, Purpose.CENTRAL_NOISE, 0, round)
        central = self.mechanism.server_noise(random, len(mean), interactions)
        return mean if central is None else mean + central
