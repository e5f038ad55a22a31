"""Attacks: what malicious clients do, and in which rounds.

Four kinds: on the model that a client sends (it acts alone), on the clicks that it learns from, by several clients
together (an adversary decides for all of them), and on the wire (frames that a client may not send).
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from learning.attacks.attack import Attack, ClickAttack, ClientAttack, ColludingAttack, Crafted, Seen, WireAttack
from learning.attacks.fang_krum import FangKrum
from learning.attacks.fang_mean import FangMean
from learning.attacks.flipped_clicks import FlippedClicks
from learning.attacks.free_rider import FreeRider
from learning.attacks.ipm import Ipm
from learning.attacks.lie import Lie
from learning.attacks.lone import LoneAttacker
from learning.attacks.min_max import MinMax
from learning.attacks.min_sum import MinSum
from learning.attacks.poison_clicks import PoisonClicks
from learning.attacks.random_weights import RandomWeights
from learning.attacks.schedule import Collusion, Scheduled
from learning.attacks.sign_flip import SignFlip
from learning.errors import LearningError
from learning.registry import make

__all__ = [
    "ATTACKS",
    "Attack",
    "ClickAttack",
    "ClientAttack",
    "ColludingAttack",
    "Collusion",
    "Crafted",
    "LoneAttacker",
    "Scheduled",
    "Seen",
    "WireAttack",
    "make_attack",
]

ATTACKS: Mapping[str, Callable[..., Attack]] = {
    "sign_flip": SignFlip,
    "random": RandomWeights,
    "free_rider": FreeRider,
    "poison_clicks": PoisonClicks,
    "flipped_clicks": FlippedClicks,
    "lie": Lie,
    "fang_krum": FangKrum,
    "fang_mean": FangMean,
    "min_max": MinMax,
    "min_sum": MinSum,
    "ipm": Ipm,
    "update_twice": partial(WireAttack, "update_twice"),
    "replay_update": partial(WireAttack, "replay_update"),
    "update_for_another": partial(WireAttack, "update_for_another"),
    "rejoin_as_another": partial(WireAttack, "rejoin_as_another"),
    "false_leave": partial(WireAttack, "false_leave"),
}
SCHEDULE = ("start", "stop", "every")
TOGETHER = ("knowledge", "without_adversary")


def make_attack(spec: Mapping[str, Any]) -> Scheduled:
    """The attack that a scenario's `attack = { kind = …, start = …, stop = …, every = …, … }` means.

    Those of several clients together are a `Collusion`; they also take `knowledge` and `without_adversary`.
    """
    if "kind" not in spec:
        raise LearningError(f"an attack needs a kind, one of {', '.join(sorted(ATTACKS))}; got {dict(spec)}")
    options = {name: value for name, value in spec.items() if name not in ("kind", *SCHEDULE)}
    together = {name: options.pop(name) for name in TOGETHER if name in options}
    attack = make("attack", ATTACKS, spec["kind"], **options)
    times = {name: spec[name] for name in SCHEDULE if name in spec}
    if isinstance(attack, ColludingAttack):
        return Collusion(
            attack, **times, knowledge=together.get("knowledge", "partial"), without=together.get("without_adversary")
        )
    if together:
        raise LearningError(
            f"{next(iter(together))} is for attacks of several clients together; got it with {spec['kind']}"
        )
    return Scheduled(attack, **times)
