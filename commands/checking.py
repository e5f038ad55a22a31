"""The command that checks a run's log against what every run must do."""

import typer

from commands.options import EXIT_CODES, Json, RunName, Runs, new_app, print_json

__all__ = ["app"]

app = new_app()


@app.command()
def check(reference: RunName, runs: Runs = None, as_json: Json = False) -> None:
    """Check a run's log: who is in each model, where the updates came from, that every model can be made again.

    Exit code 0 if all holds, 1 if something does not, 2 if it cannot be told.

    Example: foltr check latest
    """
    from analysis.check import check as check_run
    from analysis.check import check_text, verdict
    from analysis.runs import find_run, open_run, runs_directory

    with open_run(find_run(reference, runs_directory(runs))) as opened:
        checks = check_run(opened)
    if as_json:
        print_json([one.as_dict() for one in checks])
    else:
        typer.echo(check_text(checks))
    raise typer.Exit(EXIT_CODES[verdict(checks)])
