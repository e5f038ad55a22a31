"""Several runs in one database: the same views, each with a column `run` in front that names the run."""

from collections.abc import Sequence
from pathlib import Path

import duckdb

from analysis.log import Log, lock, views_for
from analysis.meanings import VIEWS
from analysis.relations import journal_files, literal, log_relations, longest_record
from analysis.runs import is_run, open_run, packed_file, run_names
from protocol.errors import UserError
from protocol.layout import JOURNAL

__all__ = ["Runs", "open_log", "open_runs"]


def open_log(runs: Sequence[Path], target: Path | None = None) -> Log:
    """The database over a run, or over several with a column `run`; it may write `target` only."""
    return open_run(runs[0], target) if len(runs) == 1 else open_runs(runs, target)


def open_runs(runs: Sequence[Path], target: Path | None = None) -> "Runs":
    """The database over several runs, live, finished or packed; it may write `target` only."""
    for run in runs:
        if not is_run(run):
            raise UserError(f"a run must be a directory with a journal, or a packed file, got {run}")
    if not runs:
        raise UserError("there must be at least one run to ask")
    return Runs([run.resolve() for run in runs], target)


class Runs(Log):
    """The views of several runs, one below the other; each run is a database of its own, attached."""

    def __init__(self, paths: Sequence[Path], target: Path | None = None) -> None:
        super().__init__(duckdb.connect(), f"{len(paths)} runs")
        self.names = run_names(paths)
        self._live = {f"run_{at}": path for at, path in enumerate(paths) if packed_file(path) is None}
        self._read: dict[str, tuple[list[Path], int]] = {}
        self._defined: set[str] = set()
        for at, path in enumerate(paths):
            self._attach(f"run_{at}", packed_file(path))
        lock(self.database, [path / JOURNAL for path in self._live.values()], target)

    def _attach(self, alias: str, packed: Path | None) -> None:
        source = "':memory:'" if packed is None else literal(packed)
        try:
            self.database.execute(f"attach {source} as {alias} {'' if packed is None else '(read_only)'}")
        except duckdb.Error as error:
            raise UserError(f"a packed run must be a DuckDB file that can be read, got {packed}") from error

    def _refresh(self, query: str) -> None:
        """Define the views that the query needs: to define all of them for a hundred runs takes seconds."""
        for alias, path in self._live.items():
            now = (journal_files(path), longest_record(path))
            if now != self._read.get(alias):
                self.database.execute(f"use {alias}; {log_relations(path, *now)}")
                self._read[alias] = now
        missing = {name: text for name, text in views_for(query).items() if name not in self._defined}
        if missing:
            for alias in self._live:
                self.database.execute(f"use {alias}; {' '.join(missing.values())}")
            self._join([name for name in missing if name in VIEWS])
            self._defined |= set(missing)
        self.database.execute("use memory")

    def _join(self, views: Sequence[str]) -> None:
        """Create each view over those runs that have it: a packed run of another version may lack one."""
        found = self.database.execute("select table_catalog, table_name from information_schema.tables").fetchall()
        there = set(found)
        for view in views:
            parts = [
                f"select {literal(name)} as run, * from run_{at}.main.{view}"  # noqa: S608 - the names are ours
                for at, name in enumerate(self.names)
                if (f"run_{at}", view) in there
            ]
            if parts:
                self.database.execute(f"create view memory.main.{view} as {' union all by name '.join(parts)}")
