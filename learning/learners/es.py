"""Evolution strategies on the clients of one host, FOLtR-ES (Kharitonov, WSDM 2019; thesis §3.1.1).

A client draws a seed s, and from it a direction ε_s ~ N(0, I). Half of its B interactions are served by θ + σε_s, the
other half by θ − σε_s. What it sends is s and how well each half did:

    f̂⁺, f̂⁻ = the means over the halves of f        f = 1/(rank of the highest click), 0 without a click (MaxRR),
                                                    or Σ over the clicks of 1/log2(rank + 1) (DCG)

With p < 1 each interaction's MaxRR, one of at + 1 values, is said by randomised response. Lists are the documents by
score, equal ones in the fixed pseudo-random order of offline measures.

Streams, all of the client and round: PERTURBATION gives the seed, 53 bits of its first word; TRAIN first one number for
the query of each interaction, then those of `clicks.simulation.click_list` for one after the other; PRIVACY those of
`randomised_response.answer`. A direction is `kernels.normal` of the stream (s, PERTURBATION), so that who knows s
knows ε_s and nothing of the users.
"""

from typing import Final, Literal, get_args

import numpy as np

from learning.clicks.simulation import click_list
from learning.data.dataset import Features, Queries
from learning.errors import LearningError, UnknownName
from learning.kernels.arrays import Bits, Integers, Labels, Reals, Words
from learning.kernels.compiling import compiled, fma
from learning.kernels.fetching import fetch
from learning.kernels.normal import fill_normals, padded
from learning.kernels.philox import GENERATOR_WORDS, NUMBERS, make_numbers, restart, uniform
from learning.learners.cohort import Cohort, LocalUpdates
from learning.learners.randomised_response import answer, epsilon
from learning.learners.searching import Searching
from learning.metrics import tie_order
from learning.rankers.ranker import Ranker
from learning.rankers.ranking import rank_by_score
from learning.rankers.scoring import score
from learning.streams import Purpose

__all__ = ["SEEDS", "TRIAL", "Es", "Metric", "fill_direction", "largest_fitness"]

Metric = Literal["maxrr", "dcg"]

SEEDS: Final = 1 << 53
"""Seeds are below this: a float64 holds each of them."""
TRIAL: Final = 3
"""Numbers that a client sends: its seed, f̂⁺ and f̂⁻."""

_TRAIN = np.uint64(Purpose.TRAIN)
_PERTURBATION = np.uint64(Purpose.PERTURBATION)
_PRIVACY = np.uint64(Purpose.PRIVACY)
_SPARE = np.uint64(11)  # bits of a word that are not in the seed
_NOBODY = np.uint64(0)


class Es:
    """FOLtR-ES for a cohort: a client's trial depends on (seed, client key, round, θ) and on nobody else."""

    def __init__(
        self,
        ranker: Ranker,
        queries: Queries,
        cohort: Cohort,
        *,
        seed: int,
        sigma: float = 0.01,
        metric: Metric = "maxrr",
        p: float = 1.0,
        at: int = 10,
    ) -> None:
        if not (np.isfinite(sigma) and sigma > 0):
            raise LearningError(f"sigma must be a finite number above 0; got {sigma}")
        if metric not in get_args(Metric):
            raise UnknownName("metric", metric, get_args(Metric))
        epsilon(p, at + 1)  # says what is wrong with p
        if metric == "dcg" and p < 1.0:
            raise LearningError(f"p below 1 needs the metric maxrr, which takes {at + 1} values; got dcg with p = {p}")
        searching = Searching(ranker, queries, cohort, seed=seed, at=at)
        if (searching.interactions % 2).any():
            odd = searching.interactions[searching.interactions % 2 == 1][0]
            raise LearningError(f"es needs an even number of interactions, half for each sign; got {odd}")
        self._searching = searching
        self._ranker = ranker
        self._sigma, self._dcg, self._p = float(sigma), metric == "dcg", float(p)
        self._order = tie_order(queries)
        self._workspace = (  # what a call scribbles on; a learner works for one thread
            np.empty((2, GENERATOR_WORDS), np.uint64),
            np.empty(searching.interactions.max(), np.int64),
            np.empty(padded(ranker.dimension)),
            np.empty((2, ranker.dimension)),
            np.empty(searching.longest),
            np.empty((searching.longest + 1, ranker.hidden)),
            np.empty(at),
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
        """The trials of the members (indices into the cohort; all of it if None) around the global model θ [d]."""
        searching = self._searching
        keys, interactions, user = searching.chosen(theta, round, members)
        interactions = np.minimum(interactions, most) if most else interactions
        trials = np.empty((len(keys), TRIAL))
        online, maxrr = np.empty(len(keys)), np.empty(len(keys))
        _try(
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
            self._order,
            searching.inverse_ideal,
            searching.gain,
            searching.discount,
            self._ranker.hidden,
            self._ranker.rectified,
            searching.seed,
            np.uint64(round),
            self._sigma,
            self._dcg,
            self._p,
            trials,
            online,
            maxrr,
            *self._workspace,
        )
        return LocalUpdates(thetas=trials, interactions=interactions, online=online, maxrr=maxrr)


def largest_fitness(metric: Metric, discount: Reals) -> float:
    """The most that a mean of f can be in lists whose ranks have these discounts [at], rounding included."""
    return 1.0 if metric == "maxrr" else float(discount.sum()) * (1.0 + 1e-12)


@compiled
def fill_direction(generator: Words, seed: float, direction: Reals) -> None:
    """Fill direction [padded(d)] with ε_s; the generator [GENERATOR_WORDS] is work space."""
    restart(generator, np.uint64(np.int64(seed)), _PERTURBATION, _NOBODY, _NOBODY)
    fill_normals(generator, direction)


@compiled
def _try(
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
    order: Integers,
    inverse_ideal: Reals,
    gain: Reals,
    discount: Reals,
    hidden: int,
    rectified: bool,
    seed: np.uint64,
    round: np.uint64,  # noqa: A002 (the domain's word)
    sigma: float,
    dcg: bool,
    p: float,
    trials: Reals,
    online: Reals,
    maxrr: Reals,
    generators: Words,
    drawn: Integers,
    direction: Reals,
    perturbed: Reals,
    scores: Reals,
    activations: Reals,
    best: Reals,
    shown_space: Integers,
    clicked: Bits,
) -> None:
    """Fill trials [k, 3], online [k] and maxrr [k] for k clients; what comes after them is work space."""
    queries = len(offsets) - 1
    users, privacy = generators[0], generators[1]
    for client in range(len(keys)):
        restart(users, seed, _PERTURBATION, keys[client], round)
        make_numbers(users)
        chosen = float(np.int64(users[NUMBERS] >> _SPARE))
        fill_direction(users, chosen, direction)
        for j in range(len(theta)):
            perturbed[0, j] = fma(sigma, direction[j], theta[j])
            perturbed[1, j] = fma(-sigma, direction[j], theta[j])
        restart(users, seed, _TRAIN, keys[client], round)
        restart(privacy, seed, _PRIVACY, keys[client], round)
        turns = interactions[client]
        for turn in range(turns):
            drawn[turn] = int(uniform(users) * queries)
        model = user[client]
        ndcg = truth = plus = minus = 0.0
        for turn in range(turns):
            query = drawn[turn]
            first, last = offsets[query], offsets[query + 1]
            grades = labels[first:last]
            shown = shown_space[: min(len(discount), last - first)]
            side = 0 if 2 * turn < turns else 1
            score(perturbed[side], features[first:last], hidden, rectified, activations, scores)
            if turn + 1 < turns:
                fetch(features, offsets[drawn[turn + 1]], offsets[drawn[turn + 1] + 1])
            rank_by_score(scores, order[first:last], best, shown)
            click_list(users, grades, shown, click[model], stop[model], examination[model], clicked)
            highest = 0
            clicks_dcg = shown_dcg = 0.0
            for rank in range(len(shown) - 1, -1, -1):
                shown_dcg += gain[grades[shown[rank]]] * discount[rank]
                if clicked[rank]:
                    highest = rank + 1
                    clicks_dcg += discount[rank]
            ndcg += shown_dcg * inverse_ideal[query]
            truth += 1.0 / highest if highest > 0 else 0.0
            said = answer(privacy, highest, len(discount) + 1, p) if p < 1.0 else highest
            fitness = clicks_dcg if dcg else 1.0 / said if said > 0 else 0.0
            if side == 0:
                plus += fitness
            else:
                minus += fitness
        trials[client, 0] = chosen
        trials[client, 1] = plus / (turns // 2)
        trials[client, 2] = minus / (turns // 2)
        online[client] = ndcg / turns
        maxrr[client] = truth / turns
