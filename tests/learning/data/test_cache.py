"""The cache gives good arrays or builds them again, whatever happened to it."""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from learning.data import cache, describe, fingerprint, open_dataset
from learning.errors import DataError

TEXT = b"2 qid:1 1:0.5 2:1\n0 qid:1 2:0.25\n1 qid:2 1:1\n"
OTHER = b"1 qid:1 1:0.5 2:1\n0 qid:1 2:0.75\n0 qid:2 1:1\n"  # as many bytes


def open_and_watch(source):
    """The data set, and whether it had to be parsed."""
    calls = []
    data = open_dataset(source, progress=lambda *call: calls.append(call))
    return data, bool(calls)


def only_entry(home):
    """The directory of the only entry; nothing else lies beside it but remembered hashes."""
    names = [path for path in (home / "datasets").iterdir() if path.name != "files"]
    assert len(names) == 1
    assert names[0].suffix == ""
    return names[0]


def test_the_second_opening_parses_nothing(write_fold):
    """What was built once is mapped."""
    source = write_fold(TEXT)
    first, parsed_first = open_and_watch(source)
    second, parsed_second = open_and_watch(source)
    assert (parsed_first, parsed_second) == (True, False)
    np.testing.assert_array_equal(first.train.features, second.train.features)


def test_scale_dtype_and_fold_have_entries_of_their_own(write_fold):
    """No setting gives another setting's arrays."""
    source = write_fold(b"1 qid:1 1:10\n0 qid:1 1:30\n")
    assert open_dataset(source).train.features.tolist() == [[0], [1]]
    assert open_dataset(source, scale="none").train.features.tolist() == [[10], [30]]
    assert open_dataset(source, dtype="float64").train.features.dtype == np.float64
    assert open_dataset(source).train.features.dtype == np.float32


def test_the_same_content_elsewhere_is_not_parsed_again(write_fold, tmp_path):
    """A moved folder keeps its cache, because entries are named by content."""
    write_fold(TEXT)
    open_dataset(f"letor:{tmp_path / 'set'}")
    (tmp_path / "elsewhere").mkdir()
    shutil.move(tmp_path / "set", tmp_path / "elsewhere" / "set")
    assert not open_and_watch(f"letor:{tmp_path / 'elsewhere' / 'set'}")[1]


@pytest.mark.parametrize("settled", [-1, fingerprint.SETTLED])
def test_a_changed_file_never_gives_old_data(settled, write_fold, tmp_path, monkeypatch):
    """Not even with the same size and the old time of change, remembered hash or not."""
    monkeypatch.setattr(fingerprint, "SETTLED", settled)
    source, path = write_fold(TEXT), tmp_path / "set" / "train.txt"
    assert open_dataset(source).train.labels.tolist() == [2, 0, 1]
    before = path.stat()
    path.write_bytes(OTHER)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    while settled < 0 and path.stat().st_ctime_ns == before.st_ctime_ns:  # a tick of the file system's clock
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert open_dataset(source).train.labels.tolist() == [1, 0, 0]
    path.write_bytes(TEXT)
    assert open_dataset(source).train.labels.tolist() == [2, 0, 1]


def test_the_hash_of_a_settled_file_is_remembered(tmp_path, monkeypatch):
    """It is not read again until it changes, and a damaged memory is no memory."""
    path = tmp_path / "file"
    path.write_bytes(TEXT)
    monkeypatch.setattr(fingerprint, "SETTLED", -1)
    digest = fingerprint.content_hash(path)
    with monkeypatch.context() as context:
        context.setattr(fingerprint.hashlib, "file_digest", None)
        assert fingerprint.content_hash(path) == digest
    for record in (cache.cache_root() / "files").iterdir():
        record.write_bytes(b"{")
    assert fingerprint.content_hash(path) == digest


def test_the_hash_of_a_file_changed_just_now_is_not_remembered(tmp_path):
    """It could change again within the same tick of the clock."""
    path = tmp_path / "file"
    path.write_bytes(TEXT)
    fingerprint.content_hash(path)
    assert not (cache.cache_root() / "files").exists()


def flip(path, position):
    """Change one byte of a file, visibly later than it was written."""
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(0, 0))


DAMAGES = {
    "no manifest": lambda entry: (entry / "manifest.json").unlink(),
    "an empty manifest": lambda entry: (entry / "manifest.json").write_bytes(b""),
    "half a manifest": lambda entry: os.truncate(entry / "manifest.json", 100),
    "a list as manifest": lambda entry: (entry / "manifest.json").write_bytes(b"[]"),
    "a changed manifest": lambda entry: (entry / "manifest.json").write_text(
        (entry / "manifest.json").read_text().replace('"levels": 3', '"levels": 5')
    ),
    "a missing array": lambda entry: (entry / "test.labels.npy").unlink(),
    "an empty array": lambda entry: os.truncate(entry / "train.features.npy", 0),
    "a shortened array": lambda entry: os.truncate(entry / "train.features.npy", 130),
    "a lengthened array": lambda entry: os.truncate(entry / "train.features.npy", 10_000),
    "a flipped bit in a header": lambda entry: flip(entry / "train.features.npy", 1),
    "a flipped bit in the features": lambda entry: flip(entry / "train.features.npy", -1),
    "a flipped bit in the labels": lambda entry: flip(entry / "train.labels.npy", -1),
    "a flipped bit in the offsets": lambda entry: flip(entry / "train.offsets.npy", -8),
    "an empty directory": lambda entry: [path.unlink() for path in entry.iterdir()],
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("always_summed", [0, cache.ALWAYS_SUMMED])
def test_a_damaged_entry_is_built_again(damage, always_summed, write_fold, cache_home, monkeypatch):
    """Small arrays are summed at every opening, large ones when their file was touched."""
    monkeypatch.setattr(cache, "ALWAYS_SUMMED", always_summed)
    source = write_fold(TEXT)
    open_dataset(source)
    damage(only_entry(cache_home))
    data, parsed = open_and_watch(source)
    assert parsed
    assert data.levels == 3
    assert data.train.features.tolist() == [[0.5, 1], [0, 0.25], [1, 0]]
    assert data.train.labels.tolist() == [2, 0, 1]
    assert data.train.offsets.tolist() == [0, 2, 3]
    only_entry(cache_home)
    assert not open_and_watch(source)[1]


def test_a_touched_but_sound_entry_is_kept(write_fold, cache_home, monkeypatch):
    """A copied or touched cache is summed, found good and used."""
    monkeypatch.setattr(cache, "ALWAYS_SUMMED", 0)
    source = write_fold(TEXT)
    open_dataset(source)
    for path in only_entry(cache_home).iterdir():
        os.utime(path, ns=(0, 0))
    assert not open_and_watch(source)[1]


def test_arrays_that_are_open_survive_the_rebuilding(write_fold, cache_home):
    """Whoever has an entry mapped keeps it while another process replaces it."""
    source = write_fold(TEXT)
    data = open_dataset(source)
    (only_entry(cache_home) / "manifest.json").unlink()
    open_dataset(source)
    assert data.train.features.tolist() == [[0.5, 1], [0, 0.25], [1, 0]]


def test_a_failed_build_leaves_nothing(write_fold, cache_home):
    """Neither a half entry nor a lock."""
    with pytest.raises(DataError):
        open_dataset(write_fold(b"nonsense"))
    assert list((cache_home / "datasets").iterdir()) == []


def test_a_killed_builder_does_no_harm(write_fold, cache_home):
    """What it left is cleared away by the next one."""
    source = write_fold(TEXT)
    program = (
        "import os, signal, sys; from learning.data import open_dataset;"
        "open_dataset(sys.argv[1], progress=lambda *_: os.kill(os.getpid(), signal.SIGKILL))"
    )
    killed = subprocess.run([sys.executable, "-c", program, source], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert {path.suffix for path in (cache_home / "datasets").iterdir()} == {".building", ".lock"}
    assert open_dataset(source).train.labels.tolist() == [2, 0, 1]
    only_entry(cache_home)


def test_processes_that_build_at_once_all_get_a_good_entry(cache_home):
    """Four openings in three new processes agree and leave one entry."""
    source = "synthetic:mq2007?queries=60"
    with ProcessPoolExecutor(3, multiprocessing.get_context("spawn")) as pool:
        answers = [future.result() for future in [pool.submit(describe, source) for _ in range(4)]]
    assert answers == [describe(source)] * 4
    only_entry(cache_home)


def test_who_waited_for_a_removed_lock_file_locks_the_one_there_now(tmp_path, monkeypatch):
    """Otherwise two processes could build at once, each with a lock file of its own."""
    path, waiting, flock = tmp_path / "lock", threading.Event(), cache.fcntl.flock

    def announced(file, operation):
        waiting.set()
        flock(file, operation)

    def wait_for_lock():
        with cache._locked(path):
            return path.exists()

    with ThreadPoolExecutor(1) as pool:
        with cache._locked(path):
            monkeypatch.setattr(cache.fcntl, "flock", announced)
            held = pool.submit(wait_for_lock)
            assert waiting.wait(timeout=60)
        assert held.result()
    assert not path.exists()


def test_a_full_disk_is_one_clear_sentence(cache_home):
    """A process that may write no large file stands for the full disk; nothing is left behind."""
    program = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000));"
        "from learning.data import open_dataset; from learning.errors import DataError\n"
        "try: open_dataset('synthetic:mq2007')\n"
        "except DataError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    root = cache_home / "datasets"
    assert done.stdout == (
        f"the data cache needs a writable directory with room: File too large in {root}; "
        "set FOLTR_CACHE to another directory\n"
    )
    assert list(root.iterdir()) == []


def test_a_set_that_does_not_fit_is_refused_before_the_disk_is_full(cache_home, monkeypatch):
    """The sentence says how much is needed and how much is free."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1_000))
    with pytest.raises(DataError, match=r"[0-9,]+ bytes needed, 1,000 free in .*; set FOLTR_CACHE to"):
        open_dataset("synthetic:mq2007?queries=10")
    assert list((cache_home / "datasets").iterdir()) == []


def test_a_place_that_cannot_be_written_is_one_clear_sentence(tmp_path, monkeypatch):
    """A file where the directory should be."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FOLTR_CACHE", str(tmp_path / "file"))
    with pytest.raises(DataError, match=r"needs a writable directory .* in .*file/datasets; set FOLTR_CACHE"):
        open_dataset("synthetic:mq2007?queries=10")


def test_without_foltr_cache_the_users_cache_directory_is_used(monkeypatch):
    """And FOLTR_CACHE may start with the home directory."""
    monkeypatch.setattr(cache.platformdirs, "user_cache_dir", lambda name: f"/home/me/.cache/{name}")
    monkeypatch.setenv("FOLTR_CACHE", "")
    assert str(cache.cache_root()) == "/home/me/.cache/foltr/datasets"
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("FOLTR_CACHE", "~/big")
    assert str(cache.cache_root()) == "/home/me/big/datasets"
