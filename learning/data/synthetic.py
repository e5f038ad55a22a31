"""Synthetic data sets with the shape of public ones, made from a seed.

Documents have hidden topics z. A feature is a blurred view of two of them, bell-shaped, skewed or mostly zero, scaled
to [0, 1] within its query and rounded to six decimals, as LETOR files are. A document's utility in query q is

    u = v·z + CROSSED·(sum of products of pairs of topics) + noise_q·ε + offset_q

so that a linear ranker can find only the first part, and queries differ in difficulty (noise_q) and in how many
relevant documents they have (offset_q). The label is the number of thresholds that u reaches; they are quantiles over
the whole set.

Only sums, products, quotients and rounding touch the random numbers: the data have the same bits on every machine.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from learning.data.arrays import SPLITS, Rows, write_split
from learning.data.cache import Facts, Progress
from learning.data.scaling import scale_queries
from learning.errors import DataError, UnknownName
from learning.streams import WORD, Purpose, stream

__all__ = ["SHAPES", "Shape", "SyntheticRecipe"]


@dataclass(frozen=True, slots=True)
class Shape:
    """What a synthetic set has in common with the public one it is named after."""

    queries: tuple[int, int, int]  # train, vali, test
    documents: int  # a query, on average
    features: int
    shares: tuple[float, ...]  # of the labels 0, 1, …
    skewed: float  # the share of the features with a long tail
    sparse: float  # the share of the features that are mostly 0


# MQ2007 has as many queries as the public set; the other three have fewer, so that they are quickly made.
SHAPES: Mapping[str, Shape] = {
    "mq2007": Shape((1_017, 339, 339), 41, 46, (0.74, 0.20, 0.06), skewed=0.3, sparse=0.3),
    "mslr10k": Shape((1_500, 500, 500), 120, 136, (0.52, 0.32, 0.13, 0.02, 0.01), skewed=0.4, sparse=0.2),
    "yahoo": Shape((2_000, 300, 700), 24, 700, (0.26, 0.36, 0.28, 0.08, 0.02), skewed=0.3, sparse=0.4),
    "istella": Shape((1_500, 560, 510), 103, 220, (0.89, 0.02, 0.04, 0.03, 0.02), skewed=0.1, sparse=0.8),
}
LIMITS = {"queries": (1, 100_000), "documents": (2, 1_000), "seed": (0, WORD - 1)}  # of the options

# Half of the topics are loud: the features are full of them and they matter little; the quiet ones matter much. So a
# ranker that learns from clicks climbs at once with the loud topics and goes on climbing slowly with the quiet ones.
TOPICS = 12
LOUD, QUIET = np.arange(TOPICS // 2), np.arange(TOPICS // 2, TOPICS)
LOUDNESS = np.repeat([1.5, 0.3], TOPICS // 2)  # in the features
TASTE = np.repeat([0.4, 1.0], TOPICS // 2)  # the size of v
CROSSED = 0.9
NOISE = (1.0, 3.0)  # the range of noise_q
SPREAD = 3.7  # the standard deviation of offset_q: about every eighth query has no relevant document
BLUR = (0.1, 0.6)  # the range of the features' own noise
BLOCK_VALUES = 1 << 21  # features made at a time
PART_COUNTS, PART_TOPICS, PART_FEATURES = 1, 2, 3  # each has random streams of its own


@dataclass(frozen=True, slots=True)
class SyntheticRecipe:
    """A shape with its options."""

    shape: str
    queries: int  # for training; validation and test in proportion
    documents: int
    seed: int
    scale: str
    dtype: str

    @classmethod
    def of(cls, text: str, fold: int, scale: str, dtype: str) -> Self:
        """The recipe for `SHAPE` or `SHAPE?option=value&option=value`."""
        name, _, options = text.partition("?")
        if name not in SHAPES:
            raise UnknownName("the shape of a synthetic source", name, SHAPES)
        if fold != 1:
            raise DataError(f"fold must be 1 for a synthetic source, got {fold}; ?seed=N gives other data")
        settings = {"queries": SHAPES[name].queries[0], "documents": SHAPES[name].documents, "seed": 1}
        settings.update(_option(option) for option in options.split("&") if option)
        return cls(name, **settings, scale=scale, dtype=dtype)

    def identity(self) -> Mapping[str, object]:
        """All settings."""
        return {"synthetic": asdict(self)}

    def build(self, directory: Path, progress: Progress | None) -> Facts:  # noqa: ARG002 (nothing is read)
        """Make the set; its features are scaled within their query already, so no scaling changes them."""
        shape = SHAPES[self.shape]
        hidden = _Hidden.of(shape, self.seed)
        size = max(1, BLOCK_VALUES // (self.documents * shape.features))
        blocks = {split: list(_blocks(number, self, shape, size)) for number, split in enumerate(SPLITS)}
        thresholds = _thresholds(hidden, [block for split in SPLITS for block in blocks[split]], shape.shares)
        for split in SPLITS:
            documents = sum(int(block.counts.sum()) for block in blocks[split])
            rows = (_rows(hidden, block, thresholds) for block in blocks[split])
            write_split(directory, split, (documents, shape.features), self.dtype, rows)
        scaling = "query" if self.scale == "query" else "none"
        return Facts(f"synthetic:{self.shape}", len(shape.shares), None, scaling, "made with values from 0 to 1")


def _option(option: str) -> tuple[str, int]:
    key, _, value = option.partition("=")
    if key not in LIMITS:
        raise UnknownName("an option of a synthetic source", key, LIMITS)
    least, most = LIMITS[key]
    if not (value.isascii() and value.isdigit() and least <= int(value) <= most):
        raise DataError(f"{key} of a synthetic source must be an integer from {least} to {most}, got {value!r}")
    return key, int(value)


@dataclass(frozen=True, slots=True)
class _Hidden:
    """What the whole set has in common: the hidden ranker, and how features view the topics."""

    taste: NDArray[np.float64]  # v [TOPICS]
    crosses: NDArray[np.int64]  # [2, TOPICS / 2]: the pairs of topics whose product matters
    views: NDArray[np.int64]  # [2, features]: a feature's loud topic and its quiet one
    weights: NDArray[np.float64]  # [2, features]: how much it shows of them
    blur: NDArray[np.float64]  # [features]: how much noise it adds
    skewed: NDArray[np.bool_]  # [features]
    sparse: NDArray[np.bool_]  # [features]

    @classmethod
    def of(cls, shape: Shape, seed: int) -> Self:
        random, features = stream(seed, Purpose.SYNTHETIC), shape.features
        taste = TASTE * random.choice([-1.0, 1.0], TOPICS)
        crosses = random.permutation(TOPICS).reshape(2, -1)
        views = np.stack([random.permutation(np.resize(topics, features)) for topics in (LOUD, QUIET)])
        sizes = random.uniform(0.5, 1, (2, features)) * random.choice([-1.0, 1.0], (2, features))
        blur = random.permutation(np.linspace(*BLUR, features))
        order = random.permutation(features) / features
        sparse = order < shape.sparse
        skewed = ~sparse & (order < shape.sparse + shape.skewed)
        return cls(taste, crosses, views, sizes * LOUDNESS[views], blur, skewed, sparse)


@dataclass(frozen=True, slots=True)
class _Block:
    """Some queries of a split, not yet made; its random streams are its own, so that it can be made again."""

    seed: int
    number: int  # unique in the set
    counts: NDArray[np.int64]  # documents a query

    def stream(self, part: int) -> np.random.Generator:
        return stream(self.seed, Purpose.SYNTHETIC, client=part, round=self.number)


def _blocks(split: int, recipe: SyntheticRecipe, shape: Shape, size: int) -> Iterator[_Block]:
    """The blocks of a split with at most `size` queries each."""
    queries = max(1, round(recipe.queries * shape.queries[split] / shape.queries[0]))
    random = stream(recipe.seed, Purpose.SYNTHETIC, client=PART_COUNTS, round=split)
    drawn = np.rint(random.gamma(4, recipe.documents / 4, queries)).astype(np.int64)
    counts = np.clip(drawn, max(2, recipe.documents // 8), 3 * recipe.documents)
    for number, first in enumerate(range(0, queries, size)):
        yield _Block(recipe.seed, split << 32 | number, counts[first : first + size])


def _thresholds(hidden: _Hidden, blocks: Sequence[_Block], shares: Sequence[float]) -> NDArray[np.float64]:
    """The utilities that labels 1, 2, … start from."""
    ordered = np.sort(np.concatenate([_topics_and_utilities(hidden, block)[1] for block in blocks]))
    places = [min(int(share * len(ordered)), len(ordered) - 1) for share in np.cumsum(shares[:-1])]
    return np.asarray(ordered[places])


def _topics_and_utilities(hidden: _Hidden, block: _Block) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Z [documents, TOPICS] and u [documents]."""
    random = block.stream(PART_TOPICS)
    documents, queries = int(block.counts.sum()), len(block.counts)
    noise, offset = random.uniform(*NOISE, queries), SPREAD * random.standard_normal(queries)
    topics = random.standard_normal((documents, TOPICS))
    utilities = np.repeat(noise, block.counts) * random.standard_normal(documents) + np.repeat(offset, block.counts)
    for topic in range(TOPICS):  # a loop, not a matrix product: the order of its sums depends on the machine
        utilities += hidden.taste[topic] * topics[:, topic]
    for one, other in hidden.crosses.T:
        utilities += CROSSED * (topics[:, one] * topics[:, other])
    return topics, utilities


def _rows(hidden: _Hidden, block: _Block, thresholds: NDArray[np.float64]) -> Rows:
    topics, utilities = _topics_and_utilities(hidden, block)
    random = block.stream(PART_FEATURES)
    features = hidden.blur * random.standard_normal((len(topics), len(hidden.blur)))
    for views, weights in zip(hidden.views, hidden.weights, strict=True):
        features += weights * topics[:, views]
    tail = np.maximum(features[:, hidden.skewed] + 1, 0)
    features[:, hidden.skewed] = tail * tail * tail
    # a query sees more or less of a sparse feature, sometimes nothing
    silence = np.repeat(1 + random.standard_normal((len(block.counts), int(hidden.sparse.sum()))), block.counts, axis=0)
    features[:, hidden.sparse] = np.maximum(features[:, hidden.sparse] - silence, 0)
    scaled = scale_queries(features, np.concatenate([[0], np.cumsum(block.counts)]))
    labels = np.searchsorted(thresholds, utilities, "right").astype(np.int8)
    return np.round(scaled, 6), labels, block.counts
