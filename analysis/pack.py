"""A run in one file: `run.duckdb`, which any DuckDB client opens.

The views are tables there, under the same names, so that nothing is parsed again. Only `updates` stays a view: it adds
`delta`, which follows from `theta` and `rounds`, to the table `log.updates`. Weights are kept once, exactly.
"""

import os
from pathlib import Path
from typing import Final

import duckdb

from analysis.log import define_views, sql_text
from analysis.meanings import VIEWS
from analysis.relations import journal_files, literal, longest_record
from analysis.runs import PACKED
from protocol.errors import UserError
from protocol.layout import JOURNAL

__all__ = ["pack"]

TABLES: Final = (*(view for view in VIEWS if view != "updates"), "log.updates")


def pack(run: Path, target: Path | None = None) -> Path:
    """Write a run's log as one database file, by default into its directory; a live run's is a snapshot.

    The file appears under its name only when it is whole; one that is there already is replaced.
    """
    if not (run / JOURNAL).is_dir():
        raise UserError(f"only a run's directory with its journal can be packed, got {run}")
    run = run.resolve()
    target = (target or run / PACKED).resolve()
    if target.suffix != ".duckdb" or not target.parent.is_dir():
        raise UserError(f"a packed run must be a .duckdb file in a directory that is there, got {target}")
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with duckdb.connect() as database:
            define_views(database, run, journal_files(run), longest_record(run))
            _write(database, unfinished)
        unfinished.replace(target)
    except (duckdb.Error, OSError) as error:
        raise UserError(f"the run cannot be packed into {target}: {' '.join(str(error).split())}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return target


def _write(database: duckdb.DuckDBPyConnection, path: Path) -> None:
    database.execute(f"set temp_directory = {literal(f'{path}.spill')}")
    database.execute(f"attach {literal(path)} as packed; create schema packed.log;")
    for table in TABLES:
        database.execute(f"create table packed.{table if '.' in table else f'main.{table}'} as from memory.{table}")
    database.execute("use packed")
    database.execute(sql_text("updates"))
    database.execute("use memory; detach packed;")
