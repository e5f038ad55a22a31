"""Commands that ask about runs: SQL, curves, packing."""

from pathlib import Path
from typing import Annotated

import typer

from commands.options import Json, RunName, Runs, new_app, print_json

__all__ = ["app"]

app = new_app()


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
        print_json([one.as_dict() for one in drawn])
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
