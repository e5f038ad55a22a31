"""A run in the background: its supervisor leaves the terminal, and the command returns when it is live."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NoReturn

from protocol.errors import UserError
from protocol.layout import CONSOLE
from protocol.presence import is_live

__all__ = ["detach"]

PATIENCE: Final = 120.0  # seconds to become live; the first run of a machine compiles its kernels


def detach(run: Path, supervise: Callable[[], int]) -> int:
    """Let a process of its own supervise; its pid, once the run is live. Nothing may have started a thread before."""
    pid = os.fork()
    if pid == 0:
        _leave_terminal(run, supervise)
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        ended, _ = os.waitpid(pid, os.WNOHANG)
        if ended:
            raise UserError(f"the run ended at its start: {(run / CONSOLE).read_text().strip() or 'without a word'}")
        if is_live(run):
            return pid
        time.sleep(0.02)
    raise UserError(f"the run is not live after {PATIENCE:g} s; {run / CONSOLE} may tell why")


def _leave_terminal(run: Path, supervise: Callable[[], int]) -> NoReturn:
    os.setsid()
    with (run / CONSOLE).open("w") as console, Path(os.devnull).open() as nothing:
        os.dup2(nothing.fileno(), sys.stdin.fileno())
        os.dup2(console.fileno(), sys.stdout.fileno())
        os.dup2(console.fileno(), sys.stderr.fileno())
    code = 2
    try:
        code = supervise()
    except UserError as error:
        sys.stderr.write(f"foltr: {error}\n")
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
