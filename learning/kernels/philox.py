"""Philox4x64-10 for compiled code: the numbers of `learning.streams.stream`, bit for bit.

A generator is uint64[23]: the key (2), the counter (4), how many of the numbers made last are used (1), those numbers
(16). Four blocks of four numbers are made at a time, because the multiplications of one block wait for each other and
those of four do not. As in NumPy the counter is raised before a block is made.
"""

import numpy as np

from learning.kernels.arrays import Words
from learning.kernels.compiling import compiled, multiply_high

__all__ = ["GENERATOR_WORDS", "NUMBERS", "make_numbers", "restart", "uniform"]

Word = np.uint64

GENERATOR_WORDS = 23
NUMBERS = 7
"""Where the numbers made last are."""

_USED = np.uint64(6)  # where the count of used numbers is
_NUMBERS = np.uint64(NUMBERS)
_BATCH = np.uint64(16)
_MULTIPLIER_0 = np.uint64(0xD2E7470EE14C6C93)
_MULTIPLIER_1 = np.uint64(0xCA5A826395121157)
_STEP_0 = np.uint64(0x9E3779B97F4A7C15)  # the golden ratio, 64 bits of it
_STEP_1 = np.uint64(0xBB67AE8584CAA73B)  # √3 − 1
_ROUNDS = 10
_ULP = 2.0**-53


@compiled
def restart(generator: Words, seed: Word, purpose: Word, client: Word, round: Word) -> None:  # noqa: A002 (the domain's word)
    """Set the generator to the start of the stream of (seed, purpose, client, round)."""
    generator[0] = seed
    generator[1] = purpose
    generator[2] = 0
    generator[3] = round
    generator[4] = client
    generator[5] = 0
    generator[_USED] = _BATCH


@compiled
def uniform(generator: Words) -> float:
    """The next number of the stream in [0, 1): the upper 53 bits of a word, as `Generator.random()` has it."""
    used = generator[_USED]
    if used == _BATCH:
        make_numbers(generator)
        used = np.uint64(0)
    generator[_USED] = used + np.uint64(1)
    return float(np.int64(generator[_NUMBERS + used] >> np.uint64(11)) * _ULP)


@compiled
def make_numbers(generator: Words) -> None:
    """Make the next sixteen numbers of the stream; those that `uniform` has not used are lost."""
    for block in range(4):
        c0, c1, c2, c3 = generator[2] + np.uint64(block + 1), generator[3], generator[4], generator[5]
        k0, k1 = generator[0], generator[1]
        for _ in range(_ROUNDS):
            high0, low0 = multiply_high(_MULTIPLIER_0, c0), _MULTIPLIER_0 * c0
            high1, low1 = multiply_high(_MULTIPLIER_1, c2), _MULTIPLIER_1 * c2
            c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
            k0 += _STEP_0
            k1 += _STEP_1
        first = _NUMBERS + np.uint64(4 * block)
        generator[first] = c0
        generator[first + np.uint64(1)] = c1
        generator[first + np.uint64(2)] = c2
        generator[first + np.uint64(3)] = c3
    generator[2] += np.uint64(4)  # no carry: no stream is 2^64 blocks long
