"""Making things from names and options."""

import pytest

from learning.errors import LearningError, UnknownName
from learning.registry import make


def build(size, *, width, depth=1):
    """A thing with one option that must be given and one that need not."""
    return (size, width, depth)


def test_options_reach_the_maker():
    """What is given and the options are passed on."""
    assert make("thing", {"one": build}, "one", 3, width=2) == (3, 2, 1)


@pytest.mark.parametrize("kind", ["two", 7, ["one"], None])
def test_an_unknown_name_lists_the_known_ones(kind):
    """Whatever is not a name of the registry is an error with the choices."""
    with pytest.raises(UnknownName, match="thing must be one of one; got"):
        make("thing", {"one": build}, kind, 3)


def test_an_unknown_option_lists_the_known_ones():
    """A misspelt option is never ignored."""
    with pytest.raises(LearningError, match="an option of thing one must be one of depth, width; got 'size'"):
        make("thing", {"one": build}, "one", 3, width=1, size=2)


def test_a_missing_option_is_named():
    """An option without a default has to be given."""
    with pytest.raises(LearningError, match="thing one needs the option 'width'"):
        make("thing", {"one": build}, "one", 3)
