"""Answers as files: CSV, JSON or Parquet, by the file's name; a file appears under its name only when it is whole."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TextIO

from analysis.log import Log
from analysis.many import open_log
from analysis.queries import Answer, one_sentence, reading_statements
from analysis.relations import literal
from analysis.tables import write_csv, write_json
from protocol.errors import UserError

__all__ = ["KINDS", "save"]

TEXTS: Final[dict[str, Callable[[Answer, TextIO], None]]] = {".csv": write_csv, ".json": write_json}
KINDS: Final = (*TEXTS, ".parquet")


def save(runs: Sequence[Path], query: str | None, target: Path, parameters: dict[str, Any] | None = None) -> None:
    """Answer a query over runs into a file, row by row; one that is there already is replaced."""
    if query is None:
        raise UserError(f"a file needs a query to answer; got none for {target}")
    kind = target.suffix.lower()
    if kind not in KINDS:
        raise UserError(f"an answer's file must end in one of {', '.join(KINDS)}; got {target}")
    target = target.resolve()
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with open_log(runs, unfinished) as log:
            if kind == ".parquet":
                _write_parquet(log, query, unfinished, parameters)
            else:
                with unfinished.open("w", encoding="utf-8") as stream:
                    TEXTS[kind](log.sql(query, parameters), stream)
        unfinished.replace(target)
    except OSError as error:
        raise UserError(f"the answer cannot be written: {error.strerror}: {target}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def _write_parquet(log: Log, query: str, path: Path, parameters: dict[str, Any] | None) -> None:
    """Let DuckDB write the file itself: of the files that it may reach, this is the only one that is no log."""
    if not path.parent.is_dir():
        raise UserError(f"the answer cannot be written: No such file or directory: {path.parent}")
    log.sql(query, parameters)  # only reads, and defines the views
    cursor = log.database.cursor()
    with one_sentence():
        last = reading_statements(cursor, query)[-1].query.rstrip().removesuffix(";")
        cursor.execute(f"copy ({last}\n) to {literal(path)} (format parquet, use_tmp_file false)", parameters)
