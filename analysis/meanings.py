"""What the public views and their columns mean: the words of `docs/sql.md`; types come from the views themselves."""

from dataclasses import dataclass
from typing import Final

__all__ = ["VIEWS", "View"]


@dataclass(frozen=True, slots=True)
class View:
    """A public view: what one row is, and what each column says."""

    row: str
    columns: dict[str, str]


VIEWS: Final[dict[str, View]] = {
    "run": View(
        "the run; no row where the log has no beginning",
        {
            "name": "the scenario's name",
            "scenario": "the resolved scenario",
            "scenario_hash": "sha256 of the resolved scenario's canonical JSON",
            "seed": "the seed of every random stream",
            "versions": "foltr, the protocol, Python and the libraries that the bits depend on",
            "dimension": "the length of θ",
            "engine": "what drove the nodes: processes or inline",
            "weights": "which updates' weights the log keeps: all, every:N or models",
            "parent": "the run that this one is a variation of; null if it is none",
            "started": "when the coordinator began",
            "finished": "when the run ended; null while it goes on, or if nobody could say so",
            "outcome": "completed, stopped or aborted; null as above",
            "reason": "why it was stopped or aborted",
            "seconds": "from started to finished",
        },
    ),
    "nodes": View(
        "one process of the run, in the order in which they were started; none where all ran in one process",
        {
            "name": "the node; one that was restarted has several rows",
            "role": "coordinator, host, adversary or evaluator",
            "pid": "the process",
            "started": "when the supervisor started it",
            "exited": "when it ended; null while it lives",
            "code": "its exit code; negative: the signal that ended it",
            "clients": "the clients that live on it",
        },
    ),
    "clients": View(
        "one client, in the roster's order",
        {
            "id": "the client's name, which every other view uses",
            "number": "its number on the wire, from 0",
            "host": "the node that it lives on",
            "clicks": "its click model",
            "attack": "how it attacks; null for the honest",
            "interactions": "interactions that it is asked for, a round",
            "joined": "when its host first joined",
            "left": "when it left; null while it takes part",
        },
    ),
    "rounds": View(
        "one closed round; round 0 is the start model, and so is the first one of unlearning: nobody is in it",
        {
            "round": "the number; its model is made from updates to model round − 1",
            "phase": "what the round is for: training or unlearning",
            "theta": "the global model after the round",
            "model": "sha256 of theta's float64 bytes",
            "participants": "clients whose updates are in the model",
            "missing": "clients whose updates are not",
            "opened": "when the round's first question was sent; null for round 0",
            "closed": "when the model was made",
            "aggregation": "what the aggregation rule tells of its work",
        },
    ),
    "decisions": View(
        "one client's update in a closed round, and what the aggregation rule made of it",
        {
            "round": "the round it answers",
            "phase": "what the round is for: training",
            "client": "whose it is",
            "used": "whether it is in the model",
            "score": "what the rule thinks of it, in the measure that docs/defences.md tells; null if it has none",
        },
    ),
    "updates": View(
        "one client's update in a round, refused ones too",
        {
            "round": "the round it answers",
            "phase": "what the round is for: training or unlearning",
            "client": "whose it is; null where a refused frame names nobody",
            "host": "the node that sent it",
            "n": "interactions that it learned from",
            "theta": "the client's model; null where the log keeps no weights, or the client sends a trial",
            "delta": "theta − the global model of round − 1",
            "norm": "‖delta‖₂, also where weights are not kept",
            "online_ndcg_at_10": "mean online nDCG of the client's lists in the round",
            "accepted": "whether the coordinator took it",
            "reason": "why not: a code of docs/protocol.md",
            "detail": "the sentence behind the reason",
            "received": "when it came",
            "seed": "the seed of the client's direction, where it sends a trial (the learner es) and no model",
            "f_plus": "what it told of the metric with the direction, privatised where p < 1",
            "f_minus": "what it told of the metric against the direction",
            "maxrr": "mean MaxRR of its clicks in truth, from its host's log; null where it sends a model",
        },
    ),
    "privacy": View(
        "one closed round of a run with a privacy mechanism: its noise, what it cost, and all rounds so far",
        {
            "round": "the model",
            "phase": "what the round is for: training",
            "promised": "noise shares that make the whole noise; 0 if the coordinator adds it, 1 if every client does",
            "received": "clients in the round whose models came with their share",
            "topped_up": "shares that did not come and were replaced by the others",
            "givers": "who replaced them",
            "discarded": "whether the updates were thrown away: the model is the one before, and costs nothing",
            "equal_weights": "whether all models count alike in the mean; if not, ε of shares is an upper bound",
            "nominal": "the ε that the scenario asks for, as the papers tell it",
            "epsilon": "the ε of one coordinate with the noise that is there, for who sees models; null: none holds",
            "joint": "the same of all coordinates together, a client's change bounded in L2",
            "message": "the ε of one coordinate of a single message, for who sees it: the coordinator, and this log",
            "delta": "the probability with which this round's figures may fail",
            "nominal_basic": "the sum of nominal over all rounds so far",
            "nominal_advanced": "advanced composition of nominal, at most the sum",
            "epsilon_basic": "the sum of epsilon, which the budget is about",
            "epsilon_advanced": "advanced composition of epsilon",
            "joint_basic": "the sum of joint",
            "joint_advanced": "advanced composition of joint",
            "delta_basic": "the probability with which the sums may fail",
            "delta_advanced": "that of the advanced compositions",
        },
    ),
    "metrics": View(
        "one value of a metric",
        {
            "round": "the model, or the round, that it is of",
            "phase": "what the round is for: training or unlearning",
            "name": "ndcg_at_10 (offline, of the model), online_ndcg_at_10 (of a client in a round), "
            "online (performance so far: Σ 0.9995^(t−1) · mean over clients of online_ndcg_at_10 in round t), "
            "maxrr (of a client in a round, with the learner es: mean of 1/rank of the highest click), "
            "epsilon (with a privacy mechanism, of a round; infinite if none holds), epsilon_total (all rounds so far)",
            "client": "whose it is; null for what is measured of the model or of all clients",
            "value": "the value",
        },
    ),
    "messages": View(
        "one message to or from one peer, as the node that logged it saw it",
        {
            "ts": "when, by the node's clock",
            "node": "who logged it",
            "seq": "the record's number in the node's log",
            "direction": "sent or received",
            "type": "which message: see docs/protocol.md",
            "peer": "to whom, or from whom",
            "round": "the round it is about",
            "bytes": "the frame's length",
            "id": "the sender's number of the message",
            "cause": "`peer:id` of the message that it answers",
            "refused": "why it was not accepted; null if it was",
        },
    ),
    "faults": View(
        "one fault of a node",
        {
            "what": "done on purpose: killed, paused, delay, drop, duplicate, reorder, corrupt, partition, throttle; "
            "noticed: lost (its process died), silent (no answer by the deadline), crashed (its own code failed)",
            "whom": "the node",
            "since": "when it was done or noticed",
            "until": "when it was undone, or the node was back: joined again, or its next update came; null if never",
            "caused_by": "who caused it on purpose; null if nobody did",
            "round": "the round in which it was noticed",
            "clients": "the clients on the node",
            "detail": "the signal, the strength of a fault of the network, or a crashed node's last words",
        },
    ),
    "events": View(
        "one record of the log",
        {
            "ts": "when, by the node's clock",
            "node": "who logged it",
            "seq": "0, 1, … within the node's log",
            "event": "what happened",
            "round": "the round it is about",
            "phase": "what the round is for: training or unlearning",
            "cause": "`peer:id` of the message behind it",
            "record": "the whole record, but for the updates' weights, which are `updates.theta`",
        },
    ),
    "damage": View(
        "one log file with lines that are no records; a node killed while it wrote leaves one",
        {"file": "the log file", "lines": "how many"},
    ),
}
"""Every public view by its name, in the order in which people meet them."""
