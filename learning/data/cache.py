"""Data sets as memory-mapped arrays on disk: built once, checked at every opening, rebuilt when damaged.

An entry is a directory named by the hash of everything that determines its bytes. It is built in a directory beside its
place and renamed when whole, its manifest written last. One process builds; others wait for its lock and find it done.
"""

import fcntl
import hashlib
import json
import os
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

import platformdirs

from learning.data.arrays import SPLITS, array_names, map_split
from learning.data.dataset import Queries
from learning.errors import DataError

__all__ = ["Entry", "Facts", "Progress", "Recipe", "cache_root", "fetch", "stamp"]

Progress = Callable[[int, int], None]  # bytes done, bytes in all

FORMAT = 2  # raise it whenever a recipe's bytes change: a parser's or a generator's rule, the layout of an entry
MANIFEST = "manifest.json"
ALWAYS_SUMMED = 1 << 20  # bytes; a larger array is summed again only when its file was touched since it was built


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a data set beside its arrays."""

    name: str
    levels: int
    recognised: str | None  # the public set of this shape
    scaling: str  # "query" or "none"
    reason: str  # why so


class Recipe(Protocol):
    """How to make a data set."""

    def identity(self) -> Mapping[str, object]:
        """Everything that determines the bytes, as JSON values."""

    def build(self, directory: Path, progress: Progress | None) -> Facts:
        """Write the three splits into the directory."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An opened data set; its arrays are memory-mapped and read-only."""

    directory: Path
    facts: Facts
    splits: Mapping[str, Queries]


def cache_root() -> Path:
    """Where entries are kept: under FOLTR_CACHE, or under the user's cache directory."""
    chosen = os.environ.get("FOLTR_CACHE") or platformdirs.user_cache_dir("foltr")
    return Path(chosen).expanduser().absolute() / "datasets"


def stamp(path: Path) -> list[int]:
    """What changes with a file: its size, the times of its last change and of its inode's (ns), its inode."""
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def fetch(recipe: Recipe, progress: Progress | None = None) -> Entry:
    """Open the entry of a recipe; build it first if it is missing or damaged."""
    root = cache_root()
    directory = root / hashlib.sha256(_json({"format": FORMAT, **recipe.identity()})).hexdigest()[:32]
    entry = _open(directory)
    if entry is not None:
        return entry
    try:
        root.mkdir(parents=True, exist_ok=True)
        with _locked(directory.with_suffix(".lock")):
            # another process may have built it while this one waited
            return _open(directory) or _build(recipe, directory, progress)
    except OSError as error:
        raise DataError(
            f"the data cache needs a writable directory with room: {error.strerror or error} in {root}; "
            f"set FOLTR_CACHE to another directory"
        ) from error


def _build(recipe: Recipe, directory: Path, progress: Progress | None) -> Entry:
    """Build the entry beside its place, open it and rename it there; a failure leaves nothing behind.

    The lock is held. Open arrays stay valid under the new name, whatever happens to it afterwards.
    """
    scratch = directory.with_suffix(".building")
    if scratch.exists():  # its builder was killed
        shutil.rmtree(scratch)
    scratch.mkdir()
    try:
        facts = recipe.build(scratch, progress)
        _write_manifest(scratch, facts)
        splits = _map_splits(scratch)
        if directory.exists():  # damaged; whoever has it open keeps the files
            shutil.rmtree(directory)
        scratch.rename(directory)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    return Entry(directory, facts, splits)


def _write_manifest(directory: Path, facts: Facts) -> None:
    arrays = {name: {"stamp": stamp(directory / name), "sum": _sum(directory / name)} for name in array_names()}
    content = {"facts": asdict(facts), "arrays": arrays}
    (directory / MANIFEST).write_bytes(_json({"content": content, "sum": zlib.crc32(_json(content))}))


def _open(directory: Path) -> Entry | None:
    """The entry, or None if it is missing or damaged."""
    try:
        manifest = json.loads((directory / MANIFEST).read_bytes())
        content = manifest["content"]
        if manifest["sum"] != zlib.crc32(_json(content)):
            return None
        if not all(_is_intact(directory / name, content["arrays"][name]) for name in array_names()):
            return None
        return Entry(directory, Facts(**content["facts"]), _map_splits(directory))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _map_splits(directory: Path) -> Mapping[str, Queries]:
    return {split: map_split(directory, split) for split in SPLITS}


def _is_intact(path: Path, recorded: Mapping[str, object]) -> bool:
    now = stamp(path)
    untouched = now == recorded["stamp"]
    return (untouched and now[0] > ALWAYS_SUMMED) or _sum(path) == recorded["sum"]


def _sum(path: Path) -> int:
    total = 0
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            total = zlib.crc32(chunk, total)
    return total


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock file alone and remove it afterwards; the kernel lets go of a killed holder's lock."""
    with _lock_file(path):
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _lock_file(path: Path) -> BinaryIO:
    """The locked file; one that another holder removed during the wait locks nobody out, so it is tried again."""
    while True:
        file = path.open("ab")
        fcntl.flock(file, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if path.stat().st_ino == os.fstat(file.fileno()).st_ino:
                return file
        file.close()
