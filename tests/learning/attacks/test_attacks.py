"""Every attack: what it gives, when it is on, and what it refuses."""

import numpy as np
import pytest

from learning.attacks import (
    ATTACKS,
    ClickAttack,
    ClientAttack,
    ColludingAttack,
    Collusion,
    LoneAttacker,
    Seen,
    make_attack,
)
from learning.clicks import click_model
from learning.errors import LearningError
from learning.streams import Purpose, client_key, stream

LOCAL = np.array([1.0, -2.0, 0.5])
BEFORE = np.array([0.5, 0.0, 0.25])


def kinds(family):
    """The registered attacks of a family."""
    return [kind for kind in ATTACKS if isinstance(make_attack({"kind": kind}).attack, family)]


def sent(round_=3, **spec):
    """What mallory sends in a round."""
    schedule = make_attack(spec)
    return LoneAttacker(schedule.attack, schedule, 7, client_key("mallory")).sent(LOCAL.copy(), BEFORE.copy(), round_)


@pytest.mark.parametrize("kind", kinds(ClientAttack))
def test_every_attack_of_one_client_keeps_the_contract(kind):
    """Shape and dtype of the model, no input changed, the same bits for the same stream."""
    local, before = LOCAL.copy(), BEFORE.copy()
    attack = make_attack({"kind": kind}).attack
    first = attack(local, before, stream(7, Purpose.ATTACK, 1, 2))
    again = attack(local, before, stream(7, Purpose.ATTACK, 1, 2))
    assert first.shape == (3,)
    assert first.dtype == np.float64
    assert first.tobytes() == again.tobytes()
    assert (local.tobytes(), before.tobytes()) == (LOCAL.tobytes(), BEFORE.tobytes())


@pytest.mark.parametrize("honest", [0, 6])
@pytest.mark.parametrize("members", [1, 2, 4])
@pytest.mark.parametrize("kind", kinds(ColludingAttack))
def test_every_colluding_attack_keeps_the_contract(kind, members, honest):
    """A finite model a member, no input changed, the same bits for the same stream, whatever is known."""
    random = np.random.default_rng(members)
    seen = Seen(random.normal(size=(members, 5)), random.normal(size=(honest, 5)), random.normal(size=5), 10)
    kept = [array.copy() for array in (seen.members, seen.honest, seen.before)]
    attack = make_attack({"kind": kind}).attack
    first, again = (attack(seen, stream(7, Purpose.ATTACK, 1, 2)) for _ in range(2))
    assert first.thetas.shape == (members, 5)
    assert first.thetas.dtype == np.float64
    assert np.isfinite(first.thetas).all()
    assert first.thetas.tobytes() == again.thetas.tobytes()
    for now, before in zip((seen.members, seen.honest, seen.before), kept, strict=True):
        assert now.tobytes() == before.tobytes()


@pytest.mark.parametrize("kind", kinds(ColludingAttack))
def test_colluding_attacks_bear_a_round_in_which_nobody_moved(kind):
    """All models equal to the one before: nothing is divided by zero."""
    seen = Seen(np.zeros((2, 3)), np.zeros((3, 3)), np.zeros(3), 5)
    crafted = make_attack({"kind": kind}).attack(seen, stream(7, Purpose.ATTACK, 1, 2))
    assert np.isfinite(crafted.thetas).all()


@pytest.mark.parametrize("levels", [2, 3, 5])
@pytest.mark.parametrize("kind", kinds(ClickAttack))
def test_every_attack_on_clicks_goes_from_honest_to_poisoned(kind, levels):
    """Strength 0 changes nothing; at strength 1 perfect users become the poison model; half is half way."""
    perfect = click_model("perfect", levels)
    assert make_attack({"kind": kind, "strength": 0}).attack(perfect) == perfect
    assert make_attack({"kind": kind}).attack(perfect) == click_model("poison", levels)
    half = make_attack({"kind": kind, "strength": 0.5}).attack(perfect)
    assert half.click == pytest.approx([(a + b) / 2 for a, b in zip(perfect.click, perfect.click[::-1], strict=True)])


def test_flipped_clicks_turn_the_clients_own_users_around():
    """Informational users stop where they went on, and click what they passed over."""
    flipped = make_attack({"kind": "flipped_clicks"}).attack(click_model("informational", 3))
    assert (flipped.click, flipped.stop) == ((0.9, 0.7, 0.4), (0.5, 0.3, 0.1))


def test_sign_flip_turns_the_local_model_around():
    """−z·θ, z = 2 unless said otherwise."""
    assert sent(kind="sign_flip").tolist() == [-2.0, 4.0, -1.0]
    assert sent(kind="sign_flip", z=0.5).tolist() == [-0.5, 1.0, -0.25]


def test_a_free_rider_sends_the_global_model_back():
    """Exactly, or with noise of the given strength around it."""
    assert sent(kind="free_rider").tolist() == BEFORE.tolist()
    noise = np.array([sent(round_, kind="free_rider", noise=0.1) - BEFORE for round_ in range(1, 2001)])
    assert abs(noise.mean()) < 0.005
    assert noise.std() == pytest.approx(0.1, rel=0.03)


def test_random_weights_are_normal_and_fresh_each_round():
    """Standard deviation `scale`, and nothing of the model in them."""
    drawn = np.array([sent(round_, kind="random", scale=3.0) for round_ in range(1, 2001)])
    assert abs(drawn.mean()) < 0.15
    assert drawn.std() == pytest.approx(3.0, rel=0.03)
    assert len(np.unique(drawn[:, 0])) == 2000


def test_an_attack_is_on_from_start_to_stop():
    """Both rounds included; without a stop, to the end; every so many rounds if that is said."""
    bounded = make_attack({"kind": "sign_flip", "start": 3, "stop": 5})
    assert [number for number in range(1, 9) if bounded.is_on(number)] == [3, 4, 5]
    assert make_attack({"kind": "sign_flip"}).is_on(10**6)
    sometimes = make_attack({"kind": "lie", "start": 2, "every": 3, "stop": 9})
    assert [number for number in range(1, 12) if sometimes.is_on(number)] == [2, 5, 8]
    assert sent(2, kind="sign_flip", start=3).tolist() == LOCAL.tolist()


def test_a_collusion_says_what_it_knows():
    """Partial knowledge unless said otherwise; what members do without the adversary only if it is said."""
    assert make_attack({"kind": "lie"}) == Collusion(ATTACKS["lie"](), knowledge="partial", without=None)
    full = make_attack({"kind": "ipm", "knowledge": "full", "without_adversary": "silent"})
    assert (full.knowledge, full.without) == ("full", "silent")


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ({}, "needs a kind, one of fal.*, sign_flip, update_for_another"),
        ({"kind": "lies"}, "attack must be one of .*lie, min_max.*; got 'lies'"),
        ({"kind": "sign_flip", "zz": 1}, "an option of attack sign_flip must be one of z; got 'zz'"),
        ({"kind": "sign_flip", "z": -1}, "z of attack sign_flip must be a finite number from 0 on; got -1"),
        ({"kind": "sign_flip", "z": "2"}, "z of attack sign_flip must be a finite number"),
        ({"kind": "random", "scale": float("nan")}, "scale of attack random must be a finite number"),
        ({"kind": "free_rider", "start": 0}, "an attack's start must be a round from 1 on; got 0"),
        ({"kind": "free_rider", "start": 5, "stop": 4}, "must not stop before it starts; got 5 to 4"),
        ({"kind": "lie", "every": 0}, "an attack's every must be a number of rounds from 1 on; got 0"),
        ({"kind": "lie", "z": float("inf")}, "z of attack lie must be a finite number; got inf"),
        ({"kind": "lie", "knowledge": "all"}, "knowledge of an attack must be one of full, partial; got 'all'"),
        ({"kind": "lie", "without_adversary": "dead"}, "must be one of honest, silent, wait; got 'dead'"),
        ({"kind": "random", "knowledge": "full"}, "knowledge is for attacks of several clients together"),
        ({"kind": "min_max", "perturbation": "x"}, "perturbation of attack min_max must be one of sign, std, unit"),
        ({"kind": "ipm", "epsilon": -1}, "epsilon of attack ipm must be a finite number from 0 on; got -1"),
        ({"kind": "poison_clicks", "strength": 1.5}, "strength of attack poison_clicks .* from 0 to 1; got 1.5"),
        ({"kind": "false_leave", "z": 1}, "an option of attack false_leave must be one of none; got 'z'"),
    ],
)
def test_a_wrong_attack_is_one_sentence(spec, sentence):
    """It names the constraint, the value and the choices."""
    with pytest.raises(LearningError, match=sentence.replace("^", r"\^")):
        make_attack(spec)
