"""docs/sql.md: every column has its meaning, every question its answer."""

import re
from pathlib import Path

import pytest

from analysis.meanings import VIEWS

PAGE = (Path(__file__).parents[2] / "docs" / "sql.md").read_text(encoding="utf-8")
QUESTIONS = re.findall(r"### ([^\n]+)\n(?:(?!###).)*?```sql\n(.*?)```\n\nAnswer: ([^\n]*)", PAGE, re.DOTALL)


@pytest.mark.parametrize("view", VIEWS)
def test_every_column_has_a_meaning(run, view):
    """The words and the views have the same columns, in the same order."""
    assert list(run.columns(view)) == list(VIEWS[view].columns)


def test_the_page_has_its_questions():
    """The pattern above finds them all."""
    assert len(QUESTIONS) == PAGE.count("```sql") >= 10


@pytest.mark.parametrize(("question", "query", "answer"), QUESTIONS, ids=[one[0] for one in QUESTIONS])
def test_every_question_is_answered_as_the_page_says(run, question, query, answer):
    """The columns are those that the page names; every question but one has rows in the small run."""
    rows = run.rows(query)
    assert run.sql(query).columns == re.findall(r"`([a-z0-9_]+)`", answer)
    assert bool(rows) == (question != "Do two clients send the same model?")


def test_the_liar_is_found(run):
    """Cat's change in round 3 is far longer than the others'."""
    (query,) = [query for question, query, _ in QUESTIONS if question == "Who lies?"]
    assert run.rows(query.replace("where accepted", "where round = 3 and accepted"))[0]["client"] == "cat"
