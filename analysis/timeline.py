"""Nodes on a time line as SVG: a bar a process from its start to its end, faults drawn over it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import Any, Final

from analysis.canvas import Axis
from analysis.runs import Run
from analysis.style import VARIABLES, scoped

__all__ = ["Bar", "Timeline", "draw_timeline", "timeline"]

MOST: Final = 40  # nodes that are drawn; those with faults come first
WIDTH: Final = 960
LEFT: Final = 130
RIGHT: Final = 16
ROW: Final = 24
BOTTOM: Final = 44
STYLE: Final = VARIABLES + scoped(
    "svg.lives",
    "text{font:12px system-ui,sans-serif;fill:var(--quiet)}.node{fill:var(--ink)}.grid{stroke:var(--line);fill:none}"
    ".alive{fill:var(--c2);opacity:.55}.fault{fill:var(--bad);opacity:.8}.end{stroke:var(--bad);stroke-width:2.5}",
)


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of a node's life, or of a fault of it, in seconds since the run began."""

    node: str
    start: float
    end: float
    kind: str  # alive, or fault
    title: str
    violent: bool = False  # ended by a signal or with an error


@dataclass(frozen=True, slots=True)
class Timeline:
    """What is drawn: nodes from top to bottom, bars in the order in which they lie over each other."""

    nodes: tuple[str, ...]
    left_out: int
    seconds: float
    bars: tuple[Bar, ...]


def timeline(run: Run) -> Timeline:
    """The processes of a run and their faults; where all ran in one process, the hosts from the run's start on."""
    began, ended = _span(run)
    faults = run.rows("select what, whom, since, until, round from faults order by since")
    lives = run.rows("select name, started, exited, code from nodes")
    if not lives:
        hosts = run.rows("select host as name, min(number) as place from clients group by host order by place")
        lives = [{"name": row["name"], "started": began, "exited": None, "code": None} for row in hosts]
    moments = [row[key] for row in lives for key in ("started", "exited") if row[key]]
    first = min([*moments, *([began] if began else [])], default=None)
    last = max([*moments, *([ended] if ended else [])], default=None)
    if first is None or last is None:
        return Timeline((), 0, 0.0, ())
    bars = [_life(row, first, last) for row in lives if row["started"]]
    bars += [_fault(row, first, last) for row in faults]
    hurt = {row["whom"] for row in faults}
    names = sorted(dict.fromkeys(row["name"] for row in lives), key=lambda name: name not in hurt)
    shown = set(names[:MOST])
    return Timeline(
        tuple(name for name in dict.fromkeys(row["name"] for row in lives) if name in shown),
        max(0, len(names) - MOST),
        (last - first).total_seconds(),
        tuple(bar for bar in bars if bar.node in shown),
    )


def draw_timeline(line: Timeline) -> str:
    """The drawing; empty for a run without a moment."""
    return "".join(_drawing(line)) if line.nodes else ""


def _span(run: Run) -> tuple[datetime | None, datetime | None]:
    """When the run began and when the last thing of it was logged."""
    told = run.rows("select started, finished from run")
    closed = run.rows("select max(closed) as closed from rounds")[0]["closed"]
    began, finished = (told[0]["started"], told[0]["finished"]) if told else (None, None)
    return began, max([one for one in (finished, closed) if one], default=None)


def _life(row: dict[str, Any], first: datetime, last: datetime) -> Bar:
    end = row["exited"] or last
    code = row["code"]
    told = "" if row["exited"] is None else f", ended with {f'signal {-code}' if code and code < 0 else f'code {code}'}"
    start, stop = ((one - first).total_seconds() for one in (row["started"], end))
    return Bar(row["name"], start, stop, "alive", f"{row['name']}: {start:.2f} s to {stop:.2f} s{told}", bool(code))


def _fault(row: dict[str, Any], first: datetime, last: datetime) -> Bar:
    start = (row["since"] - first).total_seconds()
    stop = ((row["until"] or last) - first).total_seconds()
    until = f"{stop:.2f} s" if row["until"] else "the end"
    when = "" if row["round"] is None else f" in round {row['round']:,}"
    title = f"{row['whom']} {row['what']}{when}: {start:.2f} s to {until}"
    return Bar(row["whom"], start, max(start, stop), "fault", title)


def _drawing(line: Timeline) -> Iterator[str]:
    along = Axis([0.0, line.seconds or 1.0], ticks=8)
    height = len(line.nodes) * ROW + BOTTOM
    yield f'<svg class="lives" viewBox="0 0 {WIDTH} {height}" role="img" xmlns="http://www.w3.org/2000/svg">'
    yield f"<title>nodes over time</title><style>{STYLE}</style>"
    bottom = len(line.nodes) * ROW + 4
    for tick in along.ticks:
        x = _x(along, tick)
        yield f'<path class="grid" d="M{x:.1f} 0V{bottom + 4}"/>'
        yield f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{along.label(tick)}</text>'
    yield f'<text x="{(LEFT + WIDTH) / 2}" y="{height - 6}" text-anchor="middle">seconds since the start</text>'
    top = {name: at * ROW + 4 for at, name in enumerate(line.nodes)}
    for name, y in top.items():
        yield f'<text class="node" x="{LEFT - 10}" y="{y + 13}" text-anchor="end">{escape(_cut(name))}</text>'
    for bar in line.bars:
        yield from _bar(bar, top[bar.node], along)
    yield "</svg>"


def _bar(bar: Bar, y: int, along: Axis) -> Iterator[str]:
    start, end = _x(along, bar.start), _x(along, bar.end)
    inset, tall = (0, 16) if bar.kind == "alive" else (4, 8)
    yield (
        f'<rect class="{bar.kind}" x="{start:.1f}" y="{y + inset}" width="{max(3.0, end - start):.1f}" height="{tall}" '
        f'rx="2"><title>{escape(bar.title)}</title></rect>'
    )
    if bar.violent:
        yield f'<path class="end" d="M{end - 4:.1f} {y + 4}l8 8m0 -8l-8 8"/>'


def _x(along: Axis, seconds: float) -> float:
    return LEFT + min(1.0, max(0.0, along.share(seconds))) * (WIDTH - LEFT - RIGHT)


def _cut(text: str) -> str:
    return text if len(text) <= 18 else text[:17] + "…"
