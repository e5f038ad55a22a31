"""The SQL prompt: statements end with `;`, commands begin with `.`, and a mistake is one sentence, not the end.

On a terminal it edits, remembers and completes; else it reads statements from standard input.
"""

import os
import pydoc
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, TextIO

from analysis.log import Log
from analysis.meanings import VIEWS
from analysis.queries import Answer
from analysis.questions import find_question, questions
from analysis.tables import show_table
from protocol.errors import UserError

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import Completer
    from rich.console import Console

__all__ = ["converse"]

WORD: Final = re.compile(r"[\w-]+\.?")  # prompt_toolkit matches it from the cursor backwards
MOST_PAGED: Final = 10_000  # rows
COMMANDS: Final = {
    ".help": "show this",
    ".views": "list the views",
    ".schema VIEW": "list a view's columns and their types",
    ".questions": "list the shipped questions",
    ".ask QUESTION": "ask one of them",
    ".quit": "end, as Ctrl-D does",
}
WORDS: Final = (
    "select", "from", "where", "group by", "order by", "limit", "having", "left join", "using", "and", "not",
    "between", "is null", "case when", "with", "distinct", "count", "avg", "sum", "min", "max", "arg_max", "unnest",
    "list_sum", "list_cosine_similarity", "over", "partition by", "qualify", "pivot", "summarize", "explain",
)  # fmt: skip
"""What completion knows of SQL beside the views and their columns."""


def converse(log: Log) -> int:
    """Answer statements until the user ends it; how many of them failed."""
    from rich.console import Console  # not at import: commands that print JSON start without it

    console = Console()
    if not sys.stdin.isatty():
        return _answer_all(log, _piped(sys.stdin), console)
    console.print(f"{log.title}: statements end with ; and .help helps", markup=False, highlight=False)
    return _answer_all(log, _typed(_session(log)), console)


def _answer_all(log: Log, statements: Iterator[str], console: "Console") -> int:
    failed = 0
    for statement in statements:
        if statement == ".quit":
            break
        try:
            _answer(log, statement, console)
        except UserError as error:
            failed += 1
            sys.stdout.flush()
            sys.stderr.write(f"{error}\n")
        except KeyboardInterrupt:
            sys.stderr.write("the query was cancelled\n")
    return failed


def _answer(log: Log, statement: str, console: "Console") -> None:
    command, _, argument = statement.partition(" ")
    if not statement.startswith("."):
        _show(log.sql(statement), console)
        return
    if command == ".ask":
        asked = find_question(argument.strip())
        _show(log.sql(asked.sql, asked.parameters), console)
        return
    if command == ".help":
        lines = [f"{name:14} {meaning}" for name, meaning in COMMANDS.items()]
    elif command == ".views":
        lines = list(VIEWS)
    elif command == ".questions":
        lines = [f"{one.name:26} {one.question}" for one in questions().values()]
    elif command == ".schema":
        lines = [f"{name:20} {kind}" for name, kind in log.columns(argument.strip()).items()]
    else:
        raise UserError(f"a command must be one of {', '.join(COMMANDS)}; got {command!r}")
    console.print("\n".join(lines), markup=False, highlight=False)


def _show(answer: Answer, console: "Console") -> None:
    """Show an answer; on a terminal, one that is longer than the screen goes through a pager."""
    if not console.is_terminal:
        show_table(answer, console)
        return
    with console.capture() as captured:
        show_table(answer, console, MOST_PAGED)
    text = captured.get()
    if text.count("\n") < console.height:
        console.file.write(text)
        return
    os.environ.setdefault("LESS", "-SRFX")  # do not fold lines, keep colours, end where a screen is enough
    pydoc.pager(text)


def _is_whole(text: str) -> bool:
    """Whether a text can be answered: a command, a statement with its end, or nothing."""
    stripped = text.strip()
    return not stripped or stripped.startswith(".") or stripped.endswith(";")


def _piped(stream: TextIO) -> Iterator[str]:
    """The statements of a stream; the last one may lack its end."""
    text = ""
    for line in stream:
        text += line
        if _is_whole(text):
            if text.strip():
                yield text.strip()
            text = ""
    if text.strip():
        yield text.strip()


def _typed(session: "PromptSession[str]") -> Iterator[str]:
    """What is typed: Ctrl-C gives the line up, Ctrl-D ends."""
    while True:
        try:
            text = session.prompt("sql> ").strip()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if text:
            yield text


def _session(log: Log) -> "PromptSession[str]":
    from platformdirs import user_state_path
    from prompt_toolkit import PromptSession
    from prompt_toolkit.application import get_app
    from prompt_toolkit.filters import Condition
    from prompt_toolkit.history import FileHistory

    history = user_state_path("foltr") / "sql_history"
    try:
        history.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"the prompt's history cannot be kept: {error.strerror}: {history}") from error
    return PromptSession(
        history=FileHistory(history),
        completer=_completer(log),
        complete_while_typing=False,
        multiline=Condition(lambda: not _is_whole(get_app().current_buffer.text)),
        prompt_continuation="  -> ",
    )


def _completer(log: Log) -> "Completer":
    """Completes views, their columns, SQL's words, and commands at the start."""
    from prompt_toolkit.completion import WordCompleter

    columns = {name for view in VIEWS for name in log.columns(view)}
    commands = [name.split(maxsplit=1)[0] for name in COMMANDS]
    words = sorted({*VIEWS, *columns, *WORDS, *commands, *questions()})
    return WordCompleter(words, ignore_case=True, pattern=WORD)
