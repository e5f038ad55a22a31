"""How a run begins: what its first record says, read without reading the rest of the log."""

import json
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from analysis.runs import open_run, packed_file
from protocol.errors import UserError
from protocol.journal import journal_path, read_lines

__all__ = ["Beginning", "beginning"]


@dataclass(frozen=True, slots=True)
class Beginning:
    """The resolved scenario and the versions of a run; both empty where the log has no beginning."""

    scenario: dict[str, Any]
    versions: dict[str, Any]

    @property
    def repeat(self) -> tuple[int, int]:
        """Which repeat of its experiment the run is: its seed and its fold."""
        return int(self.scenario.get("seed", 0)), int(self.scenario.get("data", {}).get("fold", 1))

    @property
    def experiment(self) -> str:
        """What the run repeats: the scenario without its seed and fold, as JSON; runs with the same are repeats."""
        data = {key: value for key, value in self.scenario.get("data", {}).items() if key != "fold"}
        rest = {key: value for key, value in self.scenario.items() if key != "seed"}
        return json.dumps(rest | {"data": data}, sort_keys=True)


def beginning(run: Path) -> Beginning:
    """What a run's first record says, of a directory or a packed file."""
    record = _first_line(run) if packed_file(run) is None else _first_row(run)
    return Beginning(*(value if isinstance(value, dict) else {} for value in record))


def _first_line(run: Path) -> tuple[Any, Any]:
    line = next(islice(read_lines(journal_path(run, "coordinator")), 1), b"{}")
    record = _parsed(line)
    return (record.get("scenario"), record.get("versions")) if isinstance(record, dict) else (None, None)


def _first_row(run: Path) -> tuple[Any, Any]:
    with open_run(run) as opened:
        try:
            rows = opened.rows("select scenario, versions from run")
        except UserError:
            return None, None  # a packed file of another version, without that view
    return (_parsed(rows[0]["scenario"] or "{}"), _parsed(rows[0]["versions"] or "{}")) if rows else (None, None)


def _parsed(text: bytes | str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None  # a damaged line; the view `damage` counts it
