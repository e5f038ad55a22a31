"""LETOR text -> blocks of whole queries, read in bounded memory.

A line is `label qid:Q index:value index:value … # comment`; features count from 1, an absent one is 0 and so is NaN.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isinf
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from learning.data import scanning
from learning.errors import DataError

__all__ = ["Block", "read_blocks"]

NEWLINE = b"\n"
CHUNK = 4 << 20  # bytes read at a time
LONGEST_LINE = 16 << 20  # bytes; all MAX_FEATURE features with all their digits fit
SHOWN = 40  # characters of a refused token that an error repeats

REFUSALS = {
    scanning.BAD_LABEL: f"the label must be an integer from 0 to {scanning.MAX_LABEL}",
    scanning.NO_QUERY: "the label must be followed by qid:Q",
    scanning.BAD_FEATURE: f"a feature must be INDEX:VALUE with an integer index from 1 to {scanning.MAX_FEATURE:,}",
    scanning.REPEATED_FEATURE: "a document must give a feature at most once",
    scanning.BAD_VALUE: "the value of a feature must be a finite number",
}


@dataclass(frozen=True, slots=True)
class Block:
    """Some whole queries, sparse.

    labels    int8 [documents]
    stops     int64 [documents + 1]; document d's features are the entries stops[d] … stops[d + 1] − 1
    indices   int32 [entries], from 0
    values    float64 [entries], finite
    offsets   int64 [queries + 1]; the documents of query q are offsets[q] … offsets[q + 1] − 1
    """

    labels: NDArray[np.int8]
    stops: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float64]
    offsets: NDArray[np.int64]


def read_blocks(stream: BinaryIO, name: str) -> Iterator[Block]:
    """Yield all queries of a LETOR stream in blocks of some megabytes; `name` is what an error calls it."""
    pending, line, last = b"", 1, False
    known: set[bytes] = set()
    seen = np.zeros(scanning.MAX_FEATURE + 1, np.int64)
    while not last:
        # reading as much again as is pending keeps the work linear when one query is larger than a chunk
        chunk = stream.read(max(CHUNK, len(pending)))
        last = not chunk
        text = pending + chunk + (NEWLINE if last else b"")
        end = text.rfind(NEWLINE) + 1
        if len(text) - end > LONGEST_LINE:
            raise DataError(f"{name}: a line must be shorter than {LONGEST_LINE:,} bytes")
        scan = _scan(text, end, line, name, seen)
        # the last query may go on in the next chunk, so it is scanned again from its first line
        whole = scan.queries if last else max(scan.queries - 1, 0)
        for query in range(whole):
            identity = text[scan.names[query, 0] : scan.names[query, 1]]
            if identity in known:
                raise DataError(
                    f"{name}, line {scan.lines[query]}: the documents of a query must be contiguous, "
                    f"got qid:{_shown(identity)} again"
                )
            known.add(identity)
        if whole:
            yield scan.block(whole)
        if scan.queries:
            line, pending = int(scan.lines[scan.queries - 1]), text[scan.starts[scan.queries - 1] :]
        else:
            line, pending = scan.next_line, text[end:]


@dataclass(frozen=True, slots=True)
class _Scan:
    """What is in a text: arrays with room to spare, and how much of them is used."""

    labels: NDArray[np.int8]
    stops: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float64]
    firsts: NDArray[np.int64]  # a query's first document
    names: NDArray[np.int64]  # [queries, 2]: where its Q starts and stops in the text
    starts: NDArray[np.int64]  # where its first line starts in the text
    lines: NDArray[np.int64]  # that line's number in the file
    documents: int
    queries: int
    next_line: int

    def block(self, queries: int) -> Block:
        """The first so many queries."""
        documents = self.documents if queries == self.queries else int(self.firsts[queries])
        entries = int(self.stops[documents])
        return Block(
            labels=self.labels[:documents].copy(),  # the only array that is kept after the next block is read
            stops=self.stops[: documents + 1],
            indices=self.indices[:entries],
            values=self.values[:entries],
            offsets=np.append(self.firsts[:queries], documents),
        )


def _scan(text: bytes, end: int, line: int, name: str, seen: NDArray[np.int64]) -> _Scan:
    """Scan the whole lines text[:end]; the first is the file's line number `line`."""
    rows, entries = end // 8 + 1, end // 4 + 1  # the shortest document is "0 qid:1\n", the shortest feature " 1:0"
    labels, stops = np.empty(rows, np.int8), np.zeros(rows + 1, np.int64)
    indices, values = np.empty(entries, np.int32), np.empty(entries)
    firsts, names = np.empty(rows, np.int64), np.empty((rows, 2), np.int64)
    starts, lines = np.empty(rows, np.int64), np.empty(rows, np.int64)
    odd = np.empty((entries, 3), np.int64)
    status, at, next_line, documents, queries, odds = scanning.scan_lines(
        np.frombuffer(text, np.uint8),
        end,
        line,
        labels,
        stops,
        indices,
        values,
        firsts,
        names,
        starts,
        lines,
        odd,
        seen,
    )
    if status == scanning.NOT_TEXT:
        raise DataError(f"{name}, line {next_line}: LETOR data must be plain text, got other bytes")
    if status != scanning.FINE:
        raise DataError(f"{name}, line {next_line}: {REFUSALS[status]}, got {_shown(_token(text, at))!r}")
    for entry, start, stop in odd[:odds].tolist():
        values[entry] = number = float(text[start:stop])
        if isinf(number):
            where = f"{name}, line {line + text.count(NEWLINE, 0, start)}"
            raise DataError(f"{where}: {REFUSALS[scanning.BAD_VALUE]}, got {_shown(text[start:stop])!r}")
    return _Scan(labels, stops, indices, values, firsts, names, starts, lines, documents, queries, next_line)


def _token(text: bytes, at: int) -> bytes:
    """The token that starts here; empty at the end of a line."""
    rest = text[at : at + SHOWN + 1].split(NEWLINE)[0].split(b"#")[0].split()
    return rest[0] if rest else b""


def _shown(token: bytes) -> str:
    """A token as an error shows it."""
    text = token.decode("ascii", "replace")
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"
