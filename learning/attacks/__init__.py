"""Attacks: what a malicious client sends instead of the model that it learned.

These need no accomplice: each client acts by itself. Poisoned clicks are a click model (`learning.clicks`).
"""

from collections.abc import Callable, Mapping
from typing import Any

from learning.attacks.attack import Attack, Scheduled
from learning.attacks.free_rider import FreeRider
from learning.attacks.random_weights import RandomWeights
from learning.attacks.sign_flip import SignFlip
from learning.errors import LearningError
from learning.registry import make

__all__ = ["ATTACKS", "Attack", "Scheduled", "make_attack"]

ATTACKS: Mapping[str, Callable[..., Attack]] = {
    "sign_flip": SignFlip,
    "random": RandomWeights,
    "free_rider": FreeRider,
}


def make_attack(spec: Mapping[str, Any]) -> Scheduled:
    """The attack that a scenario's `attack = { kind = …, start = …, stop = …, … }` means."""
    options = {name: value for name, value in spec.items() if name not in ("kind", "start", "stop")}
    if "kind" not in spec:
        raise LearningError(f"an attack needs a kind, one of {', '.join(sorted(ATTACKS))}; got {dict(spec)}")
    attack = make("attack", ATTACKS, spec["kind"], **options)
    return Scheduled(attack, start=spec.get("start", 1), stop=spec.get("stop"))
