"""What colluding clients must be together."""

import pytest

from scenarios.load import from_dict
from scenarios.problems import ScenarioError

LIE = {"kind": "lie"}


def problems(members=2, *, attack=LIE, more=(), timeline=(), **federation):
    """What is wrong with a scenario of three honest clients and some that collude."""
    groups = [{"count": 3, "clicks": "perfect"}, {"count": members, "clicks": "perfect", "attack": attack}, *more]
    tables = {"rounds": 9, "federation": federation, "clients": groups, "timeline": list(timeline)}
    try:
        from_dict(tables)
    except ScenarioError as error:
        return str(error)
    return ""


def test_a_plot_is_fine():
    """Also in two groups, with somebody who comes later, and with something that happens to the adversary."""
    more = [{"id": "mallory", "clicks": "informational", "attack": LIE}, {"count": 2, "clicks": "perfect"}]
    timeline = [{"at_round": 2, "kill": "adversary"}, {"at_round": 3, "add": 1, "attack": LIE}]
    assert problems(more=more, timeline=timeline) == ""


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"members": 3}, "colluding clients must be fewer than half, m < n/2; got m = 3, n = 6"),
        (
            {"more": [{"id": "eve", "clicks": "perfect", "attack": {"kind": "ipm"}}]},
            "clients[2].attack: must be that of clients[1]: those who collude have one adversary",
        ),
        (
            {"attack": {"kind": "random"}, "timeline": [{"at_round": 2, "add": 1, "attack": LIE}]},
            "must be that of a group of clients: the adversary is there from the start",
        ),
        (
            {"attack": LIE | {"without_adversary": "silent"}, "on_missing": "wait"},
            'must be honest or wait with on_missing = "wait"',
        ),
        ({"attack": {"kind": "random"}, "timeline": [{"at_round": 2, "kill": "adversary"}]}, 'got "adversary"'),
        ({"on_missing": "wait", "timeline": [{"at_round": 2, "kill": "adversary"}]}, "the round would wait for ever"),
        ({"attack": {"kind": "lied"}}, "attack must be one of"),
    ],
)
def test_what_cannot_work_is_said(settings, sentence):
    """Before the run, with the key and the constraint."""
    assert sentence in problems(**settings)
