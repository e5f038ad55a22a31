"""Runs on disk: where they are, which one is meant, and the database that answers questions about one.

A run is a directory `<runs>/<scenario>/<time>-<seed>` with its log in `journal/`, or one packed `run.duckdb` file. Both
answer the same queries; only a directory's answers grow while the run goes on.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import duckdb

from analysis.log import Log, lock, views_for
from analysis.queries import execute
from analysis.relations import journal_files, log_relations, longest_record
from protocol.errors import UserError
from protocol.layout import JOURNAL, LATEST, PACKED

__all__ = ["PACKED", "Run", "find_run", "find_runs", "is_run", "open_run", "packed_file", "run_names", "runs_directory"]

WILD: Final = frozenset("*?[")


def runs_directory(option: Path | None = None) -> Path:
    """Where runs are: what the command's option says, else `FOLTR_RUNS`, else `./runs`."""
    return option or Path(os.environ.get("FOLTR_RUNS") or "runs")


def find_run(reference: str | Path, runs: Path) -> Path:
    """The run that is meant: a path, a scenario's name (its newest run), `name/time-seed`, or `latest`."""
    for path in (Path(reference), runs / reference):
        if is_path(path) and is_run(path):
            return path.resolve()
    known = known_runs(runs)
    meant = known if str(reference) == LATEST else [one for one in known if one.parent.name == str(reference)]
    if meant:
        return max(meant, key=lambda path: path.name).resolve()
    names = dict.fromkeys(path.parent.name for path in known)
    there = ", ".join(f"{name} ({sum(one.parent.name == name for one in known)})" for name in names) or "no run"
    raise UserError(
        f"a run must be a path, a scenario's name, name/time-seed or latest; "
        f"got {str(reference)!r}, and {runs} has {there}"
    )


def find_runs(references: Sequence[str], runs: Path) -> list[Path]:
    """The runs that are meant, each once, in order; a pattern such as `ecir24/*` means all that match it."""
    found: dict[Path, None] = {}
    for reference in references:
        if not WILD & set(reference) or (is_path(reference) and is_run(Path(reference))):
            found[find_run(reference, runs)] = None
            continue
        matched = _matching(reference, runs)
        if not matched:
            raise UserError(f"a pattern must match a run; got {reference!r}, and neither here nor in {runs} one does")
        found.update(dict.fromkeys(matched))
    return list(found)


def known_runs(runs: Path) -> list[Path]:
    """Every run of a runs directory, by scenario and time."""
    return sorted(path for path in runs.glob("*/*") if path.parent.name != LATEST and is_run(path))


def run_names(runs: Sequence[Path]) -> list[str]:
    """What each run is called: scenario/time-seed, a packed file by its own name; in full where two are the same."""
    directories = [run.parent if run.name == PACKED else run for run in runs]
    names = [one.stem if one.suffix == ".duckdb" else f"{one.parent.name}/{one.name}" for one in directories]
    return names if len(set(names)) == len(names) else [str(run) for run in runs]


def open_run(run: Path, target: Path | None = None, *, snapshot: bool = False) -> "Run":
    """The database over a run's directory, live or finished, or over a packed file; it may write `target` only.

    A snapshot is the run as it is now and without weights: its log is read once, and many questions are then cheap.
    """
    if not is_run(run):
        raise UserError(f"a run must be a directory with a journal, or a packed file, got {run}")
    return Run(run.resolve(), target, snapshot=snapshot)


class Run(Log):
    """One run's views, to be asked in SQL."""

    def __init__(self, path: Path, target: Path | None = None, *, snapshot: bool = False) -> None:
        self.path = path
        self._snapshot = snapshot
        self._read: tuple[list[Path], int] | None = None
        self._defined: set[str] = set()
        packed = packed_file(path)
        try:
            super().__init__(duckdb.connect(packed or ":memory:", read_only=packed is not None), str(path))
        except duckdb.Error as error:
            raise UserError(f"a packed run must be a DuckDB file that can be read, got {packed}") from error
        lock(self.database, [] if packed else [path / JOURNAL], target)
        self.packed = packed is not None

    def refresh(self) -> None:
        """Define the log's own relations over the files that there are by now; without the views, which cost more."""
        if not self.packed and (self._read is None or not self._snapshot):
            now = (journal_files(self.path), longest_record(self.path))
            if now != self._read:
                execute(self.database, log_relations(self.path, *now, snapshot=self._snapshot))
                self._read = now

    def _refresh(self, query: str) -> None:
        if self.packed:
            return
        self.refresh()
        missing = {name: text for name, text in views_for(query).items() if name not in self._defined}
        if missing:
            execute(self.database, " ".join(missing.values()))
            self._defined |= set(missing)


def packed_file(path: Path) -> Path | None:
    """The packed file of a run that has no journal any more."""
    if (path / JOURNAL).is_dir():
        return None
    return path / PACKED if path.is_dir() else path


def is_run(path: Path) -> bool:
    """Whether a path is a run's directory or a packed run."""
    return (path / JOURNAL).is_dir() or (path / PACKED).is_file() or (path.suffix == ".duckdb" and path.is_file())


def is_path(word: str | Path) -> bool:
    """Whether a word names something that is there; what is too long or too odd for a name does not."""
    try:
        return Path(word).exists()
    except (OSError, ValueError):
        return False


def _matching(pattern: str, runs: Path) -> list[Path]:
    """The runs that match a pattern, as paths from here or from the runs directory, and those in matching folders."""
    whole = Path(pattern)
    base, relative = (Path(whole.anchor), str(whole.relative_to(whole.anchor))) if whole.anchor else (Path(), pattern)
    places = [*base.glob(relative), *([] if whole.anchor else runs.glob(pattern))]
    inside = [one for place in places if not is_run(place) and place.is_dir() for one in place.iterdir()]
    return sorted({one.resolve() for one in [*places, *inside] if is_run(one)})
