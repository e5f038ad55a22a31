"""What some nodes said to each other in some rounds, with what happened to them: the contents of a diagram."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from analysis.log import sql_text
from analysis.runs import Run
from protocol.errors import UserError
from protocol.messages import COORDINATOR, SUPERVISOR

__all__ = ["MOST", "Conversation", "Happening", "Message", "conversation", "telling_round"]

MOST: Final = 2_000  # records that a diagram shows: more cannot be read
BAD: Final = ("lost", "silent", "crashed", "killed", "paused", "disturbed", "dropped", "corrupted", "exited", "refused")
"""What an event's name ends in if something went wrong, or was made to."""

Fate = Literal["delivered", "refused", "lost", "unseen"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of one sender to one receiver; a moment that nobody logged is none.

    fate  delivered; refused, for a reason; lost: sent, and not in the receiver's log; or unseen: one side has no log,
          so that nobody can tell
    """

    sender: str
    receiver: str
    type: str
    round: int | None
    id: int
    bytes: int | None
    sent: datetime | None
    received: datetime | None
    reason: str | None
    fate: Fate


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that is no message: a round closed, a node lost; without a node it concerns all."""

    at: datetime
    node: str | None
    text: str
    bad: bool


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages and happenings in the order of time, of nodes in the order in which they are drawn."""

    first: int
    last: int
    nodes: tuple[str, ...]
    messages: tuple[Message, ...]
    happenings: tuple[Happening, ...]


def telling_round(run: Run) -> int:
    """The round that tells most: that of the first fault or refused update, else the last one that was closed."""
    faults = run.rows("select min(round) as round from faults where round > 0")[0]["round"]
    refused = run.rows("select min(round) as round from updates where not accepted")[0]["round"]
    last = run.rows("select coalesce(max(round), 0) as round from rounds")[0]["round"]
    odd = [one for one in (faults, refused) if one is not None]
    return int(min(odd, default=last))


def conversation(run: Run, first: int, last: int, nodes: Sequence[str] = ()) -> Conversation:
    """What nodes said in rounds first … last; a client means its host, no name the coordinator and all hosts."""
    if first > last:
        raise UserError(f"rounds must be first..last with first not above last; got {first}..{last}")
    chosen = _nodes(run, nodes)
    settings = {"first": first, "last": last, "nodes": list(chosen), "limit": MOST + 1}
    rows = run.rows(sql_text("conversation"), settings)
    if len(rows) > MOST:
        raise UserError(
            f"a diagram shows at most {MOST:,} records, and rounds {first}..{last} of {len(chosen)} nodes have more; "
            "name fewer rounds (--rounds 3..4) or fewer nodes (--nodes coordinator,client-3)"
        )
    return Conversation(first, last, chosen, _messages(run, rows), _happenings(run, first, last, chosen, rows))


def _nodes(run: Run, wanted: Sequence[str]) -> tuple[str, ...]:
    clients = run.rows("select id, host from clients order by number")
    host_of = {row["id"]: row["host"] for row in clients}
    hosts = tuple(dict.fromkeys(host_of.values()))
    known = (COORDINATOR, *hosts, SUPERVISOR)
    if not wanted:
        return (COORDINATOR, *hosts)
    chosen = {name if name in known else host_of.get(name) for name in wanted}
    if None in chosen:
        unknown = next(name for name in wanted if name not in known and name not in host_of)
        some = ", ".join(known[:12]) + (" …" if len(known) > 12 else "")
        raise UserError(f"a node must be one of {some}, or a client; got {unknown!r}")
    return tuple(name for name in known if name in chosen)


def _messages(run: Run, rows: Sequence[dict[str, Any]]) -> tuple[Message, ...]:
    """Sendings and receipts put together by sender, receiver and number; a number may come twice, and each counts."""
    writers = {row["node"] for row in run.rows("select distinct node from messages")}
    sent: dict[tuple[str, str, int, str], list[dict[str, Any]]] = {}
    for row in rows:
        if row["direction"] == "sent":
            sent.setdefault((row["node"], row["peer"], row["id"], row["type"]), []).append(row)
    found: list[Message] = []
    for row in rows:
        if row["direction"] == "received":
            key = (row["peer"], row["node"], row["id"], row["type"])
            waiting = sent.get(key, [])
            before = waiting.pop(0) if waiting else None
            fate: Fate = "refused" if row["refused"] else "delivered" if before else "unseen"
            found.append(_message(key, before, row, fate))
    for key, left in sent.items():
        fate = "lost" if key[1] in writers else "unseen"
        found += [_message(key, row, None, fate) for row in left]
    return tuple(sorted(found, key=_moment))


def _moment(message: Message) -> tuple[datetime, str]:
    first = message.sent or message.received
    assert first is not None  # a message is in the log because somebody logged it
    return first, message.receiver


def _message(
    key: tuple[str, str, int, str], sent: dict[str, Any] | None, received: dict[str, Any] | None, fate: Fate
) -> Message:
    sender, receiver, number, kind = key
    row = received or sent or {}
    return Message(
        sender=sender,
        receiver=receiver,
        type=kind,
        round=row.get("round"),
        id=number,
        bytes=row.get("bytes"),
        sent=sent["ts"] if sent else None,
        received=received["ts"] if received else None,
        reason=row.get("refused"),
        fate=fate,
    )


def _happenings(
    run: Run, first: int, last: int, nodes: Sequence[str], rows: Sequence[dict[str, Any]]
) -> tuple[Happening, ...]:
    if not rows:
        return ()
    settings = {"first": first, "last": last, "since": rows[0]["ts"], "until": rows[-1]["ts"]}
    found = []
    for row in run.rows(sql_text("happenings"), settings):
        record = json.loads(row["record"])
        whom = record.get("whom") or ([record["name"]] if record.get("name") else [])
        places: list[str | None] = [one for one in whom if one in nodes]
        if not whom:
            places = [None]
        text = _told(row, record)
        found += [Happening(row["ts"], place, text, row["event"].split(".")[-1] in BAD) for place in places]
    return tuple(found)


def _told(row: dict[str, Any], record: dict[str, Any]) -> str:
    """An event in few words."""
    phase = "" if row["phase"] == "training" else f" of {row['phase']}"
    if row["event"] == "round.closed":
        count = len(record.get("participants") or ())
        return f"round {row['round']}{phase} closed: model {str(record.get('model'))[:8]} from {count} clients"
    words = str(row["event"]).split(".")[-1]
    if record.get("what"):
        words += f": {record['what']}"
    if record.get("signal"):
        words += f" by {record['signal']}"
    return words if record.get("name") or record.get("whom") else str(row["event"]).replace(".", " ")
