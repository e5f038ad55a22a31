"""Durations as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.duration import LONGEST_SECONDS, duration_seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30s", 30.0), ("500ms", 0.5), ("2m", 120.0), ("1.5h", 5400.0), ("0.25s", 0.25), ("24h", 86400.0)],
)
def test_a_number_with_a_unit_is_its_length_in_seconds(text, seconds):
    """The four units mean milliseconds, seconds, minutes and hours."""
    assert duration_seconds(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "30",
        "s",
        "-1s",
        "+1s",
        "1e3s",
        "30 s",
        " 30s",
        "30s\n",
        "30S",
        "1.s",
        ".5s",
        "0s",
        "0.0ms",
        "25h",
        "٣s",
        "nans",
    ],
)
def test_anything_else_is_refused(text):
    """A duration has a plain positive number, a known unit, and at most a day."""
    with pytest.raises(ValueError, match="a duration must be"):
        duration_seconds(text)


@given(st.integers(1, 86_400_000))
def test_whole_milliseconds_agree_with_seconds_of_three_decimals(milliseconds):
    """The same length written in two units is the same number up to rounding."""
    in_seconds = f"{milliseconds // 1000}.{milliseconds % 1000:03}s"
    assert duration_seconds(f"{milliseconds}ms") == pytest.approx(duration_seconds(in_seconds), rel=1e-12)


@given(st.text(max_size=12))
def test_whatever_is_written_gives_a_sane_length_or_a_value_error(text):
    """No text gives a length that is not positive and at most a day, and none fails in another way."""
    try:
        seconds = duration_seconds(text)
    except ValueError:
        return
    assert 0 < seconds <= LONGEST_SECONDS
