"""Streams can be made again anywhere and share nothing."""

import numpy as np
import pytest

from learning.errors import LearningError
from learning.kernels.philox import GENERATOR_WORDS, restart, uniform
from learning.streams import WORD, Purpose, client_key, stream


def test_a_stream_is_the_same_whenever_it_is_made():
    """The numbers depend on the four arguments only, and are pinned for good."""
    expected = [0.36504940482471915, 0.6420901063975623, 0.8126669022062247]
    assert stream(5, Purpose.TRAIN, client_key("a"), 7).random(3).tolist() == expected


@pytest.mark.parametrize(
    "other",
    [(6, Purpose.TRAIN, 1, 1), (5, Purpose.START, 1, 1), (5, Purpose.TRAIN, 2, 1), (5, Purpose.TRAIN, 1, 2)],
)
def test_each_argument_gives_another_stream(other):
    """Changing any one argument changes every number."""
    here = stream(5, Purpose.TRAIN, 1, 1).random(100)
    assert not np.isin(stream(*other).random(100), here).any()


def test_purposes_keep_their_numbers():
    """A purpose's number is part of what makes an old run repeatable."""
    assert {purpose.name: purpose.value for purpose in Purpose} == {
        "START": 1,
        "TRAIN": 2,
        "TIES": 3,
        "SYNTHETIC": 4,
        "PARTITION": 5,
        "PRIVACY": 6,
        "ATTACK": 7,
        "PERTURBATION": 8,
        "SELECTION": 9,
        "FAULT": 10,
        "TOP_UP": 11,
        "CENTRAL_NOISE": 12,
        "REFERENCE": 13,
    }


def test_a_client_key_depends_on_the_id_only():
    """The key is a 64-bit hash of the id, pinned for good."""
    assert client_key("client-1") == 0xDE5C9A078171F0EF
    assert client_key("client-1") != client_key("client-2")


@pytest.mark.parametrize(("seed", "client", "round_"), [(0, 0, 0), (5, WORD - 1, 10_000), (WORD - 1, 12345, WORD - 1)])
def test_compiled_code_draws_the_same_numbers(seed, client, round_):
    """The compiled Philox gives NumPy's doubles, bit for bit."""
    generator = np.empty(GENERATOR_WORDS, np.uint64)
    restart(generator, np.uint64(seed), np.uint64(Purpose.TRAIN), np.uint64(client), np.uint64(round_))
    drawn = [uniform(generator) for _ in range(1001)]
    assert drawn == stream(seed, Purpose.TRAIN, client, round_).random(1001).tolist()


@pytest.mark.parametrize(("seed", "client", "round_"), [(-1, 0, 0), (0, WORD, 0), (0, 0, -3)])
def test_what_is_no_word_is_refused(seed, client, round_):
    """Seeds, keys and rounds are unsigned 64-bit numbers."""
    with pytest.raises(LearningError, match=r"must be from 0 to 2\^64 - 1"):
        stream(seed, Purpose.TRAIN, client, round_)
