"""What a user asks `foltr sql` for: which runs, which query, with which parameters."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.questions import find_question
from analysis.runs import find_runs, is_path
from protocol.errors import UserError

__all__ = ["Request", "read_request"]


@dataclass(frozen=True, slots=True)
class Request:
    """The runs to ask, and the query; none asks for a prompt."""

    runs: list[Path]
    query: str | None
    parameters: dict[str, Any] | None


def read_request(words: Sequence[str], question: str | None, settings: Sequence[str], runs: Path) -> Request:
    """The request that a command line makes: RUN… [QUERY], or RUN and the name of a shipped question.

    The last of several words is a query if it has a space in it and is no path: every query has one, few runs do.
    """
    references = list(words)
    query = references.pop() if len(references) > 1 and _is_query(references[-1]) else None
    if not references:
        raise UserError("a run must be named: a path, a scenario's name, name/time-seed, latest or a pattern; got none")
    found = find_runs(references, runs)
    if question is None:
        if settings:
            raise UserError(f"parameters belong to a shipped question, named by --query; got {', '.join(settings)}")
        return Request(found, query, None)
    if query is not None or len(found) > 1:
        raise UserError(f"a shipped question is asked of one run and without a query; got {' '.join(words)!r}")
    asked = find_question(question)
    return Request(found, asked.sql, asked.given(settings))


def _is_query(word: str) -> bool:
    return len(word.split()) > 1 and not is_path(word)
