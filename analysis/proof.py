"""What came of unlearning, and the proof that it forgot: against exact retraining, and what it cost beside it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from analysis.curves import Curve, measured
from analysis.phases import steps
from analysis.recomputing import recomputing
from analysis.runs import Run, open_run
from learning.agreement import agreement

__all__ = ["Forgotten", "curves_of", "forgotten", "proven", "results_text"]

COSTS: Final = ("interactions", "rounds", "bytes", "seconds")
SPENT: Final = """
select
    (select coalesce(sum(n), 0)::bigint from updates where accepted) as interactions,
    (select count(*) from rounds where len(participants) > 0) as rounds,
    (select coalesce(sum(bytes), 0)::bigint from messages where node = 'coordinator') as bytes,
    (select seconds from run) as seconds
"""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A run that forgot, or that was trained again without the leavers.

    cost      interactions, rounds, bytes to and from the coordinator, seconds
    proof     how near it is to the retrained run, if that was asked for (see `proven`)
    """

    settings: dict[str, Any]
    run: str
    outcome: str
    model: str | None
    ndcg: float | None
    cost: dict[str, float]
    proof: dict[str, Any] | None = None

    @property
    def label(self) -> str:
        """The method and its settings in a few words."""
        own = [f"{name} {value}" for name, value in self.settings.items() if name != "method"]
        return " ".join([self.settings["method"], *([f"({', '.join(own)})"] if own else [])])

    def as_dict(self) -> dict[str, Any]:
        """The result as JSON has it."""
        return asdict(self)


def forgotten(settings: dict[str, Any], path: Path) -> Forgotten:
    """What came of one run."""
    with open_run(path, snapshot=True) as run:
        (told,) = run.rows("select outcome from run") or [{"outcome": None}]
        last = run.rows("select model from rounds order by round desc limit 1")
        (cost,) = run.rows(SPENT)
        final = _ndcg(run, "true order by round desc limit 1")
    model = last[0]["model"] if last else None
    return Forgotten(settings, str(path), told["outcome"] or "killed", model, final, cost)


def proven(
    found: Sequence[Forgotten], retrained: Forgotten, parent: Path, leavers: Sequence[str], after: int
) -> list[Forgotten]:
    """The same with a proof each.

    ndcg_before   of the run that is to forget, the mean over the last tenth of its rounds: a poisoned one swings
    ndcg_retrained, distance ‖θ − θ_retrained‖, kendall_tau and rbo_at_10 of the rankings on the test queries
    residual      (ndcg_retrained − ndcg) / (ndcg_retrained − ndcg_before): how much of a poisoned leaver's damage is
                  left; none if nobody attacked or no damage was done
    ratios        what retraining costs over what this costs; theory the paper's (n/n')·Δt and Δt
    """
    with open_run(parent) as run:
        since = after - max(1, after // 10)
        before = _ndcg(run, f"round > {since} and round <= {after}")
        attacked = run.rows("select id from clients where attack is not null")
        usual = run.rows("select avg(interactions) as n from clients")[0]["n"]
    poisoned = any(row["id"] in leavers for row in attacked)
    truth = _final(Path(retrained.run))
    with open_run(Path(retrained.run)) as run:
        means = recomputing(run)
    made = []
    for one in found:
        theta = _final(Path(one.run))
        tau, overlap = None, None
        if means.plan is not None and means.data is not None:
            tau, overlap = agreement(means.data.test, means.plan.ranker, theta, truth)
        every, few = one.settings.get("every", 1), one.settings.get("interactions", usual)
        learns = one.cost["interactions"] > 0
        proof = {
            "ndcg_before": before,
            "ndcg_retrained": retrained.ndcg,
            "distance": float(np.linalg.norm(theta - truth)),
            "kendall_tau": tau,
            "rbo_at_10": overlap,
            "residual": _residual(one.ndcg, retrained.ndcg, before) if poisoned else None,
            "ratios": {name: _ratio(retrained.cost[name], one.cost[name]) for name in COSTS},
            "theory": {"interactions": usual / few * every, "rounds": float(every)} if learns else None,
        }
        made.append(replace(one, proof=proof))
    return made


def curves_of(found: Sequence[Forgotten]) -> list[Curve]:
    """The nDCG of each run over the rounds of its parent that it went through again."""
    made = []
    for one in found:
        with open_run(Path(one.run)) as run:
            curve = measured(run, "ndcg_at_10")
            of = {number: step.of for number, step in steps(run).items()} | {0: 0}
        rounds = curve.rounds if one.settings["method"] == "retrain" else [of.get(number, 0) for number in curve.rounds]
        made.append(replace(curve, label=one.label, rounds=rounds, windows=()))
    return made


def results_text(found: Sequence[Forgotten]) -> str:
    """A table for a person at a terminal."""
    proof = any(one.proof for one in found)
    heads = ["method", "nDCG@10", "rounds", "interactions", "seconds"]
    heads += (
        ["before", "retrained", "distance", "tau", "RBO@10", "residual", "cost ratio", "theory"] if proof else ["run"]
    )
    rows = [heads]
    for one in found:
        cost = [f"{one.cost['rounds']:,}", f"{one.cost['interactions']:,}", _figure(one.cost["seconds"], 1)]
        rest = [one.run]
        if proof and one.proof:
            told, theory = one.proof, one.proof["theory"]
            names = ("ndcg_before", "ndcg_retrained", "distance", "kendall_tau", "rbo_at_10", "residual")
            rest = [_figure(told[name], 4) for name in names]
            rest += [_figure(told["ratios"]["interactions"], 1), _figure(theory and theory["interactions"], 1)]
        rows.append([one.label, _figure(one.ndcg, 4), *cost, *rest])
    widths = [max(len(row[place]) for row in rows) for place in range(len(heads))]
    lines = ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(lines)


def _figure(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def _residual(ndcg: float | None, retrained: float | None, before: float | None) -> float | None:
    if ndcg is None or retrained is None or before is None or retrained <= before:
        return None
    return (retrained - ndcg) / (retrained - before)


def _ratio(whole: float | None, part: float | None) -> float | None:
    return whole / part if whole and part else None


def _ndcg(run: Run, where: str) -> float | None:
    query = f"select avg(value) as value from (select value from metrics where name like 'ndcg_at_%' and {where})"  # noqa: S608 - conditions of our own
    return run.rows(query)[0]["value"]  # type: ignore[no-any-return]  # a DOUBLE or null


def _final(path: Path) -> Floats:
    """A run's last model."""
    with open_run(path) as run:
        return np.array(run.rows("select theta from rounds order by round desc limit 1")[0]["theta"])
