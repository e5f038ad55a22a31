"""docs/sql.md: every column has its meaning."""

import pytest

from analysis.meanings import VIEWS


@pytest.mark.parametrize("view", VIEWS)
def test_every_column_has_a_meaning(run, view):
    """The words and the views have the same columns, in the same order."""
    assert list(run.columns(view)) == list(VIEWS[view].columns)
