"""What a `source` names: `letor:PATH` or `synthetic:SHAPE?option=value&…`."""

from pathlib import Path

from learning.data.cache import Entry, Progress, Recipe, fetch
from learning.data.dataset import Dataset
from learning.data.letor import LetorRecipe, find_files
from learning.data.synthetic import SyntheticRecipe
from learning.errors import DataError, UnknownName

__all__ = ["check_source", "open_dataset", "open_entry"]

SCALES = ("auto", "query", "none")
DTYPES = ("float32", "float64")


def open_dataset(
    source: str,
    *,
    fold: int = 1,
    scale: str = "auto",
    dtype: str = "float32",
    progress: Progress | None = None,
) -> Dataset:
    """Memory-map a data set; make it first if it is not in the cache.

    scale: "query" is per-query min-max scaling, "none" is none, "auto" is what the set is commonly used with.
    progress(done, total) is called while LETOR text is parsed, in bytes.
    """
    entry = open_entry(source, fold=fold, scale=scale, dtype=dtype, progress=progress)
    return Dataset(entry.facts.name, entry.facts.levels, **entry.splits)


def open_entry(source: str, *, fold: int, scale: str, dtype: str, progress: Progress | None = None) -> Entry:
    """Open a source's cache entry: the data set's arrays and the facts about it."""
    if scale not in SCALES:
        raise UnknownName("scale", scale, SCALES)
    if dtype not in DTYPES:
        raise UnknownName("dtype", dtype, DTYPES)
    kind, rest = _split_source(source)
    recipe: Recipe
    if kind == "letor":
        recipe = LetorRecipe.of(_folder(rest), fold, scale, dtype)
    else:
        recipe = SyntheticRecipe.of(rest, fold, scale, dtype)
    return fetch(recipe, progress)


def check_source(source: str, fold: int = 1) -> None:
    """Refuse a source that cannot be opened, as far as that shows without reading data."""
    kind, rest = _split_source(source)
    if kind == "letor":
        find_files(_folder(rest), fold)
    else:
        SyntheticRecipe.of(rest, fold, "auto", "float32")


def _split_source(source: str) -> tuple[str, str]:
    kind, colon, rest = source.partition(":")
    if kind not in ("letor", "synthetic") or not colon or not rest:
        raise DataError(f"a data source must be letor:PATH or synthetic:SHAPE, got {source!r}")
    return kind, rest


def _folder(path: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise DataError(f"a letor source must be a folder, got {path} ({error})") from error
