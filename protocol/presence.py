"""Whether a run is live: a file in its directory says which process acts it out, for as long as it does.

A file whose process is gone was left by one that was killed, and means nothing.
"""

import json
import os
from pathlib import Path
from typing import Any

import psutil

from protocol.layout import CONTROL

__all__ = ["announce", "is_live", "supervisor_of", "withdraw"]


def announce(run: Path, **facts: str) -> None:
    """Say that this process acts a run out, and how it can be spoken to, if it can; only its owner can read that."""
    me = psutil.Process()
    descriptor = os.open(run / CONTROL, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump({"pid": me.pid, "created": me.create_time(), **facts}, file)


def withdraw(run: Path) -> None:
    """Say that it does so no more."""
    (run / CONTROL).unlink(missing_ok=True)


def supervisor_of(run: Path) -> dict[str, Any] | None:
    """What is known of the process that acts a run out; none if the run is not live."""
    try:
        facts: dict[str, Any] = json.loads((run / CONTROL).read_text())
        process = psutil.Process(facts["pid"])
        alive = abs(process.create_time() - facts["created"]) < 1 and process.status() != psutil.STATUS_ZOMBIE
    except (OSError, ValueError, KeyError, psutil.Error):
        return None
    return facts if alive else None


def is_live(run: Path) -> bool:
    """Whether somebody runs this run right now."""
    return supervisor_of(run) is not None
