"""The schema in words."""

from typing import Annotated, Literal

import pytest
from pydantic import Field

from scenarios.words import Words, choices, expects, listed, shown


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (int, "an integer"),
        (float, "a number"),
        (str, "a string"),
        (Annotated[int, Field(ge=1)], "an integer ≥ 1"),
        (Annotated[int, Field(ge=0, le=9)], "an integer from 0 to 9"),
        (Annotated[float, Field(gt=0, le=1)], "a number > 0 and ≤ 1"),
        (Literal["a"], '"a"'),
        (Literal["a", "b", "c"], '"a", "b" or "c"'),
        (Literal["a", "b"] | Annotated[int, Field(ge=1)], '"a", "b" or an integer ≥ 1'),
        (Annotated[int, Field(ge=2)] | None, "an integer ≥ 2"),
        (Annotated[str, Words("a colour")] | None, "a colour"),
        (tuple[Annotated[str, Words("a colour")], ...], "an array, each a colour"),
    ],
)
def test_a_type_is_told_in_words(annotation, words):
    """The words follow from the annotation, or are its own."""
    assert expects(annotation) == words


def test_choices_are_the_literals_or_the_words():
    """A closed set of strings is known either way; other types have none."""
    assert choices(Literal["a", "b"] | int) == ["a", "b"]
    assert choices(Annotated[str, Words("a colour", choices=("red",))]) == ["red"]
    assert choices(int) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", '"a"'),
        ('say "hi"', '"say \\"hi\\""'),
        (True, "true"),
        (1.5, "1.5"),
        ([1, "a", False], '[1, "a", false]'),
        ([{}], "an array of tables"),
        ({"a": 1}, "a table"),
        ({}, "an empty table"),
        (None, "nothing"),
        ("x" * 100, '"' + "x" * 58 + "…"),
    ],
)
def test_a_value_is_shown_as_toml_writes_it(value, text):
    """Long values are cut, tables are named."""
    assert shown(value) == text


def test_words_are_listed_as_in_a_sentence():
    """Commas, and an or before the last."""
    assert [listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])] == ["a", "a or b", "a, b or c"]
