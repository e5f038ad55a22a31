"""A coordinator's machine on a stage: stimuli in a few words in, instructions in a few words out."""

from itertools import count

import numpy as np

from protocol.codec import Envelope
from protocol.coordination import Coordination
from protocol.forgetting import Beginning, Recall, Recalled
from protocol.machine import Arrived, Began, Quit, Record, Say, TimeCame
from protocol.messages import SUPERVISOR, Enrol, Join, Leave, Lost, Ready, Shares, Stop, Trial, Update
from protocol.terms import Admit, Aggregate, Aggregated, Impose, Terms

HOSTS = {"host-1": [0], "host-2": [1, 2]}
START = np.array([0.5, -0.5])


def terms(hosts=None, **rules):
    """The terms of a small run: client k is called ck and is asked for k + 1 interactions a round."""
    hosts = hosts or HOSTS
    clients = sum(len(own) for own in hosts.values())
    return Terms(
        clients=tuple(f"c{number}" for number in range(clients)),
        hosts={host: np.array(own) for host, own in hosts.items()},
        interactions=np.arange(1, clients + 1),
        dimension=2,
        **({"rounds": 3} | rules),
    )


def told(instruction):  # noqa: PLR0911 - one line a kind
    """An instruction in a few words."""
    match instruction:
        case Record(event, fields):
            reason = fields.get("reason") if event.endswith(".refused") else None
            return f"{event}: {reason}" if reason else event
        case Say(peers, message):
            return f"{message.name} -> {' '.join(peers)}"
        case Aggregate(clients=clients):
            return f"aggregate {' '.join(f'c{number}' for number in clients)}"
        case Recall(request, closed):
            return f"recall {' '.join(request.clients)} up to {closed}"
        case Admit(host, _key):
            return f"admit {host}"
        case Impose(fault, how):
            return f"impose {fault}" if how else f"heal {fault}"
        case Quit(outcome):
            return f"quit: {outcome}"
    raise TypeError(instruction)


class Stage:
    """The machine, what it did last, and everything that it ever asked its shell for."""

    def __init__(self, hosts=None, *, closed=None, **rules):
        self.machine = Coordination(terms(hosts, **rules), START, closed)
        self.now = 0.0
        self.did = []
        self.history = []
        self._ids = count(1)

    def step(self, stimulus):
        """One stimulus; the instructions in a few words."""
        self.did = self.machine.step(stimulus)
        self.history += self.did
        return [told(one) for one in self.did]

    def hear(self, peer, message):
        """A message arrives."""
        return self.step(Arrived(self.now, peer, Envelope(message, next(self._ids), 0, 100)))

    def begin(self):
        """The node is set up."""
        return self.step(Began(self.now))

    def join(self, host, pid=1, clients=None):
        """A host's process joins."""
        own = self.machine.members.hosts[host] if clients is None else np.array(clients, dtype=np.int64)
        return self.hear(host, Join(own, pid))

    def update(self, host, number=None, **changes):
        """A host answers for the open round with its clients that take part, rightly but for the changes."""
        members = self.machine.members
        own = changes.pop("clients", members.numbers(host))
        clients = np.array(own, dtype=np.int64)
        known = np.clip(clients, 0, len(members) - 1)
        right = {
            "round": self.machine.closed + 1 if number is None else number,
            "clients": clients,
            "theta": clients[:, None] + np.array([0.25, 0.75]),
            "interactions": members.interactions[known],
            "online": np.full(len(clients), 0.5),
            "promised": self.machine.ledger.promised,
        }
        return self.hear(host, Update(**(right | changes)))

    def trial(self, host, number=None, **changes):
        """A host answers for the open round of a run of trials, rightly but for the changes."""
        clients = np.array(changes.pop("clients", self.machine.members.numbers(host)), dtype=np.int64)
        right = {
            "round": self.machine.closed + 1 if number is None else number,
            "clients": clients,
            "seeds": clients + 2**53 - 9,
            "fitness": np.column_stack((clients / 8, np.ones(len(clients)))),
        }
        return self.hear(host, Trial(**(right | changes)))

    def shares(self, host, **changes):
        """A host gives the noise that it was asked for, rightly but for the changes."""
        question = [one.message for one in self.history if isinstance(one, Say) and one.message.name == "topup"]
        asked = next(one for one in reversed(question) if set(one.clients) <= set(self.machine.members.hosts[host]))
        right = {name: getattr(asked, name) for name in ("round", "clients", "promised", "lacking", "givers")}
        right["noise"] = np.full((len(asked.clients), 2), 0.5)
        return self.hear(host, Shares(**(right | changes)))

    def lose(self, host, pid=1):
        """The supervisor says that a host's process is dead."""
        return self.hear(SUPERVISOR, Lost(host, pid))

    def stop(self, reason="enough"):
        """The supervisor asks for the end."""
        return self.hear(SUPERVISOR, Stop(reason))

    def ready(self, number, *hosts):
        """The supervisor has done what was due before a round."""
        return self.hear(SUPERVISOR, Ready(number, hosts))

    def leave(self, *clients, forget=""):
        """The supervisor lets clients go."""
        return self.hear(SUPERVISOR, Leave(clients, "ann", forget))

    def enrol(self, host, *clients, **changes):
        """The supervisor enrols a new host with clients of 7 interactions each."""
        right = {
            "host": host,
            "key": "",
            "clients": clients,
            "clicks": ("perfect",) * len(clients),
            "attacks": ("",) * len(clients),
            "interactions": np.full(len(clients), 7),
            "by": "ann",
        }
        return self.hear(SUPERVISOR, Enrol(**(right | changes)))

    def aggregated(self, theta=None, **told):
        """The shell gives the result of an aggregation: a made-up vector."""
        made = np.full(2, float(self.machine.closed + 1)) if theta is None else np.array(theta)
        return self.step(Aggregated(self.now, made, {"made": "up"}, **told))

    def recalled(self, *steps, theta=(0.0, 0.0), calibrated=True):
        """The shell has read in the log how unlearning begins."""
        closed = self.machine.closed
        return self.step(Recalled(self.now, Beginning(np.array(theta), 0, closed, steps, 0, calibrated)))

    def wait(self, seconds):
        """Time passes, and the shell wakes the machine."""
        self.now += seconds
        return self.step(TimeCame(self.now))

    def gather(self):
        """Begin, and everybody joins: round 1 (or the next one) is open."""
        self.begin()
        for host in self.machine.members.hosts:
            self.join(host)
        return self

    def play_round(self):
        """Everybody who is here answers and the model is made; what the last step did."""
        for host in self.machine.members.hosts:
            if host in self.machine.present:
                self.update(host)
        return self.aggregated()

    def fields(self, event):
        """The fields of the last such record."""
        return [one.fields for one in self.history if isinstance(one, Record) and one.event == event][-1]
