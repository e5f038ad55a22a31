"""The erasure record: what was asked for a leaver, what was done, and the hashes of the logs before and after.

It is a file of the run that forgot. `verify` holds it against the run's files, and against its parent's if they are
still there.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any, Final

from analysis.proof import Forgotten
from analysis.runs import packed_file
from protocol.layout import ERASURE, JOURNAL

__all__ = ["erasure_problems", "log_hashes", "write_erasure", "write_whole"]

CHUNK: Final = 1 << 22


def log_hashes(run: Path) -> dict[str, str]:
    """sha256 of each file of a run's log, by its name."""
    packed = packed_file(run)
    paths = [packed] if packed else sorted((run / JOURNAL).glob("*.jsonl"))
    return {path.name: _sha256(path) for path in paths}


def write_erasure(found: Forgotten, parent: Path, before: dict[str, str], leavers: list[str], after: int) -> Path:
    """Write the record of a run that forgot; `before` are the hashes of its parent's log."""
    run = Path(found.run)
    record = {
        "asked": {"clients": leavers, "settings": found.settings, "left_after_round": after},
        "done": {"run": run.name, "outcome": found.outcome, "model": found.model, "ndcg_at_10": found.ndcg}
        | {"cost": found.cost, "proof": found.proof},
        "before": {"run": str(parent), "log": before},
        "after": {"run": str(run), "log": log_hashes(run)},
    }
    write_whole(run / ERASURE, json.dumps(record, indent=2))
    return run / ERASURE


def erasure_problems(run: Path) -> tuple[list[str], list[str]]:
    """What a run's erasure record claims and its files do not show; and what cannot be told. Empty without a record."""
    path = run / ERASURE
    if not path.is_file():
        return [], []
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        before, after = record["before"], record["after"]["log"]
    except (OSError, ValueError, KeyError) as error:
        return [f"the erasure record cannot be read: {error}"], []
    problems = _differing(after, log_hashes(run), "the erasure record's own log")
    if not Path(before["run"]).exists():
        return problems, ["the log before erasure, which is not there any more"]
    now = log_hashes(Path(before["run"]))
    changed = _differing(before["log"], now, "the log before erasure")
    return problems, [f"{one}, because it was changed since" for one in changed]


def write_whole(path: Path, text: str) -> None:
    """Write a file that appears under its name only when it is whole and on the disk."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    with unfinished.open("w", encoding="utf-8") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def _differing(told: dict[str, str], found: dict[str, str], what: str) -> list[str]:
    return [f"{name} of {what}" for name in sorted(told.keys() | found.keys()) if told.get(name) != found.get(name)]


def _sha256(path: Path) -> str:
    made = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            made.update(chunk)
    return made.hexdigest()
