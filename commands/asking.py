"""Commands that ask about runs: SQL, curves, comparisons, verification, diagrams, reports, packing."""

from pathlib import Path
from typing import Annotated

import typer

from commands.options import EXIT_CODES, Json, RunName, Runs, new_app, print_json

__all__ = ["app"]

app = new_app()


@app.command()
def sql(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN... [QUERY]", help="Runs, or a pattern in quotes; the question, or none: a prompt."),
    ] = None,
    name: Annotated[str | None, typer.Option("--query", help="Ask a shipped question by its name.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--with", metavar="NAME=VALUE", help="Its parameter.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the shipped questions.")] = False,
    target: Annotated[Path | None, typer.Option("--to", help="Write a .csv, .json or .parquet file instead.")] = None,
    runs: Runs = None,
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Show every row of a long table.")] = False,
) -> None:
    """Ask the logs of runs in SQL; without a query, a prompt. With several runs, every view has a column `run`.

    Example: foltr sql latest "select round, value from metrics where name = 'ndcg_at_10' order by round"
    """
    from analysis.many import open_log
    from analysis.prompt import converse
    from analysis.questions import questions
    from analysis.requests import read_request
    from analysis.runs import runs_directory
    from analysis.saving import save
    from analysis.tables import render
    from analysis.versions import newer_run

    if listed:
        known = questions().values()
        if as_json:
            print_json([one.as_dict() for one in known])
        else:
            typer.echo("\n".join(f"{one.name:26} {one.question}" for one in known))
        return
    request = read_request(words or (), name, settings or (), runs_directory(runs))
    for sentence in filter(None, map(newer_run, request.runs)):
        typer.echo(sentence, err=True)
    if target is not None:
        save(request.runs, request.query, target, request.parameters)
        typer.echo(f"wrote {target}")
    elif request.query is None:
        with open_log(request.runs) as log:
            converse(log)
    else:
        with open_log(request.runs) as log:
            answer = log.sql(request.query, request.parameters)
            render(answer, "json" if as_json else "csv" if as_csv else "table", everything=everything)


@app.command()
def curves(
    references: Annotated[list[str], typer.Argument(metavar="RUN...", help="Runs, or patterns of runs in quotes.")],
    metric: Annotated[str, typer.Option(help="The metric to draw.")] = "ndcg_at_10",
    plot: Annotated[Path | None, typer.Option(help="Write a picture instead: .png, .svg, .pdf or .html.")] = None,
    each: Annotated[bool, typer.Option("--each", help="Draw every run, not the mean over seeds and folds.")] = False,
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Draw a metric over the rounds; runs that differ in seed and fold only as their mean with a 95 % band.

    Example: foltr curves 'quickstart/*' --plot curve.png
    """
    from analysis.curves import curves as measure
    from analysis.plotting import plot_picture, plot_terminal
    from analysis.runs import find_runs, runs_directory

    drawn = measure(find_runs(references, runs_directory(runs)), metric, each=each)
    if as_json:
        print_json([one.as_dict() for one in drawn])
    elif plot is not None:
        plot_picture(drawn, metric, plot)
        typer.echo(f"wrote {plot}")
    else:
        typer.echo(plot_terminal(drawn, metric))


@app.command()
def compare(
    references: Annotated[
        list[str], typer.Argument(metavar="A B...", help="Scenarios' names, runs, or patterns of runs in quotes.")
    ],
    metrics: Annotated[list[str] | None, typer.Option("--metric", help="A metric to compare; all by default.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a table for Markdown.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print a table for LaTeX.")] = False,
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Compare experiments over seeds and folds: means, paired t-tests against the first, effect sizes.

    Example: foltr compare no-defence krum median --metric ndcg_at_10
    """
    from analysis.compare import compare as compare_sides
    from analysis.runs import runs_directory
    from analysis.side_by_side import comparison_latex, comparison_markdown, comparison_text

    compared = compare_sides(references, runs_directory(runs), metrics or ())
    if as_json:
        print_json(compared.as_dict())
    else:
        render = comparison_markdown if markdown else comparison_latex if latex else comparison_text
        typer.echo(render(compared))


@app.command()
def verify(
    reference: RunName,
    client: Annotated[str | None, typer.Option(help="Compute the updates of this client again.")] = None,
    number: Annotated[int | None, typer.Option("--round", help="Compute the updates of this round again.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Compute every update again, not a sample of 50.")] = False,
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Derive every model again from the log, compute clients' updates again, and compare the bits.

    Example: foltr verify latest --client client-3 --round 12
    """
    from analysis.runs import find_run, runs_directory
    from analysis.verify import verify as verify_run

    found = verify_run(find_run(reference, runs_directory(runs)), client, number, everything=everything)
    if as_json:
        print_json(found.as_dict())
    else:
        typer.echo(found.sentence())
    raise typer.Exit(EXIT_CODES[found.verdict])


@app.command()
def diagram(
    reference: RunName,
    rounds: Annotated[str | None, typer.Option(help="12, or 12..14; by default the round that tells most.")] = None,
    nodes: Annotated[str | None, typer.Option(help="Nodes or clients, with commas between; all by default.")] = None,
    target: Annotated[Path, typer.Option("--to", help="The picture to write.")] = Path("diagram.svg"),
    runs: Runs = None,
) -> None:
    """Draw what nodes said to each other in some rounds: sends, receipts, losses, faults, late answers.

    Example: foltr diagram latest --rounds 12..14 --nodes client-3,coordinator --to talk.svg
    """
    from analysis.diagram import write_diagram
    from analysis.runs import find_run, runs_directory

    write_diagram(find_run(reference, runs_directory(runs)), rounds, (nodes or "").split(",") if nodes else (), target)
    typer.echo(f"wrote {target}")


@app.command()
def report(
    references: Annotated[list[str], typer.Argument(metavar="RUN...", help="Runs, or patterns of runs in quotes.")],
    target: Annotated[Path, typer.Option("--to", help="The page to write.")] = Path("report.html"),
    runs: Runs = None,
) -> None:
    """Write a page on one run or several: what was run, the verdict, curves, nodes, clients, one round, the scenario.

    Example: foltr report latest --to report.html
    """
    from analysis.report import write_report
    from analysis.runs import find_runs, runs_directory

    write_report(find_runs(references, runs_directory(runs)), target)
    typer.echo(f"wrote {target}")


@app.command()
def serve(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen on 127.0.0.1; 0: any free port.")] = 8642,
    runs: Runs = None,
) -> None:
    """Show the runs as live pages in a browser of this machine; Ctrl-C ends.

    Example: foltr serve --port 8642
    """
    from analysis.runs import runs_directory
    from analysis.serve import serve as serve_runs

    folder = runs_directory(runs)
    serve_runs(folder, port, lambda address: typer.echo(f"the runs of {folder} are at {address} (Ctrl-C ends)"))


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
