"""A line chart as SVG, and as a page of HTML: no script, no network, light and dark by the reader's own setting.

The chart is drawn in a box of 960 x 360 units and grows with the page. Colours are classes: the style sheet gives each
its light and its dark form.
"""

from collections.abc import Iterator, Sequence
from html import escape
from math import isfinite
from typing import Final

from analysis.canvas import Axis
from analysis.curves import Curve
from analysis.style import CHART_STYLE, document
from analysis.windows import Window, merged

__all__ = ["COLOURS", "chart", "page", "shaded"]

COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
"""Okabe and Ito's colours, which people with any colour vision can tell apart; yellow last, being faint on white."""
WIDTH: Final = 960
HEIGHT: Final = 360
LEFT: Final = 64
RIGHT: Final = 16
TOP: Final = 12
BOTTOM: Final = 44
SHOWN_WINDOWS: Final = 6  # in the legend; the others are told where they are drawn
POINTS: Final = 1600  # of one line: more cannot be seen


def shaded(curves: Sequence[Curve]) -> list[Window]:
    """The windows of all curves, those that overlap as one."""
    return merged(window for curve in curves for window in curve.windows)


def page(curves: Sequence[Curve], metric: str) -> str:
    """A whole page with one chart."""
    title = f"{metric} by round"
    return document(title, f"<main><h1>{escape(title)}</h1>{chart(curves, metric)}</main>")


def chart(curves: Sequence[Curve], metric: str) -> str:
    """The chart as a figure of HTML: the drawing and its legend."""
    drawn = "".join(_drawing(curves, metric))
    return f'<figure class="chart">{drawn}<figcaption>{_legend(curves)}</figcaption></figure>'


def _drawing(curves: Sequence[Curve], metric: str) -> Iterator[str]:
    values = [one for curve in curves for part in (curve.values, curve.low or [], curve.high or []) for one in part]
    upright = Axis([one for one in values if isfinite(one)] or [0.0], ticks=5)
    along = Axis([one for curve in curves for one in curve.rounds] or [0], ticks=8, smallest_step=1)
    yield (
        f'<svg class="curves" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(metric)} by round" '
        f'xmlns="http://www.w3.org/2000/svg"><style>{CHART_STYLE}</style>'
    )
    for window in shaded(curves):
        start, end = _x(along, window.first), _x(along, along.high if window.last is None else window.last)
        yield (
            f'<rect class="{window.kind}" x="{start:.1f}" y="{TOP}" width="{max(2.0, end - start):.1f}" '
            f'height="{HEIGHT - TOP - BOTTOM}"><title>{escape(window.title)}</title></rect>'
        )
    yield from _axes(upright, along, metric)
    for at, curve in enumerate(curves):
        look = f"c{at % len(COLOURS)}"
        if curve.low and curve.high:
            above = _thinned(curve.rounds, curve.high, along, upright)
            below = _thinned(curve.rounds, curve.low, along, upright)[::-1]
            yield f'<path class="band {look}" d="{_path([*above, *below])}Z"/>'
        dash = f' stroke-dasharray="{6 * (at // len(COLOURS))} 4"' if at >= len(COLOURS) else ""
        points = _thinned(curve.rounds, curve.values, along, upright)
        yield f'<path class="line {look}"{dash} d="{_path(points)}"><title>{escape(curve.label)}</title></path>'
    yield "</svg>"


def _axes(upright: Axis, along: Axis, metric: str) -> Iterator[str]:
    for tick in upright.ticks:
        y = _y(upright, tick)
        yield f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
        yield f'<text class="tick" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{upright.label(tick)}</text>'
    bottom = HEIGHT - BOTTOM
    for tick in along.ticks:
        x = _x(along, tick)
        yield f'<path class="grid" d="M{x:.1f} {bottom}v5"/>'
        yield f'<text class="tick" x="{x:.1f}" y="{bottom + 19}" text-anchor="middle">{along.label(tick)}</text>'
    yield f'<path class="axis" d="M{LEFT} {bottom}H{WIDTH - RIGHT}"/>'
    yield f'<text class="name" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">round</text>'
    middle = (TOP + bottom) / 2
    yield (
        f'<text class="name" x="14" y="{middle}" text-anchor="middle" transform="rotate(-90 14 {middle})">'
        f"{escape(metric)}</text>"
    )


def _legend(curves: Sequence[Curve]) -> str:
    entries = []
    for at, curve in enumerate(curves):
        band = f" ± {curve.high[-1] - curve.values[-1]:.4f}" if curve.high else ""
        last = f"{curve.values[-1]:.4f}{band} in round {curve.rounds[-1]:,}" if curve.rounds else "no value"
        entries.append(f'<li><i class="key c{at % len(COLOURS)}"></i>{escape(curve.label)}: {last}</li>')
    entries += [
        f'<li><i class="key {window.kind}"></i>{escape(window.title)}</li>' for window in shaded(curves)[:SHOWN_WINDOWS]
    ]
    return f'<ul class="legend">{"".join(entries)}</ul>'


def _thinned(rounds: Sequence[int], values: Sequence[float], along: Axis, upright: Axis) -> list[tuple[float, float]]:
    """The points in the drawing's units; of many, the lowest and the highest of each stretch."""
    pairs = [(number, value) for number, value in zip(rounds, values, strict=True) if isfinite(value)]
    stretch = -(-2 * len(pairs) // POINTS)
    if stretch > 2:
        kept: list[tuple[int, float]] = []
        for start in range(0, len(pairs), stretch):
            part = pairs[start : start + stretch]
            kept += sorted({min(part, key=_value), max(part, key=_value)})
        pairs = sorted({pairs[0], *kept, pairs[-1]})
    return [(_x(along, number), _y(upright, value)) for number, value in pairs]


def _value(pair: tuple[int, float]) -> float:
    return pair[1]


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) if points else "M0 0"


def _x(along: Axis, number: float) -> float:
    share = min(1.0, max(0.0, along.share(number)))
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _y(upright: Axis, value: float) -> float:
    return TOP + (1 - upright.share(value)) * (HEIGHT - TOP - BOTTOM)
