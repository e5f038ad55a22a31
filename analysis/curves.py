"""A metric over the rounds of runs, in numbers: one run's values, or the mean over repeats with its confidence band."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from analysis.beginnings import beginning
from analysis.log import sql_text
from analysis.runs import Run, open_run, run_names
from analysis.statistics import interval_factor
from analysis.windows import Window, merged, windows
from protocol.errors import UserError

__all__ = ["CONFIDENCE", "Curve", "curves", "measured"]

CONFIDENCE: Final = 0.95


@dataclass(frozen=True, slots=True)
class Curve:
    """A metric's values by round, of one run or as the mean over repeats; the band is none for one run."""

    label: str
    runs: tuple[str, ...]
    rounds: list[int]
    values: list[float]
    low: list[float] | None = None
    high: list[float] | None = None
    windows: tuple[Window, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The curve as JSON has it."""
        return asdict(self)


def curves(runs: Sequence[Path], metric: str, *, each: bool = False) -> list[Curve]:
    """The metric's curves; a metric of clients is the mean over them.

    Runs that differ in seed and fold only are repeats of one experiment: their mean is one curve, over the rounds that
    all of them have, with the confidence band of Student's t. Two runs of the same seed and fold are no repeats, so an
    experiment that has such, and any if `each` is wanted, is drawn run by run.
    """
    found = {run: _opened(run, metric) for run in runs}
    if not any(one.rounds for one in found.values()):
        known = sorted({name for run in runs for name in _metrics(run)})
        raise UserError(f"the metric must be one of {', '.join(known) or 'none yet'}; got {metric!r}")
    groups = [[run] for run in runs] if each else _experiments(runs)
    made = [_mean([found[run] for run in group]) for group in groups]
    return [replace(one, label=label) for one, label in zip(made, _labels(groups), strict=True)]


def measured(run: Run, metric: str) -> Curve:
    """The metric's curve of an opened run, with its faults and phases."""
    rows = run.rows(sql_text("curve"), {"metric": metric})
    rounds, values = [row["round"] for row in rows], [row["value"] for row in rows]
    return Curve(metric, (str(run.path),), rounds, values, windows=tuple(windows(run)))


def _opened(run: Path, metric: str) -> Curve:
    with open_run(run, snapshot=True) as opened:
        return measured(opened, metric)


def _metrics(run: Path) -> list[str]:
    with open_run(run) as opened:
        return [row["name"] for row in opened.rows("select distinct name from metrics")]


def _experiments(runs: Sequence[Path]) -> list[list[Path]]:
    """The runs by the experiment that they repeat."""
    told = {run: beginning(run) for run in runs}
    groups: dict[str, list[Path]] = {}
    for run in runs:
        groups.setdefault(told[run].experiment if told[run].scenario else str(run), []).append(run)
    parts: list[list[Path]] = []
    for group in groups.values():
        repeats = _distinct(told[run].repeat for run in group)
        parts += [group] if repeats else [[run] for run in group]
    return parts


def _distinct(values: Iterable[object]) -> bool:
    listed = list(values)
    return len(set(listed)) == len(listed)


def _mean(repeats: Sequence[Curve]) -> Curve:
    if len(repeats) == 1:
        return repeats[0]
    rounds = sorted(set.intersection(*(set(one.rounds) for one in repeats)))
    by_round = [dict(zip(one.rounds, one.values, strict=True)) for one in repeats]
    values = np.array([[one[number] for number in rounds] for one in by_round])  # repeats x rounds
    means = values.mean(axis=0)
    widths = interval_factor(len(repeats), CONFIDENCE) * values.std(axis=0, ddof=1)
    return Curve(
        label="",
        runs=tuple(run for one in repeats for run in one.runs),
        rounds=rounds,
        values=means.tolist(),
        low=(means - widths).tolist(),
        high=(means + widths).tolist(),
        windows=tuple(merged(window for one in repeats for window in one.windows)),
    )


def _labels(groups: Sequence[Sequence[Path]]) -> list[str]:
    """The scenarios' names where they tell the curves apart, else with the first run's own."""
    full = run_names([group[0] for group in groups])
    short = [name.partition("/")[0] if not name.startswith("/") else name for name in full]
    names = short if _distinct(short) else full
    return [
        f"{name}, mean of {len(group)} runs" if len(group) > 1 else name
        for name, group in zip(names, groups, strict=True)
    ]
