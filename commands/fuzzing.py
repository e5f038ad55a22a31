"""The fuzzing command: many seeded schedules of faults, each checked."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from commands.options import Json, new_app, own_name, print_json
from protocol.errors import UserError

__all__ = ["app"]

app = new_app()


@app.command()
def fuzz(
    schedules: Annotated[int, typer.Option(min=1, help="How many schedules to try.")] = 500,
    seed: Annotated[int, typer.Option(min=0, help="The first schedule's seed; the others follow.")] = 0,
    keep: Annotated[Path | None, typer.Option(help="Where failed runs are kept; a new directory by default.")] = None,
    as_json: Json = False,
) -> None:
    """Try seeded schedules of faults on the inline engine; each failure is one line that reproduces it.

    Example: foltr fuzz --schedules 1000 --seed 7
    """
    from analysis.check import problems
    from nodes.fuzz import fuzz as try_schedules

    where = keep or Path(tempfile.mkdtemp(prefix="foltr-fuzz-"))
    try:
        where.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"failed runs cannot be kept: {error.strerror}: {where}") from error
    failed: list[dict[str, object]] = []
    with typer.progressbar(
        try_schedules(schedules, seed, where, problems),
        length=schedules,
        label="fuzzing",
        file=typer.get_text_stream("stderr"),
    ) as tried:
        for number, problem in tried:
            if problem is not None:
                failed.append({"seed": number, "problem": problem})
                again = f"{own_name()} fuzz --schedules 1 --seed {number} --keep {where}"
                typer.echo(f"\n{again}    # {problem}", err=True)
    if as_json:
        print_json({"schedules": schedules, "seed": seed, "failed": failed})
    else:
        typer.echo(f"{schedules - len(failed):,} of {schedules:,} schedules held")
    raise typer.Exit(1 if failed else 0)
