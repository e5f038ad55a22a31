"""What a scenario of evolution strategies may say."""

import pytest

from scenarios.load import from_dict, to_dict
from scenarios.problems import ScenarioError

CLIENTS = [{"count": 2, "clicks": "perfect"}]


def scenario(**tables):
    """A scenario of es with these tables beside."""
    return from_dict({"rounds": 1, "clients": CLIENTS, "learner": {"kind": "es"}, **tables})


def told(**tables):
    """The problems of such a scenario."""
    with pytest.raises(ScenarioError) as caught:
        scenario(**tables)
    return [str(one) for one in caught.value.problems]


def test_a_resolved_scenario_tells_the_method_whole():
    """Every setting is written out, in every table that it changes, and the whole is read back as it was."""
    made = scenario(ranker={"kind": "neural"})
    tables = to_dict(made)
    assert tables["learner"] == {
        "kind": "es",
        "learning_rate": 0.001,
        "interactions": 4,
        "sigma": 0.01,
        "metric": "maxrr",
        "p": 1.0,
    }
    assert tables["aggregation"]["rule"] == "adam"
    assert tables["ranker"] == {"kind": "neural", "hidden": 10, "activation": "relu"}
    assert from_dict(tables) == made
    assert to_dict(from_dict({"rounds": 1, "clients": CLIENTS}))["learner"] == {
        "kind": "pdgd",
        "learning_rate": 0.1,
        "interactions": 5,
        "update": "interaction",
    }


NO_WEIGHTS = "es sends no weights, only a seed and two numbers"


@pytest.mark.parametrize(
    ("tables", "problem"),
    [
        (
            {"aggregation": {"rule": "fedavg"}},
            f'aggregation.rule: {NO_WEIGHTS}: no rule of models applies, only "adam"; got "fedavg"',
        ),
        (
            {"aggregation": {"rule": ["nnm", "krum"], "tolerate": 1}},
            f'aggregation.rule: {NO_WEIGHTS}: no rule of models applies, only "adam"; got ["nnm", "krum"]',
        ),
        (
            {"aggregation": {"tolerate": 1}},
            f"aggregation.tolerate: is for rules of models, and {NO_WEIGHTS}; got 1",
        ),
        (
            {"clients": [{"id": "a", "clicks": "perfect", "attack": {"kind": "sign_flip"}}]},
            f"clients[0].attack: {NO_WEIGHTS}: an attack on weights has nothing to change; poisoned clicks work",
        ),
        (
            {"timeline": [{"at_round": 1, "leave": "client-1", "forget": {"method": "federaser", "interactions": 2}}]},
            f'timeline[0].forget: {NO_WEIGHTS}: only retrain or rollback can forget them; got "federaser"',
        ),
        (
            {"learner": {"kind": "es", "interactions": 5}},
            "learner.interactions: must be even with es, half for each way that the model is pushed; got 5",
        ),
        (
            {"clients": [{"count": 1, "clicks": "perfect", "interactions": 3}]},
            "clients[0].interactions: must be even with es, half for each way that the model is pushed; got 3",
        ),
        (
            {"learner": {"kind": "es", "p": 0.05}},
            "learner.p: must be above 1/11, where what is told says nothing of the truth; got 0.05",
        ),
        (
            {"learner": {"kind": "es", "p": 0.5, "metric": "dcg"}},
            'learner.p: below 1 needs metric = "maxrr", which takes 11 values; got 0.5 with "dcg"',
        ),
        (
            {"learner": {"kind": "es", "update": "batch"}},
            'learner.update: is for kind = "pdgd" only; got "batch" with kind = "es"',
        ),
        (
            {"learner": {"kind": "pdgd", "sigma": 0.1}},
            'learner.sigma: is for kind = "es" only; got 0.1 with kind = "pdgd"',
        ),
        (
            {"learner": {"kind": "pdgd"}, "aggregation": {"rule": "adam"}},
            'aggregation.rule: "adam" is the step of learner.kind = "es"; got it with "pdgd"',
        ),
        (
            {"learner": {"kind": "pdgd"}, "ranker": {"kind": "neural", "activation": "relu"}},
            'ranker.activation: must be "sigmoid" with learner.kind = "pdgd"; got "relu"',
        ),
        (
            {"ranker": {"kind": "linear", "activation": "relu"}},
            'ranker.activation: is for kind = "neural" only; got "relu" with kind = "linear"',
        ),
    ],
)
def test_what_does_not_go_together_is_told_in_one_sentence(tables, problem):
    """Each names the key, the reason and the value."""
    assert told(**tables) == [problem]


def test_poisoned_clicks_go_with_es():
    """They need no weights: as a click model, and as an attack."""
    attack = {"id": "a", "clicks": "perfect", "attack": {"kind": "poison_clicks"}}
    assert scenario(clients=[attack, {"id": "b", "clicks": "poison"}]).learner.kind == "es"
