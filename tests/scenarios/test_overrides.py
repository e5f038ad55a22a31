"""Keys set on the command line."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.overrides import Override, applied, parse_override
from scenarios.problems import Problem


def set_in(tables, text):
    """The tables after one override that must be placed without a problem."""
    override = parse_override(text)
    assert isinstance(override, Override)
    changed, problems = applied(tables, [override])
    assert problems == []
    return changed


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("rounds=50", {"rounds": 50}),
        ("learner.learning_rate=0.05", {"learner": {"learning_rate": 0.05}}),
        ('data.source="letor:/x"', {"data": {"source": "letor:/x"}}),
        ("data.source=letor:/x y#z=1", {"data": {"source": "letor:/x y#z=1"}}),
        ("aggregation.rule=fedavg", {"aggregation": {"rule": "fedavg"}}),
        ("expect.ndcg_at_10=>= 0.3", {"expect": {"ndcg_at_10": ">= 0.3"}}),
        ("federation.deadline=30s", {"federation": {"deadline": "30s"}}),
        ("federation.address=10.0.0.1", {"federation": {"address": "10.0.0.1"}}),
        ("name=", {"name": ""}),
        (" rounds = 7 ", {"rounds": 7}),
        ("name=5\nrounds = 3", {"name": "5\nrounds = 3"}),
        ('clients=[{count=1, clicks="perfect"}]', {"clients": [{"count": 1, "clicks": "perfect"}]}),
    ],
)
def test_a_value_is_toml_or_else_a_bare_word(text, tables):
    """What TOML can read is read as TOML, everything else is a string as it stands."""
    assert set_in({}, text) == tables


@pytest.mark.parametrize("text", ["clients[1].count=3", "clients.1.count=3"])
def test_an_index_is_written_in_brackets_or_as_a_step(text):
    """Both spellings reach the same entry, and the other entries stay."""
    tables = {"clients": [{"count": 1}, {"count": 2}]}
    assert set_in(tables, text) == {"clients": [{"count": 1}, {"count": 3}]}
    assert tables == {"clients": [{"count": 1}, {"count": 2}]}, "the input was changed"
    assert parse_override(text).key == "clients[1].count"


def test_the_last_of_several_wins():
    """Overrides are applied in their order."""
    changed, _ = applied({}, [parse_override("rounds=1"), parse_override("rounds=2")])
    assert changed == {"rounds": 2}


@pytest.mark.parametrize(
    "text", ["", "rounds", "=5", ".x=5", "a..b=5", "a b=5", "clients[x].count=3", "clients[0=3", "é=1"]
)
def test_what_is_no_key_path_with_a_value_is_told(text):
    """The sentence shows what --set takes and what it got."""
    problem = parse_override(text)
    assert isinstance(problem, Problem)
    assert "--set must be KEY=VALUE" in problem.sentence


@pytest.mark.parametrize("text", ['name="x', "clients=[1", "clients={", "name='", "x=" + "[" * 5000])
def test_broken_toml_is_no_bare_word(text):
    """A value that begins as a TOML string, array or table must end as one."""
    problem = parse_override(text)
    assert problem.key == text.partition("=")[0]
    assert "not valid TOML" in problem.sentence
    assert "--set" in problem.sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("clients[2].count=3", "clients has 2 entries, the first is [0]; got [2]"),
        ("rounds.x=3", "rounds is not a table, so it has no key x"),
        ("rounds[0]=3", "rounds is not an array, so it has no index 0"),
        ("clients.count=3", "clients is not a table, so it has no key count"),
        ("data.0=3", "data is not an array, so it has no index 0"),
    ],
)
def test_a_place_that_is_not_there_is_told(text, sentence):
    """What stands in the way is named, and that it came from --set."""
    tables = {"rounds": 1, "data": {}, "clients": [{}, {}]}
    changed, problems = applied(tables, [parse_override(text)])
    assert changed == tables
    assert [problem.sentence for problem in problems] == [f"{sentence} (from --set {text})"]


@given(st.one_of(st.integers(-(2**63), 2**63 - 1), st.booleans(), st.floats(allow_nan=False)))
def test_numbers_and_booleans_come_back_as_written(value):
    """A value written as TOML writes it is read with its type and exactly."""
    found = set_in({}, f"x={str(value).lower()}")["x"]
    assert found == value
    assert type(found) is type(value)


def test_a_nan_is_a_float():
    """TOML's nan is a number here, for the schema to refuse."""
    assert math.isnan(set_in({}, "x=nan")["x"])


@given(st.text(max_size=30))
def test_no_text_breaks_the_reader(text):
    """Every text gives an override or a problem."""
    assert isinstance(parse_override(text), Override | Problem)
    assert isinstance(parse_override(f"x={text}"), Override | Problem)
