"""Learning-to-rank data: LETOR text and synthetic sets as cached, memory-mapped, ragged arrays."""

from learning.data.dataset import Dataset, Features, Queries
from learning.data.description import Description, SplitDescription, describe
from learning.data.sources import check_source, open_dataset

__all__ = [
    "Dataset",
    "Description",
    "Features",
    "Queries",
    "SplitDescription",
    "check_source",
    "describe",
    "open_dataset",
]
