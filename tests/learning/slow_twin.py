"""PDGD written straight from the paper's equations: every product in full, in 60 digits, one document at a time.

It follows the order of draws that `learning.learners.pdgd` documents and shares nothing else with it.
"""

import math
from decimal import Decimal, localcontext

import numpy as np

from learning.streams import Purpose, stream

DIGITS = 60


def masses_of(scores):
    """The e^s of each document as a Decimal."""
    return [Decimal(float(score)).exp() for score in scores]


def list_probability(masses, ranking):
    """Equation 2, P(R|D) = Π_i e^s(d_i) / Σ_{d not above i} e^s(d), as a Decimal."""
    left = list(range(len(masses)))
    probability = Decimal(1)
    for document in ranking:
        probability *= masses[document] / sum(masses[d] for d in left)
        left.remove(document)
    return probability


def document_factors(scores, ranking, clicked):
    """Equations 3 to 6: the factor of f'(d) for each document, from the list and the clicked ranks (0-based)."""
    factors = np.zeros(len(scores))
    if not clicked:
        return factors
    examined = min(max(clicked) + 2, len(ranking))
    with localcontext() as context:
        context.prec = DIGITS
        masses = masses_of(scores)
        probability = list_probability(masses, ranking)
        for k in clicked:
            for unclicked in set(range(examined)) - set(clicked):
                swapped = list(ranking)
                swapped[k], swapped[unclicked] = ranking[unclicked], ranking[k]
                reverse = list_probability(masses, swapped)
                rho = reverse / (probability + reverse)
                preferred, other = masses[ranking[k]], masses[ranking[unclicked]]
                weight = float(rho * preferred * other / (preferred + other) ** 2)
                factors[ranking[k]] += weight
                factors[ranking[unclicked]] -= weight
    return factors


def draw_list(generator, scores, length):
    """One number a rank; the first document left whose running sum of e^score exceeds it times the whole sum."""
    left = list(range(len(scores)))
    ranking = []
    for _ in range(length):
        top = max(scores[d] for d in left)
        weights = [math.exp(scores[d] - top) for d in left]
        target = generator.random() * sum(weights)
        running = 0.0
        for document, weight in zip(left, weights, strict=True):
            running += weight
            if running > target:
                ranking.append(document)
                left.remove(document)
                break
    return ranking


def draw_clicks(generator, grades, model):
    """The clicked ranks: a number for each rank looked at, another one after each click."""
    clicked = []
    for rank, grade in enumerate(grades):
        if generator.random() < model.click[grade] * (1 / (rank + 1)) ** model.eta:
            clicked.append(rank)
            if generator.random() < model.stop[grade]:
                break
    return clicked


def ndcg(grades, all_grades, at):
    """NDCG@at of the grades of a list; the ideal is over all candidates; 0 if none is relevant."""

    def dcg(values):
        return sum((2**r - 1) / math.log2(i + 2) for i, r in enumerate(values[:at]))

    ideal = dcg(sorted(all_grades, reverse=True))
    return dcg(grades) / ideal if ideal else 0.0


def score_and_gradient(theta, x, hidden):
    """F(x) and f'(x) of a linear ranker (hidden = 0) or of one with a layer of sigmoids."""
    if hidden == 0:
        return float(theta @ x), x.astype(np.float64)
    features = len(x)
    weights = theta[: features * hidden].reshape(features, hidden)
    biases, output = theta[features * hidden : -hidden], theta[-hidden:]
    active = (1 + np.tanh((x @ weights + biases) / 2)) / 2  # the logistic function without overflow
    slope = output * active * (1 - active)
    return float(output @ active), np.concatenate((np.outer(x, slope).ravel(), slope, active))


def train_client(
    theta, queries, model, *, hidden, seed, key, round_, interactions, learning_rate, batch, at=10, bound=math.inf
):
    """One client's round: its local model and its mean online nDCG."""
    generator = stream(seed, Purpose.TRAIN, key, round_)
    local = theta.copy()
    gradient_sum = np.zeros_like(theta)
    online = []
    for query in [int(generator.random() * len(queries)) for _ in range(interactions)]:
        rows = range(queries.offsets[query], queries.offsets[query + 1])
        labels = [int(queries.labels[row]) for row in rows]
        pairs = [score_and_gradient(theta if batch else local, queries.features[row], hidden) for row in rows]
        scores = [score for score, _ in pairs]
        ranking = draw_list(generator, scores, min(at, len(scores)))
        clicked = draw_clicks(generator, [labels[d] for d in ranking], model)
        factors = document_factors(scores, ranking, clicked)
        gradient = factors @ np.array([slope for _, slope in pairs])
        if batch:
            gradient_sum += gradient
        else:
            local = clipped(local + learning_rate * gradient, bound)
        online.append(ndcg([labels[d] for d in ranking], labels, at))
    return clipped(local + learning_rate * gradient_sum, bound), float(np.mean(online))


def clipped(theta, bound):
    """Equation 13: θ·min(1, bound/‖θ‖)."""
    return theta * min(1.0, bound / np.linalg.norm(theta)) if np.any(theta) else theta
