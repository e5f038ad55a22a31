"""How many of several things are done, as a bar on standard error where a terminal is there to show it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

__all__ = ["counting"]


@contextmanager
def counting(what: str, total: int, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Show a bar while it lasts; what it gives is told how many are done."""
    console = Console(stderr=True, highlight=False)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=None), MofNCompleteColumn())
    with Progress(
        *columns, console=console, transient=True, disable=quiet or not console.is_terminal, expand=True
    ) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)
