"""Compiling ahead of time.

To decide whether machine code on disk is still right, numba looks at the file of the loop itself and not at those of
the loops which that one calls. So what is older than any source that has loops is thrown away here.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher
from numpy.typing import DTypeLike

from learning.aggregation import make_rule
from learning.clicks import click_model
from learning.data.dataset import Queries
from learning.learners import Cohort, Pdgd
from learning.metrics import OfflineEvaluator
from learning.rankers import make_ranker

__all__ = ["is_cold", "warm"]

_SOURCES = Path(__file__).parent.parent
_ENTRIES = ("pdgd._train", "metrics._add_measures", "metrics._fill_ideal", "fedavg._add_weighted")  # Python calls these


def is_cold() -> bool:
    """Whether a loop that Python calls has no machine code on disk that is newer than all sources."""
    newest = _newest_source()
    fresh = {name for name, index in _indices() if index.stat().st_mtime_ns >= newest}
    return not fresh.issuperset(_ENTRIES)


def warm(dtype: DTypeLike) -> None:
    """Run every loop once, on two documents with two features."""
    newest = _newest_source()
    for _, index in _indices():
        if index.stat().st_mtime_ns < newest:
            index.unlink(missing_ok=True)
    documents = np.array([[0.0, 1.0], [1.0, 0.0]], dtype=dtype)
    queries = Queries(documents, np.array([0, 1], dtype=np.int8), np.array([0, 2], dtype=np.int64))
    cohort = Cohort(np.zeros(1, np.uint64), np.ones(1, np.int64), [click_model("perfect", 2)])
    ranker = make_ranker("linear", 2)
    theta = ranker.initial(0)
    update = Pdgd(ranker, queries, cohort, seed=0).train(theta, 0)
    model = make_rule("fedavg")(update.thetas, update.interactions, theta).theta
    OfflineEvaluator(queries, ranker).ndcg(model[np.newaxis])


def _newest_source() -> int:
    sources = (source for source in _SOURCES.rglob("*.py") if "data" not in source.relative_to(_SOURCES).parts)
    return max(source.stat().st_mtime_ns for source in sources)


def _indices() -> Iterator[tuple[str, Path]]:
    """The name (module.function) and the index of each loop of `learning` that has machine code on disk."""
    for loop in _loops():
        name = f"{loop.__module__.rpartition('.')[2]}.{loop.__qualname__}"
        for index in Path(loop.stats.cache_path).glob(f"{name}-*.nbi"):
            yield name, index


def _loops() -> Iterator[Any]:
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "learning":
            for member in vars(module).values():
                if isinstance(member, Dispatcher) and member.__module__ == name:
                    yield member
