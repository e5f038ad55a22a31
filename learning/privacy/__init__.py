"""Differential privacy: what clients or the coordinator add to models, and what a run gives away all the same."""

from collections.abc import Callable, Mapping
from typing import Any

from learning.privacy.account import FREE, Account
from learning.privacy.gaussian import CentralGaussian, LocalGaussian
from learning.privacy.laplace_shares import LaplaceShares
from learning.privacy.mechanism import Cost, Mechanism
from learning.privacy.noise import Noise
from learning.registry import make

__all__ = ["FREE", "MECHANISMS", "Account", "Cost", "Mechanism", "Noise", "make_mechanism"]

MECHANISMS: Mapping[str, Callable[..., Mechanism]] = {
    "laplace-shares": LaplaceShares,
    "central-gaussian": CentralGaussian,
    "local-gaussian": LocalGaussian,
}


def make_mechanism(kind: str, **options: Any) -> Mechanism:
    """The mechanism of that kind with its settings."""
    return make("privacy mechanism", MECHANISMS, kind, **options)
