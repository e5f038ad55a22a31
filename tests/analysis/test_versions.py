"""A run from a newer version is read as far as possible, and said to be newer."""

import pytest

from analysis import open_run
from analysis.pack import pack
from analysis.versions import newer_run, newer_versions
from protocol.journal import Journal


def write(run, versions):
    """A run of another version: an event and a field that this one does not know."""
    journal = Journal(run, "coordinator", clock=lambda: 0.0)
    journal.append("run.started", scenario={"name": "x"}, seed=1, versions=versions, mood="good")
    journal.append("client.dreamt", of={"sheep": 3})
    journal.append("round.closed", round=0, theta=[0.0], surprise=True)
    journal.close()
    return run


def test_a_newer_run_is_said_to_be_newer_and_is_read(tmp_path):
    """Known fields are in their views, the rest in `events`; packed, too."""
    run = write(tmp_path, {"foltr": "99.1"})
    assert "made by foltr 99.1, which is newer than this foltr" in newer_run(run)
    assert newer_run(pack(run)) == newer_run(run)
    with open_run(run) as opened:
        assert opened.rows("select count(*) as n from rounds") == [{"n": 1}]
        assert opened.rows("select record ->> '$.of.sheep' as n from events where event = 'client.dreamt'") == [
            {"n": "3"}
        ]


@pytest.mark.parametrize("versions", [{}, {"foltr": "0.0.1"}, {"protocol": 0}, {"foltr": None}])
def test_others_are_not(versions):
    """An older run, or one that says nothing."""
    assert newer_versions(versions) is None


def test_a_log_without_a_first_record_has_no_version(tmp_path):
    """Empty, torn or garbage."""
    (tmp_path / "journal").mkdir()
    assert newer_run(tmp_path) is None
    for text in ("", "garbage\n", '{"event": "run.st', "[1]\n"):
        (tmp_path / "journal" / "coordinator.jsonl").write_text(text)
        assert newer_run(tmp_path) is None


def test_a_newer_protocol_counts_too():
    """The wire's version is its own."""
    assert "protocol 999" in newer_versions({"protocol": 999})
