"""What a source may be."""

import pytest

from learning.data import check_source, open_dataset
from learning.errors import DataError, LearningError


def opened(source, fold):
    """open_dataset with check_source's signature."""
    open_dataset(source, fold=fold)


@pytest.mark.parametrize("source", ["", "letor", "letor:", "synthetic:", "svm:/data", "/data/MQ2007", ":x"])
@pytest.mark.parametrize("judge", [check_source, opened])
def test_only_two_kinds_of_source_are_known(source, judge):
    """The error shows both."""
    with pytest.raises(DataError, match="must be letor:PATH or synthetic:SHAPE, got"):
        judge(source, 1)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("synthetic:mq2009", "must be one of istella, mq2007, mslr10k, yahoo; got 'mq2009'"),
        ("synthetic:mq2007?rows=3", "must be one of documents, queries, seed; got 'rows'"),
        ("synthetic:mq2007?queries=0", "queries of a synthetic source must be an integer from 1 to 100000, got '0'"),
        ("synthetic:mq2007?documents=1", "must be an integer from 2 to 1000, got '1'"),
        ("synthetic:mq2007?seed=", "must be an integer from 0 to 18446744073709551615, got ''"),
        ("synthetic:mq2007?seed=-1", "got '-1'"),
        ("synthetic:mq2007?seed=²", "got '²'"),
    ],
)
@pytest.mark.parametrize("judge", [check_source, opened])
def test_unknown_shapes_and_options_are_refused(source, sentence, judge):
    """The error lists the choices."""
    with pytest.raises(LearningError) as refusal:
        judge(source, 1)
    assert sentence in str(refusal.value)


@pytest.mark.parametrize("judge", [check_source, opened])
def test_a_folder_must_have_a_known_layout(judge, write_fold, tmp_path):
    """Missing folders, missing files, two files for one split."""
    with pytest.raises(DataError, match=r"must be a folder, got .*nowhere"):
        judge(f"letor:{tmp_path / 'nowhere'}", 1)
    with pytest.raises(DataError, match="must be a folder"):
        judge("letor:~nobody-has-this-name/data", 1)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"empty must hold train\.txt or train\.txt\.gz"):
        judge(f"letor:{tmp_path / 'empty'}", 1)
    with pytest.raises(DataError, match=r"must hold test\.txt or test\.txt\.gz"):
        judge(write_fold(b"1 qid:1 1:1\n", test=None, folder="testless"), 1)
    source = write_fold(b"1 qid:1 1:1\n", folder="both")
    (tmp_path / "both" / "train.txt.gz").write_bytes(b"")
    with pytest.raises(DataError, match=r"one of train\.txt and train\.txt\.gz, got both"):
        judge(source, 1)


@pytest.mark.parametrize("judge", [check_source, opened])
def test_the_fold_must_exist(judge, write_fold, tmp_path):
    """The error lists the folds there are."""
    (tmp_path / "folds").mkdir()
    for fold in (1, 2, 10):
        write_fold(b"1 qid:1 1:1\n", folder=f"folds/Fold{fold}")
    judge(f"letor:{tmp_path / 'folds'}", 10)
    with pytest.raises(DataError, match=r"fold must be one of 1, 2, 10 in .*folds, got 3"):
        judge(f"letor:{tmp_path / 'folds'}", 3)
    with pytest.raises(DataError, match=r"fold must be 1 in .*set, which has no folders Fold1, Fold2, …; got 2"):
        judge(write_fold(b"1 qid:1 1:1\n"), 2)
    with pytest.raises(DataError, match=r"fold must be 1 for a synthetic source, got 0; \?seed=N gives other data"):
        judge("synthetic:mq2007", 0)


def test_checking_reads_no_data_and_makes_no_cache(write_fold, cache_home):
    """A scenario can be checked at once, whatever is in the files."""
    check_source(write_fold(b"this is not LETOR"))
    check_source("synthetic:istella?queries=100000")
    assert not cache_home.exists()


def test_relative_paths_and_the_home_directory_are_understood(write_fold, tmp_path, monkeypatch):
    """As in a shell."""
    write_fold(b"1 qid:1 1:1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert open_dataset("letor:set").name == open_dataset("letor:~/set").name == "set"
    monkeypatch.chdir(tmp_path / "set")
    assert open_dataset("letor:.").name == "set"


def test_scale_and_dtype_must_be_known():
    """The errors list the choices."""
    with pytest.raises(LearningError, match="scale must be one of auto, none, query; got 'log'"):
        open_dataset("synthetic:mq2007", scale="log")
    with pytest.raises(LearningError, match="dtype must be one of float32, float64; got 'float16'"):
        open_dataset("synthetic:mq2007", dtype="float16")
