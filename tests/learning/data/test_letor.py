"""LETOR folders become data sets."""

import gzip

import numpy as np
import pytest

from learning.data import describe, open_dataset, parsing
from learning.data import letor as letor_module
from learning.errors import DataError

TRAIN = b"2 qid:1 1:0.5 3:1 # first\n0 qid:1 2:0.25\n1 qid:2 1:1\n"


def test_a_small_set_by_hand(write_fold):
    """Absent features are 0 and the dimension is the largest index of all splits."""
    data = open_dataset(write_fold(TRAIN, test=b"0 qid:5 4:1\n", vali=b"1 qid:3 1:0.125\n"))
    assert (data.name, data.levels, data.dimension) == ("set", 3, 4)
    np.testing.assert_array_equal(data.train.features, [[0.5, 0, 1, 0], [0, 0.25, 0, 0], [1, 0, 0, 0]])
    assert data.train.labels.tolist() == [2, 0, 1]
    assert data.train.offsets.tolist() == [0, 2, 3]
    np.testing.assert_array_equal(data.vali.features, [[0.125, 0, 0, 0]])
    np.testing.assert_array_equal(data.test.features, [[0, 0, 0, 1]])


def test_the_arrays_have_their_types_and_are_read_only(write_fold):
    """What the kernels are compiled for: contiguous, read-only, plain arrays."""
    for dtype in ("float32", "float64"):
        train = open_dataset(write_fold(TRAIN), dtype=dtype).train
        for array, kind in ((train.features, dtype), (train.labels, "int8"), (train.offsets, "int64")):
            assert type(array) is np.ndarray
            assert array.dtype == kind
            assert array.flags.c_contiguous
            assert not array.flags.writeable


def test_a_missing_validation_split_is_empty(write_fold):
    """A folder with train and test is enough."""
    data = open_dataset(write_fold(TRAIN))
    assert len(data.vali) == data.vali.documents == 0
    assert data.vali.features.shape == (0, 3)


@pytest.mark.parametrize("disguise", ["crlf", "gzip", "no comments", "no last line end", "blank lines"])
def test_the_same_data_in_other_clothes_gives_the_same_arrays(disguise, write_fold, tmp_path):
    """Line ends, compression, comments and blank lines do not matter."""
    plain = open_dataset(write_fold(TRAIN, folder="plain")).train
    text = {
        "crlf": TRAIN.replace(b"\n", b"\r\n"),
        "gzip": TRAIN,
        "no comments": TRAIN.replace(b" # first", b""),
        "no last line end": TRAIN.rstrip(b"\n"),
        "blank lines": b"\n\n" + TRAIN.replace(b"\n", b"\n\n"),
    }[disguise]
    source = write_fold(text, folder="disguised")
    if disguise == "gzip":
        path = tmp_path / "disguised" / "train.txt"
        path.with_name("train.txt.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    other = open_dataset(source).train
    for array in ("features", "labels", "offsets"):
        np.testing.assert_array_equal(getattr(plain, array), getattr(other, array))


def test_blocks_and_dense_parts_of_any_size_give_the_same_arrays(write_fold, monkeypatch):
    """How much is parsed and made dense at a time does not show."""
    random = np.random.default_rng(5)
    lines = [f"{random.integers(3)} qid:{row // 4} 1:{random.random():.4f} 7:{row}" for row in range(203)]
    text = "\n".join(lines).encode()
    whole = open_dataset(write_fold(text, folder="whole")).train
    monkeypatch.setattr(parsing, "CHUNK", 100)
    monkeypatch.setattr(letor_module, "DENSE_VALUES", 40)
    parts = open_dataset(write_fold(text, folder="parts")).train
    np.testing.assert_array_equal(whole.features, parts.features)
    np.testing.assert_array_equal(whole.offsets, parts.offsets)
    assert len(whole) == 51


def test_an_unknown_set_is_scaled_only_if_its_values_need_it(write_fold):
    """What auto does depends on the range of the values, and the description says why."""
    within = describe(write_fold(TRAIN, folder="within"))
    assert (within.scaling, within.scaling_reason) == ("none", "an unknown set with all values from 0 to 1")
    beyond = describe(write_fold(TRAIN.replace(b"0.25", b"-25"), folder="beyond"))
    assert (beyond.scaling, beyond.scaling_reason) == (
        "query",
        "an unknown set with values from -25 to 1, outside 0 to 1",
    )


def test_scale_overrides_what_auto_would_do(write_fold):
    """Both query and none do as they say."""
    source = write_fold(b"1 qid:1 1:10 2:3\n0 qid:1 1:30 2:3\n0 qid:1 1:20 2:3\n")
    np.testing.assert_array_equal(open_dataset(source).train.features, [[0, 0], [1, 0], [0.5, 0]])
    np.testing.assert_array_equal(open_dataset(source, scale="query").train.features, [[0, 0], [1, 0], [0.5, 0]])
    np.testing.assert_array_equal(open_dataset(source, scale="none").train.features, [[10, 3], [30, 3], [20, 3]])


def test_a_value_beyond_the_type_is_refused_unless_scaling_brings_it_back(write_fold):
    """Nothing becomes infinite in silence."""
    source = write_fold(b"1 qid:1 1:1e308\n0 qid:1 1:0\n")
    np.testing.assert_array_equal(open_dataset(source, scale="query").train.features, [[1], [0]])
    assert open_dataset(source, scale="none", dtype="float64").train.features[0, 0] == 1e308
    with pytest.raises(DataError, match=r"must fit float32, got 1e\+308"):
        open_dataset(source, scale="none")


@pytest.mark.parametrize("train", [b"", b"\n# none\n"])
def test_a_file_without_documents_is_refused(train, write_fold):
    """An empty file is a mistake, not a data set."""
    with pytest.raises(DataError, match=r"train\.txt must hold at least one document"):
        open_dataset(write_fold(train))


def test_documents_without_any_feature_are_refused(write_fold):
    """There would be nothing to learn from."""
    with pytest.raises(DataError, match="must have at least one feature"):
        open_dataset(write_fold(b"1 qid:1\n", test=b"1 qid:1\n"))


def test_labels_that_no_click_table_has_are_refused(write_fold):
    """The file with the label is named."""
    with pytest.raises(DataError, match=r"train\.txt: the largest label must be at most 4, .* got 6"):
        open_dataset(write_fold(b"6 qid:1 1:1\n"))


def test_a_refusal_names_the_file_and_the_line(write_fold, tmp_path):
    """As an editor would show them."""
    with pytest.raises(DataError) as refusal:
        open_dataset(write_fold(TRAIN, test=b"0 qid:1 1:1\n0 qid:1 1:x\n"))
    path = tmp_path / "set" / "test.txt"
    assert str(refusal.value) == f"{path}, line 2: the value of a feature must be a finite number, got '1:x'"


@pytest.mark.parametrize("damage", [lambda data: data[:-9], lambda data: data[:20], lambda data: b"1" + data[1:]])
def test_a_damaged_gzip_file_is_refused(damage, write_fold, tmp_path):
    """Cut short at the end or in the middle, or no gzip file at all."""
    source = write_fold(TRAIN)
    path = tmp_path / "set" / "train.txt"
    path.with_name("train.txt.gz").write_bytes(damage(gzip.compress(path.read_bytes() * 50)))
    path.unlink()
    with pytest.raises(DataError, match=r"train\.txt\.gz must be a whole gzip file"):
        open_dataset(source)


def test_a_file_that_changes_while_it_is_read_is_refused(write_fold, tmp_path):
    """The arrays would be neither the old nor the new data."""
    source = write_fold(TRAIN)
    other = tmp_path / "set" / "test.txt"

    def change(_done, _total):
        other.write_bytes(b"1 qid:9 1:0.5\n0 qid:9 1:1\n")

    with pytest.raises(DataError, match=r"test\.txt must not change while it is read"):
        open_dataset(source, progress=change)


def test_progress_ends_with_all_bytes(write_fold, tmp_path):
    """Both passes over all files count."""
    calls = []
    open_dataset(write_fold(TRAIN, vali=TRAIN), progress=lambda done, total: calls.append((done, total)))
    size = sum(path.stat().st_size for path in (tmp_path / "set").iterdir())
    assert calls == sorted(calls)
    assert calls[-1] == (2 * size, 2 * size)


def test_mq2008_has_the_published_counts(real_data):
    """784 queries, 15,211 documents, 220 queries without a relevant one; unscaled, as its makers normalised it."""
    description = describe(f"letor:{real_data / 'MQ2008'}", fold=1)
    splits = description.splits.values()
    assert sum(split.queries for split in splits) == 784
    assert sum(split.documents for split in splits) == 15_211
    assert np.sum([split.labels for split in splits], axis=0).tolist() == [12_279, 2_001, 931]
    assert sum(split.queries_without_relevant for split in splits) == 220
    assert (description.recognised, description.features, description.levels) == ("MQ2008", 46, 3)
    assert description.scaling == "none"


def test_mq2008_folds_differ(real_data):
    """Fold 2 tests on what fold 1 does not."""
    tests = [open_dataset(f"letor:{real_data / 'MQ2008'}", fold=fold).test for fold in (1, 2)]
    assert tests[0].documents != tests[1].documents


def test_mq2008_rows_are_what_the_file_says(real_data):
    """First and last document, read with nothing but split and float."""
    train = open_dataset(f"letor:{real_data / 'MQ2008'}", fold=3, dtype="float64").train
    lines = (real_data / "MQ2008" / "Fold3" / "train.txt").read_text().splitlines()
    for row in (0, len(lines) - 1):
        pairs = lines[row].partition("#")[0].split()
        assert train.labels[row] == int(pairs[0])
        assert train.features[row].tolist() == [float(pair.partition(":")[2]) for pair in pairs[2:]]


def test_raw_mslr_features_are_scaled_by_query(real_data):
    """Each feature of each query runs from 0 to 1, or is 0."""
    train = open_dataset(f"letor:{real_data / 'MSLR-sample'}").train
    lows = np.minimum.reduceat(train.features, train.offsets[:-1], axis=0)
    highs = np.maximum.reduceat(train.features, train.offsets[:-1], axis=0)
    assert np.all(lows == 0)
    assert set(np.unique(highs)) == {0.0, 1.0}
