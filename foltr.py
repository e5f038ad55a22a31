"""The `foltr` command: each command parses, calls one library function, renders.

Imports are inside the commands, so that `foltr --help` does not wait for compilers and databases. Exit codes: 0 it
held, 1 it did not, 2 could not tell or bad input. A user's mistake gets one sentence, never a traceback.
"""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from protocol.errors import UserError

__all__ = ["app", "main"]

app = typer.Typer(
    help="The laboratory for federated online learning to rank: run scenarios with real processes, ask the log in SQL.",
    epilog="Begin with: foltr run quickstart",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
scenario_app = typer.Typer(help="Look at scenario files.", no_args_is_help=True, rich_markup_mode=None)
data_app = typer.Typer(help="Look at data sets.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(scenario_app, name="scenario")
app.add_typer(data_app, name="data")

ScenarioName = Annotated[str, typer.Argument(metavar="SCENARIO", help="A file, or the name of a shipped scenario.")]
RunName = Annotated[str, typer.Argument(metavar="RUN", help="A run's directory, a scenario's name, or latest.")]
Sets = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a key, e.g. learner.interactions=10.")
]
Runs = Annotated[Path | None, typer.Option("--runs", help="Where runs are kept; FOLTR_RUNS or ./runs by default.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts, and nothing else on standard output.")]

EXIT_CODES = {"held": 0, "failed": 1, "unknown": 2}


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
        _print_json(summary.as_dict())
    else:
        typer.echo(summary_text(summary, _own_name(), str(directory) if runs else "latest"))
    raise typer.Exit(EXIT_CODES[summary.verdict])


@app.command()
def sql(
    reference: RunName,
    query: Annotated[str | None, typer.Argument(metavar="[QUERY]", help="The question; none: a prompt.")] = None,
    runs: Runs = None,
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Show every row of a long table.")] = False,
) -> None:
    """Ask a run's log in SQL; without a query, a prompt.

    Example: foltr sql latest "select round, value from metrics where name = 'ndcg_at_10' order by round"
    """
    from analysis.prompt import converse
    from analysis.runs import find_run, open_run, runs_directory
    from analysis.tables import render

    with open_run(find_run(reference, runs_directory(runs))) as opened:
        if query is None:
            converse(opened)
            return
        render(opened.sql(query), "json" if as_json else "csv" if as_csv else "table", everything=everything)


@app.command()
def curves(
    references: Annotated[list[str], typer.Argument(metavar="RUN...", help="One or several runs.")],
    metric: Annotated[str, typer.Option(help="The metric to draw.")] = "ndcg_at_10",
    plot: Annotated[Path | None, typer.Option(help="Write a picture, .png or .svg, instead.")] = None,
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Draw a metric over the rounds, in the terminal or as a picture.

    Example: foltr curves latest --plot curve.png
    """
    from analysis.curves import curve, plot_picture, plot_terminal
    from analysis.runs import find_run, runs_directory

    drawn = curve([find_run(one, runs_directory(runs)) for one in references], metric)
    if as_json:
        _print_json([one.as_dict() for one in drawn])
    elif plot is not None:
        plot_picture(drawn, metric, plot)
        typer.echo(f"wrote {plot}")
    else:
        typer.echo(plot_terminal(drawn, metric))


@app.command()
def pack(
    reference: RunName,
    target: Annotated[Path | None, typer.Option("--to", help="The file to write; run.duckdb in the run.")] = None,
    runs: Runs = None,
) -> None:
    """Pack a run's log into one DuckDB file with the same views.

    Example: foltr pack latest --to run.duckdb
    """
    from analysis.pack import pack as pack_run
    from analysis.runs import find_run, runs_directory

    typer.echo(f"wrote {pack_run(find_run(reference, runs_directory(runs)), target)}")


@scenario_app.command("check")
def scenario_check(file: ScenarioName, overrides: Sets = None, as_json: Json = False) -> None:
    """Tell every problem of a scenario file at once; exit code 2 if there is one.

    Example: foltr scenario check my.toml
    """
    from scenarios.load import check

    problems = check(file, overrides or ())
    if as_json:
        _print_json([{"key": one.key, "problem": one.sentence} for one in problems])
    elif problems:
        typer.echo("\n".join(str(one) for one in problems), err=True)
    else:
        typer.echo(f"{file} is fine")
    raise typer.Exit(2 if problems else 0)


@scenario_app.command("schema")
def scenario_schema() -> None:
    """Print the JSON Schema of scenario files, for editors.

    Example: foltr scenario schema > scenario.schema.json
    """
    from scenarios.load import json_schema

    _print_json(json_schema())


@scenario_app.command("list")
def scenario_list(as_json: Json = False) -> None:
    """List the shipped scenarios.

    Example: foltr scenario list
    """
    from scenarios.load import shipped

    names = {name: path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ") for name, path in shipped().items()}
    if as_json:
        _print_json(names)
    else:
        typer.echo("\n".join(f"{name:24} {about}" for name, about in names.items()))


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
        _print_json(described.as_dict())
    else:
        typer.echo(description_text(described))


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def _own_name() -> str:
    """How the user calls this command: by its name if the shell finds it, else by its path."""
    return "foltr" if shutil.which("foltr") else os.path.relpath(sys.argv[0])


def _give_up(sentence: str) -> NoReturn:
    sys.stderr.write(f"foltr: {sentence}\n")
    sys.exit(2)


def main() -> None:
    """Run the command line; a user's mistake ends it with one sentence and exit code 2."""
    from learning.errors import LearningError

    try:
        app()
    except (UserError, LearningError) as error:
        _give_up(str(error))
    except KeyboardInterrupt:
        _give_up("interrupted")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has seen enough
        sys.exit(0)


if __name__ == "__main__":
    main()
