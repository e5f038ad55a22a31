"""The `foltr` command: the commands of `commands/` under one name, and one sentence for every mistake.

Commands import what they need when they run, so that `foltr --help` does not wait for compilers and databases. Exit
codes: 0 it held, 1 it did not, 2 could not tell or bad input. A user's mistake never gets a traceback.
"""

import os
import sys
from typing import NoReturn

from commands import asking, auditing, checking, fuzzing, looking, measuring, operating, running, unlearning
from commands.options import new_app
from learning.errors import LearningError
from protocol.errors import UserError

__all__ = ["app", "main"]

app = new_app(
    "The laboratory for federated online learning to rank: run scenarios as real processes, ask the log in SQL."
)
app.info.epilog = "Begin with: foltr run quickstart"
app.add_typer(running.app)
app.add_typer(unlearning.app)
app.add_typer(operating.app)
app.add_typer(asking.app)
app.add_typer(checking.app)
app.add_typer(auditing.app)
app.add_typer(fuzzing.app)
app.add_typer(measuring.app)
app.add_typer(looking.scenario_app, name="scenario")
app.add_typer(looking.data_app, name="data")


def main() -> None:
    """Run the command line; a user's mistake ends it with one sentence and exit code 2."""
    try:
        app()
    except (UserError, LearningError) as error:
        _give_up(str(error))
    except KeyboardInterrupt:
        _give_up("interrupted")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has seen enough
        sys.exit(0)


def _give_up(sentence: str) -> NoReturn:
    sys.stderr.write(f"foltr: {sentence}\n")
    sys.exit(2)


if __name__ == "__main__":
    main()
