"""What a scenario may say about privacy."""

import pytest

from scenarios.load import from_dict, to_dict
from scenarios.problems import ScenarioError


def scenario(privacy, **tables):
    """A small scenario with this table."""
    return from_dict({"rounds": 1, "clients": [{"count": 2, "clicks": "perfect"}], "privacy": privacy, **tables})


SHARES = {"mechanism": "laplace-shares", "epsilon": 4.5, "sensitivity": 5}


def test_a_resolved_scenario_tells_every_setting_of_its_mechanism():
    """Defaults are written out, and reading them again changes nothing."""
    resolved = to_dict(scenario(SHARES))["privacy"]
    more = {"clip": "half", "shares": "expected", "on_deficit": "proceed", "delta": 1e-5}
    assert resolved == {**SHARES, **more}
    assert to_dict(scenario(resolved))["privacy"] == resolved
    assert to_dict(scenario({}))["privacy"] == {"mechanism": "none"}


@pytest.mark.parametrize(
    ("privacy", "tables", "sentence"),
    [
        ({"epsilon": 4.5}, {}, 'privacy.epsilon: needs a mechanism, got 4.5 with mechanism = "none"'),
        ({"mechanism": "laplace-shares", "epsilon": 1.2}, {}, "privacy.sensitivity: is needed by"),
        (SHARES | {"mechanism": "local-gaussian", "shares": "quorum"}, {}, 'is for mechanism = "laplace-shares" only'),
        (SHARES | {"delta": 1.0}, {}, "privacy.delta: must be a number > 0 and < 1; got 1.0"),
        (SHARES | {"epsilon": 0}, {}, "privacy.epsilon: must be a number > 0; got 0"),
        (SHARES | {"mechanism": "laplace"}, {}, 'privacy.mechanism: must be "none", "laplace-shares"'),
        (SHARES, {"aggregation": {"rule": "krum"}}, 'hides clients in a sum, so aggregation.rule must be "fedavg"'),
    ],
)
def test_what_does_not_fit_is_one_sentence(privacy, tables, sentence):
    """The key, the value and the choices."""
    with pytest.raises(ScenarioError) as caught:
        scenario(privacy, **tables)
    assert sentence in str(caught.value)
