"""What a run came to: how far, which model, which metrics, and whether it did what its scenario expects."""

import json
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from analysis.log import sql_text
from analysis.privacy import Figure, figures_of, remarks_of
from analysis.runs import Run
from scenarios.comparison import parse_comparison

if TYPE_CHECKING:
    from analysis.check import Check  # with the mathematics, which a summary starts without

__all__ = ["Expectation", "Summary", "summarise", "with_checks"]

Verdict = Literal["held", "failed", "unknown"]
SOMETIMES: Final = "sometimes"


@dataclass(frozen=True, slots=True)
class Expectation:
    """One line of the scenario's [expect], and what the log says of it; `holds` is none where it cannot be told."""

    name: str  # a metric, or an event
    wanted: str  # a comparison, or "sometimes"
    actual: float | None  # the metric in the last round, or how often the event happened
    holds: bool | None


@dataclass(frozen=True, slots=True)
class Summary:
    """The end of a run, as `foltr run --json` prints it."""

    run: str
    name: str | None
    rounds: int  # the last closed round
    model: str | None  # sha256 of the last model's float64 bytes
    metrics: dict[str, float]  # last values; of a clients' metric the mean
    seconds: float | None
    outcome: str | None  # completed, stopped or aborted; none while it goes on or if it was killed
    reason: str | None
    verdict: Verdict
    expectations: tuple[Expectation, ...]
    rounds_with_missing: int
    updates_missing: int
    checks: dict[str, str] = field(default_factory=dict)  # each check of the log and its verdict
    broken: tuple[str, ...] = ()  # the first offender of each check that failed
    privacy: tuple[Figure, ...] = ()  # what the models give away, and whom each figure protects against
    privacy_remarks: tuple[str, ...] = ()
    local_epsilon: float | None = None  # of what a client of es tells of one interaction, where it does not tell all

    def as_dict(self) -> dict[str, Any]:
        """The summary as JSON has it."""
        return asdict(self)


def summarise(run: Run) -> Summary:
    """Sum up a run; one that did not complete has no verdict but `unknown`."""
    told = (run.rows("select name, outcome, reason, seconds, scenario from run") or [{}])[0]
    (extent,) = run.rows(sql_text("extent"))
    final = {row["name"]: (row["round"], row["value"]) for row in run.rows(sql_text("final_metrics"))}
    scenario = json.loads(told.get("scenario") or "{}")
    expect, learner = scenario.get("expect", {}), scenario.get("learner", {})
    expectations = tuple(_compared(expect, final, extent["rounds"])) + tuple(_occurred(run, expect.get(SOMETIMES, ())))
    private = scenario.get("privacy", {}).get("mechanism", "none") != "none"
    return Summary(
        run=str(run.path),
        name=told.get("name"),
        rounds=extent["rounds"],
        model=extent["model"],
        metrics={name: value for name, (_round, value) in final.items()},
        seconds=told.get("seconds"),
        outcome=told.get("outcome"),
        reason=told.get("reason") or None,
        verdict=_verdict(told.get("outcome"), expectations),
        expectations=expectations,
        rounds_with_missing=extent["rounds_with_missing"],
        updates_missing=extent["updates_missing"],
        privacy=figures_of(run) if private else (),
        privacy_remarks=remarks_of(run) if private else (),
        local_epsilon=_local_epsilon(run) if learner.get("kind") == "es" else None,
    )


def with_checks(summary: Summary, checks: "list[Check]") -> Summary:
    """The summary with what the checks of the log found; a log that is wrong makes the verdict `failed`."""
    broken = tuple(f"{one.name}: {one.offenders[0]['detail']}" for one in checks if one.verdict == "failed")
    return replace(
        summary,
        verdict="failed" if broken else summary.verdict,
        checks={one.name: one.verdict for one in checks},
        broken=broken,
    )


def _local_epsilon(run: Run) -> float | None:
    """What the last round's step of es tells of its clients' privacy."""
    query = """
        select (aggregation ->> '$.epsilon')::double as epsilon
        from rounds
        where phase = 'training'
        order by round desc
        limit 1
    """
    rows = run.rows(query)
    return rows[0]["epsilon"] if rows else None


def _compared(expect: dict[str, Any], final: dict[str, tuple[int, float]], last: int) -> list[Expectation]:
    """Each metric against its bound; one that was not measured in the last round cannot be told."""
    found = []
    for name, wanted in expect.items():
        if name == SOMETIMES:
            continue
        measured, value = final.get(name, (None, None))
        actual = value if measured == last else None
        holds = None if actual is None else parse_comparison(wanted).holds(actual)
        found.append(Expectation(name, wanted, actual, holds))
    return found


def _occurred(run: Run, events: list[str]) -> list[Expectation]:
    """Each event that must be in the log at least once."""
    if not events:
        return []
    counted = run.rows("select event, count(*) as times from events group by event")
    times = {row["event"]: row["times"] for row in counted}
    return [Expectation(event, SOMETIMES, times.get(event, 0), event in times) for event in events]


def _verdict(outcome: str | None, expectations: tuple[Expectation, ...]) -> Verdict:
    if outcome != "completed":
        return "unknown"
    if any(one.holds is False for one in expectations):
        return "failed"
    return "unknown" if any(one.holds is None for one in expectations) else "held"
