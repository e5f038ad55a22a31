"""Compiling ahead of time."""

import learning
from learning.kernels import compiling, warming


def test_after_warming_nothing_has_to_be_compiled(monkeypatch, tmp_path):
    """Where the machine code of a run is on disk it is warm, and an empty directory is cold."""
    learning.warm("float64")
    assert not learning.is_cold()
    monkeypatch.setattr(warming, "code_directory", lambda: tmp_path)
    assert learning.is_cold()


def test_machine_code_is_kept_by_the_contents_of_the_sources(monkeypatch, tmp_path):
    """Changing a loop that others call moves all machine code elsewhere; changing a file without loops does not."""
    (tmp_path / "kernels").mkdir()
    loops, other = tmp_path / "loops.py", tmp_path / "other.py"
    loops.write_text("@compiled\ndef one(): ...\n")
    other.write_text("word = 1\n")
    monkeypatch.setattr(compiling, "__file__", str(tmp_path / "kernels" / "compiling.py"))
    where = compiling.code_directory.__wrapped__
    before = where()
    other.write_text("word = 2\n")
    assert where() == before
    loops.write_text("@compiled\ndef two(): ...\n")
    assert where() != before
    assert where().parent == before.parent
