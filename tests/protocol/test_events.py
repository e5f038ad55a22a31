"""The log's schema against everything that is ever written to a log."""

import ast
import re
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from stage import START, Stage
from toy_federation import ToyFederation

from nodes.launch import launch
from protocol.codec import Envelope
from protocol.events import COMMON, EVENTS, FIELDS, WIRE
from protocol.forgetting import Step
from protocol.journal import read_journal
from protocol.machine import Arrived, Began, Record, Say
from protocol.messages import AS_IT_IS, COORDINATOR, EVERYONE, MESSAGES, SUPERVISOR, Disturb, Heal, Train, Welcome
from protocol.participation import Participation, Tried
from scenarios.load import from_dict, load_scenario, to_dict

NODES = Path(__file__).parents[2] / "nodes"
OF_A_PLOT = {
    *(
        f"{name}.{way}"
        for name in ("confide", "instruct", "abstain", "attend", "brief", "craft")
        for way in ("sent", "received")
    ),
    "adversary.joined",
    "adversary.lost",
    "attack.crafted",
}
BY_WEATHER = {f"frame.{what}" for what in ("delayed", "dropped", "duplicated", "reordered", "corrupted")}
WRITERS = {"coordinator", "host", "supervisor", "evaluator", "adversary", "operator", "every node"}


def declared(event):
    """The fields that an event's record may have."""
    return {*COMMON, *EVENTS[event].fields, *(WIRE if EVENTS[event].wire else ())}


def fits(value, sql):
    """Whether a JSON value is of an SQL type."""
    if sql.endswith("[]"):
        return isinstance(value, list) and all(fits(one, sql[:-2]) for one in value)
    return {
        "JSON": lambda: True,
        "VARCHAR": lambda: isinstance(value, str),
        "DOUBLE": lambda: type(value) in (int, float),
        "INTEGER": lambda: type(value) is int and -(2**31) <= value < 2**31,
        "BIGINT": lambda: type(value) is int and -(2**63) <= value < 2**63,
    }[sql]()


def test_every_declared_field_has_one_type_and_every_type_is_used():
    """No field is common and particular at once, none is declared in vain, and none twice."""
    used = {field for event in EVENTS.values() for field in event.fields}
    assert used == set(FIELDS)
    assert not {*COMMON} & {*WIRE}
    assert not {*COMMON, *WIRE} & {*FIELDS}
    for event in EVENTS.values():
        assert len(set(event.fields)) == len(event.fields)


def test_every_event_says_what_it_is_and_who_writes_it():
    """Names are `<thing>.<what happened>`, meanings are words, writers are nodes."""
    for name, event in EVENTS.items():
        assert re.fullmatch(r"[a-z]+\.[a-z]+", name)
        assert event.meaning
        assert event.writer in WRITERS
    for sql, meaning in FIELDS.values():
        assert meaning
        assert sql.rstrip("[]") in {"JSON", "VARCHAR", "DOUBLE", "INTEGER", "BIGINT", "BOOLEAN"}


def test_every_message_has_its_two_events():
    """Said by its sender, heard by its recipient, both with the wire's fields."""
    for name, message in MESSAGES.items():
        assert (EVENTS[f"{name}.sent"].writer, EVENTS[f"{name}.sent"].wire) == (message.sender, True)
        assert (EVENTS[f"{name}.received"].writer, EVENTS[f"{name}.received"].wire) == (message.recipient, True)


def test_the_machines_write_all_their_events_and_only_declared_fields():
    """A run to its end, and one with a cue, a loss, a return, silence, refusals, comings and goings, and a stop."""
    run = ToyFederation(rounds=2)  # holds each instruction against the schema
    while run.frames:
        run.carry(*run.frames.popleft())
    stage = Stage({"a": [0], "b": [1], "c": [2]}, deadline=5, cues=frozenset({1})).gather()
    stage.ready(1)
    stage.enrol("d", "c3")
    stage.leave("c3")
    stage.hear(SUPERVISOR, Disturb("rain", "drop", ("a",), "{}"))
    stage.hear(SUPERVISOR, Heal("rain"))
    stage.update("a", 9)
    stage.hear("a", Welcome(0))
    stage.lose("a")
    stage.join("a", 2)
    stage.update("a")
    stage.update("b")
    stage.wait(1)
    stage.wait(4)
    stage.aggregated()
    stage.stop()
    trials = Stage({"a": [0]}, fitness=1.0).gather()
    trials.trial("a")
    host = Participation(np.array([0]), 2, pid=1)
    host.step(Began(0.0))
    host.step(Arrived(0.0, COORDINATOR, Envelope(Train(1, START, EVERYONE, 0, 1, 0, AS_IT_IS), 1, 0, 100)))
    short = ToyFederation(2, shares="expected", on_deficit="top-up", quorum=0.1)
    short.kill("host-3")
    while short.frames:
        short.carry(*short.frames.popleft())
    less = Stage(shares="expected", on_deficit="abort", quorum=0.1).gather()
    less.update("host-1")
    less.lose("host-2")
    leaver = Stage().gather()
    leaver.leave("c0", forget='{"method": "federaser"}')
    leaver.play_round()
    leaver.recalled(Step(1, 2, ("c1", "c2"), (0.5, 0.25)))
    leaver.play_round()
    stage.history += [*less.history, *leaver.history]
    run.events |= short.events
    history = [*stage.history, *trials.history, *host.step(Tried(0.0, np.zeros(1, np.int64), np.zeros((1, 2))))]
    records = [one for one in history if isinstance(one, Record)]
    for one in records:
        assert set(one.fields) <= declared(one.event), one.event
    said = {f"{one.message.name}.sent" for one in history if isinstance(one, Say)}
    by_shells = {
        "run.started",
        "run.resumed",
        "progress.sent",
        "lists.shown",
        "adversary.silent",
        *BY_WEATHER,
        *OF_A_PLOT,
    }
    by_machines = {name for name, event in EVENTS.items() if event.writer in {"coordinator", "host"}} - by_shells
    assert by_machines <= run.events | said | {one.event for one in records}


def test_the_shells_write_only_declared_fields():
    """Every record that a node's own code appends by name is in the schema, read from the source."""
    found = 0
    for path in sorted(NODES.rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "append"):
                continue
            event = call.args[0] if call.args else None
            if isinstance(event, ast.Constant) and isinstance(event.value, str) and "journal" in ast.unparse(call.func):
                found += 1
                given = {keyword.arg for keyword in call.keywords if keyword.arg}
                assert given <= declared(event.value), f"{path.name}:{call.lineno}"
    assert found >= 5


def plotted(*timeline):
    """A scenario with a plot, and what happens to it."""
    tables = to_dict(load_scenario("quickstart", ["rounds=20"], engine="inline"))
    attack = {"kind": "lie", "knowledge": "full", "without_adversary": "silent"}
    tables["clients"] = [one | tables["clients"][0] for one in ({}, {"attack": attack})]
    tables["clients"][1]["count"] = 2
    tables["timeline"] = list(timeline)
    return from_dict(tables)


def test_a_plot_writes_all_its_events(tmp_path):
    """Letters, decisions, the adversary's coming and its death."""
    run, _ = launch(plotted({"at_round": 10, "kill": "adversary"}), tmp_path)
    assert {one["event"] for path in (run / "journal").glob("*.jsonl") for one in read_journal(path)} >= OF_A_PLOT


@pytest.fixture(scope="module", params=["inline", "processes", "plot"])
def records(request, tmp_path_factory):
    """Everything that a real run writes."""
    if request.param == "plot":
        scenario = plotted()
    else:
        scenario = load_scenario("quickstart", ["rounds=20", f"federation.engine={request.param}"])
    run, ending = launch(scenario, tmp_path_factory.mktemp("runs"))
    assert ending.outcome == "completed"
    return {path.stem: list(read_journal(path)) for path in (run / "journal").glob("*.jsonl")}


def test_a_real_runs_records_have_declared_fields_of_declared_types(records):
    """Every value of every journal is of the SQL type that the schema gives its field."""
    types = COMMON | WIRE | {name: sql for name, (sql, _) in FIELDS.items()}
    for journal in records.values():
        for record in journal:
            assert set(record) <= declared(record["event"]), record["event"]
            for field, value in record.items():
                assert fits(value, types[field]), (record["event"], field)


def test_a_real_runs_records_are_numbered_and_written_by_whom_the_schema_says(records):
    """Seq counts from 0 in each journal, and a writer's events are in the writer's journal."""
    for node, journal in records.items():
        assert [record["seq"] for record in journal] == list(range(len(journal)))
        for record in journal:
            assert record["node"] == node
            writer = EVENTS[record["event"]].writer
            told = node not in WRITERS or record["event"] == "finish.received"  # which the adversary hears, too
            assert writer in {"every node", node} or (writer == "host" and told)


def test_lists_that_hold_several_clients_have_their_length(records):
    """Rows belong to `clients` by their place."""
    for journal in records.values():
        for record in journal:
            for field in {"hosts", "clicks", "interactions", "norm", "online", "thetas"} & set(record):
                assert len(record[field]) == len(record["clients"])


def test_the_causes_of_a_real_run_were_said(records):
    """A cause is `<peer>:<id>` of a message that the peer logged before it sent it."""
    said = {
        f"{record['node']}:{record['id']}"
        for journal in records.values()
        for record in journal
        if record.get("direction") == "sent"
    }
    causes = [record["cause"] for journal in records.values() for record in journal if "cause" in record]
    assert causes
    assert set(causes) <= said


def test_the_logged_models_have_their_fingerprints(records):
    """The weights in the log are exact: their bytes give the logged hash."""
    closed = [record for record in records["coordinator"] if record["event"] == "round.closed"]
    assert [record["round"] for record in closed] == list(range(21))
    for record in closed:
        assert sha256(np.array(record["theta"], dtype="<f8").tobytes()).hexdigest() == record["model"]
