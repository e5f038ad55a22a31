"""How fast data are parsed, opened again and made, each beside a floor measured in the same run."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

import numpy as np

from bench.measurement import Measurement, at_least, at_most
from learning.data import Dataset, Queries, describe, open_dataset
from learning.data.arrays import SPLITS, array_names

__all__ = ["measure"]

SYNTHETIC = "synthetic:mq2007"
REPEATS = 3  # the least of them counts


def measure() -> list[Measurement]:
    """Parsing, opening again, making."""
    before = os.environ.get("FOLTR_CACHE")
    try:
        with TemporaryDirectory() as scratch:
            return _measure_in(Path(scratch))
    finally:
        os.environ.pop("FOLTR_CACHE")
        if before is not None:
            os.environ["FOLTR_CACHE"] = before


def _measure_in(scratch: Path) -> list[Measurement]:
    data = _open_cold(SYNTHETIC, scratch)
    folder = scratch / "letor"
    folder.mkdir()
    for split in SPLITS:
        _write_letor(folder / f"{split}.txt", getattr(data, split))
    files = list(folder.iterdir())
    megabytes = sum(path.stat().st_size for path in files) / 1e6
    _open_cold(f"letor:{folder}", scratch)  # compiles the parser

    parse = megabytes / _least(lambda: _open_cold(f"letor:{folder}", scratch))
    plain = megabytes / _least(lambda: [_parse_plainly(path) for path in files])
    make = _least(lambda: _open_cold(SYNTHETIC, scratch))
    draw = _least(lambda: np.random.default_rng(1).standard_normal((data.train.documents, data.dimension)))
    entry = Path(describe(SYNTHETIC).cache)
    reopen = 1e3 * _least(lambda: open_dataset(SYNTHETIC))
    mapped = 1e3 * _least(lambda: [np.load(entry / name, mmap_mode="r") for name in array_names()])
    return [
        at_least("parse LETOR text into the cache (floor: split, float)", parse, "MB/s", plain, limit=30),
        at_most("open a cached data set (floor: mapping its arrays)", reopen, "ms", mapped, limit=50),
        at_most("make synthetic:mq2007 (floor: drawing its training numbers)", make, "s", draw, limit=2),
    ]


def _least(action: Callable[[], object]) -> float:
    """The least seconds of some repeats."""
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def _open_cold(source: str, scratch: Path) -> Dataset:
    """Open a source with an empty cache."""
    os.environ["FOLTR_CACHE"] = mkdtemp(dir=scratch)
    return open_dataset(source)


def _write_letor(path: Path, queries: Queries) -> None:
    with path.open("w") as file:
        for query in range(len(queries)):
            for row in range(queries.offsets[query], queries.offsets[query + 1]):
                pairs = " ".join(f"{index}:{value:.6f}" for index, value in enumerate(queries.features[row], 1))
                file.write(f"{queries.labels[row]} qid:{query} {pairs}\n")


def _parse_plainly(path: Path) -> list[list[float]]:
    return [[float(pair.partition(":")[2]) for pair in line.split()[2:]] for line in path.read_text().splitlines()]
