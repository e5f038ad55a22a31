"""Runs are found by path, name or latest, and opened whatever state they were left in."""

import json
import shutil
from pathlib import Path

import pytest

from analysis import find_run, open_run, runs_directory
from analysis.meanings import VIEWS
from protocol.errors import UserError
from protocol.journal import Journal


def make(runs: Path, *names: str) -> None:
    """Empty runs."""
    for name in names:
        (runs / name / "journal").mkdir(parents=True)


def test_the_runs_directory_is_the_option_then_the_environment_then_here(monkeypatch):
    """An option beats FOLTR_RUNS, which beats ./runs."""
    monkeypatch.delenv("FOLTR_RUNS", raising=False)
    assert runs_directory() == Path("runs")
    monkeypatch.setenv("FOLTR_RUNS", "elsewhere")
    assert runs_directory() == Path("elsewhere")
    assert runs_directory(Path("mine")) == Path("mine")


def test_a_run_is_found_by_path_name_and_time(tmp_path):
    """A path is itself; a name is its newest run; name/time-seed is exactly that one."""
    make(tmp_path, "a/20260101-000000-1", "a/20260102-000000-1", "b/20260103-000000-1")
    assert find_run(tmp_path / "a/20260101-000000-1", tmp_path / "none") == tmp_path / "a/20260101-000000-1"
    assert find_run("a", tmp_path) == tmp_path / "a/20260102-000000-1"
    assert find_run("a/20260101-000000-1", tmp_path) == tmp_path / "a/20260101-000000-1"


def test_latest_follows_the_link_and_works_without_one(tmp_path):
    """`latest` is what the link points at, else the newest of all runs."""
    make(tmp_path, "a/20260101-000000-1", "b/20260103-000000-1")
    assert find_run("latest", tmp_path) == tmp_path / "b/20260103-000000-1"
    (tmp_path / "latest").symlink_to("a/20260101-000000-1")
    assert find_run("latest", tmp_path) == tmp_path / "a/20260101-000000-1"


def test_an_unknown_run_is_one_sentence_that_lists_what_is_there(tmp_path):
    """The message has the value, the forms and the scenarios that have runs."""
    make(tmp_path, "a/20260101-000000-1", "a/20260102-000000-1", "b/20260103-000000-1")
    with pytest.raises(UserError, match=r"latest; got 'c', and .* has a \(2\), b \(1\)$"):
        find_run("c", tmp_path)
    with pytest.raises(UserError, match=r"has no run$"):
        find_run("latest", tmp_path / "nowhere")


def test_a_directory_that_is_no_run_is_refused(tmp_path):
    """A directory without a journal is the user's mistake."""
    with pytest.raises(UserError, match="a directory with a journal"):
        open_run(tmp_path)


def test_a_run_without_any_file_has_empty_views(tmp_path):
    """A run that was killed before its first record answers every query with no rows."""
    (tmp_path / "journal").mkdir()
    with open_run(tmp_path) as run:
        for view in VIEWS:
            assert run.rows(f"from {view}") == []


def test_a_live_run_grows_between_two_queries(played, tmp_path):
    """A file that appears after the run was opened is read by the next query."""
    (tmp_path / "journal").mkdir()
    with open_run(tmp_path) as run:
        assert run.rows("from metrics") == []
        shutil.copy(played / "journal" / "evaluator.jsonl", tmp_path / "journal")
        assert run.rows("select count(*) as n from metrics") == [{"n": 4}]


def test_a_live_run_may_get_longer_lines_than_it_had(tmp_path):
    """The bound on a line is that of the enrolled clients, not that of the lines so far."""
    journal = Journal(tmp_path, "coordinator", clock=lambda: 0.0)
    journal.append("run.started", dimension=400)
    journal.flush()
    with open_run(tmp_path) as run:
        assert run.rows("from updates") == []
        names = [f"client-{one}" for one in range(2_000)]
        journal.append("clients.enrolled", clients=names, hosts=["host"] * 2_000, clicks=["perfect"] * 2_000)
        journal.append("update.received", round=1, peers=["host"], clients=names, thetas=[[-1 / 3e-100] * 400] * 2_000)
        journal.close()
        assert run.rows("select count(*) as n, min(len(theta)) as d from updates") == [{"n": 2_000, "d": 400}]


def test_a_copied_run_answers_the_same(played, tmp_path):
    """Nothing in the answers depends on where the run lies, even under an awkward name."""
    elsewhere = tmp_path / "it's [a] *copy*"
    shutil.copytree(played, elsewhere)
    query = "select * from updates order by round, client, accepted"
    with open_run(played) as here, open_run(elsewhere) as there:
        assert here.rows(query) == there.rows(query)
        assert len(here.rows(query)) == 9


def test_torn_and_damaged_lines_are_skipped_and_counted(played, tmp_path):
    """A torn tail and garbage cost their own lines only, and `damage` tells how many."""
    shutil.copytree(played, tmp_path / "run")
    journal = tmp_path / "run" / "journal"
    with (journal / "coordinator.jsonl").open("ab") as file:
        file.write(b'garbage\n[1, 2]\n{"event":"round.closed","round":4,"theta":[0.1,')
    with (journal / "host-1.jsonl").open("ab") as file:
        file.write(b'{"event":"up')
    with open_run(played) as whole, open_run(tmp_path / "run") as torn:
        for view in ("rounds", "messages", "events"):
            assert torn.rows(f"from {view} order by all") == whole.rows(f"from {view} order by all")
        assert whole.rows("from damage") == []
        assert torn.rows("from damage order by file") == [
            {"file": "coordinator.jsonl", "lines": 3},
            {"file": "host-1.jsonl", "lines": 1},
        ]


def test_a_record_longer_than_the_smallest_limit_is_read(tmp_path):
    """A line of 20 MB is one record, because the run's first records tell how long lines may be."""
    journal = Journal(tmp_path, "coordinator", clock=lambda: 0.0)
    count, dimension = 2_000, 400
    names = [f"client-{one}" for one in range(count)]
    journal.append("run.started", dimension=dimension)
    journal.append("clients.enrolled", clients=names, hosts=["host"] * count, clicks=["perfect"] * count)
    journal.append(
        "update.received",
        round=1,
        peers=["host"],
        clients=names,
        norm=[1.5] * count,
        thetas=[[-1 / 3e-100] * dimension] * count,
    )
    journal.close()
    assert (tmp_path / "journal" / "coordinator.jsonl").stat().st_size > 1 << 24
    with open_run(tmp_path) as run:
        assert run.rows("select count(*) as n, sum(norm) as s from updates") == [{"n": count, "s": 1.5 * count}]


@pytest.mark.parametrize("view", VIEWS)
def test_a_snapshot_answers_the_same_but_for_weights(run, played, view):
    """Every view has the same columns and rows, with nothing in place of weights."""
    with open_run(played, snapshot=True) as snapshot:
        assert snapshot.columns(view) == run.columns(view)
        weights = [name for name in ("theta", "delta") if name in run.columns(view)]
        left_out = f"exclude ({', '.join(weights)})" if weights else ""
        query = f"select * {left_out} from {view} order by all"
        if view == "events":
            query = "from events order by node, seq"
            records = [{**row, "record": json.loads(row["record"])} for row in snapshot.rows(query)]
            assert records == [{**row, "record": json.loads(row["record"])} for row in run.rows(query)]
        else:
            assert snapshot.rows(query) == run.rows(query)
        for name in weights:
            assert snapshot.rows(f"from {view} where {name} is not null") == []


def test_a_snapshot_stays_as_it_was(played, tmp_path):
    """What is written later is in the next snapshot."""
    copy = shutil.copytree(played, tmp_path / "run")
    with open_run(copy, snapshot=True) as snapshot:
        before = snapshot.rows("select count(*) as n from rounds")
        journal = Journal(copy, "coordinator")
        journal.append("round.closed", round=4, theta=[0.0, 0.0])
        journal.close()
        assert snapshot.rows("select count(*) as n from rounds") == before
    with open_run(copy, snapshot=True) as snapshot:
        assert snapshot.rows("select count(*) as n from rounds") == [{"n": before[0]["n"] + 1}]
