"""Who takes part, and on which host: a scenario's client groups, written out."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scenarios.schema import Scenario

__all__ = ["MOST_OWN_PROCESSES", "Client", "clients", "hosts", "setting_of", "setting_text"]

MOST_OWN_PROCESSES = 16  # clients that `hosts = "auto"` gives a process each: cross-silo, beyond it cross-device


@dataclass(frozen=True, slots=True)
class Client:
    """One client: its id, its place in the scenario (0, 1, …), how its users click, how often a round, its attack."""

    id: str
    number: int
    clicks: str | Mapping[str, Any]
    interactions: int
    attack: Mapping[str, Any] | None = None


def clients(scenario: Scenario) -> tuple[Client, ...]:
    """Every client in the order of the scenario; those without an id are client-1, client-2, … over all groups."""
    roster: list[Client] = []
    counted = 0
    for group in scenario.clients:
        if group.id is not None:
            ids = [group.id]
        else:
            ids = [f"client-{counted + place}" for place in range(1, (group.count or 0) + 1)]
            counted += len(ids)
        interactions = group.interactions or scenario.learner.interactions
        first = len(roster)
        roster += [
            Client(name, first + place, group.clicks, interactions, group.attack) for place, name in enumerate(ids)
        ]
    return tuple(roster)


def setting_text(setting: str | Mapping[str, Any] | None) -> str:
    """How the log writes a click model or an attack: its name, its table as JSON, or nothing."""
    return setting or "" if isinstance(setting, str | None) else json.dumps(dict(setting), sort_keys=True)


def setting_of(text: str) -> str | Mapping[str, Any]:
    """The click model or the attack behind what the log has of it."""
    read: Mapping[str, Any] = json.loads(text) if text.startswith("{") else {}
    return read or text


def hosts(scenario: Scenario, cores: int) -> dict[str, tuple[Client, ...]]:
    """The clients of each host, contiguous in the roster's order, the hosts' sizes differing by at most one.

    Hosts that hold one client each are called by their client's id, others host-1, host-2, …; cores is at least 1.
    """
    roster = clients(scenario)
    number = _host_count(scenario, len(roster), cores)
    if number == len(roster):
        return {client.id: (client,) for client in roster}
    bounds = [host * len(roster) // number for host in range(number + 1)]
    return {f"host-{host + 1}": roster[bounds[host] : bounds[host + 1]] for host in range(number)}


def _host_count(scenario: Scenario, clients: int, cores: int) -> int:
    wanted = scenario.federation.hosts
    if isinstance(wanted, int):
        return wanted
    if wanted == "auto" and scenario.federation.engine == "inline" and not scenario.timeline:
        return 1  # nobody can tell; but whom a timeline kills must not depend on the engine
    if wanted == "auto" and clients > MOST_OWN_PROCESSES:
        return min(cores, clients)
    return clients
