"""What is wrong with a scenario: every problem at once, in our own words."""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from protocol.errors import UserError
from scenarios.words import LARGEST_COUNT, choices, expects, keys, locate, named_fields, shown

__all__ = ["Problem", "ScenarioError", "did_you_mean", "problems_of"]

_SHORTEST_PART = 3  # letters of a longer word that already mean it: "rate" is near learning_rate


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: the key path as the user wrote it (empty: the file itself), and a sentence."""

    key: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.key}: {self.sentence}" if self.key else self.sentence


class ScenarioError(UserError):
    """A scenario that cannot be run; `problems` holds all that is wrong with it, `source` what was read."""

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        self.source = source
        self.problems = tuple(problems)
        told = [str(problem) for problem in self.problems]
        if len(told) == 1:
            super().__init__(f"{source}: {told[0]}")
        else:
            super().__init__("\n  ".join([f"{source} has {len(told)} problems:", *told]))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Give the ending of a sentence that names the nearest known word, or nothing if none is near."""
    by_lower_case = {name.lower(): name for name in known}
    part_of = [name for name in by_lower_case if len(word) >= _SHORTEST_PART and word.lower() in name]
    near = part_of or difflib.get_close_matches(word.lower(), by_lower_case, n=1, cutoff=0.6)
    return f"; did you mean {by_lower_case[near[0]]}?" if near else ""


def problems_of(model: type[BaseModel], error: ValidationError) -> Iterator[Problem]:
    """Say in our own words what a model found; a key that fails in several ways is told once."""
    told: set[str] = set()
    for detail in error.errors(include_url=False, include_context=False):
        key, annotation = locate(model, detail["loc"])
        if key in told:
            continue
        told.add(key)
        match detail["type"]:
            case "extra_forbidden":
                yield Problem(key, _unknown_key(model, key, detail["loc"]))
            case "missing":
                yield Problem(key, f"is required and must be {expects(annotation)}")
            case _:
                yield Problem(key, _wrong_value(annotation, detail["input"]))


def _unknown_key(model: type[BaseModel], key: str, loc: Sequence[str | int]) -> str:
    """Name the keys that the table has; the near miss may also be the same key of another table."""
    _, table = locate(model, loc[:-1])
    siblings = list(named_fields(table))
    name = str(loc[-1])
    elsewhere = [one.path for one in keys(model) if one.path.rpartition(".")[2] == name and "[]" not in one.path]
    hint = f"; did you mean {elsewhere[0]}?" if elsewhere else did_you_mean(name, siblings)
    where = key.removesuffix(name).rstrip(".")
    return f"unknown key; the keys {f'of {where}' if where else 'of a scenario'} are {', '.join(siblings)}{hint}"


def _wrong_value(annotation: Any, value: object) -> str:
    wanted, known = expects(annotation), choices(annotation)
    if isinstance(value, int) and value > LARGEST_COUNT and wanted.endswith("≥ 1"):
        return f"must be {wanted} and at most {LARGEST_COUNT}; got {shown(value)}"
    sentence = f"must be {wanted}; got {shown(value)}"
    if known and f'"{known[0]}"' not in wanted:
        sentence += f"; the known ones are {', '.join(known)}"
    return sentence + (did_you_mean(value, known) if isinstance(value, str) else "")
