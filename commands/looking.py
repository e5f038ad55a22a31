"""Commands that look at scenarios and data before anything runs."""

from typing import Annotated

import typer

from commands.options import Json, RunName, Runs, ScenarioName, Sets, new_app, print_json

__all__ = ["data_app", "scenario_app"]

scenario_app = new_app("Look at scenario files.")
data_app = new_app("Look at data sets.")


@scenario_app.command("check")
def scenario_check(file: ScenarioName, overrides: Sets = None, as_json: Json = False) -> None:
    """Tell every problem of a scenario file at once; exit code 2 if there is one.

    Example: foltr scenario check my.toml
    """
    from scenarios.load import check
    from scenarios.problems import ScenarioError

    problems = check(file, overrides or ())
    if as_json:
        print_json([{"key": one.key, "problem": one.sentence} for one in problems])
    elif problems:
        typer.echo(f"foltr: {ScenarioError(file, problems)}", err=True)
    else:
        typer.echo(f"{file} is fine")
    raise typer.Exit(2 if problems else 0)


@scenario_app.command("schema")
def scenario_schema() -> None:
    """Print the JSON Schema of scenario files, for editors.

    Example: foltr scenario schema > scenario.schema.json
    """
    from scenarios.load import json_schema

    print_json(json_schema())


@scenario_app.command("list")
def scenario_list(as_json: Json = False) -> None:
    """List the shipped scenarios.

    Example: foltr scenario list
    """
    from scenarios.load import shipped

    names = {name: path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ") for name, path in shipped().items()}
    if as_json:
        print_json(names)
    else:
        typer.echo("\n".join(f"{name:24} {about}" for name, about in names.items()))


@scenario_app.command("from-run")
def scenario_from_run(reference: RunName, runs: Runs = None) -> None:
    """Print a run's scenario with what was typed during the run as its timeline: run it again, get the same.

    Example: foltr scenario from-run latest > again.toml
    """
    from analysis.rerun import scenario_from_run as from_run
    from analysis.runs import find_run, open_run, runs_directory
    from scenarios.toml_text import to_toml

    with open_run(find_run(reference, runs_directory(runs))) as opened:
        typer.echo(to_toml(from_run(opened), f"What happened in {opened.path.name}"), nl=False)


@data_app.command("describe")
def data_describe(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="letor:/path or synthetic:SHAPE.")],
    fold: Annotated[int, typer.Option(help="The fold of a data set that has several.")] = 1,
    scale: Annotated[str, typer.Option(help="auto, query or none.")] = "auto",
    dtype: Annotated[str, typer.Option(help="float32 or float64.")] = "float32",
    as_json: Json = False,
) -> None:
    """Tell what a data set holds: queries, documents, labels, features, memory.

    Example: foltr data describe letor:/path/to/MQ2008 --fold 2
    """
    from analysis.wording import description_text
    from learning.data import describe
    from nodes.console import ConsoleWatcher

    with ConsoleWatcher(quiet=as_json) as watcher:
        described = describe(source, fold=fold, scale=scale, dtype=dtype, progress=watcher.parsed)
    if as_json:
        print_json(described.as_dict())
    else:
        typer.echo(description_text(described))
