"""Who of a plan's clients is malicious, in the words of each layer: of the mathematics and of the protocol."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from learning.attacks import (
    ClientAttack,
    ColludingAttack,
    Collusion,
    Crafted,
    LoneAttacker,
    Scheduled,
    Seen,
    WireAttack,
    make_attack,
)
from learning.streams import Purpose, client_key, stream
from protocol.malice import Malice
from protocol.messages import ADVERSARY
from protocol.terms import Plot
from scenarios.roster import Client, setting_text
from scenarios.schema import Federation

__all__ = ["crafting", "lone_attackers", "malice", "plot", "schedules"]


def schedules(clients: Iterable[Client]) -> dict[int, Scheduled]:
    """The attacks of clients, by their place."""
    return {place: make_attack(client.attack) for place, client in enumerate(clients) if client.attack}


def lone_attackers(clients: tuple[Client, ...], seed: int) -> dict[int, LoneAttacker]:
    """The clients that attack alone by what they send, by their place."""
    return {
        place: LoneAttacker(schedule.attack, schedule, seed, client_key(clients[place].id))
        for place, schedule in schedules(clients).items()
        if isinstance(schedule.attack, ClientAttack)
    }


def plot(clients: tuple[Client, ...], federation: Federation) -> Plot | None:
    """The clients that collude, as the coordinator must know them; none if nobody does."""
    found = _collusion(clients)
    if found is None:
        return None
    spec, collusion = found
    return Plot(
        setting_text(spec),
        tuple(client.id for client in clients if client.attack == spec),
        collusion.is_on,
        full=collusion.knowledge == "full",
        awaits=_without(collusion, federation) == "wait" or federation.restart == "always",
        deserts=_without(collusion, federation) != "wait",
    )


def malice(host: tuple[Client, ...], everyone: tuple[Client, ...], federation: Federation) -> Malice | None:
    """What the malicious clients of a host do beyond their own models; none if nobody does."""
    planned = schedules(host)
    found = _collusion(everyone)
    members = [host[place].number for place, one in planned.items() if isinstance(one, Collusion)]
    rogues: Mapping[int, tuple[str, Callable[[int], bool]]] = {
        host[place].number: (one.attack.name, one.is_on)
        for place, one in planned.items()
        if isinstance(one.attack, WireAttack)
    }
    if not members and not rogues:
        return None
    here = {client.id for client in host}
    victims = [client for client in everyone if client.id not in here] or list(everyone)
    stranger = victims[0].number if victims[0].id not in here else len(everyone)
    silent = found is not None and _without(found[1], federation) == "silent"
    is_on = found[1].is_on if found is not None else _never
    return Malice(np.array(members, dtype=np.int64), is_on, silent, rogues, stranger, victims[0].id)


def crafting(clients: tuple[Client, ...], seed: int) -> Callable[[Seen, int], Crafted] | None:
    """What decides for the members of a round, in it; none if nobody colludes."""
    found = _collusion(clients)
    if found is None:
        return None
    attack = found[1].attack
    assert isinstance(attack, ColludingAttack)
    return lambda seen, number: attack(seen, stream(seed, Purpose.ATTACK, client_key(ADVERSARY), number))


def _collusion(clients: Iterable[Client]) -> tuple[Mapping[str, Any], Collusion] | None:
    """The attack of those who collude; a scenario has at most one."""
    for client in clients:
        schedule = make_attack(client.attack) if client.attack else None
        if client.attack and isinstance(schedule, Collusion):
            return client.attack, schedule
    return None


def _without(collusion: Collusion, federation: Federation) -> str:
    """What members do while the adversary is dead: as is said, else as with any other node that is missing."""
    return collusion.without or ("wait" if federation.on_missing == "wait" else "honest")


def _never(_number: int) -> bool:
    return False
