"""Answers in words, for a person at a terminal."""

from typing import Any

from analysis.privacy import figure_rows
from analysis.summary import Expectation, Summary
from learning.data import Description

__all__ = ["description_text", "measurement_text", "nodes_text", "summary_text"]


def summary_text(summary: Summary, command: str, reference: str) -> str:
    """The end of a run: what came out, where it is, and what to type next.

    command is how the user calls foltr, reference how the run is named in what to type.
    """
    speed = f" in {summary.seconds:.1f} s ({summary.rounds / summary.seconds:,.0f} a second)" if summary.seconds else ""
    facts = [] if not summary.reason else [("why", summary.reason)]
    facts += [(_label(name), f"{value:,.4f}") for name, value in summary.metrics.items()]
    if summary.updates_missing:
        facts.append(("missing", f"{summary.updates_missing:,} updates in {summary.rounds_with_missing:,} rounds"))
    if summary.local_epsilon is not None:
        facts.append(("privacy", f"local ε = {summary.local_epsilon:.3f} for what a client tells of one interaction"))
    for at, row in enumerate(figure_rows(summary.privacy)):
        spent = f"{row['worst round']} a round at worst, {row['all rounds']} in all"
        facts.append(("" if at else "privacy", f"ε of {row['ε of']}: {spent}; against {row['protects against']}"))
    facts += [("", sentence) for sentence in summary.privacy_remarks]
    facts.append(("model", f"{summary.model or 'none'}"))
    facts.append(("run", summary.run))
    facts.append(("verdict", summary.verdict))
    facts += [("", _expectation_text(one)) for one in summary.expectations]
    if summary.checks:
        held = sum(verdict == "held" for verdict in summary.checks.values())
        facts.append(("", f"{held} of {len(summary.checks)} checks of the log held"))
    facts += [("", f"failed: {one}") for one in summary.broken]
    question = "select round, value from metrics where name = 'ndcg_at_10' order by round"
    facts += [
        ("next", f"{command} curves {reference}"),
        ("", f'{command} sql {reference} "{question}"'),
        ("", f"{command} sql {reference}"),
    ]
    width = max(len(label) for label, _ in facts)
    title = f"{summary.name} {summary.outcome or 'was killed'}: {summary.rounds:,} rounds{speed}"
    return "\n".join([title, *(f"{label:{width}}  {fact}" for label, fact in facts)])


def description_text(description: Description) -> str:
    """A data set in numbers, a column a split."""
    splits = description.splits
    known = description.recognised or "not a set that we know"
    rows = [
        ("", list(splits)),
        ("queries", [f"{one.queries:,}" for one in splits.values()]),
        ("  without a relevant document", [f"{one.queries_without_relevant:,}" for one in splits.values()]),
        ("documents", [f"{one.documents:,}" for one in splits.values()]),
        (
            "  a query: min, median, max",
            [f"{one.documents_min}, {one.documents_median:g}, {one.documents_max}" for one in splits.values()],
        ),
        *(
            (f"  labelled {label}", [_share(one.labels, label) for one in splits.values()])
            for label in range(description.levels)
        ),
    ]
    table = [f"{name:30}" + "".join(f"{cell:>18}" for cell in cells) for name, cells in rows]
    return "\n".join(
        [
            f"{description.source}, fold {description.fold}: {known}",
            f"{description.features} features as {description.dtype}, {description.levels} relevance grades",
            f"memory: {description.memory_bytes / 1e6:,.1f} MB",
            f"scaling: {description.scaling} ({description.scaling_reason})",
            f"cache: {description.cache}",
            "",
            *table,
        ]
    )


def nodes_text(rows: list[dict[str, Any]]) -> str:
    """The nodes of a live run as `foltr ps` shows them."""
    first = rows[0]
    lines = [f"round {first['round']:,} · {first['rounds_per_second']:,.0f} rounds/s"]
    lines.append(f"{'node':16} {'state':8} {'pid':>8} {'memory':>9} {'last heard':>11}  clients")
    for row in rows:
        clients = ", ".join(row["clients"][:4]) + (
            f" and {len(row['clients']) - 4} more" if len(row["clients"]) > 4 else ""
        )
        heard = "never" if row["last_heard"] is None else f"{row['last_heard']:.1f} s ago"
        memory = f"{row['memory'] / 1e6:,.0f} MB" if row["memory"] else ""
        lines.append(f"{row['name']:16} {row['state']:8} {row['pid'] or '':>8} {memory:>9} {heard:>11}  {clients}")
    return "\n".join(lines)


def measurement_text(row: dict[str, Any]) -> str:
    """One line of `foltr bench`."""
    mark = "met" if row["met"] else "NOT MET"
    figures = f"{row['value']:>12,.4g} {row['unit']:5} floor {row['floor']:>10,.4g}  ratio {row['ratio']:>8,.3g}"
    return f"{row['name']:70} {figures}  goal {row['goal']:16} {mark}"


def _label(name: str) -> str:
    return name.replace("ndcg_at_", "nDCG@").replace("_", " ")


def _expectation_text(one: Expectation) -> str:
    mark = {True: "held", False: "failed", None: "unknown"}[one.holds]
    if one.wanted == "sometimes":
        times = "once" if one.actual == 1 else f"{one.actual or 0:,.0f} times"
        return f"{mark}: {one.name} sometimes (happened {times})"
    actual = "not measured in the last round" if one.actual is None else f"{one.actual:.4f}"
    return f"{mark}: {one.name} {one.wanted} ({actual})"


def _share(labels: tuple[int, ...], label: int) -> str:
    count, total = labels[label] if label < len(labels) else 0, sum(labels)
    return f"{count:,} ({count / total:.1%})" if total else "0"
