"""A node's log: events appended as JSON lines, read back with a torn tail tolerated.

structlog carries the event through two processors (stamp, render); orjson renders it. Lines are buffered and reach the
operating system when `flush` is called, once a round; what is flushed survives the death of the process. A process that
is killed while it writes leaves at most one line without its end: readers stop before it, and a writer that opens the
file again cuts it off, because it was never a record.
"""

import os
import time
from collections.abc import Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Any, BinaryIO, Final

import orjson
import structlog

from protocol.errors import UserError
from protocol.layout import JOURNAL

__all__ = ["Follower", "Journal", "journal_path", "read_journal"]

_BUFFER: Final = 1 << 20
_CHUNK: Final = 1 << 22
_OPTIONS: Final = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE


def journal_path(run: Path, node: str) -> Path:
    """Where a node of a run writes its log."""
    return run / JOURNAL / f"{node}.jsonl"


class _Appender(structlog.BoundLoggerBase):
    """structlog's front: `append(event, **fields)` sends one event through the processors to the file."""

    def append(self, event: str, fields: dict[str, Any]) -> None:
        self._proxy_to_logger("write", event, **fields)


class Journal:
    """One node's append-only log. `append` names the event and its fields (see `protocol.events`)."""

    def __init__(self, run: Path, node: str, clock: Callable[[], float] = time.time) -> None:
        self.path = journal_path(run, node)
        self.node = node
        self.clock = clock
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.seq = _mend(self.path)
            self._file = self.path.open("ab", buffering=_BUFFER)
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"the log cannot be continued, its last line is no record: {self.path}") from error
        except OSError as error:
            raise UserError(f"the log cannot be written: {error.strerror}: {self.path}") from error
        self._appender = _Appender(self._file, [self._stamp, _render], {})

    def append(self, event: str, **fields: Any) -> None:
        """Append one record; it is on disk after the next `flush`."""
        try:
            self._appender.append(event, fields)
        except OSError as error:
            raise self._unwritable(error) from error

    def flush(self) -> None:
        """Hand everything appended so far to the operating system."""
        try:
            self._file.flush()
        except OSError as error:
            raise self._unwritable(error) from error

    def close(self) -> None:
        """Flush and close; a journal that is closed already stays closed."""
        try:
            self._file.close()
        except OSError as error:
            raise self._unwritable(error) from error

    def abandon(self) -> None:
        """Close without writing what was not flushed, as the death of a process does."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._file.fileno())
        os.close(nowhere)
        self._file.close()

    def _stamp(self, _logger: Any, _method: str, event: MutableMapping[str, Any]) -> dict[str, Any]:
        """Put what every record has in front, so that a reader can tell a line's event from its first bytes."""
        stamped = {"event": event.pop("event"), "ts": self.clock(), "node": self.node, "seq": self.seq, **event}
        self.seq += 1
        return stamped

    def _unwritable(self, error: OSError) -> UserError:
        return UserError(f"the log cannot be written: {error.strerror}: {self.path}")


def _render(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> bytes:
    return orjson.dumps(event, option=_OPTIONS)  # type: ignore[no-any-return, unused-ignore]  # orjson is typed, structlog's processor is not


def _mend(path: Path) -> int:
    """Cut a torn last line off an existing journal; the number that its next record has."""
    if not path.exists():
        return 0
    with path.open("r+b") as file:
        end = _newline_before(file, file.seek(0, os.SEEK_END)) + 1
        file.truncate(end)
        if end == 0:
            return 0
        file.seek(_newline_before(file, end - 1) + 1)
        return int(orjson.loads(file.readline())["seq"]) + 1


def _newline_before(file: BinaryIO, at: int) -> int:
    """Where the last newline before position `at` is; -1 if there is none."""
    while at > 0:
        step = min(_CHUNK, at)
        file.seek(at - step)
        found = file.read(step).rfind(b"\n")
        if found >= 0:
            return at - step + found
        at -= step
    return -1


def read_lines(path: Path) -> Iterator[bytes]:
    """The whole lines of a journal, without their ends; a torn tail is not one."""
    follower = Follower(path)
    while lines := follower.lines():
        yield from lines


def read_journal(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a journal in order."""
    return map(orjson.loads, read_lines(path))


class Follower:
    """Reads a journal that is still being written: `lines` gives the whole lines that are new since the last call."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._at = 0

    def lines(self) -> list[bytes]:
        """At most some megabytes of new whole lines; empty when there is nothing new yet (or no file yet)."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._at)
                chunk = file.read(_CHUNK)
                while chunk and b"\n" not in chunk and (more := file.read(_CHUNK)):
                    chunk += more
        except FileNotFoundError:
            return []
        end = chunk.rfind(b"\n") + 1
        self._at += end
        return chunk[:end].splitlines()
