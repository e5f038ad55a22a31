"""LETOR folders: which files a fold is, and how they become a data set.

Two passes over the text: the first finds the shape, the largest label and the range of the values, which decide the
scaling; the second writes dense rows. Neither holds more than some blocks in memory.
"""

import gzip
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Self, cast

import numpy as np
from numpy.typing import NDArray

from learning.data.arrays import SPLITS, Rows, write_split
from learning.data.cache import Facts, Progress
from learning.data.fingerprint import content_hash
from learning.data.known import levels_of, recognise
from learning.data.parsing import Block, read_blocks
from learning.data.scaling import scale_queries
from learning.errors import DataError

__all__ = ["LetorRecipe", "find_files"]

DENSE_VALUES = 1 << 21  # values made dense at a time, 16 MB
FOLD = re.compile(r"Fold([1-9][0-9]*)")


def find_files(folder: Path, fold: int) -> dict[str, Path]:
    """The text files of a fold by split: train, test and, where there is one, vali."""
    with _readable(folder):
        if not folder.is_dir():
            raise DataError(f"a letor source must be a folder, got {folder}")
        folds = sorted(int(match[1]) for one in folder.iterdir() if (match := FOLD.fullmatch(one.name)))
    if folds and fold not in folds:
        raise DataError(f"fold must be one of {', '.join(map(str, folds))} in {folder}, got {fold}")
    if not folds and fold != 1:
        raise DataError(f"fold must be 1 in {folder}, which has no folders Fold1, Fold2, …; got {fold}")
    place = folder / f"Fold{fold}" if folds else folder
    files = {split: path for split in SPLITS if (path := _find_file(place, split))}
    for split in ("train", "test"):
        if split not in files:
            raise DataError(f"{place} must hold {split}.txt or {split}.txt.gz")
    return files


def _find_file(place: Path, split: str) -> Path | None:
    found = [path for name in (f"{split}.txt", f"{split}.txt.gz") if (path := place / name).is_file()]
    if len(found) > 1:
        raise DataError(f"{place} must hold one of {split}.txt and {split}.txt.gz, got both")
    return found[0] if found else None


@dataclass(frozen=True, slots=True)
class LetorRecipe:
    """One fold of a LETOR folder, with the content hashes its files had when the recipe was made."""

    name: str  # of the folder: an unknown set is called by it
    fold: int
    files: Mapping[str, Path]
    hashes: Mapping[str, str]
    scale: str  # "auto", "query" or "none"
    dtype: str

    @classmethod
    def of(cls, folder: Path, fold: int, scale: str, dtype: str) -> Self:
        """The recipe for a fold of a folder."""
        files = find_files(folder, fold)
        hashes = {split: _hash(path) for split, path in files.items()}
        return cls(folder.resolve().name, fold, files, hashes, scale, dtype)

    def identity(self) -> Mapping[str, object]:
        """The content of the files and the settings, not where the files are."""
        settings = {"name": self.name, "fold": self.fold, "scale": self.scale, "dtype": self.dtype}
        return {"letor": dict(self.hashes), **settings}

    def build(self, directory: Path, progress: Progress | None) -> Facts:
        """Parse the files."""
        meter = _Meter(progress, 2 * sum(_size(path) for path in self.files.values()))
        surveys = {split: _survey(path, meter) for split, path in self.files.items()}
        dimension = max(survey.dimension for survey in surveys.values())
        if not dimension:
            raise DataError(f"the documents of {self.name} must have at least one feature, got none")
        facts = self._facts(list(surveys.values()))
        for split in SPLITS:
            documents = surveys[split].documents if split in surveys else 0
            rows = _rows(self.files[split], meter, dimension, facts.scaling) if split in surveys else iter(())
            write_split(directory, split, (documents, dimension), self.dtype, rows)
        for split, path in self.files.items():
            if _hash(path) != self.hashes[split]:
                raise DataError(f"{path} must not change while it is read")
        return facts

    def _facts(self, surveys: list["_Survey"]) -> Facts:
        top_label = max(survey.top_label for survey in surveys)
        low, high = min(survey.low for survey in surveys), max(survey.high for survey in surveys)
        known = recognise(max(one.dimension for one in surveys), top_label, sum(one.queries for one in surveys))
        if self.scale != "auto":
            scaling, reason = self.scale, f"scale = {self.scale}"
        elif known:
            scaling, reason = "query" if known.scaled else "none", f"as the literature uses {known.name}"
        elif low < 0 or high > 1:
            scaling, reason = "query", f"an unknown set with values from {low:g} to {high:g}, outside 0 to 1"
        else:
            scaling, reason = "none", "an unknown set with all values from 0 to 1"
        name = known.name if known else self.name
        return Facts(name, levels_of(top_label, self.name), known.name if known else None, scaling, reason)


@dataclass(frozen=True, slots=True)
class _Survey:
    """What the first pass over a file finds."""

    queries: int
    documents: int
    dimension: int
    top_label: int
    low: float
    high: float


class _Meter:
    """Bytes done of bytes in all, over several files."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def advance(self, read: int) -> None:
        """Report so many more bytes read."""
        self._done += read
        if self._progress:
            self._progress(min(self._done, self._total), self._total)


def _survey(path: Path, meter: _Meter) -> _Survey:
    queries = documents = dimension = top_label = 0
    low = high = 0.0
    for block in _blocks(path, meter):
        queries += len(block.offsets) - 1
        documents += len(block.labels)
        top_label = max(top_label, int(block.labels.max()))
        if len(block.indices):
            dimension = max(dimension, int(block.indices.max()) + 1)
            low, high = min(low, float(block.values.min())), max(high, float(block.values.max()))
    if not queries:
        raise DataError(f"{path} must hold at least one document, got none")
    levels_of(top_label, path)
    return _Survey(queries, documents, dimension, top_label, low, high)


def _rows(path: Path, meter: _Meter, dimension: int, scaling: str) -> Iterator[Rows]:
    """The file's features, dense and scaled, its labels and its documents a query, some whole queries at a time."""
    for block in _blocks(path, meter):
        first = 0
        while first < len(block.offsets) - 1:
            most = block.offsets[first] + max(1, DENSE_VALUES // dimension)
            last = max(first + 1, int(np.searchsorted(block.offsets, most, "right")) - 1)
            offsets = block.offsets[first : last + 1]
            features = _dense(block, int(offsets[0]), int(offsets[-1]), dimension)
            if scaling == "query":
                features = scale_queries(features, offsets - offsets[0])
            yield features, block.labels[offsets[0] : offsets[-1]], np.diff(offsets)
            first = last


def _dense(block: Block, first: int, last: int, dimension: int) -> NDArray[np.float64]:
    features = np.zeros((last - first, dimension))
    entries = slice(int(block.stops[first]), int(block.stops[last]))
    rows = np.repeat(np.arange(last - first), np.diff(block.stops[first : last + 1]))
    features[rows, block.indices[entries]] = block.values[entries]
    return features


def _blocks(path: Path, meter: _Meter) -> Iterator[Block]:
    """The file's blocks; reports the bytes of the file itself, compressed or not."""
    with _readable(path), path.open("rb") as raw:
        stream = cast("BinaryIO", gzip.GzipFile(fileobj=raw)) if path.suffix == ".gz" else raw
        done = 0
        try:
            for block in read_blocks(stream, str(path)):
                yield block
                meter.advance(raw.tell() - done)
                done = raw.tell()
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DataError(f"{path} must be a whole gzip file, got a truncated or damaged one ({error})") from error


def _hash(path: Path) -> str:
    with _readable(path):
        return content_hash(path)


def _size(path: Path) -> int:
    with _readable(path):
        return path.stat().st_size


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Data that cannot be read is the source's error, not the cache's."""
    try:
        yield
    except OSError as error:
        raise DataError(f"{path} must be readable, got {error.strerror or error}") from error
