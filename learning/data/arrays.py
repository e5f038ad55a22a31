"""The arrays of one split as .npy files: written block by block, read back as memory maps."""

import errno
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from learning.data.dataset import Queries
from learning.errors import DataError

__all__ = ["SPLITS", "Rows", "array_names", "map_split", "write_split"]

SPLITS = ("train", "vali", "test")
Rows = tuple[NDArray[np.float64], NDArray[np.int8], NDArray[np.int64]]  # features, labels, documents a query
ARRAYS = ("features", "labels", "offsets")


def array_names() -> list[str]:
    """The files of a whole data set."""
    return [f"{split}.{array}.npy" for split in SPLITS for array in ARRAYS]


def write_split(
    directory: Path,
    split: str,
    shape: tuple[int, int],
    dtype: str,
    rows: Iterable[Rows],
) -> None:
    """Write a split of shape (documents, dimension) from the rows of consecutive queries.

    Plain writes, not a memory map: on a full disk a write raises, a map would end the process.
    """
    needed, free = shape[0] * shape[1] * np.dtype(dtype).itemsize, shutil.disk_usage(directory).free
    if needed > free:  # rather than fill the disk first
        raise OSError(errno.ENOSPC, f"{needed:,} bytes needed, {free:,} free")
    labels, counts = [np.empty(0, np.int8)], [np.zeros(1, np.int64)]
    with (directory / f"{split}.features.npy").open("wb") as file:
        _write_header(file, np.dtype(dtype), shape)
        for block_features, block_labels, block_counts in rows:
            file.write(_converted(block_features, dtype).data)
            labels.append(block_labels)
            counts.append(block_counts)
    for name, array in (("labels", np.concatenate(labels)), ("offsets", np.cumsum(np.concatenate(counts)))):
        with (directory / f"{split}.{name}.npy").open("wb") as file:
            _write_header(file, array.dtype, array.shape)
            file.write(array.data)


def map_split(directory: Path, split: str) -> Queries:
    """The split as read-only memory maps.

    They are plain arrays over the maps: numba looks up the type of a `numpy.memmap` slowly at every call.
    """
    return Queries(*(np.asarray(np.load(directory / f"{split}.{array}.npy", mmap_mode="r")) for array in ARRAYS))


def _converted(features: NDArray[np.float64], dtype: str) -> NDArray[Any]:
    with np.errstate(over="ignore"):  # said below, with what helps
        converted = np.ascontiguousarray(features, dtype)
    if not np.isfinite(converted).all():
        largest = np.abs(features).max()
        raise DataError(f"a feature must fit {dtype}, got {largest:g}; scale = query or dtype = float64 helps")
    return converted


def _write_header(file: BinaryIO, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    description = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, description)
