"""A run as one page of HTML that needs nothing but itself: what was run, what came out, how to do it again."""

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

from analysis.chart import chart
from analysis.check import Check, check
from analysis.conversation import conversation, telling_round
from analysis.curves import Curve, curves, measured
from analysis.diagram import diagram
from analysis.html import block, figures, section, table, told
from analysis.log import sql_text
from analysis.phases import forgetting_rows
from analysis.privacy import figure_rows
from analysis.relations import journal_files
from analysis.runs import Run, open_run, packed_file, run_names
from analysis.style import document
from analysis.summary import Expectation, Summary, summarise, with_checks
from analysis.timeline import draw_timeline, timeline
from analysis.versions import newer_versions
from protocol.errors import UserError
from protocol.messages import COORDINATOR
from protocol.presence import is_live
from scenarios.toml_text import to_toml

__all__ = ["report", "report_body", "write_report"]

SHOWN_CLIENTS: Final = 200
SHOWN_FAULTS: Final = 50
DRAWN_HOSTS: Final = 6  # as many as are as wide as the page
FIRST_METRICS: Final = ("ndcg_at_10", "online_ndcg_at_10", "online", "maxrr")
FAULTS: Final = "select whom, what, round, epoch(until - since) as seconds, caused_by, clients, detail from faults"
NAMES: Final = {"held": "held", "failed": "failed", "unknown": "no verdict"}
VERDICTS: Final = {"held": "held", "failed": "failed", "unknown": "not told"}
LARGEST_CHECKED: Final = 1 << 28  # bytes of a log that is checked for its page: some seconds of work


def write_report(runs: Sequence[Path], target: Path) -> None:
    """Write the report on one run or several into a file."""
    if target.suffix.lower() != ".html":
        raise UserError(f"a report's name must end in .html; got {target}")
    text = report(runs)
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"the report cannot be written: {error.strerror}: {target}") from error


def report(runs: Sequence[Path]) -> str:
    """The page on one run, or on several: these side by side first, then one after the other."""
    names = run_names(runs)
    if len(runs) == 1:
        return document(names[0], f"<main>{report_body(runs[0], names[0])}</main>")
    told_of = [_body(run, name, f"run-{at}-") for at, (run, name) in enumerate(zip(runs, names, strict=True))]
    title = f"{len(runs)} runs"
    bodies = "".join(f"<hr>{body}" for _, body in told_of)
    together = _together(runs, names, [summary for summary, _ in told_of])
    return document(title, f"<main><h1>{title}</h1>{together}{bodies}</main>")


def report_body(path: Path, name: str) -> str:
    """The page's contents on one run."""
    return _body(path, name, "")[1]


def _body(path: Path, name: str, prefix: str) -> tuple[Summary, str]:
    """A run's summary and contents; the prefix tells its links from those of other runs on the page."""
    with open_run(path, snapshot=True) as run:
        (facts,) = run.rows("from run") or [{}]
        checks = _checks(path) if facts.get("outcome") and _size(path) <= LARGEST_CHECKED else []
        summary = with_checks(summarise(run), checks)
        parts = [
            ("verdict", "Verdict", _verdict(summary) + _checked(checks, path)),
            ("curves", "Curves", _charts(run, summary)),
            ("privacy", "Privacy", _privacy(summary)),
            ("forgetting", "Forgetting", _forgetting(run)),
            ("nodes", "Nodes over time", _nodes(run)),
            ("clients", "Clients", _clients(run)),
            ("round", "One round", _round(run)),
            ("log", "The log", _log(run, facts)),
            ("scenario", "The scenario", _scenario(facts)),
            ("again", "How to do it again", _again(path, facts)),
        ]
    there = [(f"{prefix}{key}", title, body) for key, title, body in parts if body]
    links = "".join(f'<li><a href="#{key}">{title}</a></li>' for key, title, _ in there)
    nav = f'<nav aria-label="parts of the report on {escape(name)}"><ul>{links}</ul></nav>'
    sections = "".join(section(title, body, key) for key, title, body in there)
    return summary, _head(summary, facts, name, path) + nav + sections


def _together(runs: Sequence[Path], names: Sequence[str], summaries: Sequence[Summary]) -> str:
    """A row a run, and the curve of nDCG, or of another metric where that was not measured."""
    rows: list[dict[str, Any]] = [
        {"run": name, "verdict": NAMES[one.verdict], "rounds": one.rounds} | one.metrics
        for name, one in zip(names, summaries, strict=True)
    ]
    columns = dict.fromkeys(key for row in rows for key in row)
    known = {metric for one in summaries for metric in one.metrics}
    metrics = sorted(known, key=lambda metric: (not metric.startswith("ndcg_at_"), metric))
    drawn = chart(curves(runs, metrics[0]), metrics[0]) if metrics else ""
    return table([{key: row.get(key) for key in columns} for row in rows], "the runs") + drawn


def _head(summary: Summary, facts: dict[str, Any], name: str, path: Path) -> str:
    unfinished = "is still going on" if is_live(path) else "was killed"
    outcome = summary.outcome or (unfinished if facts else "has no record of its beginning")
    when = f", begun {facts['started']:%Y-%m-%d %H:%M:%S} UTC" if facts.get("started") else ""
    why = f" ({summary.reason})" if summary.reason else ""
    numbers = {"rounds": f"{summary.rounds:,}"}
    numbers |= {_label(metric): told(value) for metric, value in summary.metrics.items()}
    if summary.seconds:
        numbers["seconds"] = f"{summary.seconds:,.1f}"
    if summary.updates_missing:
        numbers["updates missing"] = f"{summary.updates_missing:,}"
    what = f"<p>{escape(_what(facts))}</p>" if facts else ""
    return (
        f'<h1>{escape(summary.name or name)} <span class="badge {summary.verdict}">{NAMES[summary.verdict]}</span></h1>'
        f'<p class="quiet"><code>{escape(name)}</code> {escape(outcome)}{escape(why)}{when}</p>{what}{figures(numbers)}'
    )


def _what(facts: dict[str, Any]) -> str:
    """What was run, in a sentence; a scenario of another version may lack what it tells."""
    tables = json.loads(facts["scenario"] or "{}")
    groups = [f"{one.get('count') or 1} {_clicks(one.get('clicks'))}" for one in tables.get("clients", [])]
    parts = [
        f"{tables.get('learner', {}).get('kind')} on a {tables.get('ranker', {}).get('kind')} ranker",
        f"{tables.get('aggregation', {}).get('rule')} over {', '.join(groups)} clients",
        f"{tables.get('data', {}).get('source')} fold {tables.get('data', {}).get('fold')}",
        f"seed {facts['seed']}",
        f"engine {facts['engine']}",
    ]
    return "; ".join(parts) + "."


def _clicks(clicks: Any) -> str:
    return clicks if isinstance(clicks, str) else "custom-clicks"


def _verdict(summary: Summary) -> str:
    if not summary.expectations:
        return "<p>The scenario expects nothing.</p>"
    rows = "".join(_expectation(one) for one in summary.expectations)
    head = '<tr><th scope="col">expected</th><th scope="col">found</th><th scope="col"></th></tr>'
    return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def _checks(path: Path) -> list[Check]:
    with open_run(path) as run:  # not the snapshot: models are computed again, from weights
        return check(run)


def _checked(checks: Sequence[Check], path: Path) -> str:
    if not checks:
        return (
            f"<p>The log is not checked while it grows, or is large: <code>foltr check {escape(str(path))}</code></p>"
        )
    rows = "".join(
        f'<tr><td>{escape(one.sentence)}</td><td class="{one.verdict}">{VERDICTS[one.verdict]}</td>'
        f"<td>{escape(str(one.offenders[0].get('detail', '')) if one.offenders else one.limits)}</td></tr>"
        for one in checks
    )
    return f"<h3>Checks of the log</h3><table><tbody>{rows}</tbody></table>"


def _size(path: Path) -> int:
    packed = packed_file(path)
    return sum(file.stat().st_size for file in (journal_files(path) if packed is None else [packed]))


def _expectation(one: Expectation) -> str:
    word, look = {True: ("held", "held"), False: ("failed", "failed"), None: ("not told", "unknown")}[one.holds]
    if one.wanted == "sometimes":
        found = {0: "never", 1: "once"}.get(int(one.actual or 0), f"{one.actual:,.0f} times")
    else:
        found = "not measured" if one.actual is None else told(one.actual)
    return (
        f"<tr><td><code>{escape(one.name)} {escape(one.wanted)}</code></td><td>{found}</td>"
        f'<td class="{look}">{word}</td></tr>'
    )


def _charts(run: Run, summary: Summary) -> str:
    ordered: list[str] = [one for one in FIRST_METRICS if one in summary.metrics]
    ordered += [one for one in summary.metrics if one not in FIRST_METRICS]
    drawn: list[tuple[str, Curve]] = [(metric, measured(run, metric)) for metric in ordered]
    return "".join(f"<h3>{escape(_label(metric))}</h3>{chart([curve], metric)}" for metric, curve in drawn)


def _privacy(summary: Summary) -> str:
    """What the models give away, and whom each figure protects against; nothing without a mechanism."""
    if not summary.privacy:
        return ""
    remarks = "".join(f"<li>{escape(one)}</li>" for one in summary.privacy_remarks)
    return f"{table(figure_rows(summary.privacy), 'what the run gives away')}<ul>{remarks}</ul>"


def _forgetting(run: Run) -> str:
    """Whom the run has forgotten; nothing where nobody was."""
    rows = forgetting_rows(run)
    more = '<p class="quiet">foltr unlearn RUN CLIENT --report compares with training again without them.</p>'
    return table(rows, "clients that were forgotten") + more if rows else ""


def _nodes(run: Run) -> str:
    line = timeline(run)
    drawn = draw_timeline(line)
    more = f'<p class="quiet">and {line.left_out:,} more nodes</p>' if line.left_out else ""
    faults = run.rows(FAULTS)
    rows = [row | {"detail": _last_line(row["detail"])} for row in faults[:SHOWN_FAULTS]]
    hidden = f'<p class="quiet">and {len(faults) - SHOWN_FAULTS:,} more</p>' if len(faults) > SHOWN_FAULTS else ""
    told_faults = f"<h3>Faults</h3>{table(rows, 'faults')}{hidden}" if faults else "<p>No node failed.</p>"
    return f"<figure>{drawn}</figure>{more}{told_faults}" if drawn else ""


def _clients(run: Run) -> str:
    rows = run.rows(sql_text("report_clients"), {"limit": SHOWN_CLIENTS})
    (count,) = run.rows("select count(*) as n from clients")
    more = f'<p class="quiet">and {count["n"] - len(rows):,} more</p>' if count["n"] > len(rows) else ""
    return table(rows, "clients") + more


def _round(run: Run) -> str:
    """The conversation of the round that tells most, of the coordinator with hosts, the troubled ones first."""
    number = telling_round(run)
    hosts = [
        row["host"] for row in run.rows("select host, min(number) as place from clients group by host order by place")
    ]
    query = "select distinct whom from faults where round = $round"
    troubled = [row["whom"] for row in run.rows(query, {"round": number}) if row["whom"] in hosts]
    chosen = list(dict.fromkeys([*troubled, *hosts]))[:DRAWN_HOSTS]
    if not chosen or not number:
        return ""
    talk = conversation(run, number, number, [COORDINATOR, *chosen])
    left = f", with {len(chosen)} of {len(hosts)} hosts" if len(chosen) < len(hosts) else ""
    box = '<div class="scroll" tabindex="0" role="region" aria-label="the messages of a round">'
    told_how = f"<p>Round {number:,}{left}. Hover over an arrow for all that the log has of its message.</p>"
    return f"{told_how}{box}{diagram(talk)}</div>"


def _log(run: Run, facts: dict[str, Any]) -> str:
    damage = run.rows("from damage order by file")
    newer = newer_versions(json.loads(facts.get("versions") or "{}"))
    lines = [f"Weights of updates in the log: {facts['weights']}."] if facts.get("weights") else []
    lines += [newer] if newer else []
    if not damage:
        lines.append("Every line of it is a whole record.")
    else:
        lines.append("Some lines are no whole records; a node that was killed while it wrote leaves one.")
    return "".join(f"<p>{escape(line)}</p>" for line in lines) + table(damage, "damaged files")


def _scenario(facts: dict[str, Any]) -> str:
    if not facts.get("scenario"):
        return ""
    text = to_toml(json.loads(facts["scenario"]))
    return f"<details><summary>Every key, as it was run</summary>{block(text)}</details>"


def _again(path: Path, facts: dict[str, Any]) -> str:
    if not facts:
        return ""
    command = f"foltr scenario from-run {path} > again.toml\nfoltr run again.toml\nfoltr verify {path}"
    versions = json.loads(facts["versions"] or "{}")
    rows = [
        {"what": "seed", "value": str(facts["seed"])},
        {"what": "scenario's sha256", "value": facts["scenario_hash"]},
        *([{"what": "a variation of", "value": facts["parent"]}] if facts.get("parent") else []),
        *({"what": name, "value": str(value)} for name, value in versions.items()),
    ]
    return (
        "<p>The same scenario, seed and versions give the same bits. The scenario above, saved as a file, is what "
        f"<code>foltr run</code> takes.</p>{block(command)}{table(rows, 'what the bits depend on')}"
    )


def _label(metric: str) -> str:
    return metric.replace("ndcg_at_", "nDCG@").replace("_", " ")


def _last_line(text: str | None) -> str | None:
    return text.strip().splitlines()[-1][:200] if text and text.strip() else None
