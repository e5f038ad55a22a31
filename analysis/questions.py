"""The shipped questions: `sql/questions/*.sql`, one a file, asked by name.

A file begins with comment lines `-- Key: text`: Question, Grain (what one row of the answer is), Parameters (none, or
`name = default, …`), and `Timed: yes` where the answer holds times, which no two runs share.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from protocol.errors import UserError

__all__ = ["Question", "find_question", "questions"]

HEADER: Final = re.compile(r"^-- (\w+): (.*(?:\n--  .*)*)", re.MULTILINE)
NUMBER: Final = re.compile(r"-?\d+")


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its query; `parameters` are the defaults of what `$name` stands for in it."""

    name: str
    question: str
    grain: str
    parameters: dict[str, str | int]
    timed: bool
    sql: str

    def given(self, settings: Sequence[str]) -> dict[str, str | int]:
        """The parameters with `name=value` settings in place of the defaults."""
        chosen = dict(self.parameters)
        for setting in settings:
            name, equals, value = setting.partition("=")
            if not equals or name not in chosen:
                known = ", ".join(chosen) or "none"
                raise UserError(
                    f"a parameter of {self.name} must be name=value, the name one of {known}; got {setting!r}"
                )
            chosen[name] = _value(value)
        return chosen

    def as_dict(self) -> dict[str, Any]:
        """The question as JSON has it."""
        return {
            "name": self.name,
            "question": self.question,
            "grain": self.grain,
            "parameters": self.parameters,
            "sql": self.sql,
        }


def questions() -> dict[str, Question]:
    """Every shipped question by its name."""
    folder = files("analysis") / "sql" / "questions"
    found = sorted((one.name.removesuffix(".sql"), one) for one in folder.iterdir() if one.name.endswith(".sql"))
    return {name: _parsed(name, one.read_text(encoding="utf-8")) for name, one in found}


def find_question(name: str) -> Question:
    """The question of that name."""
    known = questions()
    if name not in known:
        raise UserError(f"a question must be one of {', '.join(known)}; got {name!r}")
    return known[name]


def _parsed(name: str, text: str) -> Question:
    header = {key: re.sub(r"\n--\s+", " ", value) for key, value in HEADER.findall(text)}
    settings = [] if header["Parameters"] == "none" else header["Parameters"].split(", ")
    pairs = [setting.split(" = ") for setting in settings]
    sql = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    return Question(
        name=name,
        question=header["Question"],
        grain=header["Grain"],
        parameters={key: _value(value) for key, value in pairs},
        timed="Timed" in header,
        sql=sql,
    )


def _value(text: str) -> str | int:
    return int(text) if NUMBER.fullmatch(text) else text
