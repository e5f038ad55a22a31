"""The SQL prompt: statements end with `;`, commands begin with `.`, and a mistake is one sentence, not the end.

On a terminal it edits, remembers and completes; else it reads statements from standard input.
"""

import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, TextIO

from analysis.meanings import VIEWS
from analysis.runs import Run
from analysis.tables import show_table
from protocol.errors import UserError

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import Completer
    from rich.console import Console

__all__ = ["converse"]

WORD: Final = re.compile(r"\w+\.?")  # prompt_toolkit matches it from the cursor backwards
COMMANDS: Final = {
    ".help": "show this",
    ".views": "list the views",
    ".schema VIEW": "list a view's columns and their types",
    ".quit": "end, as Ctrl-D does",
}
WORDS: Final = (
    "select", "from", "where", "group by", "order by", "limit", "having", "left join", "using", "and", "not",
    "between", "is null", "case when", "with", "distinct", "count", "avg", "sum", "min", "max", "arg_max", "unnest",
    "list_sum", "list_cosine_similarity", "over", "partition by", "qualify", "pivot", "summarize", "explain",
)  # fmt: skip
"""What completion knows of SQL beside the views and their columns."""


def converse(run: Run) -> int:
    """Answer statements until the user ends it; how many of them failed."""
    from rich.console import Console  # not at import: commands that print JSON start without it

    console = Console()
    if not sys.stdin.isatty():
        return _answer_all(run, _piped(sys.stdin), console)
    console.print(f"{run.path}: statements end with ; and .help helps", markup=False, highlight=False)
    return _answer_all(run, _typed(_session(run)), console)


def _answer_all(run: Run, statements: Iterator[str], console: "Console") -> int:
    failed = 0
    for statement in statements:
        if statement == ".quit":
            break
        try:
            _answer(run, statement, console)
        except UserError as error:
            failed += 1
            sys.stdout.flush()
            sys.stderr.write(f"{error}\n")
        except KeyboardInterrupt:
            sys.stderr.write("the query was cancelled\n")
    return failed


def _answer(run: Run, statement: str, console: "Console") -> None:
    if not statement.startswith("."):
        show_table(run.sql(statement), console)
        return
    command, _, argument = statement.partition(" ")
    if command == ".help":
        lines = [f"{name:14} {meaning}" for name, meaning in COMMANDS.items()]
    elif command == ".views":
        lines = list(VIEWS)
    elif command == ".schema":
        lines = [f"{name:20} {kind}" for name, kind in run.columns(argument.strip()).items()]
    else:
        raise UserError(f"a command must be one of {', '.join(COMMANDS)}; got {command!r}")
    console.print("\n".join(lines), markup=False, highlight=False)


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


def _session(run: Run) -> "PromptSession[str]":
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
        completer=_completer(run),
        complete_while_typing=False,
        multiline=Condition(lambda: not _is_whole(get_app().current_buffer.text)),
        prompt_continuation="  -> ",
    )


def _completer(run: Run) -> "Completer":
    """Completes views, their columns, SQL's words, and commands at the start."""
    from prompt_toolkit.completion import WordCompleter

    columns = {name for view in VIEWS for name in run.columns(view)}
    commands = [name.split(maxsplit=1)[0] for name in COMMANDS]
    words = sorted({*VIEWS, *columns, *WORDS, *commands})
    return WordCompleter(words, ignore_case=True, pattern=WORD)
