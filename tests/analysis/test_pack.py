"""A packed run is one file that says the same."""

import shutil

import duckdb
import pytest

from analysis import find_run, open_run
from analysis.meanings import VIEWS
from analysis.pack import pack
from protocol.errors import UserError


@pytest.fixture(scope="module")
def packed(played, tmp_path_factory):
    """The small run as one file, alone in its directory."""
    return pack(played, tmp_path_factory.mktemp("packed") / "small.duckdb")


@pytest.mark.parametrize("view", VIEWS)
def test_a_packed_run_answers_like_its_directory(run, packed, view):
    """Every view has the same columns, types and rows."""
    with open_run(packed) as other:
        assert other.columns(view) == run.columns(view)
        assert other.rows(f"from {view} order by all") == run.rows(f"from {view} order by all")


def test_plain_duckdb_opens_it(packed):
    """Also attached under another name."""
    with duckdb.connect(packed, read_only=True) as database:
        assert database.sql("select count(*) from updates where delta is not null").fetchall() == [(8,)]
    with duckdb.connect() as database:
        database.execute(f"attach '{packed}' as other (read_only)")
        assert database.sql("select sum(len(delta)) from other.updates").fetchall() == [(16,)]


def test_only_the_finished_file_is_left(packed):
    """Nothing temporary stays beside it."""
    assert [path.name for path in packed.parent.iterdir()] == ["small.duckdb"]


def test_a_run_of_which_only_the_packed_file_is_kept_is_found_and_opened(played, tmp_path):
    """The default name is known to `find_run`, and the journal may then go."""
    copy = tmp_path / "small" / "20260101-120000-7"
    shutil.copytree(played, copy)
    assert pack(copy) == copy / "run.duckdb"
    shutil.rmtree(copy / "journal")
    with open_run(find_run("small", tmp_path)) as run:
        assert run.rows("select count(*) as n from rounds") == [{"n": 4}]
        with pytest.raises(UserError, match="can only read"):
            run.rows("drop table rounds")


def test_what_cannot_be_packed_is_refused(packed, played, tmp_path):
    """A packed file, a target that is no .duckdb file, a directory that is not there."""
    with pytest.raises(UserError, match="with its journal can be packed"):
        pack(packed)
    for target in (tmp_path / "x.csv", tmp_path / "none" / "x.duckdb"):
        with pytest.raises(UserError, match=r"must be a \.duckdb file"):
            pack(played, target)


def test_a_file_that_is_no_database_is_one_sentence(tmp_path):
    """Something else under a packed run's name."""
    (tmp_path / "run.duckdb").write_text("no database")
    with pytest.raises(UserError, match="must be a DuckDB file"):
        open_run(tmp_path / "run.duckdb")


def test_a_packed_run_can_be_open_twice(packed):
    """In one process, too; both only read."""
    with open_run(packed) as one, open_run(packed) as other:
        assert one.rows("select count(*) as n from rounds") == other.rows("select count(*) as n from rounds")
        with pytest.raises(UserError):
            other.rows("from read_text('/etc/hostname')")
