"""Erasing a client's updates from a run's files: the right to be forgotten covers the log, too.

What a client sent is removed: its weights, their lengths, what its users saw. That it sent something, when, and which
models it is in, stays, and so do the models and their hashes: the log can still be checked, but for what would need
the updates. Each file is replaced as a whole, so that a crash leaves the old one or the new one.
"""

import getpass
import os
import socket
import time
from pathlib import Path
from typing import Any, Final

import orjson

from protocol.errors import UserError
from protocol.journal import journal_path, read_lines
from protocol.layout import JOURNAL, PACKED
from protocol.messages import COORDINATOR
from protocol.presence import is_live

__all__ = ["erase_client"]

ERASED: Final[dict[bytes, tuple[str, ...]]] = {
    b'{"event":"update.received"': ("norm", "online", "thetas"),
    b'{"event":"trial.received"': ("seeds", "fitness"),
    b'{"event":"lists.shown"': ("online", "maxrr"),
    b'{"event":"update.kept"': ("norm",),
}
"""The fields that hold what clients sent, a place a client, by how a record of them begins."""


def erase_client(run: Path, client: str) -> int:
    """Remove a client's updates from a run's journal; how many records had something of it."""
    if not (run / JOURNAL).is_dir():
        raise UserError(f"a client can be erased only from a run's journal, and {run} has only its packed file")
    if is_live(run):
        raise UserError(f"{run} is live; foltr stop it before its log is changed")
    if client not in _enrolled(run):
        raise UserError(f"a client of the run must be one of {', '.join(_enrolled(run)[:10])}; got {client!r}")
    count = 0
    for path in sorted((run / JOURNAL).glob("*.jsonl")):
        count += _rewrite(path, client, tells=path == journal_path(run, COORDINATOR))
    (run / PACKED).unlink(missing_ok=True)  # it holds what was erased; foltr pack makes it anew
    return count


def _rewrite(path: Path, client: str, *, tells: bool) -> int:
    """Write a journal without what a client sent, and put it in the place of the old one."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    count = last = 0
    try:
        with unfinished.open("wb") as file:
            for line in read_lines(path):
                made, hit = _without(line, client)
                count += hit
                last += 1
                file.write(made + b"\n")
            if tells and count:
                file.write(_told(path.stem, last, client))
            file.flush()
            os.fsync(file.fileno())
        if count:
            unfinished.replace(path)
    except OSError as error:
        raise UserError(f"the log cannot be rewritten: {error.strerror}: {path}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return count


def _without(line: bytes, client: str) -> tuple[bytes, bool]:
    """A record without what the client sent, and whether it had any of it."""
    fields = next((fields for start, fields in ERASED.items() if line.startswith(start)), ())
    if not fields or f'"{client}"'.encode() not in line:
        return line, False
    record: dict[str, Any] = orjson.loads(line)
    if client not in record["clients"]:
        return line, False
    place = record["clients"].index(client)
    hit = False
    for field in fields:
        if field in record and record[field][place] is not None:
            record[field][place] = None
            hit = True
    return (orjson.dumps(record), True) if hit else (line, False)


def _told(node: str, seq: int, client: str) -> bytes:
    by = f"{getpass.getuser()}@{socket.gethostname()}"
    record = {"event": "updates.erased", "ts": time.time(), "node": node, "seq": seq, "clients": [client], "by": by}
    return orjson.dumps(record) + b"\n"


def _enrolled(run: Path) -> list[str]:
    """The clients that the log knows."""
    starts = b'{"event":"clients.enrolled"'
    lines = (line for line in read_lines(journal_path(run, COORDINATOR)) if line.startswith(starts))
    return [client for line in lines for client in orjson.loads(line)["clients"]]
