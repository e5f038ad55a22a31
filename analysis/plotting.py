"""Curves as pictures: characters for a terminal, PNG, SVG or PDF by matplotlib, a page of HTML by our own chart."""

import os
import shutil
import sys
from collections.abc import Sequence
from math import isfinite, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from analysis.canvas import MARKS, Axis, Canvas, Point
from analysis.chart import COLOURS, page, shaded
from analysis.curves import Curve
from protocol.errors import UserError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_picture", "plot_terminal"]

DRAWN: Final = (".png", ".svg", ".pdf")
PICTURES: Final = (*DRAWN, ".html")
HEIGHT: Final = 16  # rows of a terminal's chart
STYLES: Final = ("-", "--", "-.", ":")
ANSI: Final = (34, 33, 32, 35, 36, 31)
TOLD_WINDOWS: Final = 5  # in a terminal


def plot_terminal(
    curves: Sequence[Curve],
    metric: str,
    width: int | None = None,
    *,
    braille: bool | None = None,
    colour: bool | None = None,
) -> str:
    """The curves as a chart in characters; what is not said is what standard output can show.

    Several curves without colour are drawn in letters, because their dots could not be told apart. A band is dotted.
    """
    width = max(40, width or shutil.get_terminal_size().columns)
    braille = _speaks_unicode() if braille is None else braille
    colour = (_shows_colour() if colour is None else colour) and len(curves) > 1
    dotted = braille and (colour or len(curves) == 1)
    drawn = [one for curve in curves for one in (curve.values, curve.low or [], curve.high or [])]
    upright = Axis([one for values in drawn for one in values if isfinite(one)] or [0.0], ticks=4)
    along = Axis([one for curve in curves for one in curve.rounds] or [0], max(2, width // 16), smallest_step=1)
    margin = max(len(upright.label(tick)) for tick in upright.ticks)
    canvas = Canvas(width - margin - 3, HEIGHT)
    for owner, curve in enumerate(curves):
        for edge in (curve.low, curve.high) if dotted else ():
            canvas.draw(_dots(_points(curve.rounds, edge or [], along, upright), canvas.width), owner)
        canvas.draw(_points(curve.rounds, curve.values, along, upright), owner)
    labels = _beside(upright, HEIGHT)
    bar, tick, corner, line, down = "│┤└─┬" if braille else "||+-+"
    chart = [
        f"{labels.get(row, ''):>{margin}} {tick if row in labels else bar}"
        + "".join(_paint(text, owner, colour=colour) for text, owner in canvas.row(row, braille=dotted)).rstrip()
        for row in range(HEIGHT)
    ]
    under, names = _below(along, canvas.width, line, down)
    legend = [
        f"{_paint('⣿' if dotted else MARKS[owner % len(MARKS)], owner, colour=colour)} {_told(curve)}"
        for owner, curve in enumerate(curves)
    ]
    gap = " " * (margin + 1)
    below = _windows(curves, along, canvas.width, "░" if braille else "~")
    return "\n".join(
        [
            f"{metric} by round",
            *chart,
            f"{gap}{corner}{under}",
            f"{gap} {names}",
            *(f"{gap} {row}" for row in below[:1]),
            *legend,
            *below[1:],
        ]
    )


def plot_picture(curves: Sequence[Curve], metric: str, path: Path) -> None:
    """Write the curves as a picture; the suffix says which kind."""
    kind = path.suffix.lower()
    if kind not in PICTURES:
        raise UserError(f"a picture's name must end in one of {', '.join(PICTURES)}; got {path}")
    try:
        if kind == ".html":
            path.write_text(page(curves, metric), encoding="utf-8")
        else:
            _draw(curves, metric, path)
    except OSError as error:
        raise UserError(f"the picture cannot be written: {error.strerror}: {path}") from error


def _draw(curves: Sequence[Curve], metric: str, path: Path) -> None:
    from matplotlib import rc_context  # not at import: slow, and only needed here
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "foltr", "font.size": 11}):
        figure = Figure(figsize=(8, 5), dpi=150, layout="constrained")
        axes = figure.subplots()
        for at, curve in enumerate(curves):
            look: dict[str, Any] = {"color": COLOURS[at % len(COLOURS)]}
            style = STYLES[at // len(COLOURS) % len(STYLES)]
            axes.plot(curve.rounds, curve.values, linestyle=style, label=_name(curve), **look)
            if curve.low and curve.high:
                axes.fill_between(curve.rounds, curve.low, curve.high, alpha=0.2, linewidth=0, **look)
        _shade(axes, curves)
        axes.set_xlabel("round")
        axes.set_ylabel(metric)
        axes.set_title(f"{metric} by round" if len(curves) > 1 else f"{metric} by round, {curves[0].label}")
        axes.grid(alpha=0.3)
        if len(axes.get_legend_handles_labels()[1]) > 1:
            axes.legend()
        figure.savefig(path)


def _shade(axes: "Axes", curves: Sequence[Curve]) -> None:
    """Faults and phases behind the curves, each kind once in the legend."""
    last = max((curve.rounds[-1] for curve in curves if curve.rounds), default=0)
    named: set[str] = set()
    for window in shaded(curves):
        colour, hatch = ("0.45", "") if window.kind == "fault" else ("#56B4E9", "//")
        name = None if window.what in named else window.what
        named.add(window.what)
        until = last if window.last is None else window.last
        axes.axvspan(
            window.first, max(until, window.first + 0.5), color=colour, alpha=0.18, hatch=hatch, lw=0, label=name
        )


def _name(curve: Curve) -> str:
    return f"{curve.label} (95 % band)" if curve.low else curve.label


def _points(rounds: Sequence[int], values: Sequence[float], along: Axis, upright: Axis) -> list[Point]:
    return list(zip(map(along.share, rounds[: len(values)]), map(upright.share, values), strict=True))


def _dots(points: Sequence[Point], width: int) -> list[Point]:
    """Some of the points, none joined to the next: about one in every two characters."""
    step = max(1, 2 * len(points) // max(1, width))
    return [one for point in points[::step] for one in (point, (point[0], nan))]


def _windows(curves: Sequence[Curve], along: Axis, width: int, mark: str) -> list[str]:
    """A row of marks under the rounds with faults or phases, and a line that tells each; none if there are none."""
    found = shaded(curves)
    if not found:
        return []
    row = [" "] * width
    for window in found:
        first = along.share(min(max(window.first, along.low), along.high))
        last = along.share(along.high if window.last is None else min(max(window.last, along.low), along.high))
        start, end = round(first * (width - 1)), round(last * (width - 1))
        row[start : end + 1] = mark * (end + 1 - start)
    more = [f"{mark} … and {len(found) - TOLD_WINDOWS:,} more"] if len(found) > TOLD_WINDOWS else []
    return ["".join(row).rstrip(), *(f"{mark} {window.title}" for window in found[:TOLD_WINDOWS]), *more]


def _told(curve: Curve) -> str:
    if not curve.rounds:
        return f"{curve.label}: no value"
    band = f" ± {curve.high[-1] - curve.values[-1]:.4f}" if curve.high else ""
    return f"{curve.label}: {curve.values[-1]:.4f}{band} in round {curve.rounds[-1]:,}"


def _beside(upright: Axis, height: int) -> dict[int, str]:
    """The labels of an upright axis by the row that they stand in."""
    return {round((1 - upright.share(tick)) * (height - 1)): upright.label(tick) for tick in upright.ticks}


def _below(along: Axis, width: int, line: str, down: str) -> tuple[str, str]:
    """The line under a chart with its ticks, and the labels under that, none over another."""
    under, names = [line] * width, [" "] * width
    free = 0
    for tick in along.ticks:
        at, label = round(along.share(tick) * (width - 1)), along.label(tick)
        start = min(max(0, at - len(label) // 2), width - len(label))
        under[at] = down
        if start >= free:
            names[start : start + len(label)] = label
            free = start + len(label) + 1
    return "".join(under), "".join(names).rstrip()


def _paint(text: str, owner: int, *, colour: bool) -> str:
    return f"\x1b[{ANSI[owner % len(ANSI)]}m{text}\x1b[0m" if colour and not text.isspace() else text


def _speaks_unicode() -> bool:
    return (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "").startswith("utf")


def _shows_colour() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
