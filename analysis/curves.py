"""A metric over the rounds of one or several runs: as numbers, in the terminal, as a picture."""

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Any, Final

from analysis.canvas import MARKS, Axis, Canvas
from analysis.log import sql_text
from analysis.runs import PACKED, open_run
from protocol.errors import UserError

__all__ = ["Curve", "curve", "plot_picture", "plot_terminal"]

PICTURES: Final = (".png", ".svg", ".pdf")
HEIGHT: Final = 16  # rows of a terminal's chart
COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
"""Okabe and Ito's colours, which people with any colour vision can tell apart; yellow last, being faint on white."""
STYLES: Final = ("-", "--", "-.", ":")
ANSI: Final = (34, 33, 32, 35, 36, 31)


@dataclass(frozen=True, slots=True)
class Curve:
    """One run's values of a metric, by round."""

    run: str
    label: str
    rounds: list[int]
    values: list[float]

    def as_dict(self) -> dict[str, Any]:
        """The curve as JSON has it."""
        return asdict(self)


def curve(runs: Sequence[Path], metric: str) -> list[Curve]:
    """The metric's curve of each run; a metric of clients is the mean over them."""
    found = [_measured(run, metric, label) for run, label in zip(runs, _labels(runs), strict=True)]
    if not any(one.rounds for one in found):
        known = sorted({name for run in runs for name in _metrics(run)})
        raise UserError(f"the metric must be one of {', '.join(known) or 'none yet'}; got {metric!r}")
    return found


def plot_terminal(
    curves: Sequence[Curve],
    metric: str,
    width: int | None = None,
    *,
    braille: bool | None = None,
    colour: bool | None = None,
) -> str:
    """The curves as a chart in characters; what is not said is what standard output can show.

    Several curves without colour are drawn in letters, because their dots could not be told apart.
    """
    width = max(40, width or shutil.get_terminal_size().columns)
    braille = _speaks_unicode() if braille is None else braille
    colour = (_shows_colour() if colour is None else colour) and len(curves) > 1
    dotted = braille and (colour or len(curves) == 1)
    upright = Axis([one for drawn in curves for one in drawn.values if isfinite(one)] or [0.0], ticks=4)
    along = Axis([one for drawn in curves for one in drawn.rounds] or [0], max(2, width // 16), smallest_step=1)
    margin = max(len(upright.label(tick)) for tick in upright.ticks)
    canvas = Canvas(width - margin - 3, HEIGHT)
    for owner, drawn in enumerate(curves):
        points = zip(map(along.share, drawn.rounds), map(upright.share, drawn.values), strict=True)
        canvas.draw(list(points), owner)
    labels = _beside(upright, HEIGHT)
    bar, tick, corner, line, down = "│┤└─┬" if braille else "||+-+"
    chart = [
        f"{labels.get(row, ''):>{margin}} {tick if row in labels else bar}"
        + "".join(_paint(text, owner, colour=colour) for text, owner in canvas.row(row, braille=dotted)).rstrip()
        for row in range(HEIGHT)
    ]
    under, names = _below(along, canvas.width, line, down)
    legend = [
        f"{_paint('⣿' if dotted else MARKS[owner % len(MARKS)], owner, colour=colour)} {_told(drawn)}"
        for owner, drawn in enumerate(curves)
    ]
    gap = " " * (margin + 1)
    return "\n".join([f"{metric} by round", *chart, f"{gap}{corner}{under}", f"{gap} {names}", *legend])


def plot_picture(curves: Sequence[Curve], metric: str, path: Path) -> None:
    """Write the curves as a picture; the suffix says which kind."""
    if path.suffix.lower() not in PICTURES:
        raise UserError(f"a picture's name must end in one of {', '.join(PICTURES)}; got {path}")
    from matplotlib import rc_context  # not at import: slow, and only needed here
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "foltr", "font.size": 11}):
        figure = Figure(figsize=(8, 5), dpi=150, layout="constrained")
        axes = figure.subplots()
        for at, drawn in enumerate(curves):
            style = STYLES[at // len(COLOURS) % len(STYLES)]
            axes.plot(drawn.rounds, drawn.values, color=COLOURS[at % len(COLOURS)], linestyle=style, label=drawn.label)
        axes.set_xlabel("round")
        axes.set_ylabel(metric)
        axes.set_title(f"{metric} by round" if len(curves) > 1 else f"{metric} by round, {curves[0].label}")
        axes.grid(alpha=0.3)
        if len(curves) > 1:
            axes.legend()
        try:
            figure.savefig(path)
        except OSError as error:
            raise UserError(f"the picture cannot be written: {error.strerror}: {path}") from error


def _measured(run: Path, metric: str, label: str) -> Curve:
    with open_run(run) as opened:
        rows = opened.rows(sql_text("curve"), {"metric": metric})
    return Curve(str(run), label, [row["round"] for row in rows], [row["value"] for row in rows])


def _metrics(run: Path) -> list[str]:
    with open_run(run) as opened:
        return [row["name"] for row in opened.rows("select distinct name from metrics")]


def _labels(runs: Sequence[Path]) -> list[str]:
    """The scenarios' names where they tell the runs apart, else with the runs' own."""
    directories = [run.parent if run.name == PACKED else run for run in runs]
    names = [one.stem if one.suffix == ".duckdb" else one.parent.name for one in directories]
    return names if len(set(names)) == len(names) else [f"{one.parent.name}/{one.name}" for one in directories]


def _told(drawn: Curve) -> str:
    if not drawn.rounds:
        return f"{drawn.label}: no value"
    return f"{drawn.label}: {drawn.values[-1]:.4f} in round {drawn.rounds[-1]:,}"


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
