"""How a node's process lives and dies: visible in `ps`, deaf to Ctrl-C, never outliving its supervisor.

On Linux the kernel does it: a process asks to be killed when its parent dies. The forkserver asks it of the supervisor,
every node of the forkserver, so that `kill -9` of the supervisor ends them all, paused ones too. Elsewhere a thread
waits for the supervisor's end.
"""

import ctypes
import os
import signal
import sys
import threading
from multiprocessing import connection, parent_process
from typing import Final

import setproctitle

__all__ = ["die_with_parent", "live_as_node"]

_PR_SET_PDEATHSIG: Final = 1  # prctl(2)


def live_as_node(name: str, run: str) -> None:
    """Take the node's name, leave Ctrl-C to the supervisor, and die with it."""
    setproctitle.setproctitle(f"foltr {name} {run}")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    parent = parent_process()
    if parent is not None and not sys.platform.startswith("linux"):
        threading.Thread(target=_end_after, args=(parent.sentinel,), daemon=True).start()


def die_with_parent() -> None:
    """Ask the kernel for SIGKILL when the parent process dies; end now if it is dead already."""
    if not sys.platform.startswith("linux"):
        return
    before = os.getppid()
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != before:
        os.kill(os.getpid(), signal.SIGKILL)


def _end_after(sentinel: int) -> None:
    connection.wait([sentinel])
    os.kill(os.getpid(), signal.SIGKILL)
