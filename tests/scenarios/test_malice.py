"""Who is malicious, in the words of each layer."""

import pytest

from scenarios import malice
from scenarios.load import from_dict
from scenarios.roster import clients

LIE = {"kind": "lie", "knowledge": "full", "start": 3}


def scenario(attack=LIE, **federation):
    """Three honest clients and two with an attack."""
    groups = [{"count": 3, "clicks": "perfect"}, {"count": 2, "clicks": "perfect", "attack": attack}]
    return from_dict({"rounds": 9, "federation": federation, "clients": groups})


@pytest.mark.parametrize(
    ("federation", "without", "awaits", "deserts", "silent"),
    [
        ({}, None, False, True, False),
        ({"on_missing": "wait"}, None, True, False, False),
        ({"on_missing": "wait"}, "honest", False, True, False),
        ({"restart": "always"}, "silent", True, True, True),
        ({}, "wait", True, False, False),
    ],
)
def test_what_members_do_without_an_adversary(federation, without, awaits, deserts, silent):
    """What the scenario says; else they wait where the run waits for everybody, and are honest where it does not."""
    made = scenario(LIE | ({"without_adversary": without} if without else {}), **federation)
    everyone = clients(made)
    plot = malice.plot(everyone, made.federation)
    assert (plot.members, plot.full, plot.awaits, plot.deserts) == (("client-4", "client-5"), True, awaits, deserts)
    assert [plot.is_on(number) for number in (2, 3)] == [False, True]
    host = malice.malice(everyone[2:], everyone, made.federation)
    assert (host.members.tolist(), host.silent) == ([3, 4], silent)
    assert malice.malice(everyone[:3], everyone, made.federation) is None


def test_rogues_pick_a_client_of_another_host():
    """Or a number that nobody has, where all live together."""
    made = scenario({"kind": "update_for_another"})
    everyone = clients(made)
    assert malice.plot(everyone, made.federation) is None
    apart = malice.malice(everyone[3:], everyone, made.federation)
    assert (sorted(apart.rogues), apart.stranger, apart.victim) == ([3, 4], 0, "client-1")
    assert malice.malice(everyone, everyone, made.federation).stranger == 5
