"""Pairwise Differentiable Gradient Descent on the clients of one host (Wang et al., ICTIR 2021, §3.1 and Algorithm 1).

One interaction: a query drawn uniformly from the whole split; a list of k = min(at, documents) drawn from the
Plackett–Luce model of the scores; the user's clicks; and for each clicked document d over each unclicked one e among
the ranks examined, 1 … min(last click + 1, k),

    θ ← θ + η Σ rho(d, e)·σ'(f(d) − f(e))·(f'(d) − f'(e))

Draws, all from the client's stream (seed, TRAIN, client key, round) by `Generator.random()`, in this order: first one
for the query of each interaction, ⌊u·queries⌋; then for each interaction one for each rank of its list
(`learners.plackett_luce.sample_list`), one for each rank looked at and one after each click
(`clicks.simulation.click_list`). The queries come first so that the next one's features can be fetched in time.
"""

import math
from typing import Literal, get_args

import numpy as np

from learning.clicks.simulation import click_list
from learning.data.dataset import Features, Queries
from learning.errors import LearningError, UnknownName
from learning.kernels.arrays import Bits, Integers, Labels, Reals, Words
from learning.kernels.compiling import compiled
from learning.kernels.fetching import fetch
from learning.kernels.philox import GENERATOR_WORDS, restart, uniform
from learning.learners.cohort import Cohort, LocalUpdates
from learning.learners.plackett_luce import BLOCK, pair_factors, sample_list
from learning.learners.searching import Searching
from learning.rankers.ranker import Ranker
from learning.rankers.scoring import add_gradient, score
from learning.streams import Purpose

__all__ = ["Pdgd", "Update"]

Update = Literal["interaction", "batch"]

_TRAIN = np.uint64(Purpose.TRAIN)


class Pdgd:
    """PDGD for a cohort: a client's update depends on (seed, client key, round, θ) and on nobody else.

    update = "interaction": a client's interactions are as many sequential updates of its θ. "batch": all are at the
    round's θ, their gradients are summed, and the client updates once.
    bound: after every update, also one without a click, θ ← θ·min(1, bound/‖θ‖₂); infinite: never. The θ that a round
    starts from is taken as it is (Wang et al., ICTIR 2021, Algorithm 3).
    """

    def __init__(
        self,
        ranker: Ranker,
        queries: Queries,
        cohort: Cohort,
        *,
        seed: int,
        learning_rate: float = 0.1,
        update: Update = "interaction",
        at: int = 10,
        bound: float = np.inf,
    ) -> None:
        if not (np.isfinite(learning_rate) and learning_rate > 0):
            raise LearningError(f"the learning rate must be a finite number above 0; got {learning_rate}")
        if not bound > 0:
            raise LearningError(f"the bound of a model's norm must be above 0; got {bound}")
        if update not in get_args(Update):
            raise UnknownName("update", update, get_args(Update))
        if ranker.rectified:
            raise LearningError("pdgd needs a linear ranker or one of sigmoids, whose gradient it follows; got relu")
        searching = Searching(ranker, queries, cohort, seed=seed, at=at)
        self._searching = searching
        self._ranker = ranker
        self._learning_rate = float(learning_rate)
        self._batch = update == "batch"
        self._bound = float(bound)
        longest = searching.longest
        self._workspace = (  # what a call scribbles on; a learner works for one thread
            np.empty(GENERATOR_WORDS, np.uint64),
            np.empty(searching.interactions.max(), np.int64),
            np.empty((3, -(-longest // BLOCK) * BLOCK)),
            np.empty((longest + 1, ranker.hidden)),
            np.empty((4, at + 1)),
            np.empty(at, np.int64),
            np.empty(at, np.bool_),
        )

    def train(
        self,
        theta: Reals,
        round: int,  # noqa: A002 (the domain's word)
        members: Integers | None = None,
        *,
        most: int = 0,
    ) -> LocalUpdates:
        """The updates of the members (indices into the cohort; all of it if None) from the global model θ [d]."""
        searching = self._searching
        keys, interactions, user = searching.chosen(theta, round, members)
        interactions = np.minimum(interactions, most) if most else interactions
        thetas = np.empty((len(keys), self._ranker.dimension))
        online = np.empty(len(keys))
        _train(
            np.array(theta, dtype=np.float64),
            keys,
            interactions,
            user,
            searching.click,
            searching.stop,
            searching.examination,
            searching.features,
            searching.labels,
            searching.offsets,
            searching.inverse_ideal,
            searching.gain,
            searching.discount,
            self._ranker.hidden,
            searching.seed,
            np.uint64(round),
            self._learning_rate,
            self._batch,
            self._bound,
            thetas,
            online,
            *self._workspace,
        )
        return LocalUpdates(thetas=thetas, interactions=interactions, online=online)


@compiled
def _train(
    theta: Reals,
    keys: Words,
    interactions: Integers,
    user: Integers,
    click: Reals,
    stop: Reals,
    examination: Reals,
    features: Features,
    labels: Labels,
    offsets: Integers,
    inverse_ideal: Reals,
    gain: Reals,
    discount: Reals,
    hidden: int,
    seed: np.uint64,
    round: np.uint64,  # noqa: A002 (the domain's word)
    learning_rate: float,
    batch: bool,
    bound: float,
    thetas: Reals,
    online: Reals,
    generator: Words,
    drawn: Integers,
    document_space: Reals,
    activations: Reals,
    rank_space: Reals,
    shown_space: Integers,
    clicked: Bits,
) -> None:
    """Fill thetas [k, d] and online [k] for k clients; what comes after them is work space."""
    queries = len(offsets) - 1
    scores, weights, subtotals = document_space[0], document_space[1], document_space[2]
    for client in range(len(keys)):
        restart(generator, seed, _TRAIN, keys[client], round)
        for turn in range(interactions[client]):
            drawn[turn] = int(uniform(generator) * queries)
        local = thetas[client]
        for j in range(len(theta)):
            local[j] = theta[j]
        current = theta if batch else local
        model = user[client]
        ndcg = 0.0
        for turn in range(interactions[client]):
            query = drawn[turn]
            first, last = offsets[query], offsets[query + 1]
            rows = features[first:last]
            grades = labels[first:last]
            ranks = min(len(discount), last - first)
            shown = shown_space[:ranks]
            masses = rank_space[0, :ranks]
            score(current, rows, hidden, False, activations, scores)
            if turn + 1 < interactions[client]:
                fetch(features, offsets[drawn[turn + 1]], offsets[drawn[turn + 1] + 1])
            left = sample_list(generator, scores, last - first, weights, subtotals, shown, masses)
            last_click = click_list(generator, grades, shown, click[model], stop[model], examination[model], clicked)
            if last_click > 0:
                examined = min(last_click + 1, ranks)
                factors = rank_space[1, :examined]
                pair_factors(scores, last - first, shown, masses, left, clicked[:examined], rank_space[2:], factors)
                for rank in range(examined):
                    factors[rank] *= learning_rate
                add_gradient(current, rows, hidden, activations, shown[:examined], factors, local)
            if bound < np.inf and (not batch or turn + 1 == interactions[client]):
                _clip(local, bound)
            dcg = 0.0
            for rank in range(ranks):
                dcg += gain[grades[shown[rank]]] * discount[rank]
            ndcg += dcg * inverse_ideal[query]
        online[client] = ndcg / interactions[client]


@compiled
def _clip(theta: Reals, bound: float) -> None:
    """Scale θ [d] down to the norm `bound` if it is longer."""
    squares = 0.0
    for weight in theta:
        squares += weight * weight
    if squares > bound * bound:
        factor = bound / math.sqrt(squares)
        for j in range(len(theta)):
            theta[j] *= factor
