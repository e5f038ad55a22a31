"""A log as a database: the public views, asked in SQL, and a lock that lets queries read the log and nothing else."""

import re
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from uuid import uuid4

import duckdb

from analysis.meanings import VIEWS
from analysis.queries import Answer, ask, one_sentence
from analysis.relations import literal, log_relations
from protocol.errors import UserError

__all__ = ["Log", "define_views", "lock", "sql_text", "views_for"]

VIEW: Final = re.compile(r"(^create or replace view (\S+) as\n.*?;$)", re.MULTILINE | re.DOTALL)
"""A statement of `sql/views.sql` and the name of its view."""


class Log(ABC):
    """The views over one run or over several, to be asked in SQL; nothing that is asked can change a log."""

    def __init__(self, database: duckdb.DuckDBPyConnection, title: str) -> None:
        self.database = database
        self.title = title

    @abstractmethod
    def _refresh(self, query: str) -> None:
        """Define what a query needs over the files that there are: a live run gets more of them."""

    def sql(self, query: str, parameters: dict[str, Any] | None = None) -> Answer:
        """Answer a query over the log as it is now; `$name` in it stands for a parameter."""
        with one_sentence():
            self._refresh(query)
        return ask(self.database, query, parameters)

    def rows(self, query: str, parameters: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        """All rows of an answer, each as column -> value."""
        answer = self.sql(query, parameters)
        return [dict(zip(answer.columns, row, strict=True)) for row in answer]

    def columns(self, view: str) -> dict[str, str]:
        """The columns of a view and their SQL types."""
        if view not in VIEWS:
            raise UserError(f"a view must be one of {', '.join(VIEWS)}; got {view!r}")
        answer = self.sql(f"from {view} limit 0")
        return dict(zip(answer.columns, answer.types, strict=True))

    def close(self) -> None:
        """Let go of the files."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def define_views(database: duckdb.DuckDBPyConnection, run: Path, journal: Sequence[Path], limit: int) -> None:
    """Create all views over a run's log files, whose lines have at most `limit` bytes."""
    database.execute(log_relations(run, journal, limit))
    for name in ("views", "updates"):
        database.execute(sql_text(name))


def views_for(query: str) -> dict[str, str]:
    """The statements that create the views a query names and those beneath them, in order; all if it names none."""
    statements = {name: text for file in ("views", "updates") for text, name in VIEW.findall(sql_text(file))}
    needed = {name for name in statements if _names(query, name)} or set(statements)
    while more := {name for one in needed for name in statements if _names(statements[one], name)} - needed:
        needed |= more
    return {name: text for name, text in statements.items() if name in needed}


def _names(text: str, view: str) -> bool:
    """Whether a text has the view's name in it, as a word; that it may mean something else does no harm."""
    return re.search(rf"\b{view.removeprefix('log.')}\b", text, re.IGNORECASE) is not None


def lock(database: duckdb.DuckDBPyConnection, journals: Sequence[Path], target: Path | None = None) -> None:
    """Let queries read the logs, spill to the system's temporary directory, and reach nothing else but the target.

    A packed file that is open twice in one process is one database to DuckDB, and locked already.
    """
    if database.execute("select current_setting('lock_configuration')").fetchall() == [(True,)]:
        return
    for statement in _locks(journals, target):
        database.execute(statement)


def sql_text(name: str) -> str:
    """The text of a file in `sql/`."""
    return (files("analysis") / "sql" / f"{name}.sql").read_text(encoding="utf-8")


def _locks(journals: Sequence[Path], target: Path | None) -> Iterator[str]:
    yield "set python_enable_replacements = false"
    yield f"set temp_directory = {literal(Path(tempfile.gettempdir()) / f'foltr-sql-{uuid4().hex}')}"
    if journals:
        yield f"set allowed_directories = [{', '.join(literal(f'{one}/') for one in journals)}]"
    if target is not None:
        yield f"set allowed_paths = [{literal(target)}]"
    yield "set enable_external_access = false"
    yield "set lock_configuration = true"
