"""Scores and their gradients in compiled code, for networks with one hidden layer or none.

θ is flat: with no hidden layer (hidden = 0) it is the weights w [features] and f(x) = w·x. With a hidden layer it is
the weights W [features, hidden], the biases b [hidden] and the output weights v [hidden], one after the other, and

    f(x) = Σ_h v_h·a_h(x)        a(x) = 1 / (1 + exp(−(x·W + b))), or max(0, x·W + b) if the units are rectified

Gradients are of sigmoids only:

    ∂f/∂v_h = a_h        ∂f/∂b_h = v_h·a_h·(1 − a_h)        ∂f/∂W_jh = x_j·∂f/∂b_h
"""

from learning.data.dataset import Features
from learning.kernels.arrays import Integers, Reals
from learning.kernels.compiling import compiled, fma
from learning.kernels.exponential import LOWEST, exponential
from learning.kernels.products import dot_rows, multiply

__all__ = ["add_gradient", "score"]


@compiled
def score(theta: Reals, rows: Features, hidden: int, rectified: bool, activations: Reals, scores: Reals) -> None:
    """Fill scores[0 … n − 1] with f of each row; rows [n, features], activations [≥ n, hidden] is filled on the way."""
    if hidden == 0:
        dot_rows(rows, theta, scores)
    else:
        _score_network(theta, rows, hidden, rectified, activations, scores)


@compiled
def add_gradient(
    theta: Reals, rows: Features, hidden: int, activations: Reals, shown: Integers, factors: Reals, target: Reals
) -> None:
    """Add Σ_i factors[i]·f'(rows[shown[i]]) at θ to `target`, which may be θ itself; `score` has filled activations."""
    if hidden == 0:
        for place in range(len(shown)):
            if factors[place] != 0.0:
                _add_scaled(factors[place], rows[shown[place]], target)
    else:
        _add_network_gradient(theta, rows, hidden, activations, shown, factors, target)


@compiled
def _score_network(
    theta: Reals, rows: Features, hidden: int, rectified: bool, activations: Reals, scores: Reals
) -> None:
    documents, features = rows.shape
    weights = theta[: features * hidden].reshape((features, hidden))
    biases = theta[features * hidden : features * hidden + hidden]
    output = theta[features * hidden + hidden :]
    for document in range(documents):
        for unit in range(hidden):
            activations[document, unit] = biases[unit]
    multiply(rows, weights, activations)
    for document in range(documents):
        row = activations[document]
        if rectified:
            for unit in range(hidden):
                row[unit] = max(row[unit], 0.0)
        else:
            for unit in range(hidden):
                row[unit] = 1.0 / (1.0 + exponential(min(-row[unit], -LOWEST)))
    dot_rows(activations[:documents], output, scores)


@compiled
def _add_network_gradient(
    theta: Reals, rows: Features, hidden: int, activations: Reals, shown: Integers, factors: Reals, target: Reals
) -> None:
    features = rows.shape[1]
    weights = target[: features * hidden].reshape((features, hidden))
    biases = target[features * hidden : features * hidden + hidden]
    output = target[features * hidden + hidden :]
    output_before = theta[features * hidden + hidden :]
    slopes = activations[rows.shape[0]]  # a spare row
    for place in range(len(shown)):  # the output weights come last: the others need them as they were
        factor = factors[place]
        if factor != 0.0:
            active = activations[shown[place]]
            for unit in range(hidden):
                slopes[unit] = factor * output_before[unit] * active[unit] * (1.0 - active[unit])
            _add_scaled(1.0, slopes, biases)
            for feature in range(features):
                _add_scaled(rows[shown[place], feature], slopes, weights[feature])
    for place in range(len(shown)):
        if factors[place] != 0.0:
            _add_scaled(factors[place], activations[shown[place]], output)


@compiled
def _add_scaled(factor: float, x: Features, target: Reals) -> None:
    """target_j = factor·x_j + target_j, rounded once."""
    for j in range(len(x)):
        target[j] = fma(factor, x[j], target[j])
