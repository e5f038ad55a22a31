"""The log's files as SQL relations: what `sql/views.sql` reads.

    log.coordinator, log.evaluator, log.supervisor   one node's records, a column a field of `protocol.events`
    log.trials, log.users                            coordinator's and hosts' where clients send trials, else none
    log.everyone                                     all nodes' records
    log.lines                                        all files' lines as JSON, null where a line is not JSON

Types come from the schema and are never inferred. A damaged line is a row of nulls, which `log.<node>` leaves out. In a
snapshot the records are tables without weights: the files are read once, and what is asked then takes milliseconds.
"""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

import orjson

from protocol.events import COMMON, FIELDS, WIRE
from protocol.journal import journal_path, read_lines
from protocol.layout import JOURNAL

__all__ = ["journal_files", "literal", "log_relations", "longest_record"]

COLUMNS: Final[dict[str, str]] = COMMON | WIRE | {name: kind for name, (kind, _meaning) in FIELDS.items()}
FILES_OF_ONE: Final = ("coordinator", "evaluator", "supervisor")
SMALLEST_LIMIT: Final = 1 << 24  # 16 MiB, DuckDB's own default for the longest object
NUMBER: Final = 25  # bytes: the longest float64 in JSON is 24, and a comma
UPDATE: Final = '{"event":"update.received"'  # how the long lines begin: a journal writes the event first
WEIGHTS: Final = ("theta", "thetas", "noise")  # what a log is large by
HEAD: Final = 8  # the first records are the run's start and its clients


def journal_files(run: Path) -> list[Path]:
    """The log files that a run has by now."""
    return sorted((run / JOURNAL).glob("*.jsonl"))


def literal(value: str | Path) -> str:
    """A SQL string."""
    return "'" + str(value).replace("'", "''") + "'"


def log_relations(run: Path, files: Sequence[Path], limit: int, *, snapshot: bool = False) -> str:
    """The statements that create the relations over these files of a run, whose lines have at most `limit` bytes."""
    nodes = {f"log.{node}": [one for one in files if one == journal_path(run, node)] for node in FILES_OF_ONE}
    others = [one for one in files if not any(one in chosen for chosen in nodes.values())]
    if snapshot:
        records = [_table(relation, chosen, limit) for relation, chosen in (nodes | {"log.others": others}).items()]
        records += ["create view log.trials as from log.coordinator;", "create view log.users as from log.others;"]
        everyone = " union all ".join(f"from {relation}" for relation in (*nodes, "log.others"))
        records += [f"create view log.everyone as {everyone};", _light_lines(files, limit)]
    else:
        # Hosts' logs are long, and so is the coordinator's: where nothing would be found, they are not read once more.
        trials = {"log.trials": nodes["log.coordinator"], "log.users": others} if _has_trials(run) else {}
        chosen_files = nodes | {"log.trials": [], "log.users": []} | trials | {"log.everyone": files}
        records = [_view(relation, chosen, limit) for relation, chosen in chosen_files.items()]
        records.append(f"create or replace view log.lines as {_lines(files, limit)};")
    return "\n".join(["create schema if not exists log;", *records])


def longest_record(run: Path) -> int:
    """An upper bound in bytes of the log's longest line; DuckDB's buffers are a few times as large.

    The longest are an update of all clients with their weights, and a round with all clients' names; the run's first
    records tell how many weights and clients there are. A log without them is short: its own size is the bound.
    """
    path = journal_path(run, "coordinator")
    if not path.exists():
        return SMALLEST_LIMIT
    dimension = 0
    for line in islice(read_lines(path), HEAD):
        record = _parsed(line)
        dimension = int(record.get("dimension", dimension))
        if record.get("event") == "clients.enrolled":
            return max(SMALLEST_LIMIT, 2 * len(line) + NUMBER * (dimension + 4) * len(record.get("clients", ())))
    return max(SMALLEST_LIMIT, path.stat().st_size)


def _has_trials(run: Path) -> bool:
    """Whether the run's clients send trials, as its first record tells; a log without it is taken to have some."""
    path = journal_path(run, "coordinator")
    record = _parsed(next(islice(read_lines(path), 1), b"{}")) if path.exists() else {}
    return bool(record.get("scenario", {"learner": {"kind": "es"}}).get("learner", {}).get("kind") == "es")


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}  # a damaged line; the `damage` view counts it
    return record if isinstance(record, dict) else {}


def _view(relation: str, files: Sequence[Path], limit: int) -> str:
    return f"create or replace view {relation} as {_records(files, limit, COLUMNS)};"


def _table(relation: str, files: Sequence[Path], limit: int) -> str:
    kept = {name: kind for name, kind in COLUMNS.items() if name not in WEIGHTS}
    nothing = ", ".join(f"null::{COLUMNS[name]} as {name}" for name in WEIGHTS)
    return f"create table {relation} as select *, {nothing} from ({_records(files, limit, kept)});"  # noqa: S608 - ours


def _records(files: Sequence[Path], limit: int, columns: dict[str, str]) -> str:
    if files:
        typed = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in columns.items())
        source = f"read_json({_list(files)}, columns = {{{typed}}}, {_options(limit)})"
    else:
        empty = ", ".join(f'null::{kind} as "{name}"' for name, kind in columns.items())
        source = f"(select {empty} limit 0)"
    stamped = "* replace (make_timestamp(round(ts * 1e6)::bigint) as ts)"
    return f"from {source} select {stamped} where event is not null"


def _lines(files: Sequence[Path], limit: int) -> str:
    if files:
        source = f"read_ndjson_objects({_list(files)}, filename = true, {_options(limit)})"
    else:
        source = "(select null::json as json, null::varchar as filename limit 0)"
    return f"from {source} select parse_filename(filename) as file, json as line"


def _light_lines(files: Sequence[Path], limit: int) -> str:
    """The lines of a snapshot: those with updates, told by their first bytes, are made again from the table."""
    kept = [name for name in COLUMNS if name not in (*WEIGHTS, "ts")]
    fields = ", ".join(["ts := epoch(ts)", *(f'"{name}" := "{name}"' for name in kept)])
    again = f"json_merge_patch('{{}}', to_json(struct_pack({fields})))"  # merging leaves nulls out
    return (
        f"create view log.lines as from ({_lines(files, limit)}) "  # noqa: S608 - ours
        f"where line is null or not starts_with(line::varchar, {literal(UPDATE)}) "
        f"union all select 'coordinator.jsonl', {again} from log.coordinator where event = 'update.received';"
    )


def _list(files: Sequence[Path]) -> str:
    return "[" + ", ".join(map(literal, files)) + "]"


def _options(limit: int) -> str:
    return f"format = 'newline_delimited', ignore_errors = true, maximum_object_size = {limit}"
