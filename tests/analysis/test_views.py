"""The views say of the small run exactly what its log says."""

import json
from datetime import UTC, datetime
from itertools import count

import pytest

from analysis import open_run
from protocol.journal import Journal


def moment(start: float, ticks: int) -> datetime:
    """The clock's reading number `ticks`, as SQL gives it: UTC without a zone."""
    return datetime.fromtimestamp(start + 0.5 * ticks, UTC).replace(tzinfo=None)


def test_run_is_one_row(run, small):
    """What was run and how it ended."""
    (row,) = run.rows("from run")
    assert json.loads(row.pop("scenario")) == small.scenario
    assert json.loads(row.pop("versions")) == {"foltr": "0.1.0"}
    assert row.pop("started") == moment(small.start, 4)
    assert (row.pop("finished") - moment(small.start, 4)).total_seconds() == row.pop("seconds")
    assert row == {
        "name": "small",
        "scenario_hash": "5e4" * 21,
        "seed": 7,
        "dimension": 2,
        "engine": "processes",
        "weights": "all",
        "parent": None,
        "outcome": "completed",
        "reason": "",
    }


def test_nodes_has_a_row_for_each_process(run):
    """host-1 was killed and started again: two rows."""
    rows = run.rows("select name, role, pid, exited is not null as gone, code, clients from nodes")
    assert [tuple(row.values()) for row in rows] == [
        ("coordinator", "coordinator", 100, False, None, []),
        ("evaluator", "evaluator", 101, False, None, []),
        ("host-0", "host", 102, False, None, ["ann", "bob"]),
        ("host-1", "host", 103, True, -9, ["cat"]),
        ("host-1", "host", 104, False, None, ["cat"]),
    ]


def test_clients_in_the_order_of_the_roster(run, small):
    """Who they are and when they came."""
    rows = run.rows("from clients")
    assert [row["id"] for row in rows] == small.clients
    assert [row["number"] for row in rows] == [0, 1, 2]
    assert [row["host"] for row in rows] == ["host-0", "host-0", "host-1"]
    assert {(row["clicks"], row["interactions"], row["attack"], row["left"]) for row in rows} == {
        ("perfect", 5, None, None)
    }
    assert rows[0]["joined"] == rows[1]["joined"] < rows[2]["joined"]


def test_clients_who_came_later_and_who_left(tmp_path):
    """Numbers go on where the roster ended; who left has the time."""
    journal = Journal(tmp_path, "coordinator", clock=count().__next__)
    for names in (["ann", "bob"], ["cat"]):
        journal.append("clients.enrolled", clients=names, hosts=names, clicks=["perfect"] * len(names))
    journal.append("client.joined", name="cat", clients=["cat"])
    journal.append("client.left", name="bob", clients=["bob"], round=4)
    journal.close()
    with open_run(tmp_path) as run:
        rows = run.rows('select id, number, epoch(joined) as joined, epoch("left") as gone from clients')
        assert [tuple(row.values()) for row in rows] == [
            ("ann", 0, None, None),
            ("bob", 1, None, 3.0),
            ("cat", 2, 2.0, None),
        ]


def test_rounds(run, small):
    """Every model with who is in it; the start was never open."""
    rows = run.rows("from rounds order by round")
    assert [row["round"] for row in rows] == [0, 1, 2, 3]
    assert [row["theta"] for row in rows] == small.models
    assert [row["model"] for row in rows] == [f"{one:064x}" for one in range(4)]
    assert [row["participants"] for row in rows] == [[], small.clients, ["ann", "bob"], small.clients]
    assert [row["missing"] for row in rows] == [[], [], ["cat"], []]
    assert {row["phase"] for row in rows} == {"training"}
    assert rows[0]["opened"] is None
    assert all(row["opened"] < row["closed"] for row in rows[1:])
    assert json.loads(rows[1]["aggregation"]) == {"rule": "fedavg"}


def test_updates(run, small):
    """Each client's model, its change and its clicks' worth."""
    rows = run.rows("from updates where accepted order by round, client")
    assert {(row["round"], row["client"]): row["theta"] for row in rows} == small.thetas
    assert {(row["round"], row["client"]): row["online_ndcg_at_10"] for row in rows} == small.online
    for row in rows:
        before = small.models[row["round"] - 1]
        assert row["delta"] == [a - b for a, b in zip(row["theta"], before, strict=True)]
        assert row["norm"] == pytest.approx(sum(one**2 for one in row["delta"]) ** 0.5, rel=1e-15)
        assert (row["n"], row["phase"], row["reason"]) == (5, "training", None)


def test_refused_updates_are_there_with_their_reason(run):
    """A refused update is a row without weights."""
    (row,) = run.rows(
        "select round, client, host, n, theta, delta, norm, accepted, reason from updates where not accepted"
    )
    assert row == {
        "round": 2,
        "client": "ann",
        "host": "host-0",
        "n": None,
        "theta": None,
        "delta": None,
        "norm": None,
        "accepted": False,
        "reason": "duplicate",
    }


def test_offline_metrics(run, small):
    """nDCG@10 of each model."""
    rows = run.rows("select round, client, value from metrics where name = 'ndcg_at_10' order by round")
    assert [row["value"] for row in rows] == small.ndcg
    assert [row["round"] for row in rows] == [0, 1, 2, 3]
    assert {row["client"] for row in rows} == {None}


def test_online_metrics(run, small):
    """A client's online nDCG in a round, and the discounted sum of the means over clients."""
    rows = run.rows("select round, client, value from metrics where name = 'online_ndcg_at_10'")
    assert {(row["round"], row["client"]): row["value"] for row in rows} == small.online
    rows = run.rows("select round, value from metrics where name = 'online' order by round")
    total = 0.0
    for number, row in enumerate(rows, start=1):
        of_round = [value for (at, _client), value in small.online.items() if at == number]
        total += 0.9995 ** (number - 1) * sum(of_round) / len(of_round)
        assert row == {"round": number, "value": pytest.approx(total, rel=1e-14)}
    assert len(rows) == 3


def test_messages_have_a_row_for_each_peer(run):
    """A broadcast is several messages; a refused frame tells why."""
    rows = run.rows(
        "select peer, bytes from messages where node = 'coordinator' and type = 'train' and round = 1 order by peer"
    )
    assert rows == [{"peer": "host-0", "bytes": 50}, {"peer": "host-1", "bytes": 50}]
    rows = run.rows("select peer, refused from messages where refused is not null order by refused")
    assert rows == [{"peer": "host-0", "refused": "duplicate"}, {"peer": "host-1", "refused": "malformed"}]
    assert run.rows("select cause from messages where type = 'welcome'") == [
        {"cause": "host-0:1"},
        {"cause": "host-1:1"},
        {"cause": "host-1:1"},
    ]


def test_faults_last_until_the_host_is_back(run):
    """host-1 was lost in round 2 and joined again."""
    crash, row = run.rows("from faults order by what")
    assert (crash["what"], crash["whom"], crash["detail"]) == ("crashed", "host-1", "its last words")
    (back,) = run.rows("select ts from events where event = 'client.rejoined'")
    assert (row["what"], row["whom"], row["round"], row["clients"]) == ("lost", "host-1", 2, ["cat"])
    assert row["since"] < row["until"] == crash["until"] == back["ts"]


def test_a_silent_host_is_back_when_it_answers(tmp_path):
    """No one says that it rejoined: its next answer does. An abandoned run's end is the supervisor's word."""
    ticks = count()
    journals = [Journal(tmp_path, name, lambda: float(next(ticks))) for name in ("coordinator", "supervisor")]
    coordinator, supervisor = journals
    coordinator.append("run.started", scenario={"name": "x"})
    coordinator.append("client.silent", name="host-0", clients=["ann"], round=1)
    coordinator.append("client.silent", name="host-1", clients=["bob"], round=1)
    coordinator.append("update.received", round=2, peers=["host-0"], clients=["ann"])
    supervisor.append("run.abandoned", outcome="aborted", reason="the coordinator died")
    for journal in journals:
        journal.close()
    with open_run(tmp_path) as run:
        rows = run.rows("select what, whom, epoch(since) as since, epoch(until) as until from faults order by whom")
        assert rows == [
            {"what": "silent", "whom": "host-0", "since": 1.0, "until": 3.0},
            {"what": "silent", "whom": "host-1", "since": 2.0, "until": None},
        ]
        assert run.rows("select outcome, reason, seconds from run") == [
            {"outcome": "aborted", "reason": "the coordinator died", "seconds": 4.0}
        ]


def test_events_are_all_records(run):
    """Every line of every file, but for the updates' weights."""
    lines = [line for path in (run.path / "journal").iterdir() for line in path.read_text().splitlines()]
    rows = run.rows("from events order by node, seq")
    assert len(rows) == len(lines)
    written = {(record["node"], record["seq"]): record for record in map(json.loads, lines)}
    for row in rows:
        record = written[row["node"], row["seq"]]
        record.pop("thetas", None)
        assert json.loads(row["record"]) == record
        assert row["event"] == record["event"]
        assert row["round"] == record.get("round")


def test_updates_without_weights_and_asked_twice(tmp_path):
    """Rows without theta where the log keeps none; who was asked twice by a resumed run counts once in the metrics."""
    coordinator = Journal(tmp_path, "coordinator", clock=lambda: 0.0)
    coordinator.append("round.closed", round=0, theta=[0.0])
    for clients, online in ((["ann"], [1.0]), (["ann", "bob"], [1.0, 0.0])):
        coordinator.append("update.received", round=1, peers=["host-0"], clients=clients, norm=online, online=online)
    coordinator.close()
    with open_run(tmp_path) as run:
        rows = run.rows("select client, norm, theta, delta from updates order by all")
        assert [tuple(row.values()) for row in rows] == [
            ("ann", 1.0, None, None),
            ("ann", 1.0, None, None),
            ("bob", 0.0, None, None),
        ]
        assert run.rows("select value from metrics where name = 'online'") == [{"value": 0.5}]
        assert run.rows("select count(*) as n from metrics where name = 'online_ndcg_at_10'") == [{"n": 2}]
