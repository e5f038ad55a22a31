"""The SQL prompt, piped and typed."""

import io

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from rich.console import Console

from analysis.prompt import _completer, _show, converse


class Terminal(io.StringIO):
    """Standard input that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


@pytest.fixture
def piped(run, monkeypatch, capsys):
    """What the prompt prints for a text on standard input."""

    def answer(text):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        failed = converse(run)
        printed = capsys.readouterr()
        return failed, printed.out, printed.err

    return answer


def test_statements_from_a_pipe(piped):
    """A statement may have several lines and the last one needs no end."""
    failed, out, err = piped("select 40 + 1\n  as a;\n\nselect 'x;y' as b")
    assert (failed, err) == (0, "")
    assert "41" in out
    assert "x;y" in out


def test_a_mistake_is_a_sentence_and_the_prompt_goes_on(piped):
    """Two statements fail, the third is answered."""
    failed, out, err = piped("select nothing;\ncopy run to 'x';\nselect 42 as a;\n")
    assert failed == 2
    assert "42" in out
    assert len(err.splitlines()) == 2


def test_commands(piped):
    """Help, views, a schema, an unknown command, and the end."""
    failed, out, err = piped(".help\n.views\n.schema damage\n.nonsense\n.schema nothing\n.quit\nselect 43 as a;")
    assert failed == 2
    assert ".schema VIEW" in out
    assert "\nupdates\n" in out
    assert "lines                BIGINT" in out
    assert "one of .help, .views, .schema VIEW, .questions, .ask QUESTION, .quit; got '.nonsense'" in err
    assert "got 'nothing'" in err
    assert "43" not in out


@pytest.fixture
def typed(run, monkeypatch, capsys, tmp_path):
    """What the prompt prints for keys on a terminal."""

    def answer(keys):
        monkeypatch.setattr("sys.stdin", Terminal())
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
        with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
            pipe.send_text(keys)
            failed = converse(run)
        return failed, capsys.readouterr().out

    return answer


def test_keys_on_a_terminal(typed, tmp_path):
    """Enter within a statement begins a line; Ctrl-C gives the line up; Ctrl-D ends; what was asked is remembered."""
    failed, out = typed("select 40 + 4\ras a;\rselect 4\x03\r\rselect 45 as b;\r\x04")
    assert failed == 0
    assert "44" in out
    assert "45" in out
    assert "select 45 as b;" in (tmp_path / "foltr" / "sql_history").read_text()


def test_quit_on_a_terminal(typed):
    """.quit ends at once."""
    assert typed(".quit\r")[0] == 0


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("from upd", "updates"),
        ("select online_n", "online_ndcg_at_10"),
        (".sch", ".schema"),
        ("sel", "select"),
        (".ask who-l", "who-lies"),
    ],
)
def test_completion(run, text, offered):
    """Views, columns, commands and SQL's words."""
    found = _completer(run).get_completions(Document(text), CompleteEvent())
    assert offered in [one.text for one in found]


def test_shipped_questions_can_be_asked(piped):
    """Listed, and asked by name."""
    failed, out, _err = piped(".questions\n.ask best-model\n.ask nothing\n")
    assert failed == 1
    assert "who-lies                   Who lies?" in out
    assert "ndcg_at_10" in out


def test_a_long_answer_on_a_terminal_goes_through_a_pager(run, monkeypatch, capsys):
    """What fits the screen does not."""
    paged = []
    monkeypatch.setattr("pydoc.pager", paged.append)
    console = Console(force_terminal=True, width=80, height=20)
    _show(run.sql("select range as n from range(10)"), console)
    assert "9" in capsys.readouterr().out
    assert paged == []
    _show(run.sql("select range as n from range(100)"), console)
    assert "99" in paged[0]
    assert capsys.readouterr().out == ""
