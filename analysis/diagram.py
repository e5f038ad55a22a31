"""A message-sequence diagram as SVG: a line down the page a node, an arrow a message, time from top to bottom.

Every moment has a row of its own, so that the order can be read however close moments are; the margin tells the time.
Hovering over an arrow tells all that the log has of its message.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Final

from analysis.conversation import Conversation, Happening, Message, conversation, telling_round
from analysis.runs import open_run
from analysis.style import VARIABLES, scoped
from protocol.errors import UserError
from protocol.messages import COORDINATOR

__all__ = ["diagram", "write_diagram"]

ROUNDS: Final = re.compile(r"\d+(\.\.\d+)?")
ROW: Final = 22
TOP: Final = 60
MARGIN: Final = 84  # for the times
LANE: Final = 120
GONE: Final = ("lost", "killed", "crashed", "paused", "left")  # a node's line is thin from here …
BACK: Final = ("joined", "rejoined", "unpaused", "added")  # … to here
STYLE: Final = VARIABLES + scoped(
    "svg.talk",
    "text{font:12px system-ui,sans-serif;fill:var(--ink)}.node{font-weight:600;font-size:13px}"
    ".paper{fill:var(--paper)}.time{fill:var(--quiet);font-size:11px}.life{stroke:var(--quiet);stroke-width:2}"
    ".life.gone{stroke:var(--bad);stroke-dasharray:3 5}.round{stroke:var(--quiet);stroke-dasharray:1 3}"
    ".arrow{fill:none;stroke:var(--c0);stroke-width:1.5}.head{fill:var(--c0)}"
    ".answer .arrow{stroke:var(--c2)}.answer .head{fill:var(--c2)}"
    ".refused .arrow,.lost .arrow,.cross{stroke:var(--bad);stroke-width:2;fill:none}.refused .head{fill:var(--bad)}"
    ".lost .arrow{stroke-dasharray:6 4}.unseen .arrow{stroke-dasharray:2 4}"
    ".word{paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}"
    ".refused .word,.lost .word,.bad .word{fill:var(--bad);font-weight:600}"
    ".dot{fill:var(--good)}.bad .dot{fill:var(--bad)}.hit{stroke:transparent;stroke-width:12;fill:none}"
    ".message:hover .arrow{stroke-width:3.5}",
)


@dataclass(frozen=True, slots=True)
class _Grid:
    """Where things are drawn: a column a node, a row a moment of a node (of nobody: something that concerns all)."""

    columns: dict[str, int]
    rows: dict[tuple[datetime, str], int]

    @property
    def width(self) -> int:
        return MARGIN + max(3, len(self.columns)) * LANE + 40

    @property
    def height(self) -> int:
        return TOP + max(2, len(self.rows) + 1) * ROW + 24


def diagram(talk: Conversation) -> str:
    """The drawing of a conversation; one without a message says so."""
    grid = _grid(talk)
    title = f"round {talk.first:,}" if talk.first == talk.last else f"rounds {talk.first:,} to {talk.last:,}"
    size = f'width="{grid.width}" height="{grid.height}"'
    box = f'viewBox="0 0 {grid.width} {grid.height}" {size}'
    parts = [
        f'<svg class="talk" xmlns="http://www.w3.org/2000/svg" {box} role="img">',
        f"<title>messages of {title}</title>",
        f'<style>{STYLE}</style><rect class="paper" {size}/>',
        *_times(grid),
        *(part for name in talk.nodes for part in _life(name, talk, grid)),
        *(part for one in talk.happenings for part in _happening(one, grid)),
        *(part for one in talk.messages for part in _message(one, grid)),
    ]
    if not talk.messages:
        parts.append(f'<text class="word" x="{MARGIN}" y="{TOP + ROW}">these nodes said nothing in {title}</text>')
    return "\n".join([*parts, "</svg>\n"])


def write_diagram(run: Path, rounds: str | None, nodes: Sequence[str], target: Path) -> None:
    """Draw a run's rounds, written as `12` or `12..14` (none: the round that tells most), into an SVG file."""
    if target.suffix.lower() != ".svg":
        raise UserError(f"a diagram's name must end in .svg; got {target}")
    if rounds is not None and not ROUNDS.fullmatch(rounds):
        raise UserError(f"rounds must be a number or first..last; got {rounds!r}")
    with open_run(run, snapshot=True) as opened:
        first, _, last = (rounds or str(telling_round(opened))).partition("..")
        made = opened.rows("select max(round) as last from rounds")[0]["last"] or 0
        if int(first) > made + 1 or int(last or first) < int(first):  # the open round may be drawn, too
            raise UserError(f"rounds must be first..last within 0..{made}, the rounds of this run; got {rounds}")
        drawn = diagram(conversation(opened, int(first), int(last or first), nodes))
    try:
        target.write_text(drawn, encoding="utf-8")
    except OSError as error:
        raise UserError(f"the diagram cannot be written: {error.strerror}: {target}") from error


def _grid(talk: Conversation) -> _Grid:
    moments = {(one.sent, one.sender) for one in talk.messages if one.sent}
    moments |= {(one.received, one.receiver) for one in talk.messages if one.received}
    moments |= {(one.at, one.node or "") for one in talk.happenings}
    rows = {moment: TOP + (at + 1) * ROW for at, moment in enumerate(sorted(moments))}
    return _Grid({name: MARGIN + LANE // 2 + at * LANE for at, name in enumerate(talk.nodes)}, rows)


def _times(grid: _Grid) -> Iterator[str]:
    """The time since the first moment where it differs from the row above, in seconds if there are any."""
    start = min((at for at, _ in grid.rows), default=None)
    long = start is not None and (max(at for at, _ in grid.rows) - start).total_seconds() >= 10
    told = ""
    for (at, _), y in grid.rows.items():
        assert start is not None
        seconds = (at - start).total_seconds()
        text = f"{seconds:,.2f} s" if long else f"{seconds * 1000:,.2f} ms"
        if text != told:
            yield f'<text class="time" x="{MARGIN - 12}" y="{y + 4}" text-anchor="end">{text}</text>'
        told = text


def _life(name: str, talk: Conversation, grid: _Grid) -> Iterator[str]:
    """A node's line, thin while it is away."""
    x, at = grid.columns[name], TOP
    gone = False
    for one in talk.happenings:
        word = one.text.split(" ")[0].rstrip(":")
        if one.node == name and word in (*GONE, *BACK):
            y = grid.rows[one.at, name]
            yield _line(x, at, y, gone=gone)
            at, gone = y, word in GONE
    yield _line(x, at, grid.height - 24, gone=gone)
    for y in (TOP - 12, grid.height - 8):
        yield f'<text class="node" x="{x}" y="{y}" text-anchor="middle">{escape(_cut(name, 16))}</text>'


def _line(x: int, start: int, end: int, *, gone: bool) -> str:
    return f'<path class="life{" gone" if gone else ""}" d="M{x} {start}V{end}"/>'


def _happening(one: Happening, grid: _Grid) -> Iterator[str]:
    y = grid.rows[one.at, one.node or ""]
    text = escape(one.text)
    look = ' class="bad"' if one.bad else ""
    if one.node is None:
        yield f'<g{look}><path class="round" d="M{MARGIN} {y}H{grid.width - 8}"/>'
        yield f'<text class="word" x="{grid.width - 12}" y="{y - 4}" text-anchor="end">{text}</text></g>'
    else:
        x = grid.columns[one.node]
        yield f'<g{look}><circle class="dot" cx="{x}" cy="{y}" r="5"/>'
        yield f'<text class="word" x="{x + 10}" y="{y + 4}">{text}</text></g>'


def _message(one: Message, grid: _Grid) -> Iterator[str]:
    start, end = grid.columns[one.sender], grid.columns[one.receiver]
    y1 = grid.rows[one.sent, one.sender] if one.sent else None
    y2 = grid.rows[one.received, one.receiver] if one.received else None
    side = 1 if end > start else -1
    top = y1 if y1 is not None else y2 or TOP
    if one.fate == "lost":
        x, y = end - 20 * side, top + ROW // 2
    else:
        x, y = end - 5 * side, y2 if y2 is not None else top + ROW // 2
    look = one.fate if one.fate != "delivered" else "asked" if one.sender == COORDINATOR else "answer"
    path = f"M{start} {top}L{x} {y}"
    anchor = "end" if side > 0 else "start"
    yield f'<g class="message {look}"><title>{escape(_told(one))}</title><path class="hit" d="{path}"/>'
    yield f'<path class="arrow" d="{path}"/>'
    if one.fate == "lost":
        yield f'<path class="cross" d="M{x - 5} {y - 5}l10 10m0 -10l-10 10"/>'
    else:
        yield f'<path class="head" d="M{x + 4 * side} {y}l{-9 * side} -4v8z"/>'
    yield f'<text class="word" x="{x - 12 * side}" y="{y - 4}" text-anchor="{anchor}">{escape(_word(one))}</text></g>'


def _word(one: Message) -> str:
    """What stands at an arrow's head."""
    kind = one.type or "frame"
    if one.fate == "refused":
        return f"{kind} too late" if one.reason == "stale-round" else f"{kind} refused: {one.reason}"
    return f"{kind} lost" if one.fate == "lost" else kind


def _told(one: Message) -> str:
    """All that the log has of a message."""
    facts = [f"{one.type or 'frame'} number {one.id} from {one.sender} to {one.receiver}"]
    facts += [f"round {one.round}"] if one.round is not None else []
    facts += [f"{one.bytes:,} bytes"] if one.bytes is not None else []
    facts += [f"sent {one.sent.time().isoformat()}" if one.sent else "its sending is not in the log"]
    if one.received:
        facts.append(f"received {one.received.time().isoformat()}")
    else:
        facts.append("never received" if one.fate == "lost" else "the receiver's log is not there")
    facts += [f"refused: {one.reason}"] if one.reason else []
    return "; ".join(facts)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
