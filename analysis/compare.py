"""Experiments side by side: final figures over folds and seeds, each tested against the first one, pair by pair.

A side is an experiment: runs that differ in seed and fold only. Two sides are paired by seed and fold. The test is the
two-tailed paired t-test; its p is multiplied by the number of tests that a table shows (Bonferroni).
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from analysis.beginnings import Beginning, beginning
from analysis.log import sql_text
from analysis.runs import find_runs, known_runs, open_run, run_names
from analysis.statistics import PairedTest, paired_test
from protocol.errors import UserError

__all__ = ["Comparison", "Figure", "Side", "compare"]

Repeat = tuple[int, int]  # seed and fold


@dataclass(frozen=True, slots=True)
class Figure:
    """One metric of one side: its mean and standard deviation over repeats, and the test against the first side."""

    metric: str
    mean: float | None
    deviation: float | None  # none for fewer than two repeats
    repeats: int
    test: PairedTest | None  # none for the first side
    p_corrected: float | None

    @property
    def mark(self) -> str:
        """The papers' sign of a significant gain or loss: △ ▽ for p < 0.05, ▲ ▼ for p < 0.01, after correction."""
        if self.test is None or self.p_corrected is None or self.p_corrected >= 0.05:
            return ""
        sure = self.p_corrected < 0.01
        return ("▲" if sure else "△") if self.test.difference > 0 else ("▼" if sure else "▽")


@dataclass(frozen=True, slots=True)
class Side:
    """One experiment of a comparison."""

    name: str
    runs: tuple[str, ...]
    left_out: tuple[str, ...]  # runs that did not complete, or that a newer one of the same seed and fold replaces
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Sides with the same metrics in the same order; the first is what the others are tested against."""

    metrics: tuple[str, ...]
    sides: tuple[Side, ...]
    tests: int  # what p was multiplied by

    def as_dict(self) -> dict[str, Any]:
        """The comparison as JSON has it."""
        told = asdict(self)
        for side, shown in zip(self.sides, told["sides"], strict=True):
            for figure, row in zip(side.figures, shown["figures"], strict=True):
                row["mark"] = figure.mark
        return told


@dataclass(frozen=True, slots=True)
class _Gathered:
    name: str
    runs: dict[Repeat, Path]
    left_out: list[Path]
    values: dict[Repeat, dict[str, float]]


def compare(references: Sequence[str], runs: Path, metrics: Sequence[str] = ()) -> Comparison:
    """Compare at least two sides, each a scenario's name, a run or a pattern; no metrics means all that sides share."""
    if len(references) < 2:
        raise UserError(f"a comparison needs at least two sides, got {len(references)}")
    gathered = [_gather(reference, runs) for reference in references]
    chosen = tuple(metrics) or _shared(gathered)
    known = sorted({name for side in gathered for row in side.values.values() for name in row})
    for metric in chosen:
        if metric not in known:
            raise UserError(f"a metric must be one of {', '.join(known) or 'none yet'}; got {metric!r}")
    tests = (len(gathered) - 1) * len(chosen)
    sides = tuple(
        Side(
            name=side.name,
            runs=tuple(map(str, side.runs.values())),
            left_out=tuple(map(str, side.left_out)),
            figures=tuple(_figure(metric, side, gathered[0], tests) for metric in chosen),
        )
        for side in gathered
    )
    return Comparison(chosen, sides, tests)


def _gather(reference: str, runs: Path) -> _Gathered:
    found = _meant(reference, runs)
    told = {run: beginning(run) for run in found}
    kinds = {one.experiment for one in told.values()}
    if len(kinds) > 1:
        raise UserError(
            f"the runs of one side must differ in seed and fold only; {reference!r} has {len(kinds)} kinds of scenario"
        )
    newest: dict[Repeat, Path] = {}
    left_out: list[Path] = []
    values: dict[Repeat, dict[str, float]] = {}
    for run in sorted(found, key=lambda path: path.name, reverse=True):
        final = _final(run)
        if final is None or told[run].repeat in newest:
            left_out.append(run)
            continue
        newest[told[run].repeat] = run
        values[told[run].repeat] = final
    if not newest:
        raise UserError(f"a side must have a run that completed; got {reference!r}")
    return _Gathered(_side_name(reference, newest, told), dict(sorted(newest.items())), left_out, values)


def _meant(reference: str, runs: Path) -> list[Path]:
    """A scenario's name means its newest run and all that repeat it; anything else is what it is everywhere."""
    named = [path.resolve() for path in known_runs(runs) if path.parent.name == reference]
    if not named:
        return find_runs([reference], runs)
    wanted = beginning(max(named, key=lambda path: path.name)).experiment
    return [run for run in named if beginning(run).experiment == wanted]


def _final(run: Path) -> dict[str, float] | None:
    """The last values of the metrics of the model and of all clients together; none for a run that did not complete."""
    with open_run(run, snapshot=True) as opened:
        if opened.rows("select outcome from run") != [{"outcome": "completed"}]:
            return None
        rows = opened.rows(sql_text("final_metrics"))
    return {row["name"]: row["value"] for row in rows if not row["of_clients"]}


def _side_name(reference: str, newest: dict[Repeat, Path], told: dict[Path, Beginning]) -> str:
    if any(sign in reference for sign in "*?["):
        return reference
    first = next(iter(newest.values()))
    return str(told[first].scenario.get("name") or reference) if len(newest) > 1 else run_names([first])[0]


def _shared(gathered: Sequence[_Gathered]) -> tuple[str, ...]:
    """The metrics that every repeat of every side has."""
    names = [set(row) for side in gathered for row in side.values.values()]
    return tuple(sorted(set.intersection(*names)))


def _figure(metric: str, side: _Gathered, first: _Gathered, tests: int) -> Figure:
    values = {repeat: row[metric] for repeat, row in side.values.items() if metric in row}
    mean = fmean(values.values()) if values else None
    deviation = stdev(values.values()) if len(values) > 1 else None
    if side is first:
        return Figure(metric, mean, deviation, len(values), None, None)
    pairs = [repeat for repeat in sorted(values) if metric in first.values.get(repeat, {})]
    test = paired_test([first.values[one][metric] for one in pairs], [values[one] for one in pairs])
    corrected = None if test.p is None else min(1.0, test.p * tests)
    return Figure(metric, mean, deviation, len(values), test, corrected)
