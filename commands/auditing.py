"""The command that holds defences against a run's recorded updates."""

from typing import Annotated, Any

import typer

from commands.options import Json, RunName, Runs, new_app, print_json

__all__ = ["Tolerate", "app", "show_audit"]

app = new_app()
SHOWN_ROUNDS = 20

Tolerate = Annotated[
    int | None,
    typer.Option(min=0, help="Malicious clients to tolerate; as the run's own rule by default, else all there are."),
]


@app.command()
def audit(
    reference: RunName,
    rules: Annotated[str | None, typer.Option(metavar="RULE,…", help="Rules to try; all by default.")] = None,
    tolerate: Tolerate = None,
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Try defences on a run's recorded updates: whom each would have left out, against who attacked.

    Open loop: the updates are those of the run; clients did not react to the models that another rule would have made.

    Example: foltr audit latest --rules krum,multi_krum,median
    """
    from analysis.audit import audit as try_rules
    from analysis.audit import audited_rules
    from analysis.runs import find_run, open_run, runs_directory

    chosen = audited_rules() if rules is None else [one.strip() for one in rules.split(",") if one.strip()]
    with (
        open_run(find_run(reference, runs_directory(runs))) as opened,
        typer.progressbar(
            try_rules(opened, chosen, tolerate),
            length=len(chosen),
            label="auditing",
            file=typer.get_text_stream("stderr"),
        ) as tried,
    ):
        audits = list(tried)
    if as_json:
        print_json([one.as_dict(rounds=False) for one in audits])
    else:
        typer.echo(_table(audits))
    raise typer.Exit(2 if all(not one.rounds for one in audits) else 0)


def show_audit(one: Any) -> str:
    """One rule's audit for a person: in sentences, and some of its rounds."""
    lines = [
        f"open loop: {one.rule} over the recorded updates of {len(one.rounds):,} rounds; clients did not react to it",
        _table([one]),
    ]
    step = max(1, len(one.rounds) // SHOWN_ROUNDS)
    lines.append(f"{'round':>8} {'moved':>10} {'logged':>10} {'apart':>10}  excluded")
    for at in one.rounds[step - 1 :: step]:
        left_out = ", ".join(at.excluded) or "nobody"
        lines.append(f"{at.round:>8,} {at.moved:>10.4g} {at.logged:>10.4g} {at.apart:>10.4g}  {left_out}")
    lines.append("moved, logged: distance from the model before, by this rule and in the run; apart: between the two")
    return "\n".join(lines)


def _table(audits: list[Any]) -> str:
    """A line a rule."""
    head = f"{'rule':18} {'tolerate':>8} {'precision':>9} {'recall':>7} {'honest excluded':>15} {'mean distance':>13}"
    lines = [head]
    for one in audits:
        if not one.rounds:
            lines.append(f"{one.rule:18} {one.problem}")
            continue
        figures = (_share(one.precision), _share(one.recall), _share(one.wrongly))
        tolerate = "" if one.tolerate is None else str(one.tolerate)
        line = f"{one.rule:18} {tolerate:>8} {figures[0]:>9} {figures[1]:>7} {figures[2]:>15} {one.apart:>13.4g}"
        lines.append(line + (f"  ({one.problem})" if one.problem else ""))
    return "\n".join(lines)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"
