"""Comparisons that a metric is held to."""

import math
import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.comparison import parse_comparison

SIGNS = {">=": operator.ge, "<=": operator.le, "==": operator.eq, ">": operator.gt, "<": operator.lt}


@given(st.sampled_from(sorted(SIGNS)), st.integers(-1000, 1000), st.integers(-1000, 1000))
def test_a_comparison_holds_as_python_compares(sign, bound, value):
    """Every sign means what it means in Python, with or without a space."""
    for space in ("", " "):
        assert parse_comparison(f"{sign}{space}{bound / 10}").holds(value / 10) == SIGNS[sign](value / 10, bound / 10)


@pytest.mark.parametrize("sign", sorted(SIGNS))
def test_a_nan_keeps_no_bound(sign):
    """A metric that is not a number never passes."""
    assert not parse_comparison(f"{sign} 0.5").holds(math.nan)


@pytest.mark.parametrize(
    "text", ["", "0.3", "=> 0.3", "= 0.3", ">=", ">= x", ">= nan", ">= 1e999", ">= 0.3 ", ">= 0.3\n", "!= 1", ">= ٣"]
)
def test_anything_else_is_refused(text):
    """A comparison is a known sign and a finite number, nothing around them."""
    with pytest.raises(ValueError, match="a comparison must be"):
        parse_comparison(text)
