"""Colluding attacks against slow twins, written from the papers' equations a number at a time, and by hand."""

from math import sqrt
from statistics import NormalDist, fmean, pstdev

import numpy as np
import pytest

from learning.attacks import Seen, make_attack
from learning.attacks.lie import largest_z
from learning.streams import Purpose, stream


def seen(members, honest, seed, dimension=4, spread=1.0):
    """Models around a step from the model before, with a zero coordinate in which nobody moved."""
    random = np.random.default_rng(seed)
    before = random.normal(size=dimension)
    models = before + random.normal(size=dimension) + spread * random.normal(size=(members + honest, dimension))
    models[:, 0] = before[0]
    return Seen(models[:members], models[members:], before, 10)


def crafted(of, **spec):
    """What the attack makes, and what it tells."""
    made = make_attack(spec).attack(of, stream(3, Purpose.ATTACK, 5, 1))
    return made.thetas, made.info


def distance(one, other):
    """Euclid, a coordinate at a time."""
    return sqrt(sum((a - b) ** 2 for a, b in zip(one, other, strict=True)))


def mean_of(models):
    """The mean, a coordinate at a time."""
    return [fmean(column) for column in zip(*models, strict=True)]


def test_lie_has_the_papers_z():
    """With 10 clients −0.14, 0, 0.18 and 0.43 for 1 to 4 members; nothing where the formula has no value."""
    assert [round(largest_z(10, members), 2) for members in (1, 2, 3, 4)] == [-0.14, 0.0, 0.18, 0.43]
    assert largest_z(100, 20) == NormalDist().inv_cdf((100 - 20 - 31) / 80)
    assert largest_z(2, 1) == largest_z(3, 2) == 0.0


@pytest.mark.parametrize("honest", [0, 7])
def test_lie_is_its_twin(honest):
    """μ − z·σ a coordinate at a time, of the models that are seen."""
    of = seen(3, honest, seed=1)
    models = [*of.members.tolist(), *of.honest.tolist()]
    theta, info = crafted(of, kind="lie")
    assert info["z"] == pytest.approx(0.18, abs=0.001)
    expected = [fmean(column) - info["z"] * pstdev(column) for column in zip(*models, strict=True)]
    np.testing.assert_allclose(theta, [expected] * 3, rtol=1e-12)
    assert crafted(of, kind="lie", z=1.5)[1] == {"z": 1.5}


def krum(models, tolerated):
    """Who Krum takes: the smallest sum of the n − m − 2 smallest distances, at least one; ties to the first."""
    neighbours = max(1, len(models) - tolerated - 2)
    scores = [
        sum(sorted(distance(one, other) for j, other in enumerate(models) if i != j)[:neighbours])
        for i, one in enumerate(models)
    ]
    return scores.index(min(scores))


def slow_fang_krum(of):
    """λ and whether Krum takes it, from METHODS' words."""
    full = len(of.honest) > 0
    benign, before = (of.honest if full else of.members).tolist(), of.before.tolist()
    everyone = [*of.members.tolist(), *of.honest.tolist()]
    signs = [-np.sign(mean - start) for mean, start in zip(mean_of(everyone), before, strict=True)]
    root = sqrt(len(before))
    for copies in [len(of.members)] if full else range(1, len(of.members) + 1):
        n, m = len(benign) + copies, copies
        near = []
        for i, one in enumerate(benign):
            others = sorted(distance(one, other) for j, other in enumerate(benign) if i != j)
            near.append(sum(others[: max(1, n - m - 2)]))
        step = min(near) / (max(1, n - 2 * m - 1) * root) + max(distance(one, before) for one in benign) / root
        while True:
            made = [start + step * sign for start, sign in zip(before, signs, strict=True)]
            taken = krum([made] * copies + benign, m) < copies
            if taken or step < 1e-5:
                break
            step /= 2
        if taken:
            break
    return made, step, taken


@pytest.mark.parametrize("spread", [0.05, 1.0, 4.0])
@pytest.mark.parametrize(("members", "honest"), [(1, 9), (2, 8), (4, 6), (1, 0), (2, 0), (3, 0), (4, 0)])
def test_fang_on_krum_is_its_twin(members, honest, spread):
    """Full and partial knowledge, wide and narrow spreads: the same λ, taken or not."""
    of = seen(members, honest, seed=members + honest, spread=spread)
    made, step, taken = slow_fang_krum(of)
    theta, info = crafted(of, kind="fang_krum")
    assert info["taken"] == taken
    assert info["lambda"] == pytest.approx(step, rel=1e-12)
    np.testing.assert_allclose(theta, [made] * members, rtol=1e-12)
    assert (theta[:, 0] == of.before[0]).all()  # sign(0) = 0


@pytest.mark.parametrize("honest", [0, 7])
def test_fang_on_means_draws_just_beyond_the_extreme(honest):
    """Every coordinate is in its interval, each member draws its own, and where nobody moved it stays."""
    for seed in range(30):
        of = seen(3, honest, seed)
        benign = of.honest if honest else of.members
        mean = np.concatenate([of.members, of.honest]).mean(axis=0)
        theta, _ = crafted(of, kind="fang_mean")
        assert (theta[:, 0] == of.before[0]).all()
        for j in range(1, 4):
            high, low = benign[:, j].max(), benign[:, j].min()
            if mean[j] < of.before[j]:
                bounds = sorted([high, 2 * high if high > 0 else high / 2])
            else:
                bounds = sorted([low, low / 2 if low > 0 else 2 * low])
            assert (bounds[0] <= theta[:, j]).all()
            assert (theta[:, j] <= bounds[1]).all()
            assert len(set(theta[:, j])) == 3


@pytest.mark.parametrize("perturbation", ["std", "unit", "sign"])
@pytest.mark.parametrize("honest", [0, 7])
def test_min_max_and_min_sum_go_as_far_as_they_may(perturbation, honest):
    """γ is the root of the bound's quadratics, which is solved here in closed form."""
    of = seen(3, honest, seed=9)
    updates = np.concatenate([of.members, of.honest]) - of.before
    mean = updates.mean(axis=0)
    p = {"std": -updates.std(axis=0), "unit": -mean / np.linalg.norm(mean), "sign": -np.sign(mean)}[perturbation]
    squares = np.array([[distance(one, other) ** 2 for other in updates] for one in updates])

    def root(constant, linear, square, bound):
        return (-linear + sqrt(linear**2 - 4 * square * (constant - bound))) / (2 * square)

    a, b, c = ((mean - updates) ** 2).sum(axis=1), 2 * (mean - updates) @ p, p @ p
    furthest = min(root(one, two, c, squares.max()) for one, two in zip(a, b, strict=True))
    together = root(a.sum(), b.sum(), len(updates) * c, squares.sum(axis=1).max())
    for kind, gamma in (("min_max", furthest), ("min_sum", together)):
        theta, info = crafted(of, kind=kind, perturbation=perturbation)
        assert info["gamma"] == pytest.approx(gamma, rel=1e-9)
        np.testing.assert_allclose(theta, [of.before + mean + info["gamma"] * p] * 3, rtol=1e-9)


def test_a_member_alone_has_no_deviation_to_go_by():
    """One model has σ = 0: min_max then sends it as it is."""
    of = seen(1, 0, seed=2)
    theta, info = crafted(of, kind="min_max")
    assert info == {"gamma": 0.0}
    np.testing.assert_allclose(theta, of.members, rtol=1e-15)


def test_ipm_by_hand():
    """Honest updates (2, 0) and (4, 2) from (1, 1): θ_t − ½·(3, 1); members' own with partial knowledge."""
    full = Seen(np.array([[9.0, 9.0]]), np.array([[3.0, 1.0], [5.0, 3.0]]), np.ones(2), 3)
    assert crafted(full, kind="ipm")[0].tolist() == [[-0.5, 0.5]]
    partial = Seen(np.array([[3.0, 1.0], [5.0, 3.0]]), np.empty((0, 2)), np.ones(2), 5)
    assert crafted(partial, kind="ipm", epsilon=1.0)[0].tolist() == [[-2.0, 0.0]] * 2
