"""What a scenario may say."""

import subprocess
import sys
import tomllib
from typing import get_args

import pytest
from pydantic import ValidationError

from learning.aggregation import PRE_AGGREGATORS, RULES
from learning.clicks import CLICK_MODELS, click_model
from learning.errors import LearningError
from learning.learners import LEARNERS
from learning.learners.es import Metric
from learning.privacy import MECHANISMS
from learning.rankers import RANKERS, make_ranker
from learning.rankers.neural import Activation
from scenarios import schema, values
from scenarios.load import from_dict, load_scenario, shipped
from scenarios.words import keys

NOT_IN_QUICKSTART = {
    "aggregation.judged": "fedavg knows no judgements",
    "aggregation.radius": "fedavg clips nothing",
    "aggregation.tolerate": "fedavg tolerates nobody",
    "clients[].attack": "the quickstart's clients are honest",
    "clients[].id": "a group has a count or an id",
    "ranker.hidden": "the linear ranker has no hidden units",
    "ranker.activation": "the linear ranker has no hidden units",
    "learner.sigma": "the quickstart's learner is pdgd",
    "learner.metric": "the quickstart's learner is pdgd",
    "learner.p": "the quickstart's learner is pdgd",
    "expect.METRIC": "stands for a metric's name",
    "unlearning": "the quickstart forgets nobody",
    **{f"privacy.{key}": "there is no mechanism" for key in schema.Privacy.model_fields if key != "mechanism"},
}


def minimal(**tables):
    """The smallest scenario with some tables added."""
    return {"rounds": 1, "clients": [{"count": 1, "clicks": "perfect"}], **tables}


def test_the_click_models_are_those_of_the_registry():
    """Every registered model that works by its name alone is a choice, and no other."""

    def works(name):
        try:
            click_model(name, 3)
        except LearningError:
            return False
        return True

    assert set(get_args(values.ClickModelName)) == {name for name in CLICK_MODELS if works(name)}


@pytest.mark.parametrize(
    ("names", "registry"),
    [
        (values.RankerKind, RANKERS),
        (values.LearnerKind, LEARNERS),
        (values.RuleName, [*RULES, "adam"]),  # the step of es, whose updates are no models
        (values.PreAggregatorName, PRE_AGGREGATORS),
        (values.Activation, get_args(Activation)),
        (values.EsMetric, get_args(Metric)),
        (values.PrivacyMechanism, ["none", *MECHANISMS]),
    ],
    ids=["RankerKind", "LearnerKind", "RuleName", "PreAggregatorName", "Activation", "EsMetric", "PrivacyMechanism"],
)
def test_the_choices_are_those_of_the_registry(names, registry):
    """What is registered can be chosen in a scenario; add a new name to its Literal in scenarios/values.py."""
    assert list(get_args(names)) == list(registry)


def test_the_neural_rankers_size_is_the_rankers_own_default():
    """A resolved scenario writes out what the ranker would have taken."""
    assert make_ranker("neural", 3).hidden == schema.NEURAL_HIDDEN


def test_every_key_is_shown_in_the_quickstart():
    """The quickstart is the place to see all keys, but for those that do not fit there."""
    tables = tomllib.loads(shipped()["quickstart"].read_text(encoding="utf-8"))
    shown = {f"{section}.{key}" for section, table in tables.items() if isinstance(table, dict) for key in table} | {
        name for name, value in tables.items() if not isinstance(value, dict | list)
    }
    shown |= {f"clients[].{key}" for group in tables["clients"] for key in group}
    every = {key.path for key in keys(schema.Scenario) if not key.path.startswith("timeline")}  # nothing happens there
    assert every - shown == set(NOT_IN_QUICKSTART)


def test_every_key_of_the_quickstart_has_a_comment():
    """A newcomer is told what each key does."""
    lines = shipped()["quickstart"].read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if " = " in line and not line.startswith("#") and "#" not in line] == []


def test_the_quickstart_changes_no_default_but_says_so():
    """The quickstart's values are the defaults, so that copying from it changes nothing."""
    tables = tomllib.loads(shipped()["quickstart"].read_text(encoding="utf-8"))
    plain = from_dict(minimal(name="quickstart", rounds=tables["rounds"]))
    loaded = load_scenario("quickstart", check_data=False)
    assert loaded.model_copy(update={"clients": plain.clients, "expect": plain.expect}) == plain


def test_every_key_has_a_meaning():
    """No key is without a description."""
    assert [key.path for key in keys(schema.Scenario) if not key.meaning.endswith(".")] == []


def test_a_scenario_cannot_be_changed():
    """What was validated stays."""
    scenario = from_dict(minimal())
    with pytest.raises(ValidationError):
        scenario.rounds = 2
    with pytest.raises(ValidationError):
        scenario.data.fold = 2


def test_whole_numbers_are_numbers_where_fractions_are():
    """An integer is fine for a rate, and is kept as the number that it is."""
    assert from_dict(minimal(learner={"learning_rate": 1})).learner.learning_rate == 1.0


def test_reading_a_scenario_compiles_nothing():
    """A command that only reads a scenario does not wait for numba."""
    code = (
        "import sys; from scenarios.load import load_scenario; "
        "load_scenario('quickstart', check_data=False); print('numba' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "False"
