"""A description counts what is there."""

import json

from learning.data import describe
from learning.data.description import SplitDescription

TRAIN = b"2 qid:1 1:0.5 2:1\n0 qid:1 2:0.25\n1 qid:1 1:1\n0 qid:2 1:1\n0 qid:3 1:1\n0 qid:3 1:0\n"


def test_a_small_set_by_hand(write_fold, tmp_path):
    """Every number can be counted in the text."""
    source = write_fold(TRAIN)
    description = describe(source, dtype="float64")
    assert description.splits == {
        "train": SplitDescription(3, 6, (4, 1, 1), 2, 1, 2.0, 3),
        "vali": SplitDescription(0, 0, (0, 0, 0), 0, 0, 0.0, 0),
        "test": SplitDescription(1, 2, (1, 1, 0), 0, 2, 2.0, 2),
    }
    assert (description.source, description.fold, description.name) == (source, 1, "set")
    assert (description.recognised, description.features, description.levels) == (None, 2, 3)
    assert (description.scaling, description.dtype) == ("none", "float64")
    assert description.memory_bytes == (6 + 2) * (2 * 8 + 1) + (4 + 1 + 2) * 8
    assert description.cache.startswith(str(tmp_path / "cache"))


def test_a_description_is_json(write_fold):
    """as_dict holds plain values only."""
    description = describe(write_fold(TRAIN))
    assert json.loads(json.dumps(description.as_dict()))["splits"]["train"]["labels"] == [4, 1, 1]
