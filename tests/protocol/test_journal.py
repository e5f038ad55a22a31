"""A node's log: what is appended is read back, whatever interrupts the writer."""

import math
import struct
import subprocess
import sys

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.errors import Refusal, UserError
from protocol.journal import Follower, Journal, journal_path, read_journal, read_lines

NODE = "coordinator"
finite = st.floats(allow_nan=False, allow_infinity=False, width=64)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A directory for properties that are tried many times; each trial writes to a node of its own."""
    return tmp_path_factory.mktemp("run")


def written(run, *values, node=NODE):
    """A closed journal with one record a value."""
    journal = Journal(run, node, clock=lambda: 12.5)
    for value in values:
        journal.append("metric.measured", value=value)
    journal.close()
    return journal.path


def test_a_record_has_its_envelope_first(tmp_path):
    """Event, time, node and number come before the fields, so that a reader can tell a line by its first bytes."""
    path = written(tmp_path, 7)
    assert path == journal_path(tmp_path, NODE) == tmp_path / "journal" / "coordinator.jsonl"
    assert path.read_bytes() == (b'{"event":"metric.measured","ts":12.5,"node":"coordinator","seq":0,"value":7}\n')


def test_what_is_appended_is_read_back_in_order(tmp_path):
    """Numbers rise from 0, and fields come back as JSON has them."""
    journal = Journal(tmp_path, NODE)
    journal.append("frame.refused", reason=Refusal.STALE_ROUND, peers=("a", "b"), detail="line\nbreak \r \u2028 ü")
    journal.append("round.closed", theta=np.array([0.1, -0.0]), thetas=np.eye(2), rounds=np.array([1, 2]))
    journal.close()
    first, second = read_journal(journal.path)
    assert (first["seq"], second["seq"]) == (0, 1)
    assert (first["reason"], first["peers"], first["detail"]) == ("stale-round", ["a", "b"], "line\nbreak \r \u2028 ü")
    assert (second["theta"], second["thetas"], second["rounds"]) == ([0.1, -0.0], [[1, 0], [0, 1]], [1, 2])
    assert second["ts"] > 1e9


def test_nothing_is_on_disk_before_a_flush_and_everything_after(tmp_path):
    """Lines are buffered; `flush` is the moment from which they survive the process."""
    journal = Journal(tmp_path, NODE)
    journal.append("node.ready")
    assert journal.path.read_bytes() == b""
    journal.flush()
    assert len(list(read_journal(journal.path))) == 1
    journal.close()
    journal.close()


@given(st.lists(finite, min_size=1, max_size=20))
def test_float64_comes_back_to_the_bit(folder, values):
    """The log is exact: JSON text and back gives the same bytes, for numbers and for arrays."""
    path = folder / "journal" / "exact.jsonl"
    path.unlink(missing_ok=True)
    journal = Journal(folder, "exact")
    journal.append("round.closed", theta=np.array(values), plain=values)
    journal.close()
    (record,) = read_journal(path)
    for got in (record["theta"], record["plain"]):
        assert struct.pack(f"<{len(values)}d", *got) == struct.pack(f"<{len(values)}d", *values)


@pytest.mark.parametrize("value", [5e-324, -0.0, 2.2250738585072014e-308, math.nextafter(1, 2), sys.float_info.max])
def test_the_edges_of_float64_come_back_too(tmp_path, value):
    """The smallest, the negative zero, the largest."""
    (record,) = read_journal(written(tmp_path, np.array([value])))
    assert struct.pack("<d", record["value"][0]) == struct.pack("<d", value)


def test_a_number_that_json_has_no_word_for_is_null(tmp_path):
    """Machines let none into a model; a norm may still overflow."""
    (record,) = read_journal(written(tmp_path, np.array([math.inf, math.nan])))
    assert record["value"] == [None, None]


def torn(tmp_path):
    """A journal of three records, and where its last line begins."""
    path = written(tmp_path, "first", "second", "third: ü and {}[]")
    whole = path.read_bytes()
    return path, whole, whole[:-1].rfind(b"\n") + 1


def test_a_torn_tail_is_not_a_record_wherever_it_is_torn(tmp_path):
    """Readers stop before the line without its end."""
    path, whole, last = torn(tmp_path)
    for cut in range(last, len(whole)):
        path.write_bytes(whole[:cut])
        assert [record["value"] for record in read_journal(path)] == ["first", "second"]


def test_a_writer_cuts_the_torn_tail_off_and_goes_on_counting(tmp_path):
    """Wherever it was torn, the next record has the number that the torn one had."""
    path, whole, last = torn(tmp_path)
    for cut in range(last, len(whole)):
        path.write_bytes(whole[:cut])
        written(tmp_path, "fourth")
        assert [(record["seq"], record["value"]) for record in read_journal(path)] == [
            (0, "first"),
            (1, "second"),
            (2, "fourth"),
        ]
        assert path.read_bytes()[:last] == whole[:last]


@pytest.mark.parametrize("content", [b"", b"{", b'{"seq":0'])
def test_a_journal_without_a_whole_line_starts_anew(tmp_path, content):
    """Its first record was never one."""
    path = journal_path(tmp_path, NODE)
    path.parent.mkdir()
    path.write_bytes(content)
    written(tmp_path, 1)
    assert [record["seq"] for record in read_journal(path)] == [0]


def test_a_whole_journal_is_continued(tmp_path):
    """A node that starts again appends to its log."""
    written(tmp_path, 1, 2)
    assert [record["seq"] for record in read_journal(written(tmp_path, 3))] == [0, 1, 2]


def test_a_line_longer_than_a_chunk_is_one_line(tmp_path, monkeypatch):
    """Reading and mending go in chunks that a line may exceed."""
    monkeypatch.setattr("protocol.journal._CHUNK", 16)
    path = written(tmp_path, "x" * 100, "y" * 100)
    with path.open("ab") as file:
        file.write(b'{"torn":"' + b"z" * 100)
    assert [record["value"][0] for record in read_journal(path)] == ["x", "y"]
    assert [record["seq"] for record in read_journal(written(tmp_path, "w"))] == [0, 1, 2]


@pytest.mark.parametrize("line", [b"garbage", b"[]", b'{"event":"run.started"}', b"\0\0\0", b'{"seq":"x"}', b""])
def test_a_last_line_that_is_no_record_is_told_to_the_user(tmp_path, line):
    """A whole line that nobody here wrote is not cut off, and the file stays as it is."""
    path = written(tmp_path, 1)
    damaged = path.read_bytes() + line + b"\n"
    path.write_bytes(damaged)
    with pytest.raises(UserError, match=f"^the log cannot be continued, its last line is no record: {path}$"):
        Journal(tmp_path, NODE)
    assert path.read_bytes() == damaged


@given(st.lists(st.text(max_size=30), max_size=8), st.lists(st.integers(0, 60), max_size=40))
def test_a_follower_gives_every_line_once_however_the_file_grows(folder, values, pieces):
    """Any division of the bytes into writes gives the same whole lines, none twice, none torn."""
    path = folder / "growing.jsonl"
    path.unlink(missing_ok=True)
    follower = Follower(path)
    assert follower.lines() == []
    lines = [orjson.dumps({"value": value}) for value in values]
    rest = b"".join(line + b"\n" for line in lines)
    seen = []
    with path.open("ab", buffering=0) as file:
        for size in (*pieces, len(rest)):
            piece, rest = rest[:size], rest[size:]
            file.write(piece)
            got = follower.lines()
            seen += got
            assert seen == lines[: len(seen)]
            assert len(seen) == path.read_bytes().count(b"\n")
            assert follower.lines() == []
    assert seen == lines
    assert list(read_lines(path)) == lines


def test_a_follower_survives_the_mending_of_a_torn_tail(tmp_path):
    """What the new writer puts in the torn line's place is read as a whole line."""
    path, whole, _ = torn(tmp_path)
    path.write_bytes(whole[:-4])
    follower = Follower(path)
    assert len(follower.lines()) == 2
    written(tmp_path, "fourth")
    (line,) = follower.lines()
    assert orjson.loads(line)["value"] == "fourth"


def test_a_journal_that_is_not_there_has_no_records(tmp_path):
    """Nothing was written yet."""
    assert list(read_journal(tmp_path / "nothing.jsonl")) == []


def test_a_directory_that_cannot_be_made_is_told_to_the_user(tmp_path):
    """A file is in the way; the sentence names it."""
    (tmp_path / "journal").write_text("in the way")
    with pytest.raises(UserError, match=rf"^the log cannot be written: .*: {tmp_path}/journal/coordinator\.jsonl$"):
        Journal(tmp_path, NODE)


def test_a_journal_that_is_a_directory_is_told_to_the_user(tmp_path):
    """So is what cannot be opened."""
    journal_path(tmp_path, NODE).mkdir(parents=True)
    with pytest.raises(UserError, match="the log cannot be written: Is a directory"):
        Journal(tmp_path, NODE)


def test_a_directory_without_permission_is_told_to_the_user(tmp_path):
    """In a process without privileges."""
    tmp_path.chmod(0o755)
    program = f"""
import os, sys
from pathlib import Path
from protocol.errors import UserError
from protocol.journal import Journal
run = Path({str(tmp_path)!r}) / "closed"
run.mkdir()
run.chmod(0o555)
os.chdir("/")
if os.getuid() == 0:
    os.setuid(65534)  # nobody
try:
    Journal(run, "n")
except UserError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == f"the log cannot be written: Permission denied: {tmp_path}/closed/journal/n.jsonl\n"


FULL = """
import resource, signal, sys
from pathlib import Path
from protocol.errors import UserError
from protocol.journal import Journal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
journal = Journal(Path(sys.argv[1]), "n")
try:
    for number in range(int(sys.argv[2])):
        journal.append("metric.measured", value="x" * 900)
        if number % int(sys.argv[3]) == 0:
            journal.flush()
    journal.close()
except UserError as error:
    print(error)
    try:
        journal.close()
    except UserError as error:
        print(error)
"""


@pytest.mark.parametrize(("records", "flushed_every"), [(100, 1), (100, 1000), (3000, 10_000)])
def test_a_full_disk_is_told_to_the_user_and_the_whole_lines_stay(tmp_path, records, flushed_every):
    """At a flush, at the close or in the middle of an append: one sentence, and what was whole can be read."""
    program = [sys.executable, "-c", FULL, str(tmp_path), str(records), str(flushed_every)]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    path = journal_path(tmp_path, "n")
    assert set(done.stdout.splitlines()) == {f"the log cannot be written: File too large: {path}"}
    assert done.stderr == ""
    assert path.stat().st_size <= 20_000
    read = list(read_journal(path))
    assert [record["seq"] for record in read] == list(range(len(read)))
    assert len(read) == path.read_bytes().count(b"\n") > 15
    Journal(tmp_path, "n").close()
    assert path.read_bytes().endswith(b"\n")
