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
    off: Reals,
    numbers: Reals,
    sums: Reals,
    noise: Reals,
) -> None:
    """Fill off [n, d] with e_c, and add a_c and b_c to the sums and the noise [2, clients] of those who are not wild.

    direction is u, all zeros before there is one; together [d] and numbers [2, n] are work space.
    """
    count = _add_rows(changes, trusted, together)
    for row in range(len(who)):
        for j in range(len(together)):
            off[row, j] = changes[row, j] - together[j] / count
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
    for row in range(len(who)):
        for j in range(len(centre)):
            if not wild[row]:
                histories[who[row], j] = fading * histories[who[row], j] + off[row, j]
            off[row, j] = histories[who[row], j]  # from here on the histories, and then around their centre
    count = _add_rows(off, trusted, centre)
    longest = -1
    for row in range(len(who)):
        for j in range(len(centre)):
            off[row, j] -= centre[j] / count
        if trusted[row] and (longest < 0 or _dot(off[row], off[row]) > _dot(off[longest], off[longest])):
            longest = row
    start = direction if _dot(direction, direction) > 0.0 else off[longest]
    for row in range(len(who)):
        weight = _dot(off[row], start) if trusted[row] else 0.0
        for j in range(len(centre)):
            turned[j] += weight * off[row, j]
    size = sqrt(_dot(turned, turned))
    for j in range(len(centre)):
        direction[j] = turned[j] / size if size > 0.0 else direction[j]


@compiled
def _add_rows(rows: Reals, chosen: Bits, target: Reals) -> int:
    """Add the chosen rows to `target`; how many they are."""
    count = 0
    for row in range(len(rows)):
        if chosen[row]:
            count += 1
            for j in range(len(target)):
                target[j] += rows[row, j]
    return count


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
