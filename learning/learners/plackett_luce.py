"""The Plackett–Luce model of a ranked list, in compiled code (Wang et al., ICTIR 2021, equations 1, 2 and 6).

A list is drawn from the top: each rank gets one of the documents left, with probability in proportion to e^score.

Let w_i = e^score of the document at rank i and Z_i the sum of e^score over the documents left at rank i, so that
P(R) = Π_i w_i/Z_i. R* has the documents of the ranks a < b swapped: only the sums of the ranks a+1 … b differ, and

    P(R) / P(R*) = Π_{i = a+1 … b} Z*_i/Z_i        Z*_b = Z_{b+1} + w_a        Z*_i = Z*_{i+1} + w_i for i < b

Every sum is one of positive terms, taken from the end of the list, so nothing cancels. Where scores are so far apart
that e^score leaves the range of a float64, the same recurrences are done on logarithms.
"""

import math

from learning.kernels.arrays import Bits, Integers, Reals, Words
from learning.kernels.compiling import compiled
from learning.kernels.exponential import exponential
from learning.kernels.philox import uniform

__all__ = ["BLOCK", "pair_factors", "sample_list"]

BLOCK = 8  # documents whose weights have one subtotal

_SMALLEST = 1e-150  # e^score relative to the largest; the product of two such numbers is still in a float64's range


@compiled
def sample_list(
    generator: Words, scores: Reals, documents: int, weights: Reals, subtotals: Reals, shown: Integers, masses: Reals
) -> float:
    """Draw a list of len(shown) of the documents; return the mass left, the sum of e^score of those not drawn.

    scores float64[≥ documents]; shown int64[k], the documents from the top; masses float64[k], their e^score. All
    e^score are divided by the largest. Where that leaves the range of a float64 the result is -1 and masses mean
    nothing; the list is right nevertheless.
    weights float64[≥ documents rounded up to BLOCK] and subtotals float64[its blocks] are work space.
    Draws: one number u for each rank; it takes the first document (in file order) with which the sum of e^score over
    the documents left, up to and with this one, exceeds u times the whole sum.
    """
    blocks = (documents + BLOCK - 1) // BLOCK
    weights = weights[: blocks * BLOCK]
    _weigh(scores, documents, weights)
    total = _add_up(weights, blocks, subtotals)
    in_range = True
    for rank in range(len(shown)):
        if not total >= _SMALLEST:
            in_range = False
            _weigh_again(scores, documents, shown[:rank], weights)
            total = _add_up(weights, blocks, subtotals)
        document = _find(weights, subtotals, blocks, uniform(generator) * total)
        shown[rank] = document
        masses[rank] = weights[document]
        in_range = in_range and masses[rank] >= _SMALLEST
        weights[document] = 0.0
        subtotals[document // BLOCK] = _subtotal(weights, document // BLOCK)
        total = 0.0
        for block in range(blocks):
            total += subtotals[block]
    return total if in_range else -1.0


@compiled
def pair_factors(
    scores: Reals,
    documents: int,
    shown: Integers,
    masses: Reals,
    left: float,
    clicked: Bits,
    sums: Reals,
    factors: Reals,
) -> None:
    """Fill factors[i] with the factor of f'(document at rank i) in PDGD's gradient (equations 3, 5 and 6).

    Each pair of a clicked and an unclicked rank among those examined, len(clicked) from the top, has the weight

        rho·w_a·w_b/(w_a + w_b)²        rho = P(R*)/(P(R) + P(R*)) = 1/(1 + P(R)/P(R*))

    which is added to the clicked rank's factor and taken from the other's. `left` is what `sample_list` returned,
    masses what it filled; sums float64[2, ≥ k + 1] is work space.
    """
    for rank in range(len(factors)):
        factors[rank] = 0.0
    in_range = left >= 0.0
    if in_range:
        _sums(masses, left, sums)
    else:
        _log_sums(scores, documents, shown, sums[0])
    for a in range(len(clicked)):
        for b in range(a + 1, len(clicked)):
            if clicked[a] != clicked[b]:
                weight = (
                    _pair_weight(masses, sums, a, b) if in_range else _log_pair_weight(scores, shown, sums[0], a, b)
                )
                factors[a] += weight if clicked[a] else -weight
                factors[b] += weight if clicked[b] else -weight


@compiled
def _sums(masses: Reals, left: float, sums: Reals) -> None:
    """Fill sums[0, 0 … k] with Z_1 … Z_{k+1} and sums[1, 0 … k − 1] with 1/Z_1 … 1/Z_k."""
    sums[0, len(masses)] = left
    for rank in range(len(masses) - 1, -1, -1):
        sums[0, rank] = sums[0, rank + 1] + masses[rank]
        sums[1, rank] = 1.0 / sums[0, rank]


@compiled
def _pair_weight(masses: Reals, sums: Reals, a: int, b: int) -> float:
    swapped = sums[0, b + 1] + masses[a]
    odds = swapped * sums[1, b]  # P(R)/P(R*)
    for rank in range(b - 1, a, -1):
        swapped += masses[rank]
        odds *= swapped * sums[1, rank]
    both = masses[a] + masses[b]
    return float(masses[a] * masses[b] / (both * both * (1.0 + odds)))


@compiled
def _log_sums(scores: Reals, documents: int, shown: Integers, sums: Reals) -> None:
    ranks = len(shown)
    sums[ranks] = -math.inf
    for document in range(documents):
        if not _among(document, shown):
            sums[ranks] = _log_add(sums[ranks], scores[document])
    for rank in range(ranks - 1, -1, -1):
        sums[rank] = _log_add(sums[rank + 1], scores[shown[rank]])


@compiled
def _log_pair_weight(scores: Reals, shown: Integers, sums: Reals, a: int, b: int) -> float:
    swapped = _log_add(sums[b + 1], scores[shown[a]])
    log_odds = swapped - sums[b]
    for rank in range(b - 1, a, -1):
        swapped = _log_add(swapped, scores[shown[rank]])
        log_odds += swapped - sums[rank]
    apart = math.exp(-abs(scores[shown[a]] - scores[shown[b]]))
    rho = 1.0 / (1.0 + math.exp(log_odds))
    return rho * apart / ((1.0 + apart) * (1.0 + apart))


@compiled
def _log_add(x: float, y: float) -> float:
    """log(e^x + e^y)."""
    if x == -math.inf:
        return y
    return max(x, y) + math.log1p(math.exp(-abs(x - y)))


@compiled
def _among(document: int, shown: Integers) -> bool:
    for rank in range(len(shown)):  # noqa: SIM110 (a loop is what compiles)
        if shown[rank] == document:
            return True
    return False


@compiled
def _weigh(scores: Reals, documents: int, weights: Reals) -> None:
    """Set weights = e^(score − largest score); 0 in the places that fill up the last block."""
    largest = -math.inf
    for document in range(documents):
        largest = max(largest, scores[document])
    for document in range(documents):
        weights[document] = exponential(scores[document] - largest)
    for place in range(documents, len(weights)):
        weights[place] = 0.0


@compiled
def _weigh_again(scores: Reals, documents: int, taken: Integers, weights: Reals) -> None:
    """The same for the documents that are not taken, relative to the largest score among them."""
    largest = -math.inf
    for document in range(documents):
        if not _among(document, taken):
            largest = max(largest, scores[document])
    for document in range(documents):
        weights[document] = 0.0 if _among(document, taken) else exponential(scores[document] - largest)


@compiled
def _subtotal(weights: Reals, block: int) -> float:
    w = weights[block * BLOCK : block * BLOCK + BLOCK]
    return float(((w[0] + w[1]) + (w[2] + w[3])) + ((w[4] + w[5]) + (w[6] + w[7])))


@compiled
def _add_up(weights: Reals, blocks: int, subtotals: Reals) -> float:
    total = 0.0
    for block in range(blocks):
        subtotals[block] = _subtotal(weights, block)
        total += subtotals[block]
    return total


@compiled
def _find(weights: Reals, subtotals: Reals, blocks: int, target: float) -> int:
    """The first document with which the running sum exceeds the target; if rounding lets none, the last before."""
    block = 0
    before = 0.0
    while block < blocks - 1 and not before + subtotals[block] > target:
        before += subtotals[block]
        block += 1
    for place in range(block * BLOCK, block * BLOCK + BLOCK):
        before += weights[place]
        if before > target:
            return place
    place = block * BLOCK + BLOCK - 1
    while place > 0 and weights[place] == 0.0:
        place -= 1
    return place
