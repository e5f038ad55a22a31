"""What attacks of several clients together must be, over all of a scenario's tables."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scenarios.problems import Problem
from scenarios.words import shown

__all__ = ["attack_problems", "collusion_problems", "is_colluding"]

Table = Mapping[str, Any]


def attack_problems(key: str, table: Table) -> Iterator[Problem]:
    """Whether an attack is one."""
    from learning.attacks import make_attack  # not at import: it loads numba, and most scenarios have no attack
    from learning.errors import LearningError

    try:
        make_attack(table)
    except LearningError as error:
        yield Problem(key, str(error))


def is_colluding(attack: object) -> bool:
    """Whether an attack, right or wrong, is one of several clients together."""
    if not isinstance(attack, dict) or not isinstance(attack.get("kind"), str):
        return False
    from learning.attacks import ATTACKS, ColludingAttack

    made = ATTACKS.get(attack["kind"])
    return isinstance(made, type) and issubclass(made, ColludingAttack)


def collusion_problems(
    groups: Sequence[tuple[str, Table]], added: Sequence[tuple[str, Table]], federation: Table
) -> Iterator[Problem]:
    """Whether those who collude, in groups and among those added later, make one plot that can work.

    A group or an addition comes with its key; a group has `count` clients, or one.
    """
    plotting = [(key, group) for key, group in (*groups, *added) if is_colluding(group.get("attack"))]
    if not plotting:
        return
    first_key, first = plotting[0]
    attack = first["attack"]
    for key, group in plotting[1:]:
        if group["attack"] != attack:
            yield Problem(f"{key}.attack", f"must be that of {first_key}: those who collude have one adversary")
    if not any(is_colluding(group.get("attack")) for _, group in groups):
        yield Problem(
            f"{first_key}.attack", "must be that of a group of clients: the adversary is there from the start"
        )
    members = sum(_size(group) for _, group in groups if is_colluding(group.get("attack")))
    clients = sum(_size(group) for _, group in groups)
    if 2 * members >= clients:
        yield Problem(
            f"{first_key}.attack",
            f"colluding clients must be fewer than half, m < n/2; got m = {members}, n = {clients}",
        )
    waits = federation.get("on_missing") == "wait" and federation.get("restart") != "always"
    if attack.get("without_adversary") == "silent" and waits:
        yield Problem(
            f"{first_key}.attack.without_adversary",
            'must be honest or wait with on_missing = "wait", which waits for everybody; got ' + shown("silent"),
        )


def _size(group: Table) -> int:
    count = group.get("count")
    return count if type(count) is int and count >= 1 and "id" not in group else 1
