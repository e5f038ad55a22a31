"""Answers as people and programs read them: a table, JSON or CSV."""

import csv
import sys
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal, TextIO

import orjson

from analysis.queries import Answer

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["SHOWN", "render", "show_table", "write_csv", "write_json"]

SHOWN: Final = 40  # rows of a table on the screen
LONGEST_CELL: Final = 60  # characters
SHOWN_MEMBERS: Final = 2  # of a list


def render(answer: Answer, form: Literal["table", "json", "csv"], *, everything: bool = False) -> None:
    """Print an answer; a table is cut to the rows that a screen holds unless everything is wanted."""
    from rich.console import Console

    if form == "json":
        write_json(answer, sys.stdout)
    elif form == "csv":
        write_csv(answer, sys.stdout)
    else:
        show_table(answer, Console(), None if everything else SHOWN)


def show_table(answer: Answer, console: "Console", limit: int | None = SHOWN) -> None:
    """Print an answer as a table of at most `limit` rows (none: all), and how many more there are.

    A row is one line, with long cells cut to what the width allows; where that leaves too little, a row is a block of
    `column  value` lines.
    """
    rows = iter(answer)
    cells = [[_cell(value) for value in row] for row in islice(rows, limit)]
    longest = _longest_cell(answer.columns, cells, console.width)
    if longest is None:
        _show_blocks(answer.columns, cells, console)
    else:
        _show_grid(answer, cells, longest, console)
    if not cells:
        console.print("no rows")
    more = sum(1 for _ in rows)
    if more:
        plural = "s" if more > 1 else ""
        console.print(f"… {more:,} more row{plural} (--all, --csv or --json shows all)", markup=False, highlight=False)


def write_json(answer: Answer, stream: TextIO) -> None:
    """Write an answer as a list of objects: numbers exact, moments in ISO 8601, JSON columns as what they hold."""
    read = [_READ.get(kind, _as_is) for kind in answer.types]
    between = "["
    for row in answer:
        values = {name: one(value) for name, one, value in zip(answer.columns, read, row, strict=True)}
        stream.write(f"{between}\n{orjson.dumps(values, default=_plain).decode()}")
        between = ","
    stream.write("[]\n" if between == "[" else "\n]\n")


def write_csv(answer: Answer, stream: TextIO) -> None:
    """Write an answer as CSV with a header: numbers exact, moments in ISO 8601, lists as JSON, nothing for null."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(answer.columns)
    writer.writerows([_field(value) for value in row] for row in answer)


def _longest_cell(columns: list[str], cells: list[list[str]], width: int) -> int | None:
    """The longest cell with which all columns fit; none if they do not with the shortest that can be read."""
    widest = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    for longest in (LONGEST_CELL, 40, 28, 20, 14):
        if sum(min(longest, one) + 3 for one in widest) + 1 <= width:
            return longest
    return None


def _show_grid(answer: Answer, cells: list[list[str]], longest: int, console: "Console") -> None:
    from rich.table import Table  # not at import: a command that prints JSON starts without it
    from rich.text import Text

    table = Table(header_style="bold")
    for name, kind in zip(answer.columns, answer.types, strict=True):
        table.add_column(Text(_cut(name, longest)), justify="right" if _is_number(kind) else "left", no_wrap=True)
    for row in cells:
        table.add_row(*(Text(_cut(cell, longest)) for cell in row))
    console.print(table)


def _show_blocks(columns: list[str], cells: list[list[str]], console: "Console") -> None:
    margin = max(map(len, columns)) + 2
    for row in cells:
        lines = [f"{name:{margin}}{cell}" for name, cell in zip(columns, row, strict=True)]
        console.print("\n".join(_cut(line, console.width) for line in lines), markup=False, highlight=False, end="\n\n")


def _is_number(kind: str) -> bool:
    return kind in {"INTEGER", "BIGINT", "HUGEINT", "DOUBLE"} or kind.startswith("DECIMAL")


def _as_is(value: Any) -> Any:
    return value


def _parsed(value: str | None) -> Any:
    return None if value is None else orjson.loads(value)


def _within_64_bits(value: int | None) -> int | str | None:
    """A huge integer that JSON's readers would round is text."""
    return value if value is None or -(1 << 63) <= value < 1 << 64 else str(value)


def _plain(value: Any) -> Any:
    """What JSON has no type for: a decimal as a number, anything else as text."""
    return float(value) if isinstance(value, Decimal) else str(value)


def _field(value: Any) -> Any:
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, list | dict | tuple):
        return orjson.dumps(value, default=_plain).decode()
    return value


def _cell(value: Any) -> str:
    """A value as a cell of a table: on one line, lists cut to their first members."""
    for kind, shown in _SHOWN.items():
        if isinstance(value, kind):
            return shown(value)
    return " ".join(str(value).split())


def _list(values: list[Any]) -> str:
    if len(values) <= SHOWN_MEMBERS + 1:
        return f"[{', '.join(map(_cell, values))}]"
    return f"[{', '.join(map(_cell, values[:SHOWN_MEMBERS]))}, … {len(values)} in all]"


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


_READ: Final[dict[str, Callable[[Any], Any]]] = {
    "JSON": _parsed,
    "HUGEINT": _within_64_bits,
    "UHUGEINT": _within_64_bits,
}
"""What becomes of a column of a type before it is written as JSON; any other stays as it is."""

_SHOWN: Final[dict[type, Callable[[Any], str]]] = {
    type(None): lambda _: "",
    float: lambda value: f"{value:.6g}",
    datetime: lambda value: value.isoformat(" ", "milliseconds"),
    timedelta: str,
    list: _list,
}
"""How a value of a type is shown; of any other, as Python prints it."""
