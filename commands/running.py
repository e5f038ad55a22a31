"""Commands that run scenarios: start one, let one go on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from commands.auditing import Tolerate, show_audit
from commands.options import EXIT_CODES, Json, RunName, Runs, ScenarioName, Sets, new_app, own_name, print_json
from protocol.errors import UserError

if TYPE_CHECKING:
    from scenarios.plan import Plan

__all__ = ["app"]

app = new_app()


@app.command()
def run(
    scenario: ScenarioName,
    overrides: Sets = None,
    seed: Annotated[int | None, typer.Option(help="The seed of every random stream.")] = None,
    engine: Annotated[str | None, typer.Option(help="processes or inline.")] = None,
    detach: Annotated[bool, typer.Option("--detach", help="Return as soon as the run is live.")] = False,
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Run a scenario to its end.

    Example: foltr run quickstart --set rounds=50 --seed 7 --json
    """
    from analysis.runs import runs_directory
    from nodes import launch
    from nodes.console import ConsoleWatcher
    from nodes.detach import detach as leave_terminal
    from nodes.watcher import Quiet
    from scenarios.load import load_scenario

    chosen = load_scenario(scenario, overrides or (), seed, engine)
    if detach:
        plan = launch.prepare(chosen, runs_directory(runs), Quiet())
        pid = leave_terminal(plan.run, lambda: _supervised(plan))
        if as_json:
            print_json({"run": str(plan.run), "pid": pid})
        else:
            typer.echo(f"{plan.run} is live; {own_name()} ps {plan.run} shows its nodes")
        return
    with ConsoleWatcher(quiet=as_json) as watcher:
        directory, _ending = launch.launch(chosen, runs_directory(runs), watcher)
    raise typer.Exit(_told(directory, as_json=as_json, reference=str(directory) if runs else "latest"))


@app.command()
def resume(reference: RunName, runs: Runs = None, as_json: Json = False) -> None:
    """Let a run that was stopped or killed go on from its last closed round.

    Example: foltr resume latest
    """
    from analysis.runs import find_run, runs_directory
    from nodes import launch
    from nodes.console import ConsoleWatcher

    directory = find_run(reference, runs_directory(runs))
    with ConsoleWatcher(quiet=as_json) as watcher:
        launch.resume(directory, watcher)
    raise typer.Exit(_told(directory, as_json=as_json, reference=reference))


@app.command()
def replay(
    reference: RunName,
    without: Annotated[list[str] | None, typer.Option(metavar="CLIENT", help="Leave this client out.")] = None,
    aggregation: Annotated[str | None, typer.Option(metavar="RULE", help="Aggregate by another rule.")] = None,
    tolerate: Tolerate = None,
    open_loop: Annotated[
        bool, typer.Option("--open-loop", help="With --aggregation: only audit the recorded updates; run nothing.")
    ] = False,
    rounds: Annotated[int | None, typer.Option(min=1, help="Run so many rounds.")] = None,
    engine: Annotated[str, typer.Option(help="processes or inline.")] = "inline",
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Run what would have been: a run again with the same seeds, but without a client, or otherwise different.

    The new run has a link to its parent. Without a change it gives the same models. With --aggregation it is told first
    what the rule makes of the recorded updates (open loop: clients did not react), then what comes of it when they do.

    Example: foltr replay latest --without client-3
    """
    from analysis.audit import audit
    from analysis.rerun import variation
    from analysis.runs import find_run, open_run, runs_directory
    from nodes.console import ConsoleWatcher
    from nodes.launch import launch
    from scenarios.load import from_dict

    if open_loop and aggregation is None:
        raise UserError("--open-loop belongs to --aggregation: it audits a rule on the recorded updates")
    with open_run(find_run(reference, runs_directory(runs))) as opened:
        tables = variation(opened, without or (), aggregation, rounds, tolerate)
        parent = str(opened.path)
        audited = next(audit(opened, [aggregation], tolerate)) if aggregation else None
    if audited is not None and not audited.rounds and open_loop:
        raise UserError(f"{aggregation} cannot be tried on the recorded updates: {audited.problem or 'no rounds'}")
    if audited is not None and not as_json:
        typer.echo(show_audit(audited))
    if open_loop and audited is not None:
        if as_json:
            print_json(audited.as_dict(rounds=True))
        return
    tables["federation"]["engine"] = engine
    with ConsoleWatcher(quiet=as_json) as watcher:
        directory, _ending = launch(from_dict(tables), runs_directory(runs), watcher, parent)
    more = {"audit": audited.as_dict(rounds=True)} if audited is not None else None
    raise typer.Exit(_told(directory, as_json=as_json, reference=str(directory) if runs else "latest", more=more))


def _supervised(plan: "Plan") -> int:
    """Act a detached run out; what happens and its summary are written where its console is."""
    from nodes import launch
    from nodes.console import ConsoleWatcher

    with ConsoleWatcher() as watcher:
        launch.act(plan, watcher)
    return _told(plan.run, as_json=False, reference=str(plan.run))


def _told(directory: Path, *, as_json: bool, reference: str, more: dict[str, Any] | None = None) -> int:
    """Check a run's log, print what the run came to; the exit code of its verdict."""
    from analysis.check import check
    from analysis.runs import open_run
    from analysis.summary import summarise, with_checks
    from analysis.wording import summary_text

    with open_run(directory, snapshot=True) as opened:
        summary = with_checks(summarise(opened), check(opened))
    if as_json:
        print_json(summary.as_dict() | (more or {}))
    else:
        typer.echo(summary_text(summary, own_name(), reference))
    return EXIT_CODES[summary.verdict]
