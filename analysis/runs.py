"""Runs on disk: where they are, which one is meant, and the database that answers questions about one.

A run is a directory `<runs>/<scenario>/<time>-<seed>` with its log in `journal/`, or one packed `run.duckdb` file. Both
answer the same queries; only a directory's answers grow while the run goes on.
"""

import os
import tempfile
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from uuid import uuid4

import duckdb

from analysis.meanings import VIEWS
from analysis.queries import Answer, ask
from analysis.relations import journal_files, literal, log_relations, longest_record
from protocol.errors import UserError

__all__ = ["PACKED", "Run", "define_views", "find_run", "open_run", "runs_directory", "sql_text"]

PACKED: Final = "run.duckdb"


def runs_directory(option: Path | None = None) -> Path:
    """Where runs are: what the command's option says, else `FOLTR_RUNS`, else `./runs`."""
    return option or Path(os.environ.get("FOLTR_RUNS") or "runs")


def find_run(reference: str | Path, runs: Path) -> Path:
    """The run that is meant: a path, a scenario's name (its newest run), `name/time-seed`, or `latest`."""
    for path in (Path(reference), runs / reference):
        if _is_run(path):
            return path.resolve()
    known = sorted(path for path in runs.glob("*/*") if path.parent.name != "latest" and _is_run(path))
    meant = known if str(reference) == "latest" else [one for one in known if one.parent.name == str(reference)]
    if meant:
        return max(meant, key=lambda path: path.name).resolve()
    names = dict.fromkeys(path.parent.name for path in known)
    there = ", ".join(f"{name} ({sum(one.parent.name == name for one in known)})" for name in names) or "no run"
    raise UserError(
        f"a run must be a path, a scenario's name, name/time-seed or latest; "
        f"got {str(reference)!r}, and {runs} has {there}"
    )


def open_run(run: Path) -> "Run":
    """The database over a run's directory, live or finished, or over a packed file."""
    if not _is_run(run):
        raise UserError(f"a run must be a directory with a journal, or a packed file, got {run}")
    return Run(run.resolve())


class Run:
    """One run's views, to be asked in SQL; nothing that is asked can change a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._defined: tuple[list[Path], int] | None = None
        packed = packed_file(path)
        try:
            self.database = duckdb.connect(packed or ":memory:", read_only=packed is not None)
        except duckdb.Error as error:
            raise UserError(f"a packed run must be a DuckDB file that can be read, got {packed}") from error
        _lock(self.database, None if packed else path / "journal")
        self.packed = packed is not None

    def sql(self, query: str, parameters: dict[str, Any] | None = None) -> Answer:
        """Answer a query over the log as it is now; `$name` in it stands for a parameter."""
        self._refresh()
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

    def _refresh(self) -> None:
        """Define the views over the files that there are: a live run gets more of them."""
        if self.packed:
            return
        now = (journal_files(self.path), longest_record(self.path))
        if now != self._defined:
            define_views(self.database, self.path, *now)
            self._defined = now


def define_views(database: duckdb.DuckDBPyConnection, run: Path, files: Sequence[Path], limit: int) -> None:
    """Create the views over a run's log files, whose lines have at most `limit` bytes."""
    database.execute(log_relations(run, files, limit))
    for name in ("views", "updates"):
        database.execute(sql_text(name))


def sql_text(name: str) -> str:
    """The text of a file in `sql/`."""
    return (files("analysis") / "sql" / f"{name}.sql").read_text(encoding="utf-8")


def packed_file(path: Path) -> Path | None:
    """The packed file of a run that has no journal any more."""
    if (path / "journal").is_dir():
        return None
    return path / PACKED if path.is_dir() else path


def _is_run(path: Path) -> bool:
    return (path / "journal").is_dir() or (path / PACKED).is_file() or (path.suffix == ".duckdb" and path.is_file())


def _lock(database: duckdb.DuckDBPyConnection, journal: Path | None) -> None:
    """Let queries read the log, spill to the system's temporary directory, and reach nothing else."""
    for statement in _locks(journal):
        database.execute(statement)


def _locks(journal: Path | None) -> Iterator[str]:
    yield "set python_enable_replacements = false"
    yield f"set temp_directory = {literal(Path(tempfile.gettempdir()) / f'foltr-sql-{uuid4().hex}')}"
    if journal is not None:
        yield f"set allowed_directories = [{literal(f'{journal}/')}]"
    yield "set enable_external_access = false"
    yield "set lock_configuration = true"
