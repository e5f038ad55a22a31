#!/usr/bin/env python
"""Rewrites the questions of docs/sql.md and their answers on the quickstart run.

Made by: foltr run quickstart && python docs/answers.py runs/latest
"""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from analysis import Run, open_run
from analysis.questions import Question, questions

__all__ = ["answered", "main"]

SHOWN = 5  # rows of an answer
_BLOCK = re.compile(r"(<!-- answers -->\n).*?(<!-- end of answers -->)", re.DOTALL)


def answered(page: str, run: Run) -> str:
    """The page with every shipped question and its answer on a run."""
    told = "\n\n".join("\n".join(_section(one, run)) for one in questions().values())
    return _BLOCK.sub(lambda block: f"{block[1]}{told}\n{block[2]}", page)


def _section(question: Question, run: Run) -> Iterator[str]:
    given = "".join(f" --with {name}={value}" for name, value in question.parameters.items())
    yield f"### {question.question}\n"
    yield f"`foltr sql latest --query {question.name}{given}`: {question.grain}\n"
    yield f"```sql\n{question.sql}\n```\n"
    answer = run.sql(question.sql, question.parameters)
    if question.timed:
        yield f"Columns: {', '.join(f'`{name}`' for name in answer.columns)}; the numbers differ from run to run."
        return
    rows = iter(answer)
    shown = list(islice(rows, SHOWN))
    if not shown:
        yield f"No rows here. Columns: {', '.join(f'`{name}`' for name in answer.columns)}."
        return
    for line in (answer.columns, ["---"] * len(answer.columns), *shown):
        yield "| " + " | ".join(_cell(value) for value in line) + " |"
    more = sum(1 for _ in rows)
    if more:
        yield f"\n… and {more} more."


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4f}"
    return "" if value is None else str(value)


def main(arguments: Sequence[str] | None = None) -> int:
    """Rewrite the page from the run that is named."""
    page = Path(__file__).with_name("sql.md")
    parser = argparse.ArgumentParser(description="Rewrite the answers of docs/sql.md.")
    parser.add_argument("run", type=Path, help="a quickstart run's directory")
    with open_run(parser.parse_args(arguments).run) as run:
        page.write_text(answered(page.read_text(encoding="utf-8"), run), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
