"""Queries read, and do nothing else; what goes wrong is one sentence."""

import os
import signal
import threading

import pytest

from protocol.errors import UserError


@pytest.mark.parametrize(
    "query",
    [
        "copy run to '{journal}/x.csv'",
        "copy (pivot metrics on name) to '{journal}/x.csv'",
        "with x as (copy (select 1) to '{journal}/x.csv') from x",
        "with x as (CoPy (select 1) to '{journal}/x.csv') from x",
        "with y as (select 'éßé€' as e), x as (copy (select 1) to '{journal}/x.csv') from x",
        "select 1; copy run to '{journal}/x.csv'",
        "explain analyze copy run to '{journal}/x.csv'",
        "explain analyze with x as (copy (select 1) to '{journal}/x.csv') from x",
        "/* é */ explain analyze copy run to '{journal}/x.csv'",
        "from json_execute_serialized_sql(json_serialize_sql('with x as (copy run to ''{journal}/x.csv'') from x'))",
        "from query('with x as (copy (select 1) to ''{journal}/x.csv'') from x')",
        "attach '{journal}/x.db'",
        "install httpfs",
        "load httpfs",
        "set threads = 1",
        "export database '{journal}/x'",
        "create table x as select 1",
        "create persistent secret s (type s3)",
        "call enable_logging()",
        "pragma database_list",
        "select * from read_text('/etc/hostname')",
    ],
)
def test_a_query_can_neither_write_nor_reach_out(run, query):
    """Each is refused with one sentence, and the log's directory is as it was."""
    journal = run.path / "journal"
    before = {path: path.read_bytes() for path in journal.iterdir()}
    with pytest.raises(UserError) as refusal:
        run.rows(query.replace("{journal}", str(journal)))
    assert "\n" not in str(refusal.value)
    assert {path: path.read_bytes() for path in journal.iterdir()} == before


def test_what_reads_is_allowed(run):
    """SELECT in its dresses, PIVOT and EXPLAIN."""
    for query in (
        "from run",
        "with x as (select 1 as a) from x",
        "describe updates",
        "show tables",
        "summarize metrics",
        "pivot metrics on name using avg(value) group by round",
        "explain from run",
        "explain analyze select 'copy' as a",
        "select 1; select 2",
    ):
        assert run.rows(query)


def test_an_error_is_one_sentence(run):
    """DuckDB's words without its drawing of the query."""
    with pytest.raises(UserError, match=r'^the query failed: .*Table with name roundz .*"rounds"\?$'):
        run.rows("select *\nfrom roundz")
    with pytest.raises(UserError, match="a query must have a statement"):
        run.rows(" -- nothing")


def test_an_error_while_rows_are_fetched_is_one_sentence_too(run):
    """A cast that fails in a late row is the query's mistake, not ours."""
    with pytest.raises(UserError, match="the query failed: Conversion Error"):
        run.rows("select if(range < 50000, '1', 'x')::int from range(60000)")


def test_an_interrupt_is_an_interrupt(run):
    """Ctrl-C during a query is not the query's mistake."""
    run.rows("select 1")
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        run.rows("select sum(a.range * b.range) from range(10000000) a, range(10000000) b")
    assert run.rows("select 1 as a") == [{"a": 1}]


def test_columns_of_the_same_name_are_all_there(run):
    """A row as an object loses no value."""
    assert run.rows("select 1 as a, 2 as a") == [{"a": 1, "a_2": 2}]


def test_python_variables_are_not_tables(run):
    """A query sees the run, not the caller's variables."""
    secret = {"a": [1]}
    assert secret
    with pytest.raises(UserError, match="secret does not exist"):
        run.rows("from secret")


def test_columns_of_a_view_and_of_no_view(run):
    """`columns` knows the public views only."""
    assert run.columns("damage") == {"file": "VARCHAR", "lines": "BIGINT"}
    with pytest.raises(UserError, match="a view must be one of run, nodes"):
        run.columns("log.lines")
