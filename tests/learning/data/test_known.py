"""Public sets are known by their shape."""

import pytest

from learning.data.known import KNOWN, levels_of, recognise
from learning.errors import DataError


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.name)
@pytest.mark.parametrize("part", [0.8, 1.0, 1.2])
def test_a_known_set_is_recognised_with_a_few_queries_more_or_less(known, part):
    """Releases differ a little and validation queries may be missing."""
    for features in known.features:
        assert recognise(features, known.top_label, int(part * known.queries)) == known


@pytest.mark.parametrize("shape", [(47, 2, 1_692), (46, 1, 1_692), (46, 2, 100), (136, 4, 174)])
def test_another_shape_is_not_recognised(shape):
    """Features, labels and queries must all fit."""
    assert recognise(*shape) is None


def test_the_largest_label_says_how_many_grades_there_are():
    """As many as the click tables have: 2, 3 or 5."""
    assert [levels_of(top, "set") for top in range(5)] == [2, 2, 3, 5, 5]
    with pytest.raises(DataError, match=r"set: the largest label must be at most 4, .* got 5"):
        levels_of(5, "set")
