"""The content hash of a file, remembered for as long as the file is visibly unchanged."""

import hashlib
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from learning.data.cache import cache_root, stamp

__all__ = ["content_hash"]

# A file changed twice within one tick of the file system's clock can keep its size and times, so the hash of a file
# that was changed just now is not remembered: it is computed again the next time.
SETTLED = 2_000_000_000  # nanoseconds; FAT counts in two seconds, the coarsest in use


def content_hash(path: Path) -> str:
    """The sha256 of the file's bytes; takes microseconds when nothing about the file has changed since last time."""
    path = path.absolute()
    record = cache_root() / "files" / f"{hashlib.sha256(str(path).encode()).hexdigest()[:32]}.json"
    before = stamp(path)
    with suppress(OSError, ValueError, KeyError, TypeError):  # no record, or a damaged one
        remembered = json.loads(record.read_bytes())
        if remembered["stamp"] == before:
            return str(remembered["sha256"])
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if stamp(path) == before and time.time_ns() - max(before[1], before[2]) > SETTLED:
        _remember(record, {"path": str(path), "stamp": before, "sha256": digest})
    return digest


def _remember(record: Path, values: Mapping[str, object]) -> None:
    """Write the record at once or not at all; without it the next time takes longer and nothing else changes."""
    scratch = record.with_suffix(f".{os.getpid()}")
    try:
        record.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_text(json.dumps(values))
        scratch.rename(record)
    except OSError:  # building an entry in the same place is what reports a cache that cannot be written
        with suppress(OSError):
            scratch.unlink()
