"""The loops of the guarded rule (`learning.aggregation.guarded`): one pass over the updates each, in a fixed order.

n clients of a round are rows; `who` has their numbers, which are rows of what is remembered.
"""

from math import sqrt

import numpy as np

from learning.kernels.arrays import Bits, Integers, Reals
from learning.kernels.compiling import compiled
from learning.kernels.lanes import LANES, add_product, load, load_first, spread, total

__all__ = ["measure", "remember", "take_numbers", "widest_cut"]


@compiled
def measure(thetas: Reals, before: Reals, factors: Reals, changes: Reals, sizes: Reals) -> None:
    """Fill changes [n, d] with (thetas − before)·factors, and sizes [n] with their lengths."""
    for row in range(len(thetas)):
        change = changes[row]
        for j in range(len(before)):
            change[j] = (thetas[row, j] - before[j]) * factors[row]
        sizes[row] = sqrt(_dot(change, change))


@compiled
def take_numbers(
    who: Integers,
    changes: Reals,
    sizes: Reals,
    trusted: Bits,
    wild: Bits,
    out: Bits,
    histories: Reals,
    direction: Reals,
    fading: float,
    together: Reals,
    centre: Reals,
    off: Reals,
    numbers: Reals,
    sums: Reals,
    noise: Reals,
) -> None:
    """Fill off [n, d] with e_c, and add a_c and b_c to the sums and the noise [2, clients] of those who are not wild.

    direction is u, all zeros before there is one; together and centre [d], zeros, and numbers [2, n] are work space.
    """
    count = _add_rows(changes, trusted, together)
    for j in range(len(centre)):
        centre[j] = together[j] / count
    for row in range(len(who)):
        _subtract(changes[row], centre, off[row])
        own = histories[who[row]]
        size = sqrt(_dot(own, own)) if out[who[row]] else 0.0
        numbers[0, row] = _dot(off[row], own) / size if size > 0.0 else _dot(off[row], direction)
        shared = _dot(changes[row], together)
        others = max(1, count - 1)
        numbers[1, row] = (shared - sizes[row] * sizes[row]) / others if trusted[row] else shared / count
    for series in range(2):
        _add_numbers(who, numbers[series], trusted, wild, fading, sums[series], noise[series])


@compiled
def _add_numbers(
    who: Integers, numbers: Reals, trusted: Bits, wild: Bits, fading: float, sums: Reals, noise: Reals
) -> None:
    """Add the numbers, less their mean over the trusted, to the sums and their squares to the noise."""
    usual, count = 0.0, 0
    for row in range(len(who)):
        if trusted[row]:
            usual += numbers[row]
            count += 1
    for row in range(len(who)):
        if not wild[row]:
            number = numbers[row] - usual / count
            sums[who[row]] = fading * sums[who[row]] + number
            noise[who[row]] = fading * fading * noise[who[row]] + number * number


@compiled
def remember(
    who: Integers,
    off: Reals,
    trusted: Bits,
    wild: Bits,
    fading: float,
    histories: Reals,
    direction: Reals,
    centre: Reals,
    turned: Reals,
) -> None:
    """Add the round to the histories of those who are not wild, and turn u by one step of the power method.

    u starts as the longest history; centre and turned [d], zeros, are work space.
    """
    count = 0
    for row in range(len(who)):
        history = histories[who[row]]
        if not wild[row]:
            _fade(history, fading, off[row])
        if trusted[row]:
            count += 1
            _add(1.0, history, centre)
    for j in range(len(centre)):
        centre[j] /= count
    for row in range(len(who)):
        _subtract(histories[who[row]], centre, off[row])  # from here on the histories around their centre
    start = direction if _dot(direction, direction) > 0.0 else off[_longest(off, trusted)]
    for row in range(len(who)):
        if trusted[row]:
            _add(_dot(off[row], start), off[row], turned)
    size = sqrt(_dot(turned, turned))
    for j in range(len(centre)):
        direction[j] = turned[j] / size if size > 0.0 else direction[j]


@compiled
def _longest(rows: Reals, chosen: Bits) -> int:
    """The first of the longest of the chosen rows; 0 if none is chosen."""
    longest, size = 0, -1.0
    for row in range(len(rows)):
        if chosen[row] and _dot(rows[row], rows[row]) > size:
            longest, size = row, _dot(rows[row], rows[row])
    return longest


@compiled
def _add_rows(rows: Reals, chosen: Bits, target: Reals) -> int:
    """Add the chosen rows to `target`; how many they are."""
    count = 0
    for row in range(len(rows)):
        if chosen[row]:
            count += 1
            _add(1.0, rows[row], target)
    return count


@compiled
def _add(factor: float, x: Reals, target: Reals) -> None:
    for j in range(len(target)):
        target[j] += factor * x[j]


@compiled
def _subtract(x: Reals, y: Reals, out: Reals) -> None:
    for j in range(len(out)):
        out[j] = x[j] - y[j]


@compiled
def _fade(history: Reals, fading: float, x: Reals) -> None:
    for j in range(len(history)):
        history[j] = fading * history[j] + x[j]


def widest_cut(sums: Reals, noise: Reals) -> tuple[float, Integers]:
    """The largest z of a cut of the sorted sums, and the places of its smaller group; 0 and nobody if there is none."""
    order = np.argsort(sums, kind="stable")
    z, cut = _best_cut(sums, noise, order)
    low, high = order[:cut], order[cut:]
    return z, low if len(low) < len(high) else high


@compiled
def _best_cut(sums: Reals, noise: Reals, order: Integers) -> tuple[float, int]:
    """The largest z, and how many of the sorted sums are below the cut; 0 and 0 if every cut is in the middle."""
    count, all_sums, all_noise = len(order), 0.0, 0.0
    for place in order:
        all_sums += sums[place]
        all_noise += noise[place]
    best, cut, low_sums, low_noise = 0.0, 0, 0.0, 0.0
    for size in range(1, count):
        low_sums += sums[order[size - 1]]
        low_noise += noise[order[size - 1]]
        if 2 * min(size, count - size) >= count:
            continue
        spread_ = ((all_noise - low_noise) / (count - size) + low_noise / size) / 2.0
        if spread_ > 0.0:
            z = ((all_sums - low_sums) / (count - size) - low_sums / size) / sqrt(spread_)
            if z > best:
                best, cut = z, size
    return best, cut


@compiled
def _dot(x: Reals, y: Reals) -> float:
    """Eight interleaved sums of fused products, as in `learning.kernels.products`."""
    whole = len(x) // LANES * LANES
    rest = len(x) - whole
    s = spread(0.0)
    for j in range(0, whole, LANES):
        s = add_product(load(x, j), load(y, j), s)
    return float(total(add_product(load_first(x, whole, rest), load_first(y, whole, rest), s)))
