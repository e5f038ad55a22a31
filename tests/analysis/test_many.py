"""Several runs asked at once."""

import shutil

import pytest

from analysis import find_runs, open_runs
from analysis.log import views_for
from analysis.many import open_log
from analysis.meanings import VIEWS
from analysis.pack import pack
from protocol.errors import UserError
from protocol.journal import Journal


@pytest.fixture(scope="module")
def folder(played, tmp_path_factory):
    """Two directories and one packed run of one scenario, and a link to the newest."""
    tmp_path = tmp_path_factory.mktemp("many")
    for stamp in ("20260101-120000-7", "20260102-120000-7", "20260103-120000-7"):
        shutil.copytree(played, tmp_path / "small" / stamp)
    pack(tmp_path / "small" / "20260103-120000-7")
    shutil.rmtree(tmp_path / "small" / "20260103-120000-7" / "journal")
    (tmp_path / "latest").symlink_to("small/20260103-120000-7")
    return tmp_path


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_has_a_column_run_and_all_rows(folder, run, view):
    """Three equal runs have three times the rows, and the same columns after the first."""
    with open_runs(find_runs(["small/*"], folder)) as runs:
        assert runs.columns(view) == {"run": "VARCHAR"} | run.columns(view)
        rows = runs.rows(f"select run, count(*) as n from {view} group by run order by run")
        (one,) = run.rows(f"select count(*) as n from {view}")
        assert [row["n"] for row in rows] == ([one["n"]] * 3 if one["n"] else [])
        if rows:
            assert rows[0]["run"] == "small/20260101-120000-7"


@pytest.mark.parametrize(
    ("query", "needed"),
    [
        ("select value from metrics", {"metrics", "updates", "log.updates", "rounds"}),
        ("from faults", {"faults"}),
        ("select delta from Updates", {"updates", "log.updates", "rounds"}),
        ("show tables", {*VIEWS, "log.updates"}),
    ],
)
def test_only_the_views_that_a_query_needs_are_defined(query, needed):
    """With those beneath them, perhaps some that only sound so; all if it names none."""
    found = set(views_for(query))
    assert needed <= found
    assert ("events" in found) == ("events" in needed)


def test_one_run_has_no_such_column(played):
    """A question about one run is asked as ever."""
    with open_log([played]) as log:
        assert "run" not in log.columns("metrics")


def test_patterns_match_runs_from_here_from_the_runs_directory_and_whole_folders(folder, monkeypatch):
    """Each run once, in order; the link to the latest adds none."""
    expected = sorted(folder.glob("small/*"))
    monkeypatch.chdir(folder.parent)
    for pattern in ("small/*", f"{folder}/small/*", f"{folder.name}/small/2026*", f"{folder.name}/sm*"):
        assert find_runs([pattern], folder) == expected
    assert find_runs(["latest", "small/*"], folder) == [expected[2], *expected[:2]]


def test_a_pattern_that_matches_nothing_is_one_sentence(tmp_path):
    """It names the pattern and where it was looked for."""
    with pytest.raises(UserError, match=r"must match a run; got 'x\*', and neither here nor in"):
        find_runs(["x*"], tmp_path)


def test_a_live_run_grows_among_others(folder, tmp_path):
    """A record that is written after the runs were opened is in the next answer."""
    shutil.copytree(folder / "small", tmp_path / "small")
    runs = find_runs(["small/*"], tmp_path)
    with open_runs(runs) as opened:
        assert opened.rows("select count(*) as n from faults where whom = 'host-9'") == [{"n": 0}]
        journal = Journal(runs[0], "coordinator")
        journal.append("client.lost", name="host-9", clients=["cat"], round=3)
        journal.close()
        assert opened.rows("select run from faults where whom = 'host-9'") == [{"run": "small/20260101-120000-7"}]


def test_several_runs_cannot_be_changed_either(folder):
    """What one run refuses, several refuse."""
    with open_runs(find_runs(["small/*"], folder)) as runs:
        for query in ("drop view run", f"copy run to '{folder}/x.csv'", "from read_text('/etc/hostname')"):
            with pytest.raises(UserError):
                runs.rows(query)


def test_runs_of_the_same_name_are_told_apart_by_their_paths(folder, played):
    """Two folders may have the same run."""
    with open_runs([played, folder / "small" / "20260101-120000-7"]) as runs:
        assert {row["run"] for row in runs.rows("select run from run")} == set(
            map(str, (played, folder / "small" / "20260101-120000-7"))
        )


def test_what_is_no_run_is_refused(tmp_path):
    """A directory without a journal, a file that is no database, nothing at all."""
    (tmp_path / "x.duckdb").write_text("no database")
    for runs, sentence in (
        ([tmp_path], "directory with a journal"),
        ([tmp_path / "x.duckdb"] * 2, "must be a DuckDB file"),
        ([], "at least one"),
    ):
        with pytest.raises(UserError, match=sentence):
            open_runs(runs)
