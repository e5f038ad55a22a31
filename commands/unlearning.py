"""Commands that let a run forget: unlearn clients from its log."""

import json
from pathlib import Path
from typing import Annotated

import typer

from commands.options import Json, RunName, Runs, new_app, print_json

__all__ = ["app"]

app = new_app()


@app.command()
def unlearn(
    reference: RunName,
    leavers: Annotated[list[str] | None, typer.Argument(metavar="CLIENT...", help="Who is to be forgotten.")] = None,
    clients: Annotated[str | None, typer.Option(help="The same as a list: a,b,c.")] = None,
    method: Annotated[str, typer.Option(help="A method, or several: federaser,rollback.")] = "federaser",
    every: Annotated[str, typer.Option(help="Rounds between kept updates: 5,10,20.")] = "10",
    interactions: Annotated[str, typer.Option(help="Queries of a client in a step: 1,2,3,4.")] = "3",
    at: Annotated[int | None, typer.Option(min=1, help="As if they had left after this round.")] = None,
    engine: Annotated[str, typer.Option(help="processes or inline.")] = "inline",
    report: Annotated[bool, typer.Option("--report", help="Retrain exactly too, and compare with that.")] = False,
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Unlearn what clients taught a run, from its log: every setting is a run of its own with a link to its parent.

    Example: foltr unlearn latest mallory --method federaser --every 5,10,20 --interactions 1,2,3,4
    """
    import os

    from analysis.erasure import log_hashes, write_erasure, write_whole
    from analysis.proof import curves_of, forgotten, proven, results_text
    from analysis.runs import find_run, open_run, runs_directory
    from analysis.unlearn import RETRAIN, forgetful_runs, settings_of
    from nodes.counting import counting
    from nodes.together import Job, launch_together

    names = [*(leavers or []), *(clients.split(",") if clients else [])]
    methods = list(dict.fromkeys([*method.split(","), *([RETRAIN] if report else [])]))
    grid = settings_of(methods, _numbers("--every", every), _numbers("--interactions", interactions))
    with open_run(find_run(reference, runs_directory(runs))) as opened:
        parent = opened.path
        made, after = forgetful_runs(opened, names, grid, engine, at)
    jobs = [Job(one.scenario, one.unlearning) for one in made]
    workers = (os.cpu_count() or 1) if engine == "inline" else 1
    with counting("unlearning", len(jobs), quiet=as_json) as count:
        ended = launch_together(jobs, runs_directory(runs), str(parent), workers, count)
    found = [forgotten(one.settings, path) for one, (path, _) in zip(made, ended, strict=True)]
    lines = []
    if report:
        from analysis.plotting import plot_picture

        truth = next(one for one in found if one.settings["method"] == RETRAIN)
        found = proven(found, truth, parent, names, after)
        folder = Path(truth.run)
        for picture in ("forgetting.svg", "forgetting.png"):
            plot_picture(curves_of(found), "nDCG@10", folder / picture)
            lines.append(f"wrote {folder / picture}")
        write_whole(folder / "forgetting.json", json.dumps([one.as_dict() for one in found], indent=2))
        lines.append(f"wrote {folder / 'forgetting.json'}")
    before = log_hashes(parent)
    for one in found:
        write_erasure(one, parent, before, names, after)
    if as_json:
        print_json([one.as_dict() for one in found])
    else:
        typer.echo("\n".join([results_text(found), *lines]))
    raise typer.Exit(0 if all(one.outcome == "completed" for one in found) else 2)


@app.command(name="forget-log")
def forget_log(
    reference: RunName,
    client: Annotated[str, typer.Argument(metavar="CLIENT", help="Whose updates are to go.")],
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Remove a client's updates from a run's files; models and hashes stay, so that the run can still be checked.

    Example: foltr forget-log latest mallory
    """
    from analysis.runs import find_run, runs_directory
    from nodes.erasing import erase_client

    directory = find_run(reference, runs_directory(runs))
    count = erase_client(directory, client)
    if as_json:
        print_json({"run": str(directory), "client": client, "records": count})
    else:
        typer.echo(f"removed what {client} sent from {count:,} records of {directory}")


def _numbers(option: str, text: str) -> list[int]:
    """A list of counts such as 5,10,20."""
    try:
        found = [int(one) for one in text.split(",")]
    except ValueError:
        found = []
    if not found or min(found) < 1:
        raise typer.BadParameter(f"must be whole numbers from 1 on such as 5,10,20; got {text}", param_hint=option)
    return found
