"""Commands that act on runs: start them."""

from typing import Annotated

import typer

from commands.options import EXIT_CODES, Json, Runs, ScenarioName, Sets, new_app, own_name, print_json

__all__ = ["app"]

app = new_app()


@app.command()
def run(
    scenario: ScenarioName,
    overrides: Sets = None,
    seed: Annotated[int | None, typer.Option(help="The seed of every random stream.")] = None,
    engine: Annotated[str | None, typer.Option(help="processes or inline.")] = None,
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Run a scenario to its end.

    Example: foltr run quickstart --set rounds=50 --seed 7 --json
    """
    from analysis.runs import open_run, runs_directory
    from analysis.summary import summarise
    from analysis.wording import summary_text
    from nodes.console import ConsoleWatcher
    from nodes.launch import launch
    from scenarios.load import load_scenario

    chosen = load_scenario(scenario, overrides or (), seed, engine)
    with ConsoleWatcher(quiet=as_json) as watcher:
        directory, _ending = launch(chosen, runs_directory(runs), watcher)
    with open_run(directory) as opened:
        summary = summarise(opened)
    if as_json:
        print_json(summary.as_dict())
    else:
        typer.echo(summary_text(summary, own_name(), str(directory) if runs else "latest"))
    raise typer.Exit(EXIT_CODES[summary.verdict])
