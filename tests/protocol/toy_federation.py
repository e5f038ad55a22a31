"""A coordinator's and several hosts' machines joined by real frames over a network of the test's making."""

from collections import deque
from dataclasses import asdict, replace
from math import inf

import numpy as np
from stage import START, terms

from protocol.codec import Codec
from protocol.coordination import Coordination
from protocol.errors import RefusedFrame
from protocol.events import COMMON, EVENTS, WIRE
from protocol.machine import Arrived, Began, Quit, Record, Say, TimeCame
from protocol.messages import COORDINATOR, SUPERVISOR, Cue, Enrol, Leave, Lost, Ready
from protocol.participation import Drawn, DrawShares, LocalTraining, Participation, Trained
from protocol.terms import Admit, Aggregate, Aggregated

HOSTS = {"host-1": [0], "host-2": [1, 2], "host-3": [3]}


def learn(client, number, theta):
    """What a client makes of a model in a round: a function of these three and nothing else."""
    return np.sin(theta * (client + 2) + number)


def mean_of(clients, number, theta, promised=0, givers=()):
    """The next model if exactly these clients, by number, take part, and these give noise for the missing shares."""
    lacking = promised - len(clients)
    rows = [learn(client, number, theta) + share(client, number, promised) for client in clients]
    more = [share(client, number, promised, lacking, len(givers)) if client in givers else 0.0 for client in clients]
    return np.mean([row + noise for row, noise in zip(rows, more, strict=True)], axis=0)


def share(client, number, promised, lacking=0, givers=0):
    """The noise of a client: a function of these five and nothing else."""
    of = promised + 10 * lacking + 100 * givers
    return np.cos(np.array([1.0, 2.0]) * (client + 3) * number + of) if promised else np.zeros(2)


def undisturbed(rounds):
    """Every model of a run in which nothing goes wrong."""
    models = [START]
    for number in range(1, rounds + 1):
        models.append(mean_of(range(4), number, models[-1]))
    return models


class Node:
    """A machine with its hands, and the ids of what it said."""

    def __init__(self, name, machine, federation):
        self.name, self.machine, self.federation = name, machine, federation
        self.outcome = None
        self._codec = Codec()
        self._said = 0
        self.feed(Began(federation.now))

    def hear(self, sender, frame):
        """Take a frame as a shell does; true if it was a message."""
        try:
            envelope = self._codec.decode(frame)
        except RefusedFrame:
            return False
        self.feed(Arrived(self.federation.now, sender, envelope))
        return True

    def wake(self):
        """Wake the machine if its time has come."""
        wake = self.machine.wake_at
        if self.outcome is None and wake is not None and self.federation.now >= wake:
            self.feed(TimeCame(self.federation.now))

    def feed(self, stimulus):
        """One step, and everything that follows from it."""
        for instruction in self.machine.step(stimulus):
            self.federation.looked_at(self, instruction)
            match instruction:
                case Say(peers, message, answers, _):
                    self._said += 1
                    frame = self._codec.encode(message, self._said, answers)
                    self.federation.frames.extend((self.name, peer, frame) for peer in peers)
                case Aggregate(thetas=thetas, before=before, noise=noise):
                    made = before if noise.discarded else thetas.mean(axis=0)
                    self.feed(Aggregated(self.federation.now, made, {}, asdict(noise)))
                case DrawShares(number, clients, promised, lacking, givers):
                    drawn = [share(one, number, promised, lacking, givers) for one in clients]
                    self.feed(Drawn(self.federation.now, np.array(drawn)))
                case LocalTraining(number, theta, clients, promised):
                    made = np.array([learn(one, number, theta) + share(one, number, promised) for one in clients])
                    counts = self.federation.coordinator.machine.members.interactions[clients]
                    self.feed(Trained(self.federation.now, made, counts, np.full(len(clients), 0.5)))
                case Admit(host, _):
                    self.federation.restart(host)
                case Quit(outcome):
                    self.outcome = outcome


class ToyFederation:
    """All nodes, the frames under way, the time, and what was seen of the run.

    The supervisor's frames are never lost and keep their order; on a cue it starts every dead host again.
    """

    def __init__(self, rounds, **rules):
        self.terms = terms(HOSTS, rounds=rounds, **rules)
        self.now = 0.0
        self.frames = deque()
        self.models = []  # (round, theta, participants, missing) as they were logged
        self.noise = {}  # the count of noise shares of each round's model, as it was logged
        self.events = set()
        self.since = {}  # the first round with a client that was enrolled later, as it was logged last
        self.until = {}  # the first round without a client that left, as it was logged last
        self.cued = []  # the rounds that the supervisor was asked about
        self._pids = 0
        self._supervisor, self._told = Codec(), 0
        self.start(closed=None, theta=START)

    @property
    def members(self):
        """The roster as the coordinator has it."""
        return self.coordinator.machine.members

    def active(self, number):
        """Who takes part in a round, as the log has it."""
        return [one for one in self.members.clients if self.since.get(one, 1) <= number < self.until.get(one, inf)]

    def start(self, closed, theta):
        """Start every node afresh from a closed round, with those whom the log knows; what was under way is gone."""
        self.frames.clear()
        self.hosts = {}
        self.dead = {}
        self.terms = replace(self.terms, since=dict(self.since), until=dict(self.until))
        self.coordinator = Node(COORDINATOR, Coordination(self.terms, theta, closed), self)
        for host in filter(self.members.holds, list(self.members.hosts)):
            self.restart(host)

    def restart(self, host):
        """Start a host's process."""
        self._pids += 1
        self.dead.pop(host, None)
        self.hosts[host] = Node(host, Participation(self.members.hosts[host], 2, self._pids), self)

    def kill(self, host):
        """A host's process dies, and the supervisor says so."""
        self.dead[host] = pid = self.hosts.pop(host).machine.pid
        self.tell(Lost(host, pid))

    def enrol(self, count):
        """The supervisor enrols a new host with so many clients; the coordinator's word starts it."""
        place = self._told
        clients = tuple(f"new-{place}-{number}" for number in range(count))
        counts = np.full(count, 7)
        self.tell(Enrol(f"host-new-{place}", "", clients, ("perfect",) * count, ("",) * count, counts, "somebody"))

    def leave(self, client):
        """The supervisor lets a client go."""
        self.tell(Leave((client,), "somebody", ""))

    def tell(self, message):
        """The supervisor says something to the coordinator."""
        self._told += 1
        self.frames.append((SUPERVISOR, COORDINATOR, self._supervisor.encode(message, self._told)))

    def carry(self, sender, peer, frame):
        """A frame arrives, unless nobody is there."""
        if peer == SUPERVISOR:
            return self._perform(self._supervisor.decode(frame).message)
        node = self.coordinator if peer == COORDINATOR else self.hosts.get(peer)
        if node is None or node.outcome is not None:
            return None
        return node.hear(sender, frame)

    def _perform(self, cue):
        """What the supervisor does on a cue."""
        assert isinstance(cue, Cue)
        self.cued.append(cue.round)
        started = tuple(host for host in self.dead if self.members.holds(host))
        for host in started:
            self.restart(host)
        self.tell(Ready(cue.round, started))
        return True

    def pass_time(self, seconds):
        """Time passes, and whoever wanted to be woken is."""
        self.now += seconds
        for node in (self.coordinator, *self.hosts.values()):
            node.wake()

    def looked_at(self, node, instruction):
        """Hold every instruction against the log's schema, and remember the models, and who came and went."""
        match instruction:
            case Record(event, fields):
                assert set(fields) <= {*COMMON, *EVENTS[event].fields, *(WIRE if EVENTS[event].wire else ())}, event
                self.events.add(event)
                self._remember(event, fields)
            case Say(_, message, _, tells):
                event = EVENTS[f"{message.name}.sent"]
                assert event.writer == node.machine.role
                assert set(tells) <= set(event.fields)
                self.events.add(f"{message.name}.sent")

    def _remember(self, event, fields):
        match event:
            case "round.closed":
                self.models.append((fields["round"], fields["theta"], fields["participants"], fields["missing"]))
                self.noise[fields["round"]] = fields.get("privacy")
            case "client.added":
                self.since |= dict.fromkeys(fields["clients"], fields["round"])
            case "client.left":
                self.until |= dict.fromkeys(fields["clients"], fields["round"])
            case "clients.enrolled":
                known, more = self.terms, fields["clients"]
                numbers = np.arange(len(known.clients), len(known.clients) + len(more))
                self.terms = replace(
                    known,
                    clients=(*known.clients, *more),
                    hosts=known.hosts | {fields["hosts"][0]: numbers},
                    interactions=np.concatenate([known.interactions, fields["interactions"]]),
                )
