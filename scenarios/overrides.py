"""Keys set on the command line: `--set learner.learning_rate=0.05`."""

import re
import tomllib
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from scenarios.problems import Problem
from scenarios.words import shown

__all__ = ["Override", "applied", "parse_override"]

_STEP = re.compile(r"([A-Za-z0-9_-]+)((?:\[[0-9]{1,9}\])*)")


@dataclass(frozen=True, slots=True)
class Override:
    """One key path with its new value, and the words that the user set it with."""

    steps: tuple[str | int, ...]
    value: object
    said: str

    @property
    def key(self) -> str:
        """The key path as a file's problems spell it: `clients[0].count`."""
        return _path(self.steps)

    def touches(self, key: str) -> bool:
        """Tell whether a problem at the key is about what was set here."""
        return key == self.key or key.startswith((f"{self.key}.", f"{self.key}["))


def parse_override(text: str) -> Override | Problem:
    """Read `key.path=value`; the value is TOML, or else a bare word that is a string."""
    key, equals, written = text.partition("=")
    steps: list[str | int] = []
    for part in key.strip().split("."):
        found = _STEP.fullmatch(part)
        if not equals or found is None:
            return Problem("", f"--set must be KEY=VALUE such as --set learner.learning_rate=0.05; got {shown(text)}")
        steps.append(int(part) if steps and part.isdigit() else found[1])
        steps.extend(int(index) for index in re.findall(r"[0-9]+", found[2]))
    try:
        value = _value(written.strip())
    except ValueError:
        return Problem(_path(steps), f"the value is not valid TOML; got {shown(written)} (from --set)")
    return Override(tuple(steps), value, f"--set {text}")


def applied(raw: dict[str, Any], overrides: Sequence[Override]) -> tuple[dict[str, Any], list[Problem]]:
    """Give a copy of the tables with the overrides in it, the last one winning, and what could not be set."""
    tables = deepcopy(raw)
    obstacles = [(override, _put(tables, override.steps, override.value)) for override in overrides]
    problems = [Problem(override.key, f"{told} (from {override.said})") for override, told in obstacles if told]
    return tables, problems


def _value(written: str) -> object:
    """Read a TOML value; what does not begin as one is a string as it stands."""
    try:
        parsed = tomllib.loads(f"value = {written}")
    except (ValueError, RecursionError):
        if written.startswith(('"', "'", "[", "{")):
            raise ValueError(written) from None
        return written
    return parsed["value"] if parsed.keys() == {"value"} else written


def _put(tables: dict[str, Any], steps: tuple[str | int, ...], value: object) -> str:
    """Set one value in place, making the tables on the way; give what stands in the way, if anything does."""
    here: Any = tables
    for depth, step in enumerate(steps):
        above = _path(steps[:depth])
        if isinstance(step, int) and not isinstance(here, list):
            return f"{above} is not an array, so it has no index {step}"
        if isinstance(step, int) and step >= len(here):
            return f"{above} has {len(here)} entries, the first is [0]; got [{step}]"
        if isinstance(step, str) and not isinstance(here, dict):
            return f"{above} is not a table, so it has no key {step}"
        if depth == len(steps) - 1:
            here[step] = value
        else:
            here = here.setdefault(step, {}) if isinstance(here, dict) else here[step]
    return ""


def _path(steps: Sequence[str | int]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")
