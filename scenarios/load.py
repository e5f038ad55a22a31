"""From a TOML file to a `Scenario`, or to every problem at once; the only way in, and the ways out again."""

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from scenarios.overrides import Override, applied, parse_override
from scenarios.problems import Problem, ScenarioError, did_you_mean, problems_of
from scenarios.rules import problems_together
from scenarios.schema import Data, Scenario
from scenarios.words import shown

__all__ = ["check", "from_dict", "json_schema", "load_scenario", "scenario_hash", "shipped", "to_dict"]

_LARGEST_FILE = 16 * 2**20  # bytes; a federation of 100,000 named clients fits


def load_scenario(
    path_or_name: str | Path,
    overrides: Sequence[str] = (),
    seed: int | None = None,
    engine: str | None = None,
    *,
    check_data: bool = True,
) -> Scenario:
    """Read a file, or the shipped scenario of that name, with `--set` overrides; raises ScenarioError.

    seed and engine are the run command's own options and win over everything; check_data also looks whether the data
    source is there.
    """
    path = _find(path_or_name)
    source = str(path_or_name)
    tables = _read(path, source)
    parsed = [parse_override(text) for text in overrides]
    changes = [one for one in parsed if isinstance(one, Override)]
    if "name" not in tables:
        changes.insert(0, Override(("name",), path.stem, "the file's name; the key name gives another"))
    if seed is not None:
        changes.append(Override(("seed",), seed, f"--seed {seed}"))
    if engine is not None:
        changes.append(Override(("federation", "engine"), engine, f"--engine {engine}"))
    tables, unplaced = applied(tables, changes)
    problems = [one for one in parsed if isinstance(one, Problem)] + unplaced
    scenario, found = _validate(tables)
    problems += [_with_origin(problem, changes) for problem in found]
    if check_data and not any(problem.key.partition(".")[0] == "data" for problem in problems):
        problems += [_with_origin(problem, changes) for problem in _data_problems(tables)]
    if problems or scenario is None:
        raise ScenarioError(source, problems)
    return scenario


def check(path_or_name: str | Path, overrides: Sequence[str] = ()) -> list[Problem]:
    """List everything that is wrong with a scenario; an empty list means that it can be run."""
    try:
        load_scenario(path_or_name, overrides)
    except ScenarioError as error:
        return list(error.problems)
    return []


def shipped() -> dict[str, Path]:
    """The scenarios that come with foltr, by name: `quickstart`, and `folder/name` for those in folders."""
    here = Path(__file__).parent
    files = sorted(here.rglob("*.toml"))
    return {file.relative_to(here).with_suffix("").as_posix(): file for file in files}


def to_dict(scenario: Scenario) -> dict[str, Any]:
    """Give the resolved scenario as JSON-able tables, with every default written out."""
    return scenario.model_dump(mode="json", exclude_none=True, by_alias=True)


def from_dict(tables: Mapping[str, Any]) -> Scenario:
    """Make the scenario that `to_dict` gave; raises ScenarioError."""
    scenario, problems = _validate(dict(tables))
    if problems or scenario is None:
        raise ScenarioError("the scenario", problems)
    return scenario


def scenario_hash(scenario: Scenario) -> str:
    """The sha256, in hexadecimal, of the resolved scenario's canonical JSON (sorted keys, no spaces)."""
    canonical = json.dumps(to_dict(scenario), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a scenario file, for editors that complete and check TOML."""
    schema: dict[str, Any] = _without_nulls(Scenario.model_json_schema())
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _find(path_or_name: str | Path) -> Path:
    """Resolve what the user named: a shipped scenario unless it is spelled as a path."""
    name, known = str(path_or_name), shipped()
    if isinstance(path_or_name, str) and name in known:
        return known[name]
    path = Path(path_or_name)
    if path.suffix == ".toml" or os.path.lexists(path):
        return path
    sentence = f"neither a file nor a shipped scenario; shipped are {', '.join(known)}{did_you_mean(name, known)}"
    raise _refusal(shown(name), sentence)


def _read(path: Path, source: str) -> dict[str, Any]:
    """Read the tables of a file; a file that is no TOML is one problem."""
    content = _content(path, source)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise _refusal(source, f"must be UTF-8 text; line {line} has the byte 0x{content[error.start]:02x}") from None
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise _refusal(source, "not valid TOML: arrays or tables nested too deep") from None
    except ValueError as error:  # TOML's own, or an integer with too many digits to be read
        raise _refusal(source, _syntax(text, str(error))) from None
    if not tables:
        raise _refusal(source, "is empty; a scenario needs at least rounds and [[clients]]")
    return tables


def _content(path: Path, source: str) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_FILE + 1)
    except FileNotFoundError:
        raise _refusal(source, f"there is no such file{did_you_mean(path.stem, shipped())}") from None
    except IsADirectoryError:
        raise _refusal(source, "is a directory; name a .toml file in it") from None
    except OSError as error:
        raise _refusal(source, f"cannot be read: {error.strerror}") from None
    if len(content) > _LARGEST_FILE:
        raise _refusal(source, f"must be at most {_LARGEST_FILE} bytes long")
    return content


def _refusal(source: str, sentence: str) -> ScenarioError:
    return ScenarioError(source, [Problem("", sentence)])


def _syntax(text: str, message: str) -> str:
    """Say where a TOML file breaks: the parser gives the place in its message's brackets."""
    what, _, place = message.partition(" (at ")
    what = what[:1].lower() + what[1:]
    if found := re.fullmatch(r"line (\d+), column (\d+)\)", place):
        line, column = int(found[1]), int(found[2])
    else:  # at the end of the document, or a number too long to be read
        lines = text.splitlines() or [""]
        line, column = len(lines), len(lines[-1]) + 1
    return f"not valid TOML: line {line}, column {column}: {what}"


def _validate(tables: dict[str, Any]) -> tuple[Scenario | None, list[Problem]]:
    together = list(problems_together(tables))
    try:
        return Scenario.model_validate(tables), together
    except ValidationError as error:
        return None, [*problems_of(Scenario, error), *together]


def _data_problems(tables: Mapping[str, Any]) -> list[Problem]:
    # Imported here: reading data loads numba, and not every caller looks at the data.
    from learning.data import check_source
    from learning.errors import DataError

    data = Data.model_validate(tables.get("data", {}))
    try:
        check_source(data.source, data.fold)
    except DataError as error:
        key = "data.fold" if str(error).startswith("fold ") else "data.source"
        return [Problem(key, str(error))]
    return []


def _with_origin(problem: Problem, changes: Sequence[Override]) -> Problem:
    """Tell which option of the command line set what a problem is about, the last one where there are several."""
    for change in reversed(changes):
        if change.touches(problem.key):
            return Problem(problem.key, f"{problem.sentence} (from {change.said})")
    return problem


def _without_nulls(schema: Any) -> Any:
    """Drop defaults that are null: TOML has no null, so an editor must not offer it."""
    if isinstance(schema, dict):
        return {key: _without_nulls(value) for key, value in schema.items() if value is not None}
    return [_without_nulls(one) for one in schema] if isinstance(schema, list) else schema
