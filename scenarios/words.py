"""The schema in words: what a key expects, what it may be mistaken for, and the list of all keys.

One wording serves the error sentences and the table in docs/scenarios.md, so that neither can differ from the models.
"""

import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

__all__ = ["LARGEST_COUNT", "Key", "Words", "choices", "expects", "keys", "listed", "locate", "named_fields", "shown"]

LARGEST_COUNT = 2**31 - 1  # what the log's INTEGER columns hold; told only to who exceeds it

_WIDEST_SHOWN = 60  # characters of a value that an error sentence repeats


@dataclass(frozen=True, slots=True)
class Words:
    """What a type expects, takes, or has for a default, where the annotation alone does not tell a reader."""

    expects: str | None = None
    default: str | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a scenario as a reader of the documentation sees it."""

    path: str
    expects: str
    default: str
    meaning: str


def listed(words: Sequence[str]) -> str:
    """Join words as a sentence does: a, b or c."""
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def shown(value: object) -> str:
    """Show a value as TOML writes it, cut where it is long; tables and arrays of tables by their kind only."""
    match value:
        case None:
            return "nothing"
        case bool():
            text = str(value).lower()
        case str():
            text = '"' + value.encode("unicode_escape").decode().replace('"', '\\"') + '"'
        case dict():
            return "a table" if value else "an empty table"
        case list() | tuple() if any(isinstance(one, dict) for one in value):
            return "an array of tables"
        case list() | tuple():
            text = "[" + ", ".join(shown(one) for one in value) + "]"
        case int() if abs(value) >= 10**_WIDEST_SHOWN:
            return "an integer of more than 60 digits"
        case _:
            text = str(value)
    return text if len(text) <= _WIDEST_SHOWN else text[: _WIDEST_SHOWN - 1] + "…"


def expects(annotation: Any) -> str:
    """Tell what values a type takes, such as `an integer ≥ 1`."""
    field = FieldInfo.from_annotation(annotation)
    for one in field.metadata:
        if isinstance(one, Words) and one.expects:
            return one.expects
    bare = field.annotation
    if bare in (int, float):
        return _number("an integer" if bare is int else "a number", field.metadata)
    if get_origin(bare) is tuple:
        item = get_args(bare)[0]
        return "an array of tables" if _is_section(item) else f"an array, each {expects(item)}"
    if literals := choices(annotation):
        others = [expects(part) for part in _members(bare) if not choices(part)]
        return listed([f'"{name}"' for name in literals] + others)
    if len(_members(bare)) > 1 or _members(bare)[0] is not bare:
        return listed([expects(part) for part in _members(bare)])
    return "a table" if _is_section(bare) else "a string"


def choices(annotation: Any) -> list[str]:
    """List the strings that a type takes, where they are a closed set."""
    field = FieldInfo.from_annotation(annotation)
    bare = field.annotation
    if get_origin(bare) is Literal:
        return [str(name) for name in get_args(bare)]
    for one in field.metadata:
        if isinstance(one, Words) and one.choices:
            return list(one.choices)
    members = _members(bare)
    return [] if members == [bare] else [name for member in members for name in choices(member)]


def locate(model: type[BaseModel], steps: Sequence[str | int]) -> tuple[str, Any]:
    """Follow keys and indices from a model: the key path as the user wrote it, and the type found there.

    Steps that lead inside a single value (which member of a union was tried) are not the user's, and end the walk.
    The type is None for a key that the schema does not have.
    """
    path, here = "", model
    for step in steps:
        bare = FieldInfo.from_annotation(here).annotation
        if isinstance(step, int):
            if get_origin(bare) is not tuple:
                break
            path, here = f"{path}[{step}]", get_args(bare)[0]
        elif _is_section(bare):
            path, here = f"{path}.{step}" if path else step, _member(bare, step)
            if here is None:
                break
        else:
            break
    return path, here


def keys(model: type[BaseModel], prefix: str = "") -> Iterator[Key]:
    """List every key of a model and of the tables inside it, in the order of the schema."""
    for name, field in named_fields(model).items():
        path, bare = f"{prefix}{name}", cast("Any", field.annotation)
        if _is_section(bare):
            yield from keys(bare, f"{path}.")
        elif get_origin(bare) is tuple and _is_section(get_args(bare)[0]):
            yield from keys(get_args(bare)[0], f"{path}[].")
        else:
            yield Key(path, expects(_annotated(field)), _default(field), field.description or "")
    if (open_type := _open_type(model)) is not None:
        yield Key(
            f"{prefix}METRIC", expects(open_type), "none", "What a metric must be at the end, such as ndcg_at_10."
        )


def named_fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields of a model by the names that users write."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _members(bare: Any) -> list[Any]:
    """Give the members of a union but None, which TOML cannot write; another type is its own only member."""
    if get_origin(bare) not in (Union, types.UnionType):
        return [bare]
    return [part for part in get_args(bare) if FieldInfo.from_annotation(part).annotation not in (None, types.NoneType)]


def _is_section(bare: Any) -> bool:
    return isinstance(bare, type) and issubclass(bare, BaseModel)


def _member(model: Any, name: str) -> Any:
    field = named_fields(model).get(name)
    return _annotated(field) if field else _open_type(model)


def _annotated(field: FieldInfo) -> Any:
    return Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation


def _open_type(model: type[BaseModel]) -> Any:
    """Give the type of the values under keys of the user's own naming, where a table has such keys."""
    declared = model.__annotations__.get("__pydantic_extra__")
    return get_args(declared)[1] if declared else None


def _default(field: FieldInfo) -> str:
    for one in field.metadata:
        if isinstance(one, Words) and one.default:
            return one.default
    return "required" if field.is_required() else shown(field.default)


def _number(noun: str, metadata: Sequence[Any]) -> str:
    bounds = {sign: getattr(one, sign) for one in metadata for sign in ("gt", "ge", "le") if hasattr(one, sign)}
    if bounds.get("le") == LARGEST_COUNT:
        del bounds["le"]
    if bounds.keys() == {"ge", "le"}:
        return f"{noun} from {bounds['ge']} to {bounds['le']}"
    signs = {"gt": ">", "ge": "≥", "le": "≤"}
    return " ".join([noun, " and ".join(f"{signs[sign]} {bound}" for sign, bound in bounds.items())]).strip()
