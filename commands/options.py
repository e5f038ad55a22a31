"""What several commands share: arguments, options, JSON on standard output, the exit codes."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer

__all__ = ["EXIT_CODES", "Json", "RunName", "Runs", "ScenarioName", "Sets", "new_app", "own_name", "print_json"]

ScenarioName = Annotated[str, typer.Argument(metavar="SCENARIO", help="A file, or the name of a shipped scenario.")]
RunName = Annotated[str, typer.Argument(metavar="RUN", help="A run's directory, a scenario's name, or latest.")]
Sets = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a key, e.g. learner.interactions=10.")
]
Runs = Annotated[Path | None, typer.Option("--runs", help="Where runs are kept; FOLTR_RUNS or ./runs by default.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts, and nothing else on standard output.")]

EXIT_CODES: Final = {"held": 0, "failed": 1, "unknown": 2}
"""A verdict's exit code; a user's mistake is 2, too."""


def new_app(about: str = "") -> typer.Typer:
    """A group of commands in the house's manner."""
    return typer.Typer(
        help=about or None,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
    )


def print_json(value: Any) -> None:
    """Print a value for a script to read."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def own_name() -> str:
    """How the user calls this command: by its name if the shell finds it, else by its path."""
    return "foltr" if shutil.which("foltr") else os.path.relpath(sys.argv[0])
