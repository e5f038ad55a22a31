"""Answers as a table, as JSON and as CSV."""

import csv
import io
import json

import pytest
from rich.console import Console

from analysis.tables import render, show_table, write_csv, write_json


def shown(answer, limit=40, width=100):
    """What a terminal of a width would show."""
    stream = io.StringIO()
    show_table(answer, Console(file=stream, width=width), limit)
    return stream.getvalue()


def written(write, answer):
    """What a stream gets."""
    stream = io.StringIO()
    write(answer, stream)
    return stream.getvalue()


def test_a_table_has_its_header_and_rows(run):
    """Names, values, and nothing for null."""
    text = shown(run.sql("select round, round / 3 as third, null as nothing, theta from rounds order by round"))
    (last,) = [line for line in text.splitlines() if line.replace("│", "").split()[:1] == ["3"]]
    assert [cell.strip() for cell in last.split("│")] == ["", "3", "1", "", "[0.1, 0.2]", ""]
    assert "0.333333" in text
    assert "None" not in text


def test_a_long_table_is_cut_and_says_so(run):
    """The rest is counted, not shown."""
    text = shown(run.sql("select range as n from range(10000)"), limit=20)
    assert "19" in text
    assert " 20 " not in text
    assert text.splitlines()[-1] == "… 9,980 more rows (--all, --csv or --json shows all)"
    assert "more row" not in shown(run.sql("select range as n from range(50)"), limit=None)
    assert shown(run.sql("from rounds where round < 0")).endswith("no rows\n")
    assert "… 1 more row (" in shown(run.sql("select range as n from range(41)"))


def test_long_lists_and_texts_are_cut(run):
    """Weights show their first numbers and how many they are; brackets are text, not markup."""
    text = shown(
        run.sql("select list_transform(range(46), lambda x: x + 0.5) as theta, repeat('x', 500) as long, '[red]' as r")
    )
    assert "[0.5, 1.5, … 46 in all]" in text
    assert "x" * 61 not in text
    assert "[red]" in text


@pytest.mark.parametrize("width", [60, 80, 100, 200])
@pytest.mark.parametrize("view", ["run", "updates", "events"])
def test_a_wide_table_fits_the_screen(run, view, width):
    """No line is longer than the screen, and every column's name is there."""
    text = shown(run.sql(f"from {view}"), width=width)
    assert max(map(len, text.splitlines())) <= width
    for name in run.columns(view):
        assert name[:13] in text


def test_rows_that_do_not_fit_are_blocks(run):
    """Below some width a row is a block of lines, one a column."""
    lines = shown(run.sql("select name, seed, engine from run union all select 'b', 1, null"), width=20).splitlines()
    assert lines == ["name    small", "seed    7", "engine  processes", "", "name    b", "seed    1", "engine  ", ""]


def test_json_is_exact(run):
    """Floats come back to the bit, moments are ISO, JSON columns are objects, an empty answer is an empty list."""
    query = "select round, theta, closed, aggregation, 1.5 as d, sum(round) over () as s from rounds order by round"
    rows = json.loads(written(write_json, run.sql(query)))
    for got, row in zip(rows, run.rows(query), strict=True):
        assert got["theta"] == row["theta"]
        assert got["closed"] == row["closed"].isoformat()
        assert got["aggregation"] == {"rule": "fedavg"}
        assert (got["d"], got["s"]) == (1.5, 6)
    assert json.loads(written(write_json, run.sql("select 1 / 3 as third"))) == [{"third": 1 / 3}]
    assert json.loads(written(write_json, run.sql("from rounds where round < 0"))) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("'nan'::double", None),
        ("1.5::decimal(38, 1)", 1.5),
        ("170141183460469231731687303715884105727", "170141183460469231731687303715884105727"),
        ("interval 90 second", "0:01:30"),
        ("{'a': [1, null]}", {"a": [1, None]}),
    ],
)
def test_json_of_unusual_values(run, value, expected):
    """What JSON cannot hold is null or text, never a failure."""
    assert json.loads(written(write_json, run.sql(f"select {value} as v"))) == [{"v": expected}]


def test_csv(run):
    """A header, exact numbers, lists as JSON, nothing for null."""
    answer = run.sql("select round, theta, opened, 0.1::double as x from rounds where round < 2 order by round")
    rows = list(csv.DictReader(io.StringIO(written(write_csv, answer))))
    assert [row["round"] for row in rows] == ["0", "1"]
    assert json.loads(rows[1]["theta"]) == [0.5, 0.25]
    assert rows[0]["opened"] == ""
    assert "T" in rows[1]["opened"]
    assert rows[0]["x"] == "0.1"


@pytest.mark.parametrize(("form", "first"), [("json", "["), ("csv", "n"), ("table", "┏")])
def test_render_prints(run, capsys, form, first):
    """Each form goes to standard output."""
    render(run.sql("select range as n from range(50)"), form)
    printed = capsys.readouterr().out
    assert printed[0] == first
    assert ("10 more rows" in printed) == (form == "table")
    render(run.sql("select range as n from range(50)"), form, everything=True)
    assert "more rows" not in capsys.readouterr().out
