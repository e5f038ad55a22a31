"""Each aggregation rule on an example worked by hand, and against byzfl on fixed vectors."""

import numpy as np
import pytest

from learning.aggregation import RULES, make_rule
from learning.errors import LearningError
from tests.learning.aggregation.test_contract import updates

LINE = [[0.0], [1.0], [3.0], [10.0]]

FIXED = [
    [1.0, 2.0, 3.0], [1.5, 1.0, 2.5], [0.0, 2.5, 4.0], [2.0, 2.0, 2.0], [1.0, 0.5, 3.5], [0.5, 1.5, 3.0],
    [10.0, -8.0, 20.0], [1.25, 1.75, 2.75], [-9.0, 12.0, -7.0], [0.75, 2.25, 3.25], [1.1, 1.9, 2.2],
]  # fmt: skip

BYZFL = {  # byzfl 0.0.11 on FIXED with f = 2; centred clipping around 0 with tau = 1.5, one step
    "krum": [1.25, 1.75, 2.75],
    "multi_krum": [1.011111111111111, 1.7111111111111112, 2.911111111111111],
    "trimmed_mean": [1.0142857142857142, 1.7714285714285716, 2.8857142857142857],
    "median": [1.0, 1.9, 3.0],
    "geometric_median": [1.0197198029246313, 1.8061260493863578, 2.8910438548052517],
    "centred_clipping": [0.3445413954040368, 0.6279050579336606, 1.036102144937422],
    "nnm, of the outlier 6": [2.0, 0.6111111111111112, 4.888888888888889],
}


def test_fedavg_by_hand():
    """(1·(1, 2) + 3·(5, −2)) / 4 = (4, −1)."""
    aggregate = make_rule("fedavg")(updates([[1.0, 2.0], [5.0, -2.0]], [1, 3]))
    assert aggregate.theta.tolist() == [4.0, -1.0]
    assert aggregate.info == {"clients": 2, "interactions": 4}


def test_fedavg_adds_in_client_order():
    """The sum is ((n_1·θ_1 + n_2·θ_2) + n_3·θ_3) …: exactly these bits."""
    random = np.random.default_rng(2)
    given = updates(random.normal(size=(1000, 46)), random.integers(1, 9, 1000))
    total = np.zeros(46)
    for theta, count in zip(given.thetas, given.interactions, strict=True):
        total = total + count * theta
    assert make_rule("fedavg")(given).theta.tobytes() == (total / given.interactions.sum()).tobytes()


def test_fedavg_needs_interactions():
    """Without any interaction there is no mean."""
    with pytest.raises(LearningError, match=r"fedavg needs counts from 0 on with a sum above 0; got \[0, 0\]"):
        make_rule("fedavg")(updates(np.ones((2, 3)), [0, 0]))


def test_krum_by_hand():
    """On 0, 1, 3, 10 with m = 1 one neighbour counts: scores 1, 1, 2, 7, and the first of the tied is used."""
    aggregate = make_rule("krum", tolerate=1)(updates(LINE))
    assert (aggregate.theta.tolist(), aggregate.scores.tolist()) == ([0.0], [1.0, 1.0, 2.0, 7.0])
    assert aggregate.used.tolist() == [True, False, False, False]


def test_krum_sums_distances_and_not_their_squares():
    """Two neighbours count: 21 has them at 1 and 6, 4 has them at 4 and 4; 7 < 8, though 37 > 32."""
    line = [[0.0], [4.0], [8.0], [20.0], [21.0], [27.0]]
    assert make_rule("krum", tolerate=2)(updates(line)).theta.tolist() == [21.0]


def test_multi_krum_by_hand():
    """The three best of 0, 1, 3, 10: mean 4/3, however many interactions each has."""
    aggregate = make_rule("multi_krum", tolerate=1)(updates(LINE, [1, 2, 3, 4]))
    assert aggregate.theta.tolist() == [4.0 / 3.0]
    assert aggregate.used.tolist() == [True, True, True, False]


def test_trimmed_mean_and_median_by_hand():
    """Without the lowest and the highest of each coordinate; shares tell who was used where."""
    given = updates([[0.0, 9.0], [1.0, 1.0], [3.0, 0.0], [10.0, 5.0]])
    trimmed, median = make_rule("trimmed_mean", tolerate=1)(given), make_rule("median")(given)
    assert trimmed.theta.tolist() == median.theta.tolist() == [2.0, 3.0]
    assert trimmed.scores.tolist() == [0.0, 1.0, 0.5, 0.5]
    assert trimmed.used.tolist() == [False, True, True, True]
    assert make_rule("median")(updates(LINE[:3])).theta.tolist() == [1.0]


def test_bulyan_by_hand():
    """Of 0 … 5 and 100 with m = 1: Krum chooses 3, 2, 4, 1, 5; the three nearest their median 3 are 2, 3, 4."""
    aggregate = make_rule("bulyan", tolerate=1)(updates([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [100.0]]))
    assert aggregate.theta.tolist() == [3.0]
    assert aggregate.used.tolist() == [False, False, True, True, True, False, False]


def test_geometric_median_by_hand():
    """A cross has its centre; two of three at one place keep it there, however far the third is."""
    cross = updates([[1.0, 0.0], [-1.0, 0.0], [0.0, 3.0], [0.0, -3.0]])
    np.testing.assert_allclose(make_rule("geometric_median")(cross).theta, 0.0, atol=1e-8)
    np.testing.assert_allclose(make_rule("geometric_median")(updates([[0.0], [0.0], [1e6]])).theta, 0.0, atol=1e-2)


def test_norm_clipping_by_hand():
    """Changes 1, 2, 4 around 10 have the median length 2: 10 + (1 + 2 + 2)/3; with radius 1 it is 11."""
    given = updates([[11.0], [12.0], [14.0]], before=[10.0])
    aggregate = make_rule("norm_clipping")(given)
    assert aggregate.theta.tolist() == [10.0 + 5.0 / 3.0]
    assert aggregate.scores.tolist() == [1.0, 1.0, 0.5]
    assert make_rule("norm_clipping", radius=1.0)(given).theta.tolist() == [11.0]


def test_centred_clipping_by_hand():
    """Changes 1, 2, 3 with radius 1: v = 1 from 0, then 1 + (0 + 1 + 1)/3 as the centre has moved there."""
    rule = make_rule("centred_clipping", radius=1.0)
    assert rule(updates([[1.0], [2.0], [3.0]])).theta.tolist() == [1.0]
    np.testing.assert_allclose(rule(updates([[1.0], [2.0], [3.0]], number=2)).theta, [1.0 + 2.0 / 3.0], rtol=1e-15)


def test_fltrust_by_hand():
    """Only what goes the judged way counts, at the median length: cosines 1, 0, −1 and lengths 1, 2, 3 give (2, 0)."""
    rule = make_rule("fltrust", lambda _before: np.array([5.0, 0.0]))
    aggregate = rule(updates([[1.0, 0.0], [0.0, 2.0], [-3.0, 0.0]]))
    assert aggregate.theta.tolist() == [2.0, 0.0]
    assert (aggregate.used.tolist(), aggregate.scores.tolist()) == ([True, False, False], [1.0, 0.0, 0.0])
    alone = rule(updates([[-3.0, 0.0], [0.0, 1.0]], before=[7.0, 0.0]))
    assert alone.theta.tolist() == [7.0, 0.0]


def test_fldetector_leaves_out_who_cannot_be_foretold():
    """Seven clients change slowly, three at random: from the eleventh judged round on the three are left out."""
    random, rule = np.random.default_rng(5), make_rule("fldetector")
    theta, excluded = np.zeros(4), []
    for number in range(1, 41):
        steady = -0.1 * theta + 0.01 * random.normal(size=(7, 4))
        given = updates(np.vstack([theta + steady, theta + random.normal(size=(3, 4))]), before=theta, number=number)
        aggregate = rule(given)
        theta = aggregate.theta
        excluded.append(np.flatnonzero(~aggregate.used).tolist())
    assert excluded[:11] == [[]] * 11
    assert excluded[20:] == [[7, 8, 9]] * 20


@pytest.mark.parametrize("kind", ["krum", "multi_krum", "trimmed_mean", "median", "geometric_median"])
def test_byzfl_agrees_on_fixed_vectors(kind):
    """Krum there averages the n − f − 1 smallest squared distances, oneself included: the choice is the same here."""
    options = {"tolerate": 2} if kind not in ("median", "geometric_median") else {}
    assert kind in RULES
    np.testing.assert_allclose(make_rule(kind, **options)(updates(FIXED)).theta, BYZFL[kind], rtol=1e-7)


def test_byzfl_agrees_on_clipping_and_mixing():
    """Centred clipping around 0 is one step of byzfl's; nearest-neighbour mixing is the mean of n − f with oneself."""
    clipped = make_rule("centred_clipping", radius=1.5)(updates(FIXED))
    np.testing.assert_allclose(clipped.theta, BYZFL["centred_clipping"], rtol=1e-12)
    mixed = make_rule(["nnm", "trimmed_mean"], tolerate=2)
    rows = mixed.first[0](updates(FIXED)).thetas
    np.testing.assert_allclose(rows[6], BYZFL["nnm, of the outlier 6"], rtol=1e-12)
    np.testing.assert_allclose(rows[0], BYZFL["multi_krum"], rtol=1e-12)
