"""The small run, for every test here."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from small_run import play

from analysis import Run, open_run


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small run's directory; tests that change it copy it first."""
    return play(tmp_path_factory.mktemp("runs") / "small" / "20260101-120000-7")


@pytest.fixture
def run(played: Path) -> Iterator[Run]:
    """The small run, opened."""
    with open_run(played) as opened:
        yield opened
