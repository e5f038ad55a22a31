"""Attacks by single clients: what they send, when, and what they refuse."""

import numpy as np
import pytest

from learning.attacks import ATTACKS, make_attack
from learning.errors import LearningError
from learning.streams import Purpose, client_key, stream

LOCAL = np.array([1.0, -2.0, 0.5])
BEFORE = np.array([0.5, 0.0, 0.25])


def sent(round_=3, **spec):
    """What mallory sends in a round."""
    random = stream(7, Purpose.ATTACK, client_key("mallory"), round_)
    return make_attack(spec).attack(LOCAL.copy(), BEFORE.copy(), random)


@pytest.mark.parametrize("kind", ATTACKS)
def test_every_attack_keeps_the_contract(kind):
    """Shape and dtype of the model, no input changed, the same bits for the same stream."""
    local, before = LOCAL.copy(), BEFORE.copy()
    attack = make_attack({"kind": kind}).attack
    first = attack(local, before, stream(7, Purpose.ATTACK, 1, 2))
    again = attack(local, before, stream(7, Purpose.ATTACK, 1, 2))
    assert first.shape == (3,)
    assert first.dtype == np.float64
    assert first.tobytes() == again.tobytes()
    assert (local.tobytes(), before.tobytes()) == (LOCAL.tobytes(), BEFORE.tobytes())


def test_sign_flip_turns_the_local_model_around():
    """−z·θ, z = 2 unless said otherwise."""
    assert sent(kind="sign_flip").tolist() == [-2.0, 4.0, -1.0]
    assert sent(kind="sign_flip", z=0.5).tolist() == [-0.5, 1.0, -0.25]


def test_a_free_rider_sends_the_global_model_back():
    """Exactly, or with noise of the given strength around it."""
    assert sent(kind="free_rider").tolist() == BEFORE.tolist()
    noise = np.array([sent(round_, kind="free_rider", noise=0.1) - BEFORE for round_ in range(2000)])
    assert abs(noise.mean()) < 0.005
    assert noise.std() == pytest.approx(0.1, rel=0.03)


def test_random_weights_are_normal_and_fresh_each_round():
    """Standard deviation `scale`, and nothing of the model in them."""
    drawn = np.array([sent(round_, kind="random", scale=3.0) for round_ in range(2000)])
    assert abs(drawn.mean()) < 0.15
    assert drawn.std() == pytest.approx(3.0, rel=0.03)
    assert len(np.unique(drawn[:, 0])) == 2000


def test_an_attack_is_on_from_start_to_stop():
    """Both rounds included; without a stop, to the end."""
    bounded = make_attack({"kind": "sign_flip", "start": 3, "stop": 5})
    assert [number for number in range(1, 9) if bounded.is_on(number)] == [3, 4, 5]
    assert make_attack({"kind": "sign_flip"}).is_on(10**6)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ({}, "needs a kind, one of free_rider, random, sign_flip"),
        ({"kind": "lie"}, "attack must be one of free_rider, random, sign_flip; got 'lie'"),
        ({"kind": "sign_flip", "zz": 1}, "an option of attack sign_flip must be one of z; got 'zz'"),
        ({"kind": "sign_flip", "z": -1}, "z of attack sign_flip must be a finite number from 0 on; got -1"),
        ({"kind": "sign_flip", "z": "2"}, "z of attack sign_flip must be a finite number"),
        ({"kind": "random", "scale": float("nan")}, "scale of attack random must be a finite number"),
        ({"kind": "free_rider", "start": 0}, "an attack's start must be a round from 1 on; got 0"),
        ({"kind": "free_rider", "start": 5, "stop": 4}, "must not stop before it starts; got 5 to 4"),
    ],
)
def test_a_wrong_attack_is_one_sentence(spec, sentence):
    """It names the constraint, the value and the choices."""
    with pytest.raises(LearningError, match=sentence.replace("^", r"\^")):
        make_attack(spec)
