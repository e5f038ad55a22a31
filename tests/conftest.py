"""What all tests share: a cache of their own, the command as a user calls it, and small real files to learn from."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
COMMAND = Path(sys.executable).with_name("foltr")


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data sets are cached for these tests alone."""
    cache = tmp_path_factory.mktemp("cache")
    os.environ["FOLTR_CACHE"] = str(cache)
    return cache


@pytest.fixture
def foltr(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Call the command in an empty directory, as a user would, and wait for its end."""

    def call(*arguments: str, timeout: float = 60, text: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [COMMAND, *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=timeout,
            input=text,
            check=False,
        )

    return call


@pytest.fixture
def start_foltr(tmp_path: Path):
    """Start the command and go on; whatever is left of it ends with the test."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [COMMAND, *arguments], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def letor_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small data set in LETOR's text format: 60 + 20 + 20 queries, 12 features, labels 0 to 2."""
    folder = tmp_path_factory.mktemp("letor")
    rng = np.random.default_rng(20)
    hidden = rng.normal(size=12)
    for split, queries in (("train", 60), ("vali", 20), ("test", 20)):
        lines = []
        for query in range(queries):
            features = rng.random((int(rng.integers(3, 25)), 12))
            grade = features @ hidden + rng.normal(scale=0.5, size=len(features))
            labels = np.digitize(grade, np.quantile(grade, [0.6, 0.9]))
            for label, row in zip(labels, features, strict=True):
                values = " ".join(f"{place}:{value:.6f}" for place, value in enumerate(row, start=1))
                lines.append(f"{label} qid:{query} {values} # document")
        (folder / f"{split}.txt").write_text("\n".join(lines) + "\n")
    return folder
