"""Answers as files and frames."""

import csv
import json

import duckdb
import pytest

from analysis.saving import save
from protocol.errors import UserError

QUERY = "select round, theta[1] as weight from rounds where round > $after order by round -- the last"
ROWS = [(1, 0.5), (2, 1.0), (3, 0.1)]


@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.PARQUET"])
def test_a_file_has_the_rows(played, tmp_path, name):
    """CSV, JSON or Parquet, as the name says; nothing else is left."""
    path = tmp_path / name
    save([played], QUERY, path, {"after": 0})
    read = {
        "a.csv": lambda: [(int(a), float(b)) for a, b in list(csv.reader(path.read_text().splitlines()))[1:]],
        "a.json": lambda: [tuple(row.values()) for row in json.loads(path.read_text())],
        "a.PARQUET": lambda: duckdb.read_parquet(str(path)).fetchall(),
    }
    assert read[name]() == ROWS
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_there_stays_if_the_query_fails(played, tmp_path):
    """A mistake costs nothing."""
    for name in ("a.csv", "a.parquet"):
        (tmp_path / name).write_text("before")
        with pytest.raises(UserError, match="the query failed"):
            save([played], "select nothing", tmp_path / name)
        assert (tmp_path / name).read_text() == "before"


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_a_query_that_writes_is_refused_here_too(played, tmp_path, name):
    """The file is written by us, not by the query."""
    with pytest.raises(UserError, match="can only read"):
        save([played], f"copy run to '{tmp_path}/b.csv'", tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_is_one_sentence(played, tmp_path):
    """An unknown kind, a directory that is not there, nothing to answer."""
    with pytest.raises(UserError, match="needs a query"):
        save([played], None, tmp_path / "a.csv")
    with pytest.raises(UserError, match=r"one of \.csv, \.json, \.parquet; got .*a\.xlsx"):
        save([played], QUERY, tmp_path / "a.xlsx")
    for name in ("a.csv", "a.parquet"):
        with pytest.raises(UserError, match="cannot be written: No such file"):
            save([played], QUERY, tmp_path / "none" / name, {"after": 0})


@pytest.mark.parametrize("library", ["pandas", "pyarrow", "polars"])
def test_an_answer_as_a_frame(run, library):
    """The rows are the same in each library's own form."""
    pytest.importorskip(library, reason=f"{library} is not installed")
    answer = run.sql("select round, theta[1] as weight from rounds where round > 0 order by round")
    rows = {
        "pandas": lambda: answer.df().to_dict("records"),
        "pyarrow": lambda: answer.arrow().to_pylist(),
        "polars": lambda: answer.pl().to_dicts(),
    }[library]()
    assert [tuple(row.values()) for row in rows] == ROWS


def test_a_library_that_is_missing_is_one_sentence(run, monkeypatch):
    """What to install is in it."""
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(UserError, match="polars must be installed for this kind of answer: pip install polars"):
        run.sql("from run").pl()
