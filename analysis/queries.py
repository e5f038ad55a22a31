"""A query: checked that it only reads, run, and its answer row by row.

The database may read the run's own log, and DuckDB lets a statement write wherever it may read. So a query must be one
that reads: SELECT (which FROM, WITH, DESCRIBE, SHOW and SUMMARIZE are too), PIVOT, or EXPLAIN of one of these.
"""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from threading import Event, Thread
from typing import Any, Final

import duckdb

from protocol.errors import UserError

__all__ = ["Answer", "ask", "execute", "one_sentence", "reading_statements"]

CHUNK: Final = 10_000  # rows fetched at once
EXPLAIN: Final = re.compile(r"\s*explain\s+(analyze\s+)?(\([^()]*\)\s*)?", re.IGNORECASE)
PIVOT: Final = re.compile(r"\s*(pivot|from|with|select)\b", re.IGNORECASE)
HEAR_EVERY: Final = 0.1  # seconds; a wait without a limit hears no signal on some systems
LAST_WORDS: Final = 2.0  # seconds that DuckDB has to end an interrupted query, before it is left behind
INTERRUPTED: Final = "Query interrupted"  # what DuckDB makes of Ctrl-C
BACK_DOOR: Final = "json_execute_serialized_sql"  # runs a statement that the checks below do not see


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of a query, fetched as they are asked for, once."""

    columns: list[str]
    types: list[str]  # SQL types
    _cursor: duckdb.DuckDBPyConnection

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        while rows := self._fetch():
            yield from rows

    def arrow(self) -> Any:
        """The rows as a `pyarrow.Table`."""
        with _installed("pyarrow"), one_sentence(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Arrow output")  # it copies the rows once more, on their way out
            return self._cursor.to_arrow_table()

    def df(self) -> Any:
        """The rows as a pandas data frame."""
        with _installed("pandas"), one_sentence():
            return self._cursor.df()

    def pl(self) -> Any:
        """The rows as a polars data frame."""
        with _installed("polars"):
            return import_module("polars").from_arrow(self.arrow())

    def _fetch(self) -> list[tuple[Any, ...]]:
        with one_sentence():
            return self._cursor.fetchmany(CHUNK)


def ask(database: duckdb.DuckDBPyConnection, query: str, parameters: dict[str, Any] | None = None) -> Answer:
    """Run a query that only reads; of several statements, the answer is the last one's. Raises `UserError`."""
    cursor = database.cursor()
    with one_sentence():
        for statement in reading_statements(cursor, query):
            execute(cursor, statement, parameters)
    described = cursor.description or []
    return Answer(_distinct([one[0] for one in described]), [str(one[1]) for one in described], cursor)


def execute(
    cursor: duckdb.DuckDBPyConnection, statement: duckdb.Statement | str, parameters: dict[str, Any] | None = None
) -> None:
    """Run a statement in a thread of its own, so that Ctrl-C is heard at once.

    In the main thread it would be DuckDB that hears it, and now and then it then waits for ever for its own tasks.
    """
    failed: list[BaseException] = []
    done = Event()

    def work() -> None:
        try:
            cursor.execute(statement, parameters)
        except BaseException as error:  # noqa: BLE001 - raised again where it was asked for
            failed.append(error)
        finally:
            done.set()

    Thread(target=work, daemon=True).start()
    try:
        while not done.wait(HEAR_EVERY):
            pass
    except KeyboardInterrupt:
        cursor.interrupt()
        done.wait(LAST_WORDS)
        raise
    if failed:
        raise failed[0]


def reading_statements(cursor: duckdb.DuckDBPyConnection, query: str) -> list[duckdb.Statement]:
    """The statements of a query, at least one; raises `UserError` if one of them does not only read."""
    statements = cursor.extract_statements(query)
    if not statements:
        raise UserError("a query must have a statement, such as: select * from run")
    for statement in statements:
        if not _only_reads(cursor, statement):
            raise UserError(f"a query can only read (SELECT, PIVOT, EXPLAIN), got: {_shortened(statement.query)}")
    return statements


@contextmanager
def one_sentence() -> Iterator[None]:
    """DuckDB's errors as one sentence, without its drawing of the query; Ctrl-C as Python has it."""
    try:
        yield
    except duckdb.Error as error:
        sentence = " ".join(str(error).partition("\n\n")[0].split())
        raise UserError(f"the query failed: {sentence}") from error
    except RuntimeError as error:
        if str(error) == INTERRUPTED:
            raise KeyboardInterrupt from error
        raise


@contextmanager
def _installed(library: str) -> Iterator[None]:
    """A library that only some frames need, and that may not be there, as one sentence."""
    try:
        yield
    except ImportError as error:
        missing = error.name or library
        raise UserError(f"{missing} must be installed for this kind of answer: pip install {missing}") from error


def _distinct(names: list[str]) -> list[str]:
    """The columns' names, a repeated one with its position, so that a row as an object has them all."""
    return [name if name not in names[:at] else f"{name}_{at + 1}" for at, name in enumerate(names)]


def _only_reads(cursor: duckdb.DuckDBPyConnection, statement: duckdb.Statement) -> bool:
    text = statement.query
    if statement.type == duckdb.StatementType.EXPLAIN:
        head = EXPLAIN.match(text)
        return head is not None and all(
            _only_reads(cursor, one) for one in cursor.extract_statements(text[head.end() :])
        )
    reads = statement.type == duckdb.StatementType.SELECT or (
        statement.type == duckdb.StatementType.MULTI and PIVOT.match(text) is not None
    )
    return reads and not _mentions_copy(text) and BACK_DOOR not in text.lower()


def _mentions_copy(text: str) -> bool:
    """Whether the word COPY is in the statement: WITH can hide one that writes a file."""
    encoded = text.encode()
    return any(
        kind == duckdb.token_type.keyword and encoded[at : at + 4].lower() == b"copy"
        for at, kind in duckdb.tokenize(text)
    )


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else line[:79] + "…"
