"""The shipped questions: asked by name, with parameters; docs/sql.md has their answers on the quickstart run."""

import importlib.util
from pathlib import Path

import pytest

from analysis import open_run
from analysis.questions import find_question, questions
from protocol.errors import UserError

DOCS = Path(__file__).parents[2] / "docs"
EMPTY = {"who-sends-the-same"}  # in the small run nobody colludes


@pytest.fixture(scope="module")
def answers():
    """The script that writes the answers."""
    spec = importlib.util.spec_from_file_location("answers", DOCS / "answers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_twenty():
    """The page promises that many."""
    assert len(questions()) >= 20


@pytest.mark.parametrize("question", questions().values(), ids=questions())
def test_every_question_has_an_answer(run, question):
    """In the small run, where hosts die and frames are refused, all but one have rows; each tells what a row is."""
    parameters = question.parameters | ({"client": "ann"} if "client" in question.parameters else {})
    assert bool(run.rows(question.sql, parameters)) == (question.name not in EMPTY)
    assert question.question.endswith("?")
    assert question.grain.startswith("one row")


def test_the_page_has_the_answers_of_the_quickstart_run(quickstart, answers):
    """docs/sql.md is what `python docs/answers.py RUN` writes; run it where this fails."""
    page = (DOCS / "sql.md").read_text(encoding="utf-8")
    with open_run(quickstart) as run:
        assert answers.answered(page, run) == page


def test_the_liar_is_found(run):
    """Cat's change in round 3 is far longer than the others'."""
    query = find_question("who-lies").sql
    assert run.rows(query.replace("where accepted", "where round = 3 and accepted"))[0]["client"] == "cat"


def test_the_excluded_are_named_with_the_reason(run):
    """Cat was missing in round 2, a second answer of Ann's was refused."""
    rows = run.rows(find_question("who-was-excluded").sql)
    assert [(row["client"], row["reason"], row["times"], row["first_round"]) for row in rows] == [
        ("ann", "duplicate", 1, 2),
        ("cat", "missing", 1, 2),
    ]


def test_a_message_that_never_came_is_found(run):
    """host-1 did not live to see the second question."""
    rows = run.rows(find_question("which-messages-were-lost").sql)
    assert {"sender": "coordinator", "receiver": "host-1", "type": "train", "messages": 1, "first_ids": [12]} in rows


def test_parameters_replace_the_defaults():
    """A number is a number, a word is a word, and an unknown name is one sentence."""
    question = find_question("online-without-a-client")
    assert question.given([]) == {"client": "client-1"}
    assert question.given(["client=mallory"]) == {"client": "mallory"}
    assert find_question("what-was-said-in-a-round").given(["round=12"]) == {"round": 12}
    with pytest.raises(UserError, match="the name one of client; got 'who=x'"):
        question.given(["who=x"])


def test_an_unknown_question_lists_the_known():
    """The sentence has them all."""
    with pytest.raises(UserError, match=r"one of around-a-fault, best-model, .*; got 'x'"):
        find_question("x")
