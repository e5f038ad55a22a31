"""A data set in numbers: what `foltr data describe` shows."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from learning.data.arrays import SPLITS
from learning.data.cache import Progress
from learning.data.dataset import Queries
from learning.data.sources import open_entry

__all__ = ["Description", "SplitDescription", "describe"]


@dataclass(frozen=True, slots=True)
class SplitDescription:
    """One split in numbers."""

    queries: int
    documents: int
    labels: tuple[int, ...]  # how many documents have the label 0, 1, …
    queries_without_relevant: int  # all their documents have the label 0
    documents_min: int  # a query; 0 in an empty split
    documents_median: float
    documents_max: int


@dataclass(frozen=True, slots=True)
class Description:
    """A data set in numbers."""

    source: str
    fold: int
    name: str
    recognised: str | None  # the public set of this shape
    features: int
    levels: int
    scaling: str  # what was applied: "query" or "none"
    scaling_reason: str
    dtype: str
    memory_bytes: int  # of all arrays
    cache: str  # the directory that holds them
    splits: dict[str, SplitDescription]  # train, vali, test

    def as_dict(self) -> dict[str, Any]:
        """The same as plain JSON values."""
        return asdict(self)


def describe(
    source: str,
    *,
    fold: int = 1,
    scale: str = "auto",
    dtype: str = "float32",
    progress: Progress | None = None,
) -> Description:
    """Describe what `open_dataset` opens with the same arguments."""
    entry = open_entry(source, fold=fold, scale=scale, dtype=dtype, progress=progress)
    facts, splits = entry.facts, [entry.splits[split] for split in SPLITS]
    return Description(
        source=source,
        fold=fold,
        name=facts.name,
        recognised=facts.recognised,
        features=splits[0].features.shape[1],
        levels=facts.levels,
        scaling=facts.scaling,
        scaling_reason=facts.reason,
        dtype=dtype,
        memory_bytes=sum(one.features.nbytes + one.labels.nbytes + one.offsets.nbytes for one in splits),
        cache=str(entry.directory),
        splits={split: _describe_split(entry.splits[split], facts.levels) for split in SPLITS},
    )


def _describe_split(split: Queries, levels: int) -> SplitDescription:
    labels = tuple(np.bincount(split.labels, minlength=levels).tolist())
    if len(split) == 0:
        return SplitDescription(0, 0, labels, 0, 0, 0.0, 0)
    counts = np.diff(split.offsets)
    top = np.maximum.reduceat(split.labels, split.offsets[:-1])
    without = int(np.count_nonzero(top == 0))
    sizes = int(counts.min()), float(np.median(counts)), int(counts.max())
    return SplitDescription(len(split), split.documents, labels, without, *sizes)
