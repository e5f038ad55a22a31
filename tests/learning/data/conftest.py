"""Every test has a data cache of its own."""

from pathlib import Path

import pytest

REAL = Path(__file__).parents[4] / "shared" / "data"


@pytest.fixture(autouse=True)
def cache_home(tmp_path, monkeypatch):
    """The directory that FOLTR_CACHE names."""
    home = tmp_path / "cache"
    monkeypatch.setenv("FOLTR_CACHE", str(home))
    return home


@pytest.fixture
def real_data():
    """The folder with real data sets."""
    if not REAL.is_dir():
        pytest.skip("the real data sets are not beside the checkout")
    return REAL


@pytest.fixture
def write_fold(tmp_path):
    """Write a folder with the given train, vali and test texts; returns its source."""

    def write(train, test=b"0 qid:9 1:0.5\n1 qid:9 1:1\n", vali=None, folder="set"):
        place = tmp_path / folder
        place.mkdir(exist_ok=True)
        for split, text in (("train", train), ("vali", vali), ("test", test)):
            if text is not None:
                (place / f"{split}.txt").write_bytes(text)
        return f"letor:{place}"

    return write
