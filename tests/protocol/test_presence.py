"""A run is live while the process that acts it out is there, and no longer."""

import json
import subprocess
import sys

from protocol.layout import CONTROL
from protocol.presence import announce, is_live, supervisor_of, withdraw


def test_a_run_is_live_until_it_is_withdrawn(tmp_path):
    """What was announced is told, to nobody but the file's owner."""
    assert not is_live(tmp_path)
    announce(tmp_path, endpoint="here")
    assert supervisor_of(tmp_path)["endpoint"] == "here"
    assert (tmp_path / CONTROL).stat().st_mode & 0o077 == 0
    withdraw(tmp_path)
    assert not is_live(tmp_path)


def test_a_file_that_a_dead_process_left_means_nothing(tmp_path):
    """Nor does one whose process number belongs to somebody else now, or one that is damaged."""
    code = f"from pathlib import Path; from protocol.presence import announce; announce(Path({str(tmp_path)!r}))"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert not is_live(tmp_path)
    announce(tmp_path)
    facts = json.loads((tmp_path / CONTROL).read_text())
    (tmp_path / CONTROL).write_text(json.dumps(facts | {"created": facts["created"] - 100}))
    assert not is_live(tmp_path)
    (tmp_path / CONTROL).write_text('{"pid": 1, "cre')
    assert not is_live(tmp_path)
