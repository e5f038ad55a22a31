"""The benchmark command: every figure beside a floor of the same run."""

from dataclasses import asdict
from typing import Annotated

import typer

from commands.options import Json, new_app, print_json
from protocol.errors import UserError

__all__ = ["app"]

app = new_app()

GROUPS = ("kernels", "data", "journal", "federation")


@app.command()
def bench(
    groups: Annotated[
        list[str] | None, typer.Argument(metavar="[GROUP]...", help=f"Which: {', '.join(GROUPS)}; all by default.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure how fast this machine runs foltr, each figure beside a floor measured in the same run.

    Example: foltr bench kernels --json
    """
    from importlib import import_module

    from analysis.wording import measurement_text

    unknown = [one for one in groups or () if one not in GROUPS]
    if unknown:
        raise UserError(f"a group must be one of {', '.join(GROUPS)}; got {', '.join(unknown)}")
    rows = []
    for group in groups or GROUPS:
        for one in import_module(f"bench.{group}").measure():
            rows.append(asdict(one))
            if not as_json:
                typer.echo(measurement_text(rows[-1]))
    if as_json:
        print_json(rows)
