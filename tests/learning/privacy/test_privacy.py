"""The mechanisms: what every one keeps to, that shares sum to Laplace noise, and what rounds cost."""

from math import inf, sqrt

import numpy as np
import pytest
from scipy import stats

from learning.errors import LearningError, UnknownName
from learning.privacy import FREE, MECHANISMS, Account, Noise, make_mechanism
from learning.privacy.deficit import sum_epsilon
from learning.streams import Purpose, client_key, stream

FOUR = np.full(4, 5)
SETTINGS = {"epsilon": 4.5, "sensitivity": 5.0}


@pytest.mark.parametrize("kind", MECHANISMS)
def test_every_mechanism_keeps_the_contract(kind):
    """A bound of Δ/2, noise of the right shape, the same bits for the same stream, and a cost with its δ."""
    mechanism = make_mechanism(kind, **SETTINGS)
    assert (mechanism.bound, make_mechanism(kind, **SETTINGS, clip="full").bound) == (2.5, 5.0)
    one, again = (mechanism.client_noise(stream(1, Purpose.PRIVACY, 2, 3), 46, 0.25) for _ in range(2))
    assert (one.shape, one.dtype) == ((46,), np.float64)
    assert one.tobytes() == again.tobytes()
    central = mechanism.server_noise(stream(1, Purpose.CENTRAL_NOISE), 46, FOUR)
    assert (central is None) == (mechanism.needs != "none")
    assert np.any(one) == (mechanism.needs != "none")
    cost = mechanism.cost(46, FOUR, 1.0, 0.25)
    assert cost.nominal == 4.5
    assert cost.epsilon <= cost.joint
    assert cost.epsilon == pytest.approx(4.5) or kind == "local-gaussian"


@pytest.mark.parametrize("clients", [1, 3, 40])
def test_the_shares_of_all_clients_sum_to_laplace_noise(clients):
    """Kolmogorov–Smirnov over 10,000 coordinates: the sum of n shares is Laplace(Δ/ε)."""
    noise = Noise(make_mechanism("laplace-shares", epsilon=2.3, sensitivity=3.0), seed=5)
    total = sum(noise.share(client_key(f"client-{one}"), 7, 10_000, clients) for one in range(clients))
    assert stats.kstest(total, stats.laplace(scale=3 / 2.3).cdf).pvalue > 0.01


def test_shares_with_a_top_up_sum_to_laplace_noise():
    """Six of ten shares are not Laplace; with what the six add for the missing four they are."""
    noise = Noise(make_mechanism("laplace-shares", epsilon=4.5, sensitivity=5.0), seed=5)
    keys = [client_key(f"client-{one}") for one in range(6)]
    short = sum(noise.share(key, 1, 10_000, 10) for key in keys)
    whole = short + sum(noise.top_up(key, 1, 10_000, 10, 4, 6) for key in keys)
    laplace = stats.laplace(scale=5 / 4.5)
    assert stats.kstest(short, laplace.cdf).pvalue < 1e-6
    assert stats.kstest(whole, laplace.cdf).pvalue > 0.01


def test_a_share_has_the_moments_of_a_gamma_difference():
    """Mean 0, variance 2b²/n and fourth cumulant 12b⁴/n: 1/n of the Laplace noise's."""
    clients, scale, draws = 10, 5 / 4.5, 400_000
    noise = Noise(make_mechanism("laplace-shares", **SETTINGS), seed=1)
    share = noise.share(client_key("client-1"), 1, draws, clients)
    spread = scale * sqrt(2 / clients / draws)
    assert abs(share.mean()) < 4 * spread
    assert share.var() == pytest.approx(2 * scale**2 / clients, rel=0.05)
    assert np.mean(share**4) - 3 * share.var() ** 2 == pytest.approx(12 * scale**4 / clients, rel=0.25)


def test_shares_are_fresh_for_every_client_and_round():
    """No two shares have a number in common, and a top-up has none of its share's."""
    noise = Noise(make_mechanism("laplace-shares", **SETTINGS), seed=1)
    drawn = [
        noise.share(1, 1, 20, 3),
        noise.share(1, 2, 20, 3),
        noise.share(2, 1, 20, 3),
        noise.top_up(1, 1, 20, 3, 1, 1),
    ]
    assert len(np.unique(np.concatenate(drawn))) == 80


@pytest.mark.parametrize("kind", ["central-gaussian", "local-gaussian"])
def test_gaussian_noise_has_its_deviation(kind):
    """σ on a client's model, or σ over the number of clients on the mean."""
    mechanism = make_mechanism(kind, **SETTINGS, delta=1e-5)
    noise = Noise(mechanism, seed=3)
    drawn = noise.on_mean(np.zeros(100_000), 1, FOUR) if kind == "central-gaussian" else noise.share(1, 1, 100_000, 1)
    divisor = 4 if kind == "central-gaussian" else 1
    assert drawn.std() == pytest.approx(mechanism.sigma / divisor, rel=0.02)
    assert stats.kstest(drawn / drawn.std(), "norm").pvalue > 0.01


def test_the_cost_of_shares_is_what_arrived():
    """Fewer shares, the authors' clipping and unequal weights each cost more; a single share protects nobody."""
    half = make_mechanism("laplace-shares", **SETTINGS)
    assert half.cost(46, FOUR, 1.0, 0.25).joint == pytest.approx(sqrt(46) * 4.5)
    assert half.cost(46, FOUR, 0.6, 0.25).epsilon == sum_epsilon(0.6, 4.5) > 4.5
    assert half.cost(46, FOUR, 1.0, 0.25).message == inf
    assert half.cost(46, FOUR, 1.0, 1.0).message == 4.5
    assert half.cost(46, np.array([5, 10]), 1.0, 0.5).epsilon == 9.0
    assert make_mechanism("laplace-shares", **SETTINGS, clip="full").cost(46, FOUR, 1.0, 0.25).epsilon == 9.0


def test_local_noise_protects_messages_and_the_sum_more():
    """Each message has the nominal ε; the sum of four has their noise together; central noise protects no message."""
    local, central = (make_mechanism(f"{where}-gaussian", **SETTINGS) for where in ("local", "central"))
    assert local.cost(46, FOUR, 1.0, 1.0).message == pytest.approx(4.5)
    assert local.cost(46, FOUR, 1.0, 1.0).epsilon < 2.25
    assert local.cost(46, np.array([1, 1000]), 1.0, 1.0).epsilon == pytest.approx(4.5, rel=1e-3)
    assert central.cost(46, FOUR, 1.0, 1.0).message == inf


def test_an_account_goes_on_from_its_own_records():
    """What the log has of each round gives the same account again, bit for bit, also without a finite ε."""
    mechanism = make_mechanism("laplace-shares", **SETTINGS)
    account, told = Account(slack=1e-5), []
    for noise in (1.0, 0.6, 0.9, 0.4):
        cost = mechanism.cost(46, FOUR, noise, 0.25)
        account = account.after(cost)
        told.append(account.record(cost))
    assert Account(slack=1e-5).after_all(told) == account
    assert Account(slack=1e-5).after_all(told[:3]).record(FREE)["epsilon_basic"] == told[2]["epsilon_basic"]
    assert told[3]["epsilon"] is told[3]["epsilon_basic"] is told[3]["joint_advanced"] is None


def test_a_budget_has_room_up_to_its_bound():
    """The round that reaches the budget is allowed, the next is not; nothing without a finite ε ever is."""
    cost = make_mechanism("laplace-shares", epsilon=0.1, sensitivity=1.0).cost(46, FOUR, 1.0, 0.25)
    account, rounds = Account(slack=1e-5, budget=2.2), 0
    while account.allows(cost):
        account, rounds = account.after(cost), rounds + 1
    assert rounds == 22
    assert not Account(slack=1e-5, budget=1e9).allows(
        make_mechanism("laplace-shares", **SETTINGS).cost(46, FOUR, 0.5, 0.25)
    )


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        ("laplace-shares", {"epsilon": 0}, "epsilon of laplace-shares must be a finite number above 0; got 0"),
        ("laplace-shares", {"sensitivity": inf}, "sensitivity of laplace-shares must be a finite number above 0"),
        ("laplace-shares", {"clip": "none"}, "clip must be one of full, half; got 'none'"),
        ("laplace-shares", {"delta": 0.1}, "an option of privacy mechanism laplace-shares must be one of clip"),
        ("local-gaussian", {"delta": 1.0}, "delta of a Gaussian must be below 1; got 1.0"),
    ],
)
def test_wrong_settings_are_refused(kind, changes, message):
    """One sentence with the value."""
    with pytest.raises(LearningError, match=message):
        make_mechanism(kind, **(SETTINGS | changes))


def test_an_unknown_mechanism_is_refused():
    """The sentence lists the known ones."""
    with pytest.raises(UnknownName, match="laplace-shares"):
        make_mechanism("laplace")
