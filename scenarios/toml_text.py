"""A scenario's tables as TOML that `load_scenario` reads back to the same."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["to_toml"]


def to_toml(tables: Mapping[str, Any], comment: str = "") -> str:
    """The text of a scenario file: plain keys first, then tables, then arrays of tables."""
    lines = [f"# {line}" for line in comment.splitlines()] + [""] * bool(comment)
    lines += [f"{key} = {_value(value)}" for key, value in tables.items() if not _is_table(value)]
    for key, value in tables.items():
        if isinstance(value, Mapping) and value:
            lines += ["", f"[{key}]", *_pairs(value)]
    for key, value in tables.items():
        if _is_array_of_tables(value):
            for one in value:
                lines += ["", f"[[{key}]]", *_pairs(one)]
    return "\n".join(lines) + "\n"


def _pairs(table: Mapping[str, Any]) -> list[str]:
    return [f"{key} = {_value(value)}" for key, value in table.items()]


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(_pairs(value)) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(one) for one in value) + "]"
    return json.dumps(value, ensure_ascii=False)  # strings, numbers and booleans are written alike


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) or _is_array_of_tables(value)


def _is_array_of_tables(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(one, Mapping) for one in value)
