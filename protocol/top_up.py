"""The books of a top-up: who is asked for noise in the place of shares that will not come, and what they gave."""

from math import isfinite

import numpy as np
from numpy.typing import NDArray

from protocol.errors import Refusal
from protocol.messages import Shares, TopUp

__all__ = ["TopUpBook"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class TopUpBook:
    """One request for the noise of `lacking` shares, divided evenly among the clients of some hosts."""

    def __init__(self, number: int, promised: int, lacking: int, owed: dict[str, Integers], dimension: int) -> None:
        self.givers = np.sort(np.concatenate(list(owed.values())))
        self.owed = owed  # what each host has still to give
        self._of = (promised, lacking, len(self.givers))
        self._round = number
        self._noise = np.empty((len(self.givers), dimension))

    @property
    def complete(self) -> bool:
        """Whether everyone has given."""
        return not self.owed

    @property
    def noise(self) -> Floats:
        """What the givers gave, in their order, float64[n, d]."""
        return self._noise

    def question(self, host: str) -> TopUp:
        """What a host is asked for."""
        return TopUp(self._round, self.owed[host], *self._of)

    def problem(self, host: str, shares: Shares) -> tuple[Refusal, str] | None:
        """Why shares may not be used; none if they may."""
        count, dimension = len(shares.clients), self._noise.shape[1]
        if host not in self.owed:
            return Refusal.NOT_ASKED, f"{host} owes no noise in round {self._round}"
        if shares.clients.tobytes() != self.owed[host].tobytes():
            return Refusal.NOT_YOURS, f"{host} gave noise for {shares.clients.tolist()[:10]}"
        if (shares.promised, shares.lacking, shares.givers) != self._of:
            return Refusal.WRONG_SHARES, f"promised, lacking and givers must be {self._of}"
        if shares.noise.shape != (count, dimension):
            return Refusal.WRONG_DIMENSION, f"noise must be {(count, dimension)}, got {shares.noise.shape}"
        with np.errstate(all="ignore"):  # hostile numbers overflow
            finite = isfinite(float(np.abs(shares.noise).sum()))
        return None if finite else (Refusal.NOT_FINITE, f"round {self._round}")

    def enter(self, host: str, shares: Shares) -> None:
        """Keep what a host gave."""
        self._noise[np.searchsorted(self.givers, shares.clients)] = shares.noise
        del self.owed[host]
