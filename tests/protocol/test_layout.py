"""The table of a run's files, held against what real runs leave."""

import re
import time
from pathlib import Path

from protocol.layout import CONSOLE, CONTROL, ERASURE, FILES, LATEST, PACKED, SCENARIO

NAMES = {"<host>": r"(client|host)-\d+", "<kind>": "[a-z]+"}
PATTERNS = [re.compile(re.sub("<[a-z]+>", lambda name: NAMES[name[0]], re.escape(pattern)) + "$") for pattern in FILES]
OF_UNLEARNING = (ERASURE, "forgetting.svg")  # which no run has that forgot nobody


def files_of(run: Path) -> set[str]:
    """A run's files by their paths in it, and the link beside its scenario's directory."""
    inside = {str(path.relative_to(run)) for path in run.rglob("*") if path.is_file()}
    return inside | {f"../../{path.name}" for path in run.parent.parent.iterdir() if path.is_symlink()}


def test_the_table_has_every_file_of_a_run_while_it_is_live_and_afterwards(foltr, tmp_path):
    """A detached run, stopped and packed, leaves what the table says and nothing else."""
    assert foltr("run", "quickstart", "--set", "rounds=1000000", "--detach").returncode == 0
    run = (tmp_path / "runs" / LATEST).resolve()
    live = files_of(run)
    assert foltr("stop", LATEST).returncode == 0
    until = time.monotonic() + 60
    while "verdict" not in (run / CONSOLE).read_text():  # its summary, which comes last
        assert time.monotonic() < until, "the run does not stop"
        time.sleep(0.05)
    assert foltr("pack", LATEST).returncode == 0
    left = files_of(run)
    assert {SCENARIO, CONTROL, CONSOLE} <= live
    assert {SCENARIO, CONSOLE, PACKED, f"../../{LATEST}"} <= left
    assert CONTROL not in left
    assert [one for one in live | left if not any(pattern.match(one) for pattern in PATTERNS)] == []
    others = [pattern for pattern in PATTERNS if not any(pattern.match(name) for name in OF_UNLEARNING)]
    assert [one.pattern for one in others if not any(one.match(name) for name in live | left)] == []
