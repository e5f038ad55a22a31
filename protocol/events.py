"""The log's schema: one place for every event's name, its fields and their SQL types.

A record is one JSON object a line. Every record has the `COMMON` fields. A record of something said on the wire also
has the `WIRE` fields, so that the conversation can be asked for on its own; its event is `<message>.sent` or
`<message>.received`, or `frame.refused` / `update.refused` for what was not accepted. Event names are
`<thing>.<what happened to it>`. Fields that hold several clients are lists of the same length and order as `clients`.
"""

from dataclasses import dataclass
from typing import Final

from protocol.messages import MESSAGES

__all__ = ["COMMON", "EVENTS", "FIELDS", "WIRE", "Event"]

COMMON: Final[dict[str, str]] = {
    "ts": "DOUBLE",
    "node": "VARCHAR",
    "seq": "BIGINT",
    "event": "VARCHAR",
    "round": "INTEGER",
    "phase": "VARCHAR",
    "cause": "VARCHAR",
}
"""ts: seconds since 1970 by the node's clock; seq: 0, 1, … within the node's file;
phase: what the round is for, training where nothing is said; cause: `<peer>:<id>` of the message behind the record."""

WIRE: Final[dict[str, str]] = {
    "direction": "VARCHAR",
    "message": "VARCHAR",
    "peers": "VARCHAR[]",
    "id": "BIGINT",
    "bytes": "BIGINT",
}
"""direction: sent or received; peers: to whom, or from whom; id: the sender's number of the message."""


FIELDS: Final[dict[str, tuple[str, str]]] = {
    "scenario": ("JSON", "the resolved scenario"),
    "scenario_hash": ("VARCHAR", "sha256 of the resolved scenario's canonical JSON"),
    "seed": ("BIGINT", "the seed of every random stream"),
    "versions": ("JSON", "foltr, the protocol, Python and the libraries that the bits depend on"),
    "dimension": ("INTEGER", "the length of θ"),
    "engine": ("VARCHAR", "processes or inline"),
    "parent": ("VARCHAR", "the run that this one is a variation of"),
    "weights": ("VARCHAR", "which updates' weights the log keeps: all, every:N or models"),
    "name": ("VARCHAR", "the node, or the metric"),
    "role": ("VARCHAR", "coordinator, host, adversary or evaluator"),
    "pid": ("BIGINT", "the process"),
    "code": ("INTEGER", "the exit code; negative: the signal that ended it"),
    "clients": ("VARCHAR[]", "client ids"),
    "hosts": ("VARCHAR[]", "the host of each client"),
    "clicks": ("VARCHAR[]", "the click model of each client"),
    "attacks": ("VARCHAR[]", "the attack of each client; empty for honest ones. No aggregation rule is told"),
    "attack": ("JSON", "what a colluding attack tells of its work"),
    "others": ("VARCHAR[]", "the honest clients whose updates the adversary sees"),
    "size": ("BIGINT", "how many clients the round is made of"),
    "interactions": ("BIGINT[]", "interactions of each client, a round"),
    "theta": ("DOUBLE[]", "the weights of a model"),
    "thetas": ("DOUBLE[][]", "the weights of updates, one row a client; absent where the log does not keep them"),
    "norm": ("DOUBLE[]", "L2 norm of each client's change of the model, ‖θ_c − θ_t‖"),
    "online": ("DOUBLE[]", "each client's mean online nDCG@k in the round"),
    "maxrr": ("DOUBLE[]", "each client's mean MaxRR in the round: 1/(rank of the highest click), 0 without one"),
    "seeds": ("BIGINT[]", "the seed of each client's direction, with the learner es"),
    "fitness": ("DOUBLE[][]", "each client's f⁺ and f⁻ as it told them, with the learner es"),
    "reason": ("VARCHAR", "why: a code of protocol.errors.REFUSALS, or words"),
    "detail": ("VARCHAR", "the sentence behind the reason"),
    "model": ("VARCHAR", "sha256 of θ's float64 bytes"),
    "participants": ("VARCHAR[]", "clients whose updates are in the model"),
    "missing": ("VARCHAR[]", "clients that were asked or enrolled, and are not in the model"),
    "aggregation": ("JSON", "what the aggregation rule tells of its work"),
    "privacy": ("JSON", "what a round's model costs, and the noise shares in it; the columns of the view privacy"),
    "promised": ("INTEGER", "noise shares that make the whole noise"),
    "received": ("INTEGER", "noise shares that came"),
    "lacking": ("INTEGER", "noise shares that did not come and are replaced"),
    "givers": ("INTEGER", "clients among whom the replacement is divided"),
    "noise": ("DOUBLE[][]", "what clients gave in the place of missing shares, one row a client"),
    "remedy": ("VARCHAR", "what is done about missing shares: proceed, top-up or abort"),
    "rounds": ("INTEGER[]", "the rounds of the models measured"),
    "values": ("DOUBLE[]", "the measured values, one a round"),
    "split": ("VARCHAR", "the data split measured on"),
    "waiting": ("VARCHAR[]", "hosts that the open round waits for"),
    "outcome": ("VARCHAR", "completed, stopped or aborted"),
    "by": ("VARCHAR", "who did it: the timeline, or a person at a terminal"),
    "whom": ("VARCHAR[]", "the nodes it was done to"),
    "what": ("VARCHAR", "what the network does to frames"),
    "fault": ("VARCHAR", "the name of a fault of the network, until it is healed"),
    "settings": ("JSON", "how strong a fault is, or how somebody is forgotten"),
    "after": ("INTEGER", "the last round of the run that is to forget"),
    "origin": ("INTEGER", "the last round that stays in the model where unlearning starts; 0: none"),
    "steps": ("INTEGER", "the rounds of unlearning after its start"),
    "most": ("INTEGER", "interactions of a client in a step at most; 0: as many as in training"),
    "calibrated": ("BOOLEAN", "whether updates get the norms of those that were kept"),
    "of": ("INTEGER", "the round whose updates were kept"),
    "draws": ("BIGINT", "the number of the random streams of a step"),
    "way": ("VARCHAR", "to or from the node"),
    "signal": ("VARCHAR", "the signal that was sent"),
    "traceback": ("VARCHAR", "a node's last words"),
}
"""Every field beyond the common ones: its SQL type and what it is."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event's meaning, who writes it, and the fields it has beyond the common ones (`wire`: the wire's too)."""

    meaning: str
    writer: str
    fields: tuple[str, ...] = ()
    wire: bool = False


_PAYLOAD: Final = {
    "join.received": ("clients", "pid"),
    "update.received": ("clients", "interactions", "norm", "online", "promised", "thetas"),
    "trial.received": ("clients", "interactions", "seeds", "fitness"),
    "update.sent": ("clients",),
    "train.sent": ("clients",),
    "topup.sent": ("clients", "promised", "lacking", "givers"),
    "shares.received": ("clients", "promised", "lacking", "givers", "noise"),
    "lost.sent": ("name",),
    "lost.received": ("name",),
    "stop.sent": ("reason",),
    "stop.received": ("reason",),
    "finish.sent": ("reason",),
    "finish.received": ("reason",),
    "order.received": ("name", "whom", "by"),
    "confide.received": ("clients",),
    "attend.received": ("pid",),
    "brief.sent": ("clients", "others", "size"),
    "brief.received": ("clients",),
    "craft.sent": ("clients",),
    "craft.received": ("clients",),
    "instruct.sent": ("clients", "reason"),
    "abstain.received": ("clients",),
}
"""What the record of a message tells of its content; the others tell only that they passed."""

_SPOKEN: Final = {
    f"{name}.{direction}": Event(
        f"the message was {direction}",
        message.sender if direction == "sent" else message.recipient,
        _PAYLOAD.get(f"{name}.{direction}", ()),
        wire=True,
    )
    for name, message in MESSAGES.items()
    for direction in ("sent", "received")
}

_HIT: Final = ("fault", "name", "way")

EVENTS: Final[dict[str, Event]] = {
    "run.started": Event(
        "record 0: what is run",
        "coordinator",
        ("scenario", "scenario_hash", "seed", "versions", "dimension", "engine", "weights", "parent"),
    ),
    "clients.enrolled": Event(
        "who takes part; the round is the first with them, the first of all where nothing is said",
        "coordinator",
        ("clients", "hosts", "clicks", "attacks", "interactions"),
    ),
    "run.finished": Event("the run is over", "coordinator", ("outcome", "reason", "model")),
    "run.abandoned": Event("the run ended without a word of its coordinator", "supervisor", ("outcome", "reason")),
    "run.resumed": Event("the run goes on from its last closed round", "coordinator", ("versions",)),
    "run.waiting": Event("the open round cannot close, and for whom it waits", "coordinator", ("waiting",)),
    "round.closed": Event(
        "a model was made; round 0 is the start",
        "coordinator",
        ("theta", "model", "participants", "missing", "aggregation", "privacy"),
    ),
    "noise.short": Event(
        "fewer noise shares came than the promised noise needs", "coordinator", ("promised", "received", "remedy")
    ),
    "round.discarded": Event("a round is closed without its updates; the model stays", "coordinator", ("reason",)),
    "client.joined": Event("a host's clients are here for the first time", "coordinator", ("name", "clients")),
    "client.rejoined": Event("a lost or silent host's clients are back", "coordinator", ("name", "clients")),
    "client.lost": Event("a host's process is dead", "coordinator", ("name", "clients")),
    "client.added": Event(
        "clients were enrolled while the run went on; the round is the first with them",
        "coordinator",
        ("name", "clients", "by"),
    ),
    "client.left": Event(
        "clients left the federation; the round is the first without them", "coordinator", ("name", "clients", "by")
    ),
    "adversary.joined": Event("the adversary is here", "coordinator"),
    "adversary.lost": Event("the adversary's process is dead", "coordinator"),
    "adversary.silent": Event("the adversary did not answer by the deadline", "coordinator"),
    "attack.crafted": Event("it was decided what colluding clients send", "adversary", ("clients", "attack")),
    "forget.asked": Event(
        "clients are to be forgotten as soon as they are gone", "coordinator", ("clients", "settings", "by")
    ),
    "update.kept": Event(
        "a step of unlearning is due: these clients kept updates of these norms",
        "coordinator",
        ("of", "draws", "clients", "norm"),
    ),
    "phase.began": Event(
        "unlearning began: the round is its start, which has a model and nobody in it",
        "coordinator",
        ("clients", "settings", "after", "origin", "steps", "most", "calibrated", "by"),
    ),
    "client.forgotten": Event(
        "unlearning is over: the round's model has forgotten these clients",
        "coordinator",
        ("clients", "settings", "by"),
    ),
    "updates.erased": Event("what these clients sent was removed from this log", "operator", ("clients", "by")),
    "client.killed": Event("processes were ended on purpose", "supervisor", ("whom", "signal", "by")),
    "client.paused": Event("processes were stopped on purpose", "supervisor", ("whom", "by")),
    "client.unpaused": Event("paused processes go on", "supervisor", ("whom", "by")),
    "client.restarted": Event("processes were started again", "supervisor", ("whom", "by")),
    "network.disturbed": Event(
        "frames of nodes are treated badly from now on", "supervisor", ("fault", "what", "whom", "settings", "by")
    ),
    "network.healed": Event("frames are treated well again", "supervisor", ("fault", "what", "whom", "by")),
    "frame.delayed": Event("a frame was held back by a fault", "coordinator", _HIT),
    "frame.dropped": Event("a frame was lost by a fault", "coordinator", _HIT),
    "frame.duplicated": Event("a frame was delivered twice by a fault", "coordinator", _HIT),
    "frame.reordered": Event("a frame was overtaken by the next one", "coordinator", _HIT),
    "frame.corrupted": Event("a byte of a frame was changed by a fault", "coordinator", _HIT),
    "timeline.performed": Event("what was due before a round is done", "supervisor"),
    "client.silent": Event("a host did not answer by the deadline", "coordinator", ("name", "clients")),
    **_SPOKEN,
    "update.refused": Event("an update was not accepted", "coordinator", ("clients", "reason", "detail"), wire=True),
    "frame.refused": Event("a frame was not accepted", "every node", ("reason", "detail"), wire=True),
    "lists.shown": Event(
        "what the users of clients that send trials saw and clicked: the wire carries nothing of it",
        "host",
        ("clients", "online", "maxrr"),
    ),
    "metric.measured": Event("models were measured", "evaluator", ("name", "split", "rounds", "values")),
    "node.started": Event("a process was started", "supervisor", ("name", "role", "pid")),
    "node.exited": Event("a process ended", "supervisor", ("name", "role", "pid", "code")),
    "node.crashed": Event("a node's own code failed", "supervisor", ("name", "traceback")),
    "node.ready": Event("a node is set up and begins its loop", "every node", ("role", "pid")),
}
"""Every event by its name."""
