"""What rounds cost together, against dp-accounting's optimal composition and its Laplace mechanism."""

from functools import reduce
from math import inf, log, sqrt, tanh

import pytest
from dp_accounting.pld import accountant, common
from dp_accounting.pld import privacy_loss_distribution as pld

from learning.privacy.composition import Spending


def spend(*epsilons):
    """The spending of these rounds."""
    return reduce(Spending.after, epsilons, Spending())


def test_basic_composition_adds_up():
    """Σ ε_i, in the rounds' order."""
    assert spend(1.0, 2.5, 0.5).basic == 4.0


def test_advanced_composition_is_the_theorem():
    """The bound of unequal rounds, written out."""
    rounds = [0.05, 0.1, 0.2] * 50
    expected = sum(one * tanh(one / 2) for one in rounds) + sqrt(2 * log(1e6) * sum(one**2 for one in rounds))
    assert spend(*rounds).advanced(1e-6) == pytest.approx(expected)
    assert expected < sum(rounds)


@pytest.mark.parametrize(("epsilon", "rounds"), [(0.01, 1000), (0.1, 100), (1.2, 10), (4.5, 22)])
def test_it_is_never_below_what_is_optimal(epsilon, rounds):
    """dp-accounting's optimal composition of ε-private rounds, and of Laplace noise, is at most ours; ours is near."""
    ours = spend(*[epsilon] * rounds)
    optimal = accountant.advanced_composition(common.DifferentialPrivacyParameters(epsilon, 0.0), rounds, 1e-5)
    one = pld.from_laplace_mechanism(1 / epsilon, value_discretization_interval=1e-3)
    laplace = one.self_compose(rounds).get_epsilon_for_delta(1e-5)
    assert ours.basic == pytest.approx(epsilon * rounds)
    assert ours.basic + 1e-9 >= ours.advanced(1e-5) >= optimal - 1e-9
    assert optimal >= laplace - 0.01 * rounds * 1e-3 - 0.05  # its discretisation is pessimistic
    assert ours.advanced(1e-5) <= 1.35 * optimal


def test_a_round_without_an_epsilon_spends_everything():
    """Once no finite ε holds, none does for all rounds together."""
    assert spend(1.0, inf, 1.0).basic == spend(1.0, inf).advanced(1e-5) == inf
