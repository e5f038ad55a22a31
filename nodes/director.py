"""The director: makes things happen to a run, because its timeline says so or because a person asks.

Whatever the engine, one director decides whom something happens to, lets the engine's hands do it, logs who did what to
whom, and heals what lasts only for a while. The coordinator asks it before each round of the timeline, and opens the
round when it is done; so that what is declared happens at the same round in every run.
"""

import heapq
import json
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

import numpy as np

from learning.attacks import Collusion, make_attack
from learning.streams import Purpose, client_key, stream
from protocol.errors import UserError
from protocol.journal import Journal
from protocol.messages import ADVERSARY, COORDINATOR, Disturb, Enrol, Heal, Leave, Lost, Message
from scenarios.duration import duration_seconds
from scenarios.plan import Plan
from scenarios.roster import Client, setting_text
from scenarios.timeline import NETWORK, Happening

__all__ = ["Director", "Hands"]

TIMELINE: Final = "the timeline"
MEMBERSHIP: Final = ("add", "leave")
NOBODY: Final = 0  # the number of no process
_SELECTION: Final = client_key("selection")


class Hands(Protocol):
    """What an engine can do to nodes."""

    def lives(self, node: str) -> bool:
        """Whether a node has a process."""

    def kill(self, node: str, signal: str) -> None:
        """Send a node's process a signal; after KILL it is dead and the coordinator knows."""

    def pause(self, node: str) -> None:
        """Stop a node's process."""

    def unpause(self, node: str) -> None:
        """Let a node's process go on."""

    def restart(self, node: str) -> None:
        """Start a node, ending it first if it lives."""

    def prepare(self, client: Client) -> str:
        """Make a host for a new client ready, which has its name; its public key, if there are keys."""

    def start(self, client: Client) -> None:
        """Start the host of a new client."""

    def tell(self, message: Message) -> None:
        """Say something to the coordinator."""


class Director:
    """One run's timeline and orders."""

    def __init__(self, plan: Plan, hands: Hands, journal: Journal, clock: Callable[[], float]) -> None:
        self.round = 1  # the round that is open or opens next, as far as known
        self._plan = plan
        self._hands = hands
        self._journal = journal
        self._clock = clock
        self._clients = {client.id: client for client in plan.clients}
        self._hosts = {client.id: host for host, clients in plan.hosts.items() for client in clients}
        self._left = set(plan.until)
        self._performed: set[int] = set()
        self._halfway: set[int] = set()  # rounds before which an earlier director may not have been heard to the end
        self._membership: list[Message] = []  # all that was said about who comes and goes
        self._faults = 0
        self._after_rounds: list[tuple[int, int, Callable[[], None]]] = []
        self._after_time: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        self._started: list[str] = []  # hosts that were started for the round that waits

    @property
    def wake_at(self) -> float | None:
        """When something is due by the clock."""
        return self._after_time[0][0] if self._after_time else None

    def on_time(self) -> None:
        """Do what is due by the clock."""
        while self._after_time and self._after_time[0][0] <= self._clock():
            heapq.heappop(self._after_time)[2]()

    def perform(self, number: int) -> tuple[str, ...]:
        """Do what is due before a round, once; the hosts that were started for it."""
        self.round = number
        if number in self._performed:
            return ()
        self._performed.add(number)
        self._started = []
        while self._after_rounds and self._after_rounds[0][0] <= number:
            heapq.heappop(self._after_rounds)[2]()
        again = number in self._halfway
        for happening in self._plan.scenario.timeline:
            if number in happening.rounds(self._plan.scenario.rounds) and (not again or happening.action in MEMBERSHIP):
                self._happen(happening)
        self._journal.append("timeline.performed", round=number)
        self._journal.flush()
        return tuple(self._started)

    def remind(self) -> None:
        """Say again to a coordinator that died who comes and goes, and who is dead; what it knows changes nothing."""
        for message in self._membership:
            self._hands.tell(message)
        for node in dict.fromkeys([*self._hosts.values(), *self._plan.adversary]):
            if not self._hands.lives(node):
                self._hands.tell(Lost(node, NOBODY))

    def recall(self, performed: frozenset[int], closed: int) -> None:
        """Take over from an earlier director of this run: what it did is done, and what still lasts goes on.

        Only of a round that was not closed it cannot be known whether the coordinator heard who comes and goes.
        """
        self._performed |= {number for number in performed if number <= closed}
        self._halfway = {number for number in performed if number > closed}
        for happening in self._plan.scenario.timeline:
            for number in happening.rounds(self._plan.scenario.rounds):
                end = number + happening.lasts if isinstance(happening.lasts, int) else None
                lasting = happening.lasts is None or (end is not None and end not in performed)
                if number in performed and happening.action in NETWORK and lasting:
                    self._happen(happening, end)

    def order(self, verb: str, whom: Sequence[str], settings: dict[str, Any], by: str) -> list[str]:
        """Do what a person asks for; what was done, in words."""
        if verb == "add":
            return [f"added {client}" for client in self.add(by=by, **settings)]
        if verb == "leave":
            return self._let_go(whom, settings.get("forget"), by)
        acts: dict[str, Callable[[list[str]], None]] = {
            "kill": lambda nodes: self.kill(nodes, str(settings.get("signal", "KILL")), by),
            "pause": lambda nodes: self.pause(nodes, by),
            "unpause": lambda nodes: self.unpause(nodes, by),
            "restart": lambda nodes: self.restart(nodes, by),
        }
        if verb not in acts:
            raise UserError(f"an order is one of {', '.join([*acts, 'add', 'leave'])}; got {verb!r}")
        nodes = self._nodes(whom)
        if verb != "restart" and (dead := [node for node in nodes if not self._hands.lives(node)]):
            raise UserError(f"{_some(dead)} cannot be reached by {verb}: not running; foltr restart brings nodes back")
        acts[verb](nodes)
        return [f"{verb}: {node}" for node in nodes]

    def clients_on(self, node: str) -> list[str]:
        """The clients that live on a node and take part."""
        return [client for client, host in self._hosts.items() if host == node and client not in self._left]

    # --- what can happen ---------------------------------------------------------------------------------------------

    def kill(self, nodes: list[str], signal: str, by: str) -> None:
        """End processes, or send them another signal."""
        self._log("client.killed", by, whom=nodes, signal=signal)
        for node in nodes:
            self._hands.kill(node, signal)

    def pause(self, nodes: list[str], by: str) -> None:
        """Stop processes."""
        self._log("client.paused", by, whom=nodes)
        for node in nodes:
            self._hands.pause(node)

    def unpause(self, nodes: list[str], by: str) -> None:
        """Let paused processes go on."""
        self._log("client.unpaused", by, whom=nodes)
        for node in nodes:
            self._hands.unpause(node)

    def restart(self, nodes: list[str], by: str) -> None:
        """Start processes again."""
        self._log("client.restarted", by, whom=nodes)
        for node in nodes:
            self._hands.restart(node)
        self._started += [node for node in nodes if node in self._hosts.values() or node == ADVERSARY]

    def leave(self, clients: list[str], by: str, forget: dict[str, Any] | None = None) -> None:
        """Let clients leave the federation, and be forgotten if that is wanted."""
        self._left.update(clients)
        self._tell(Leave(tuple(clients), by, json.dumps(forget) if forget else ""))

    def add(
        self,
        *,
        by: str,
        count: int = 1,
        id: str | None = None,  # noqa: A002 - the scenario's own word
        clicks: Any = None,
        interactions: int | None = None,
        attack: dict[str, Any] | None = None,
    ) -> list[str]:
        """Add clients, each with a host of its own; their ids."""
        added = []
        for _ in range(count):
            name = id or self._fresh_id()
            if name in self._clients:
                raise UserError(f"a new client's id must be unique; {name} is enrolled already")
            scenario = self._plan.scenario
            model = clicks if clicks is not None else scenario.clients[0].clicks
            if attack is not None:
                self._check_attack(attack)
            count_of = interactions or scenario.learner.interactions
            client = Client(name, len(self._clients), model, count_of, attack)
            self._clients[name], self._hosts[name] = client, name
            key = self._hands.prepare(client)
            asked = np.array([client.interactions], dtype=np.int64)
            settings = (setting_text(model),), (setting_text(attack),)
            self._tell(Enrol(name, key, (name,), *settings, asked, by))
            self._hands.start(client)
            self._started.append(name)
            added.append(name)
        return added

    def _check_attack(self, attack: dict[str, Any]) -> None:
        """Refuse what a new client's attack cannot be: those who collude do so with those who do already."""
        plot = self._plan.plot
        if isinstance(make_attack(attack), Collusion) and (plot is None or setting_text(attack) != plot.attack):
            known = plot.attack if plot is not None else "none"
            raise UserError(f"a new client can only join the run's own plot, {known}; got {setting_text(attack)}")

    def disturb(self, what: str, hosts: list[str], settings: dict[str, Any], by: str) -> str:
        """Treat frames badly; the fault's name."""
        self._faults += 1
        fault = f"{what}-{self._faults}"
        self._log("network.disturbed", by, fault=fault, what=what, whom=hosts, settings=settings)
        self._hands.tell(Disturb(fault, what, tuple(hosts), json.dumps(settings)))
        return fault

    def heal(self, fault: str, what: str, hosts: list[str], by: str) -> None:
        """Treat frames well again."""
        self._log("network.healed", by, fault=fault, what=what, whom=hosts)
        self._hands.tell(Heal(fault))

    def _let_go(self, whom: Sequence[str], forget: dict[str, Any] | None, by: str) -> list[str]:
        """Let clients leave because a person wants it; whoever left before can still be forgotten."""
        if forget:
            self._plan.check_forget(forget)
        gone = [client for client in whom if client in self._left] if forget else []
        here = self._select([client for client in whom if client not in gone])
        self.leave([*gone, *here], by, forget)
        how = f" and is forgotten by {forget['method']}" if forget else ""
        return [f"{client} {'left before' if client in gone else 'leaves'}{how}" for client in (*gone, *here)]

    # --- the timeline ------------------------------------------------------------------------------------------------

    def _happen(self, one: Happening, ends: int | None = None) -> None:
        """Let an entry of the timeline happen; `ends` is the round of its end where it began earlier."""
        match one.action:
            case "kill":
                if nodes := self._living(one.whom):
                    self.kill(nodes, "KILL", TIMELINE)
                    self._later(one.restart_after, lambda: self.restart(nodes, TIMELINE))
            case "pause":
                if nodes := self._living(one.whom):
                    self.pause(nodes, TIMELINE)
                    self._later(one.lasts, lambda: self.unpause(self._still(nodes), TIMELINE))
            case "restart":
                self.restart(self._nodes(self._here(one.whom)), TIMELINE)
            case "leave":
                here = self._select(self._here(one.whom))
                gone = [client for client in one.whom if client in self._left] if one.forget else []
                self.leave([*gone, *here], TIMELINE, one.forget)
            case "add":
                # Where an earlier director was not heard to the end, some of them may be there already.
                there = sum(first == self.round for first in self._plan.since.values()) if self._halfway else 0
                missing = (one.add or 1) - there
                if missing > 0 and (one.id is None or one.id not in self._clients):
                    self.add(
                        by=TIMELINE,
                        count=missing,
                        id=one.id,
                        clicks=one.clicks,
                        interactions=one.interactions,
                        attack=one.attack,
                    )
            case what:
                hosts = self._nodes(self._here(one.whom))
                fault = self.disturb(what, hosts, _settings(one), TIMELINE)
                lasts = one.lasts if ends is None else max(1, ends - self.round)
                self._later(lasts, lambda: self.heal(fault, what, hosts, TIMELINE))

    def _later(self, after: int | str | None, thunk: Callable[[], None]) -> None:
        """Do something so many rounds or so much time later; never if nothing is said."""
        self._count += 1
        if isinstance(after, int):
            heapq.heappush(self._after_rounds, (self.round + after, self._count, thunk))
        elif after is not None:
            heapq.heappush(self._after_time, (self._clock() + duration_seconds(after), self._count, thunk))

    # --- whom --------------------------------------------------------------------------------------------------------

    def _select(self, whom: Sequence[str]) -> list[str]:
        """The clients that are meant by ids, "clients" or a fraction of those who take part."""
        here = [client for client in self._clients if client not in self._left]
        chosen: set[str] = set()
        for one in whom:
            if one in here:
                chosen.add(one)
            elif one == "clients":
                chosen.update(here)
            elif one in self._hosts.values():
                chosen.update(client for client in here if self._hosts[client] == one)
            elif one.endswith("%"):
                share = _share(one)
                random = stream(self._plan.scenario.seed, Purpose.FAULT, _SELECTION, self.round)
                count = max(1, round(share * len(here)))
                chosen.update(here[place] for place in random.permutation(len(here))[:count])
            else:
                raise UserError(f"{one!r} is not a node; known are {_some(here)}, clients, and fractions such as 30%")
        return [client for client in here if client in chosen]

    def _here(self, whom: Sequence[str]) -> list[str]:
        """What the timeline names, without those who have left by now."""
        return [one for one in whom if one not in self._left]

    def _living(self, whom: Sequence[str]) -> list[str]:
        """The processes that the timeline means and that are there to be hit."""
        return self._still(self._nodes(self._here(whom)))

    def _still(self, nodes: list[str]) -> list[str]:
        return [node for node in nodes if self._hands.lives(node)]

    def _nodes(self, whom: Sequence[str]) -> list[str]:
        """The processes that are meant: roles by their names, clients by the host they live on."""
        roles = [one for one in whom if one in (COORDINATOR, "evaluator", *self._plan.adversary)]
        clients = self._select([one for one in whom if one not in roles])
        return [*roles, *dict.fromkeys(self._hosts[client] for client in clients)]

    def _tell(self, message: Message) -> None:
        """Say something about who comes and goes, and keep it for a coordinator that dies."""
        self._membership.append(message)
        self._hands.tell(message)

    def _fresh_id(self) -> str:
        number = 1 + sum(name.startswith("client-") for name in self._clients)
        while f"client-{number}" in self._clients:
            number += 1
        return f"client-{number}"

    def _log(self, event: str, by: str, **fields: Any) -> None:
        self._journal.append(event, round=self.round, by=by, **fields)
        self._journal.flush()


def _settings(one: Happening) -> dict[str, Any]:
    """How strong a fault of the network is, as `Weather` wants it."""
    settings: dict[str, Any] = {}
    if one.probability is not None:
        settings["probability"] = one.probability
    if one.action == "delay":
        settings["seconds"] = duration_seconds(one.by or "10ms")
        settings["distribution"] = one.distribution or "fixed"
    if one.action == "throttle":
        settings["rate"] = one.rate or 10_000
    return settings


def _share(text: str) -> float:
    try:
        share = float(text[:-1]) / 100
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise UserError(f"a fraction must be above 0% and at most 100%; got {text!r}")
    return share


def _some(names: list[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
