"""Random streams: one for each (seed, purpose, client, round), kept nowhere because each can be made again.

The generator is Philox4x64-10 (Salmon et al., SC 2011, §3.3) as NumPy has it, with

    key = (seed, purpose)        counter = (0, round, client, 0)

so that no two streams overlap before 2^64 blocks of four numbers. `learning.kernels.philox` is the same generator for
compiled code.
"""

import hashlib
from enum import IntEnum

import numpy as np

from learning.errors import LearningError

__all__ = ["WORD", "Purpose", "client_key", "stream"]

WORD = 1 << 64  # seeds, client keys and rounds are words of the generator


class Purpose(IntEnum):
    """What randomness is for; a number is never given to another purpose."""

    START = 1  # a ranker's first weights
    TRAIN = 2  # a client's round: its queries, its lists, its clicks
    TIES = 3  # the order of equal scores in offline measures
    SYNTHETIC = 4  # made-up data sets
    PARTITION = 5  # which client holds which data
    PRIVACY = 6  # noise shares, one a client and round
    ATTACK = 7  # what malicious clients send
    PERTURBATION = 8  # directions of evolution strategies
    SELECTION = 9  # who takes part in a round
    FAULT = 10  # what goes wrong, and when
    TOP_UP = 11  # noise in the place of shares that did not come
    CENTRAL_NOISE = 12  # what the coordinator adds
    REFERENCE = 13  # made-up scores that an aggregation rule compares real ones with


def client_key(client: str) -> int:
    """The 64-bit key of a client's id: its stream does not depend on who else takes part."""
    return int.from_bytes(hashlib.blake2b(client.encode(), digest_size=8).digest(), "little")


def stream(seed: int, purpose: Purpose, client: int = 0, round: int = 0) -> np.random.Generator:  # noqa: A002 (the domain's word)
    """The random stream of one purpose of one client (its key) in one round."""
    for name, word in (("seed", seed), ("client key", client), ("round", round)):
        if not 0 <= word < WORD:
            raise LearningError(f"the {name} must be from 0 to 2^64 - 1; got {word}")
    key = np.array([seed, purpose], dtype=np.uint64)
    counter = np.array([0, round, client, 0], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=counter))
