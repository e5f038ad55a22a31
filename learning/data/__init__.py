"""Learning-to-rank data: LETOR text and synthetic sets as cached, memory-mapped, ragged arrays."""

from learning.data.dataset import Dataset, Features, Queries
from learning.data.sources import check_source, open_dataset

__all__ = ["Dataset", "Features", "Queries", "check_source", "open_dataset"]
