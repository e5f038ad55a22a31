"""Whether a run was made by a newer foltr than this one, which may have logged what this one cannot read."""

import re
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from analysis.log import Log
from analysis.runs import open_run, packed_file
from protocol.codec import VERSION
from protocol.errors import UserError
from protocol.journal import journal_path, read_lines

__all__ = ["newer_run", "newer_versions"]


def newer_run(run: Path) -> str | None:
    """A sentence if a run's first record names a newer foltr or protocol than ours; none if not, or if it has none."""
    if packed_file(run) is None:
        first = next(islice(read_lines(journal_path(run, "coordinator")), 1), b"{}")
        return newer_versions(_parsed(first).get("versions"))
    with open_run(run) as opened:
        return newer_versions(_packed_versions(opened))


def newer_versions(versions: Any) -> str | None:
    """The same of the versions that a run's first record names."""
    if not isinstance(versions, dict):
        return None
    ours = {"foltr": version("foltr"), "protocol": str(VERSION)}
    for name, mine in ours.items():
        theirs = str(versions.get(name, mine))
        if _numbers(theirs) > _numbers(mine):
            return (
                f"the run was made by {name} {theirs}, which is newer than this {name} {mine}: "
                "what it logs beyond what this one knows is in the view events only"
            )
    return None


def _packed_versions(log: Log) -> Any:
    try:
        rows = log.rows("select versions from run")
    except UserError:
        return None  # a packed file without that view: the query that is asked will say so
    return _parsed((rows[0]["versions"] if rows else None) or b"{}")


def _parsed(text: bytes | str) -> dict[str, Any]:
    try:
        record = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}  # a damaged line; the view `damage` counts it
    return record if isinstance(record, dict) else {}


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in re.findall(r"\d+", text))
