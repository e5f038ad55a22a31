"""What can be told of a run without reading its whole log: for a list of many runs, while they go on."""

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from analysis.beginnings import beginning
from analysis.log import sql_text
from analysis.relations import journal_files
from analysis.runs import open_run, packed_file, run_names
from protocol.journal import journal_path
from protocol.presence import is_live

__all__ = ["Glance", "glance", "version_of"]

TAIL: Final = 1 << 20  # bytes of the log's end that are looked at; a line may be half of it
CLOSED: Final = re.compile(rb'\{"event":"round\.closed"[^\n]*?"round":(\d+)')
FINISHED: Final = re.compile(rb'\{"event":"run\.(?:finished|abandoned)"[^\n]*?"outcome":"(\w+)"')


@dataclass(frozen=True, slots=True)
class Glance:
    """A run in a list: its scenario, how far it came, and how it ended, none if it did not say so."""

    run: str
    scenario: str
    seed: int
    rounds: int | None  # the last closed one, none where the log's end does not tell
    of: int | None
    outcome: str | None
    live: bool  # whether its process is there

    @property
    def state(self) -> str:
        """How it is, in words."""
        return self.outcome or ("going on" if self.live else "killed")

    def as_dict(self) -> dict[str, Any]:
        """The glance as JSON has it."""
        return asdict(self)


def glance(run: Path) -> Glance:
    """Look at a run's first record and the end of its log, or at a packed run's tables."""
    told = beginning(run)
    closed, outcome = _ends(run) if packed_file(run) is None else _packed_ends(run)
    rounds = told.scenario.get("rounds")
    return Glance(
        run=run_names([run])[0],
        scenario=str(told.scenario.get("name") or run.parent.name),
        seed=told.repeat[0],
        rounds=closed,
        of=rounds if isinstance(rounds, int) else None,
        outcome=outcome,
        live=is_live(run),
    )


def version_of(run: Path) -> str:
    """A word that changes whenever a run's log grows, and when its process has gone."""
    packed = packed_file(run)
    files = journal_files(run) if packed is None else [packed]
    return "-".join([*(str(file.stat().st_size) for file in files), "live" if is_live(run) else "over"])


def _ends(run: Path) -> tuple[int | None, str | None]:
    coordinator, supervisor = (_tail(journal_path(run, node)) for node in ("coordinator", "supervisor"))
    closed = CLOSED.findall(coordinator)
    finished = FINISHED.findall(coordinator) or FINISHED.findall(supervisor)
    return (int(closed[-1]) if closed else None), (finished[-1].decode() if finished else None)


def _packed_ends(run: Path) -> tuple[int | None, str | None]:
    with open_run(run) as opened:
        rows = opened.rows("select outcome from run")
        return opened.rows(sql_text("extent"))[0]["rounds"], rows[0]["outcome"] if rows else None


def _tail(path: Path) -> bytes:
    if not path.exists():
        return b""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - TAIL))
        return file.read()
