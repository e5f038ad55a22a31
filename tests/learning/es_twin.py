"""FOLtR-ES written straight from its description, one document at a time; shares streams and nothing else."""

import math

import numpy as np
from slow_twin import draw_clicks, ndcg

from learning.streams import Purpose, stream


def direction(seed, dimension):
    """ε_s: Box and Muller's normal numbers of the stream of s, the first half of the words radii, the rest angles."""
    count = math.ceil(dimension / 16) * 16
    words = stream(seed, Purpose.PERTURBATION).bit_generator.random_raw(count)
    fractions = [int(word >> np.uint64(12)) / 2**52 for word in words]
    radii = [math.sqrt(-2 * math.log(1 - u)) for u in fractions[: count // 2]]
    angles = [2 * math.pi * v for v in fractions[count // 2 :]]
    cosines = [r * math.cos(a) for r, a in zip(radii, angles, strict=True)]
    sines = [r * math.sin(a) for r, a in zip(radii, angles, strict=True)]
    return np.array([*cosines, *sines][:dimension])


def network_score(theta, x, hidden):
    """F(x) of a linear ranker (hidden = 0) or of one with rectified units."""
    if hidden == 0:
        return float(theta @ x)
    weights, biases, output = theta[: len(x) * hidden], theta[len(x) * hidden : -hidden], theta[-hidden:]
    return float(np.maximum(x @ weights.reshape(len(x), hidden) + biases, 0) @ output)


def try_client(theta, queries, order, model, *, hidden, seed, key, round_, interactions, sigma, metric, p, at=10):
    """One client's round: its seed, f⁺, f⁻, its mean online nDCG and its mean true MaxRR."""
    chosen = int(stream(seed, Purpose.PERTURBATION, key, round_).bit_generator.random_raw(1)[0] >> np.uint64(11))
    push = sigma * direction(chosen, len(theta))
    users, privacy = stream(seed, Purpose.TRAIN, key, round_), stream(seed, Purpose.PRIVACY, key, round_)
    halves, online, truths = ([], []), [], []
    for turn, query in enumerate([int(users.random() * len(queries)) for _ in range(interactions)]):
        side = 0 if turn < interactions // 2 else 1
        rows = list(range(queries.offsets[query], queries.offsets[query + 1]))
        labels = [int(queries.labels[row]) for row in rows]
        pushed = theta + push if side == 0 else theta - push
        scores = [network_score(pushed, queries.features[row].astype(float), hidden) for row in rows]
        ranking = sorted(order[rows[0] : rows[0] + len(rows)], key=lambda place: -scores[place])[:at]
        clicked = draw_clicks(users, [labels[d] for d in ranking], model)
        truth = 1 / (clicked[0] + 1) if clicked else 0.0
        truths.append(truth)
        values = [0.0, *(1 / rank for rank in range(1, at + 1))]
        if metric == "dcg":
            fitness = sum(1 / math.log2(rank + 2) for rank in clicked)
        elif p == 1 or privacy.random() < p:
            fitness = truth
        else:
            values.remove(truth)
            fitness = values[int(privacy.random() * at)]
        halves[side].append(fitness)
        online.append(ndcg([labels[d] for d in ranking], labels, at))
    return chosen, np.mean(halves[0]), np.mean(halves[1]), np.mean(online), np.mean(truths)


def gradient(trials, sigma, dimension):
    """The mean over the clients of (f⁺ − f⁻)·ε_s/(2σ)."""
    terms = [(plus - minus) * direction(int(seed), dimension) / (2 * sigma) for seed, plus, minus in trials]
    return np.mean(terms, axis=0)
