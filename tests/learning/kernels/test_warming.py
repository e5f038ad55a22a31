"""Compiling ahead of time."""

import sys

import learning
from learning.kernels import warming


def test_after_warming_nothing_has_to_be_compiled(monkeypatch):
    """Machine code that is newer than the sources is warm, and older machine code is cold."""
    learning.warm("float64")
    monkeypatch.setattr(warming, "_newest_source", lambda: 0)
    assert not learning.is_cold()
    monkeypatch.setattr(warming, "_newest_source", lambda: sys.maxsize)
    assert learning.is_cold()


def test_the_loops_that_python_calls_exist():
    """Each entry names a loop of the package; a renamed one would be cold for ever."""
    names = {f"{loop.__module__.rpartition('.')[2]}.{loop.__qualname__}" for loop in warming._loops()}
    assert names.issuperset(warming._ENTRIES)
