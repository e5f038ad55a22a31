"""What is wrong with a scenario, in our own words."""

import datetime as dt
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.events import EVENTS
from scenarios.load import from_dict
from scenarios.problems import Problem, ScenarioError, did_you_mean
from scenarios.schema import Scenario
from scenarios.words import keys, locate

PYDANTIC = re.compile(
    r"Input should|valid (integer|string|number|tuple|list|dictionary)|union_tag|literal\[|constrained|"
    r"Extra inputs|Field required|String should|Value error|validation error|errors.pydantic|int\b|str\b|NoneType"
)
CLICKS = '"perfect", "navigational", "informational", "poison", "pbm" or a table such as { kind = "pbm", eta = 0.5 }'
LEARNER_KEYS = "kind, learning_rate, interactions, update, sigma, metric, p"
RULE_CHOICES = (
    '"fedavg", "krum", "multi_krum", "trimmed_mean", "median", "bulyan", "geometric_median", "norm_clipping", '
    '"centred_clipping", "fltrust", "fldetector", "guarded", "adam" or an array of "nnm" and one of these, such as '
    '["nnm", "trimmed_mean"]'
)
IDENTIFIER = "letters, digits, - _ . (a letter or digit first, at most 64)"


def minimal():
    """The smallest scenario."""
    return {"rounds": 1, "clients": [{"count": 1, "clicks": "perfect"}]}


def problems_with(tables):
    """What the tables are refused for, by key."""
    with pytest.raises(ScenarioError) as caught:
        from_dict(tables)
    told = {problem.key: problem.sentence for problem in caught.value.problems}
    assert len(told) == len(caught.value.problems), "a key is told twice"
    return told


def with_value(path, value):
    """The smallest scenario with one value put at a key path of the schema."""
    tables = minimal()
    *sections, last = path.replace("clients[].", "clients.0.").split(".")
    here = tables
    for section in sections:
        here = here[int(section)] if isinstance(here, list) else here.setdefault(section, {})
    here[last] = value
    if path == "clients[].id":
        del here["count"]
    return tables


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("name", "", f'must be {IDENTIFIER}; got ""'),
        ("name", "a/b", f'must be {IDENTIFIER}; got "a/b"'),
        ("name", "..", f'must be {IDENTIFIER}; got ".."'),
        ("name", "a\n", f'must be {IDENTIFIER}; got "a\\n"'),
        ("name", "x" * 65, f'must be {IDENTIFIER}; got "{"x" * 58}…'),
        ("name", 5, f"must be {IDENTIFIER}; got 5"),
        ("name", "latest", 'must not be "latest", which names the newest run'),
        ("seed", -1, "must be an integer from 0 to 9223372036854775807; got -1"),
        ("seed", 2**63, "must be an integer from 0 to 9223372036854775807; got 9223372036854775808"),
        ("seed", 10**100, "must be an integer from 0 to 9223372036854775807; got an integer of more than 60 digits"),
        ("rounds", 0, "must be an integer ≥ 1; got 0"),
        ("rounds", "5", 'must be an integer ≥ 1; got "5"'),
        ("rounds", 5.0, "must be an integer ≥ 1; got 5.0"),
        ("rounds", True, "must be an integer ≥ 1; got true"),
        ("rounds", 2**31, "must be an integer ≥ 1 and at most 2147483647; got 2147483648"),
        ("rounds", dt.date(2024, 1, 2), "must be an integer ≥ 1; got 2024-01-02"),
        ("data", 3, "must be a table; got 3"),
        ("data", [], "must be a table; got []"),
        ("data.source", "", 'must be a source such as "synthetic:mq2007" or "letor:/path/to/MQ2007"; got ""'),
        ("data.scale", "Query", 'must be "auto", "query" or "none"; got "Query"; did you mean query?'),
        ("data.dtype", "float46", 'must be "float32" or "float64"; got "float46"; did you mean float64?'),
        ("federation.engine", "ray", 'must be "processes" or "inline"; got "ray"'),
        ("federation.hosts", 0, 'must be "auto", "per-client" or an integer ≥ 1; got 0'),
        ("federation.hosts", "4", 'must be "auto", "per-client" or an integer ≥ 1; got "4"'),
        (
            "federation.hosts",
            "per_client",
            'must be "auto", "per-client" or an integer ≥ 1; got "per_client"; did you mean per-client?',
        ),
        ("federation.hosts", 2, "must be at most the number of clients, 1; got 2"),
        ("federation.deadline", 30, 'must be a duration such as "30s", "500ms" or "2m", at most "24h"; got 30'),
        ("federation.deadline", "0s", 'must be a duration such as "30s", "500ms" or "2m", at most "24h"; got "0s"'),
        ("federation.quorum", 0, "must be a number > 0 and ≤ 1; got 0"),
        ("federation.quorum", 1.5, "must be a number > 0 and ≤ 1; got 1.5"),
        ("federation.address", "localhost", 'must be an IPv4 address such as "127.0.0.1"; got "localhost"'),
        ("federation.port", 65536, "must be an integer from 0 to 65535; got 65536"),
        ("learner.learning_rate", 0, "must be a number > 0; got 0"),
        ("learner.learning_rate", float("nan"), "must be a number > 0; got nan"),
        ("learner.learning_rate", float("inf"), "must be a number > 0; got inf"),
        ("learner.learning_rate", "0.1", 'must be a number > 0; got "0.1"'),
        ("aggregation.rule", "fedvag", f'must be {RULE_CHOICES}; got "fedvag"; did you mean fedavg?'),
        ("aggregation.rule", ["nnm", "kum"], f'must be {RULE_CHOICES}; got ["nnm", "kum"]'),
        ("aggregation.rule", ["krum", "median"], 'must be any of nnm and then one rule; got ["krum", "median"]'),
        ("aggregation.rule", ["nnm", "adam"], 'must be any of nnm and then one rule; got ["nnm", "adam"]'),
        ("aggregation.rule", "nnm", f'must be {RULE_CHOICES}; got "nnm"'),
        ("aggregation.tolerate", -1, "must be an integer ≥ 0; got -1"),
        ("aggregation.radius", 1.0, 'belongs to norm_clipping and centred_clipping; got it with rule = "fedavg"'),
        ("aggregation.judged", 5, 'belongs to fltrust; got it with rule = "fedavg"'),
        ("ranker.hidden", 8, 'is for kind = "neural" only; got 8 with kind = "linear"'),
        ("clients", {"count": 1}, "must be an array of tables; got a table"),
        ("clients", 3, "must be an array of tables; got 3"),
        ("clients", [], "must have at least one group; got an empty array"),
        ("log.weights", "every:0", 'must be "auto", "all", "models" or "every:N" such as "every:10"; got "every:0"'),
        ("expect.online", 0.3, 'must be a comparison such as ">= 0.30"; got 0.3'),
        ("expect.online", ">= 1e999", 'must be a comparison such as ">= 0.30"; got ">= 1e999"'),
        ("expect.nDCG", "> 0", "must be a metric's name in small letters, digits and _, such as ndcg_at_10"),
        (
            "expect.sometimes",
            "run.started",
            'must be an array, each the name of an event such as "client.rejoined"; got "run.started"',
        ),
    ],
)
def test_a_wrong_value_is_told_with_constraint_value_and_choices(path, value, sentence):
    """Each kind of wrong value has its sentence, at the key where it stands."""
    assert problems_with(with_value(path, value)) == {path: sentence}


@pytest.mark.parametrize(
    ("clicks", "beginning"),
    [
        ("navigation", f'must be {CLICKS}; got "navigation"; did you mean navigational?'),
        (5, f"must be {CLICKS}; got 5"),
        (["perfect"], f'must be {CLICKS}; got ["perfect"]'),
        ({}, "clicks must have a kind, one of "),
        ({"kind": "pmb"}, "clicks must be one of "),
        ({"kind": "pbm", "gamma": 1}, "an option of clicks pbm must be one of "),
        ({"kind": "pbm", "eta": -1}, "eta must be "),
        ({"kind": "cascade", "click": [0, 0.5, 1]}, "clicks cascade needs the option "),
        ({"kind": "cascade", "click": [0, 0.5, 2], "stop": [0, 0, 0]}, "each of click must be a probability"),
        ({"kind": "cascade", "click": [0, 0.5, 1], "stop": [0, 0]}, "stop must be a list of 3 probabilities"),
        ({"kind": "cascade", "click": [0, 0.5, 1, 1], "stop": [0, 0]}, "click must be a list of "),
    ],
)
def test_wrong_clicks_are_told_at_their_group(clicks, beginning):
    """Names are the schema's, tables are what the click models say of them."""
    tables = minimal()
    tables["clients"].append({"count": 1, "clicks": clicks})
    [(key, sentence)] = problems_with(tables).items()
    assert key == "clients[1].clicks"
    assert sentence.startswith(beginning)


@pytest.mark.parametrize("levels", [2, 3, 5])
def test_a_click_table_may_be_for_any_number_of_grades(levels):
    """The data's grades are not known yet, so each known number of them is fine."""
    tables = minimal()
    tables["clients"][0]["clicks"] = {"kind": "cascade", "click": [0.5] * levels, "stop": [0.5] * levels}
    from_dict(tables)


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("round", "unknown key; the keys of a scenario are name, seed, rounds, "),
        (
            "learner.rate",
            f"unknown key; the keys of learner are {LEARNER_KEYS}; did you mean learning_rate?",
        ),
        (
            "learner.rule",
            f"unknown key; the keys of learner are {LEARNER_KEYS}; did you mean aggregation.rule?",
        ),
        ("aggregation.malicious", "unknown key; the keys of aggregation are rule, tolerate, radius, judged"),
        (
            "clients[].click",
            "unknown key; the keys of clients[0] are count, id, clicks, interactions, attack; did you mean clicks?",
        ),
        ("learning_rate", "did you mean learner.learning_rate?"),
        ("zzz", "unknown key; the keys of a scenario are name, seed, rounds, "),
    ],
)
def test_an_unknown_key_is_told_with_the_known_ones(path, sentence):
    """The sentence lists the table's keys and the nearest, or the table where the key belongs."""
    [(key, told)] = problems_with(with_value(path, 1)).items()
    assert key == path.replace("[]", "[0]")
    assert sentence in told


def test_missing_keys_are_told_with_what_they_must_be():
    """What has no default is asked for."""
    assert problems_with({"seed": 1}) == {
        "rounds": "is required and must be an integer ≥ 1",
        "clients": "is required and must be an array of tables",
    }
    assert problems_with({"rounds": 1, "clients": [{"count": 1}]}) == {
        "clients[0].clicks": f"is required and must be {CLICKS}"
    }


def test_an_unknown_event_is_told_with_all_events():
    """The closed set is listed, and the nearest is guessed."""
    told = problems_with(with_value("expect.sometimes", ["run.started", "client.rejoind"]))
    sentence = told["expect.sometimes[1]"]
    assert 'got "client.rejoind"; the known ones are ' in sentence
    assert all(name in sentence for name in EVENTS)
    assert sentence.endswith("; did you mean client.rejoined?")


@pytest.mark.parametrize("groups", [[5], ["x"], [[]]])
def test_a_group_that_is_no_table_is_told(groups):
    """Entries of clients are tables."""
    assert list(problems_with({"rounds": 1, "clients": groups})) == ["clients[0]"]


def test_a_near_miss_is_guessed_and_a_far_one_is_not():
    """Case does not matter for a guess."""
    assert did_you_mean("FEDAVG", ["fedavg", "krum"]) == "; did you mean fedavg?"
    assert did_you_mean("xyz", ["fedavg", "krum"]) == ""


def test_a_problem_reads_as_key_and_sentence():
    """A problem of the file as a whole has no key to show."""
    assert str(Problem("a.b", "is wrong")) == "a.b: is wrong"
    assert str(Problem("", "is wrong")) == "is wrong"


def test_steps_inside_a_union_are_not_the_users():
    """Which member of a union was tried does not appear in a key path."""
    path, _ = locate(Scenario, ("clients", 1, "clicks", "literal['perfect']"))
    assert path == "clients[1].clicks"


FOREIGN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.dates() | st.times(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
PATHS = sorted(
    {key.path.replace("METRIC", "online") for key in keys(Scenario)} | {"data", "clients", "expect", "ranker"}
)


@given(st.sampled_from(PATHS), FOREIGN)
def test_no_value_anywhere_breaks_the_reader_or_shows_the_librarys_words(path, value):
    """Whatever stands at a key, the answer is a scenario or sentences of ours."""
    tables = with_value(path, value)
    try:
        from_dict(tables)
    except ScenarioError as error:
        for problem in error.problems:
            words = problem.sentence.split("; got")[0]
            assert not PYDANTIC.search(words), problem
            assert problem.key.startswith(path.split("[")[0].split(".")[0])
