"""From the words of a command line to runs and a query."""

import pytest

from analysis.questions import find_question
from analysis.requests import read_request
from protocol.errors import UserError


@pytest.fixture
def folder(tmp_path):
    """Two runs without a record."""
    for name in ("a/20260101-000000-1", "b/20260102-000000-1"):
        (tmp_path / name / "journal").mkdir(parents=True)
    return tmp_path


def test_runs_come_first_and_the_query_last(folder):
    """One run or several, with a query or without."""
    a, b = folder / "a/20260101-000000-1", folder / "b/20260102-000000-1"
    for words, runs, query in (
        (["a"], [a], None),
        (["a", "from run"], [a], "from run"),
        (["a", "b"], [a, b], None),
        (["a", "b", "from run"], [a, b], "from run"),
        (["*/*", "from run"], [a, b], "from run"),
        (["a", f"select {'x' * 300}"], [a], f"select {'x' * 300}"),  # longer than a file's name can be
    ):
        request = read_request(words, None, (), folder)
        assert (request.runs, request.query) == (runs, query)


def test_a_shipped_question_with_its_parameters(folder):
    """The query is the file's."""
    request = read_request(["a"], "online-without-a-client", ["client=mallory"], folder)
    assert request.query == find_question("online-without-a-client").sql
    assert request.parameters == {"client": "mallory"}


@pytest.mark.parametrize(
    ("words", "question", "settings", "sentence"),
    [
        ([], None, [], "a run must be named"),
        (["a", "from run"], "who-lies", [], "asked of one run and without a query; got 'a from run'"),
        (["a", "b"], "who-lies", [], "asked of one run"),
        (["a", "from run"], None, ["x=1"], "parameters belong to a shipped question"),
        (["a", "selct"], None, [], "got 'selct'"),
        (["a", "x" * 300], None, [], "got 'xxx"),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(folder, words, question, settings, sentence):
    """Each names what is wrong."""
    with pytest.raises(UserError, match=sentence):
        read_request(words, question, settings, folder)
