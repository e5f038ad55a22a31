"""The checks of a run: a run with a loss, a newcomer and a leaving passes them all, and each doctored log fails one."""

import json
import shutil
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from analysis import open_run
from analysis.check import Check, check, check_text, problems, verdict
from analysis.pack import pack
from commands.checking import app
from nodes.launch import launch
from scenarios.load import load_scenario

SCENARIO = """
name = "checked"
seed = 3
rounds = 8
[data]
source = "letor:{folder}"
[federation]
engine = "inline"
hosts = "per-client"
[learner]
interactions = 2
[[clients]]
count = 4
clicks = "perfect"
[[timeline]]
at_round = 2
kill = "client-2"
restart_after = 2
[[timeline]]
at_round = 3
add = 1
id = "newcomer"
[[timeline]]
at_round = 5
leave = "client-3"
"""
NAMES = [
    "aggregated-updates-were-received",
    "aggregations-can-be-repeated",
    "asked-clients-are-accounted-for",
    "clients-that-left-stay-away",
    "members-take-part-or-are-missing",
    "models-have-their-hashes",
    "names-are-known",
    "noise-shares-are-counted",
    "refused-updates-are-in-no-model",
    "rounds-follow-one-another",
    "the-run-starts-and-ends-once",
]


@pytest.fixture(scope="module")
def run_of(tmp_path_factory, letor_folder):
    """Run the scenario with some overrides; its directory."""

    def run(*overrides: str) -> Path:
        folder = tmp_path_factory.mktemp("checked")
        (folder / "checked.toml").write_text(SCENARIO.format(folder=letor_folder), encoding="utf-8")
        return launch(load_scenario(folder / "checked.toml", overrides), folder)[0]

    return run


@pytest.fixture(scope="module")
def checked(run_of):
    """A run that does all that it must."""
    return run_of()


@pytest.fixture
def copy(checked, tmp_path):
    """A run of one's own to change."""
    shutil.copytree(checked / "journal", tmp_path / "copy" / "journal")
    return tmp_path / "copy"


def records_of(run):
    """The coordinator's records."""
    return [json.loads(line) for line in (run / "journal" / "coordinator.jsonl").read_text("utf-8").splitlines()]


def write(run, records):
    """The coordinator's records, numbered anew."""
    lines = [json.dumps(one | {"seq": seq}) + "\n" for seq, one in enumerate(records)]
    (run / "journal" / "coordinator.jsonl").write_text("".join(lines), encoding="utf-8")


def find(records, event, number=None, client=None):
    """The place of the first such record."""
    return next(
        at
        for at, one in enumerate(records)
        if one["event"] == event
        and number in (None, one.get("round"))
        and client in (None, *one.get("clients", ()), *one.get("peers", ()))
    )


def checks_of(run):
    """All checks of a run by name."""
    with open_run(run) as opened:
        return {one.name: one for one in check(opened)}


def failed(run):
    """The names of the checks that fail."""
    return {one.name for one in checks_of(run).values() if one.verdict == "failed"}


# --- runs that hold --------------------------------------------------------------------------------------------------


def test_a_run_with_a_loss_a_newcomer_and_a_leaving_holds_everything(checked):
    """And the run did have them, so that the checks had something to look at."""
    records = records_of(checked)
    assert {"client.lost", "client.rejoined", "client.added", "client.left"} <= {one["event"] for one in records}
    assert any(one.get("missing") for one in records)
    checks = checks_of(checked)
    assert sorted(checks) == NAMES
    assert {one.verdict for one in checks.values()} == {"held"}


@pytest.mark.parametrize(
    "overrides",
    [
        ["federation.on_missing=wait", "federation.restart=always"],
        ["federation.hosts=2", "timeline=[]"],
        ["timeline=[]"],
    ],
    ids=["wait", "packed hosts", "undisturbed"],
)
def test_other_runs_hold_too(run_of, overrides):
    """Every policy and way to pack clients writes a log that holds."""
    assert {one.name: one.verdict for one in checks_of(run_of(*overrides)).values()} == dict.fromkeys(NAMES, "held")


def test_a_packed_run_has_the_same_checks(checked, tmp_path):
    """Nothing that the checks need is lost on the way into one file."""
    target = pack(checked, tmp_path / "run.duckdb")
    assert checks_of(target) == checks_of(checked)


@pytest.mark.parametrize("part", range(12))
def test_a_run_in_progress_commits_no_offence(checked, copy, part):
    """However far the log is written: what is not closed yet is not missing, and a torn line is no record."""
    content = (checked / "journal" / "coordinator.jsonl").read_bytes()
    content = content[: len(content) * (part + 1) // 13]
    now = json.loads(content.splitlines()[-2])["ts"]
    for path in (copy / "journal").iterdir():
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(line for line in lines if json.loads(line)["ts"] <= now))
    (copy / "journal" / "coordinator.jsonl").write_bytes(content)
    checks = checks_of(copy)
    assert {one.verdict for one in checks.values()} == {"held"}


def test_a_log_without_a_word_of_the_coordinator_cannot_be_told(copy):
    """Neither held nor failed."""
    (copy / "journal" / "coordinator.jsonl").write_bytes(b"")
    checks = checks_of(copy)
    assert {one.verdict for one in checks.values()} == {"unknown"}
    assert verdict(list(checks.values())) == "unknown"


@pytest.mark.parametrize(("weights", "lacking"), [("models", 8), ("every:4", 6)])
def test_what_was_not_logged_cannot_be_computed_again(run_of, weights, lacking):
    """Without the updates' weights a model's aggregation is unknown, and all else is told."""
    checks = checks_of(run_of(f"log.weights={weights}"))
    unknown = checks.pop("aggregations-can-be-repeated")
    assert unknown.verdict == "unknown"
    assert unknown.limits == f"the log lacks weights that {lacking} of 8 models are made of"
    assert {one.verdict for one in checks.values()} == {"held"}


def test_a_scenario_of_another_time_cannot_be_computed_again(copy):
    """A rule that this version does not know is no offence of the run."""
    records = records_of(copy)
    records[0]["scenario"]["aggregation"]["rule"] = "oracle"
    write(copy, records)
    unknown = checks_of(copy)["aggregations-can-be-repeated"]
    assert unknown.verdict == "unknown"
    assert "cannot read the run's scenario" in unknown.limits


def resumed(records, number):
    """The log of a run whose coordinator died in a round, after an update, and went on."""
    at = find(records, "update.received", number)
    again = {"event": "run.resumed", "ts": 0.0, "node": "coordinator", "round": number - 1, "versions": {}}
    return [*records[: at + 1], again, deepcopy(records[find(records, "train.sent", number)]), *deepcopy(records[at:])]


def test_updates_from_before_a_resumption_are_superseded(copy):
    """The round is opened again, and the second answer counts, even if the first one was another."""
    records = records_of(copy)
    records = resumed(resumed(records, 4), 6)
    first = records[find(records, "update.received", 4)]
    first["thetas"][0][0] += 1.0
    write(copy, records)
    assert {one.verdict for one in checks_of(copy).values()} == {"held"}


def test_an_update_from_before_a_resumption_does_not_count(copy):
    """Whoever did not answer again is not in the model."""
    records = resumed(records_of(copy), 4)
    del records[find(records[find(records, "run.resumed") :], "update.received", 4) + find(records, "run.resumed")]
    write(copy, records)
    assert failed(copy) == {"aggregated-updates-were-received"}


def test_a_run_that_was_stopped_can_be_resumed_and_end_again(copy):
    """One end for each time that it went on."""
    records = records_of(copy)
    at = find(records, "train.sent", 5)
    model = records[find(records, "round.closed", 4)]["model"]
    end = {"event": "run.finished", "ts": 0.0, "node": "coordinator", "round": 4, "outcome": "stopped", "model": model}
    again = {"event": "run.resumed", "ts": 0.0, "node": "coordinator", "round": 4, "versions": {}}
    write(copy, [*records[:at], end, again, *records[at:]])
    assert {one.verdict for one in checks_of(copy).values()} == {"held"}


# --- doctored logs ---------------------------------------------------------------------------------------------------


def an_update_that_never_came(records):
    """The receipt is gone, the client is still in the model."""
    del records[find(records, "update.received", 4, "client-1")]


def an_update_twice(records):
    """It was accepted again."""
    at = find(records, "update.received", 4, "client-1")
    records.insert(at, deepcopy(records[at]))


def an_update_from_another_host(records):
    """Somebody else sent it."""
    records[find(records, "update.received", 4, "client-1")]["peers"] = ["client-4"]


def an_update_for_another_round(records):
    """It answered the next round."""
    records[find(records, "update.received", 4, "client-1")]["round"] = 9


def an_update_that_was_late(records):
    """It came when its model was made."""
    at = find(records, "update.received", 4, "client-1")
    records.insert(find(records, "round.closed", 4) + 1, records.pop(at))


def weights_that_differ_in_their_last_bits(records):
    """Of an update, so that the model is not its outcome."""
    row = records[find(records, "update.received", 4, "client-4")]["thetas"][0]
    row[:] = np.nextafter(row, np.inf).tolist()


def another_number_of_interactions(records):
    """The weight of an update in the mean."""
    records[find(records, "update.received", 4, "client-4")]["interactions"] = [3]


def a_question_to_nobody(records):
    """The newcomer was asked before it came, and nobody noticed that it did not answer."""
    at = find(records, "train.sent", 1)
    records.insert(at, deepcopy(records[at]) | {"peers": ["newcomer"], "clients": ["newcomer"]})


def a_leaving_that_was_earlier(records):
    """The log says that the client had left by round 4, and model 4 has it."""
    records[find(records, "client.left")]["round"] = 4


def a_member_that_nobody_missed(records):
    """Neither in nor missing."""
    records[find(records, "round.closed", 2)]["missing"] = []


def a_participant_that_is_missing(records):
    """Both in and missing."""
    records[find(records, "round.closed", 2)]["missing"].append("client-1")


def a_missing_client_that_had_left(records):
    """Whoever left is not missing."""
    records[find(records, "round.closed", 7)]["missing"] = ["client-3"]


def a_missing_client_that_had_not_come(records):
    """Nor is who is still to come."""
    records[find(records, "round.closed", 1)]["missing"] = ["newcomer"]


def a_client_that_is_named_twice(records):
    """Missing twice is once too often."""
    records[find(records, "round.closed", 2)]["missing"] *= 2


def a_hash_of_something_else(records):
    """One digit."""
    record = records[find(records, "round.closed", 4)]
    record["model"] = record["model"][::-1]


def a_client_out_of_the_blue(records):
    """The log tells of somebody who was never enrolled."""
    at = find(records, "client.lost")
    records.insert(at, deepcopy(records[at]) | {"clients": ["mallory"]})


def a_node_out_of_the_blue(records):
    """A message from nowhere."""
    at = find(records, "join.received")
    records.insert(at, deepcopy(records[at]) | {"peers": ["mallory"]})


def an_update_that_was_refused(records):
    """The receipt is a refusal, the client is still in the model."""
    record = records[find(records, "update.received", 4, "client-1")]
    record |= {"event": "update.refused", "reason": "not-finite", "detail": ""}
    del record["thetas"], record["interactions"], record["norm"], record["online"]


def a_round_twice(records):
    """The same model again."""
    at = find(records, "round.closed", 4)
    records.insert(at + 1, deepcopy(records[at]))


def a_round_too_few(records):
    """A gap between two models."""
    del records[find(records, "round.closed", 4)]


def no_start_model(records):
    """The first model is not 0."""
    del records[find(records, "round.closed", 0)]


def a_second_start(records):
    """The run begins again in the midst of itself."""
    records.insert(50, deepcopy(records[0]))


def no_start(records):
    """Nobody knows what is run."""
    del records[0]


def a_word_before_the_start(records):
    """Record 0 is the scenario."""
    records[0], records[2] = records[2], records[0]


def a_second_end(records):
    """It ends, and ends."""
    records.append(deepcopy(records[find(records, "run.finished")]))


def a_life_after_the_end(records):
    """A model is made when all is over."""
    at = find(records, "run.finished")
    records.insert(find(records, "train.sent", 8), deepcopy(records[at]) | {"round": 7, "model": model_of(records, 7)})
    del records[find(records, "run.finished", 8)]


def an_end_with_another_model(records):
    """Its last model is not its last model."""
    records[find(records, "run.finished")]["model"] = model_of(records, 7)


def model_of(records, number):
    """The hash of a model."""
    return records[find(records, "round.closed", number)]["model"]


def a_mechanism_without_an_account(records):
    """The scenario has noise shares, and no round tells of them; tests/nodes/test_closing.py has more such lies."""
    start = next(one for one in records if one["event"] == "run.started")
    start["scenario"]["privacy"] = {"mechanism": "laplace-shares", "epsilon": 1e6, "sensitivity": 1e6}


DOCTORED = {
    "aggregated-updates-were-received": [
        an_update_that_never_came,
        an_update_twice,
        an_update_from_another_host,
        an_update_for_another_round,
        an_update_that_was_late,
    ],
    "aggregations-can-be-repeated": [weights_that_differ_in_their_last_bits, another_number_of_interactions],
    "asked-clients-are-accounted-for": [a_question_to_nobody],
    "clients-that-left-stay-away": [a_leaving_that_was_earlier],
    "members-take-part-or-are-missing": [
        a_member_that_nobody_missed,
        a_participant_that_is_missing,
        a_missing_client_that_had_left,
        a_missing_client_that_had_not_come,
        a_client_that_is_named_twice,
    ],
    "models-have-their-hashes": [a_hash_of_something_else],
    "names-are-known": [a_client_out_of_the_blue, a_node_out_of_the_blue],
    "noise-shares-are-counted": [a_mechanism_without_an_account],
    "refused-updates-are-in-no-model": [an_update_that_was_refused],
    "rounds-follow-one-another": [a_round_twice, a_round_too_few, no_start_model],
    "the-run-starts-and-ends-once": [
        a_second_start,
        no_start,
        a_word_before_the_start,
        a_second_end,
        a_life_after_the_end,
        an_end_with_another_model,
    ],
}


@pytest.mark.parametrize(("name", "doctor"), [(name, one) for name, all_of_it in DOCTORED.items() for one in all_of_it])
def test_a_doctored_log_fails_just_the_check_that_it_offends(copy, name, doctor):
    """One lie, one check: the first offender names what it is about, in a sentence."""
    records = records_of(copy)
    doctor(records)
    write(copy, records)
    checks = checks_of(copy)
    assert {one.name for one in checks.values() if one.verdict == "failed"} == {name}
    found = checks[name]
    assert 1 <= found.count <= 10
    assert len(found.offenders) == min(found.count, 5)
    assert all(offender["detail"] for offender in found.offenders)
    assert verdict(list(checks.values())) == "failed"


def test_every_check_has_a_doctored_log():
    """A check that nothing can fail proves nothing."""
    assert sorted(DOCTORED) == NAMES


@pytest.mark.parametrize(
    ("name", "doctor", "detail"),
    [
        (
            "aggregated-updates-were-received",
            an_update_from_another_host,
            "the update of client-1 in model 4 came from client-4, not from client-1",
        ),
        (
            "clients-that-left-stay-away",
            a_leaving_that_was_earlier,
            "client-3 is in model 4, and round 4 is the first without it",
        ),
        (
            "members-take-part-or-are-missing",
            a_member_that_nobody_missed,
            "client-2 in round 2 takes part, and is neither in the model nor missing",
        ),
        ("rounds-follow-one-another", a_round_too_few, "model 5 was made after model 3"),
        ("the-run-starts-and-ends-once", a_second_end, "run.finished came after the run had ended"),
    ],
)
def test_an_offence_in_words(copy, name, doctor, detail):
    """Who, where, and what is wrong with it."""
    records = records_of(copy)
    doctor(records)
    write(copy, records)
    assert checks_of(copy)[name].offenders[0]["detail"] == detail


def test_a_doctored_weight_is_found(copy):
    """One that differs in its last bits only."""
    assert not failed(copy)
    records = records_of(copy)
    weights_that_differ_in_their_last_bits(records)
    write(copy, records)
    offender = checks_of(copy)["aggregations-can-be-repeated"].offenders[0]
    assert offender["round"] == 4


def test_problems_are_the_failed_checks_in_words(checked, copy):
    """A sentence each; none if all is well, or if it cannot be told."""
    assert problems(checked) == []
    records = records_of(copy)
    a_round_too_few(records)
    a_second_end(records)
    write(copy, records)
    assert problems(copy) == [
        "rounds-follow-one-another: model 5 was made after model 3 (1 in all)",
        "the-run-starts-and-ends-once: run.finished came after the run had ended (1 in all)",
    ]


# --- the command -----------------------------------------------------------------------------------------------------


def test_a_table_of_checks():
    """A line each, the first offenders under it, and how many there are more."""
    held, broken = Check("a", "A holds."), Check("b", "B holds.")
    dim = Check("c", "C holds.", limits="too dark")
    for number in range(7):
        broken.blame(round=number, detail=f"round {number}")
    assert check_text([held, broken, dim]).splitlines() == [
        "held     a: A holds.",
        "failed   b: B holds.",
        *(f"           round {number}" for number in range(5)),
        "           … and 2 more",
        "unknown  c: C holds.",
        "           too dark",
    ]
    assert verdict([held]) == "held"
    assert verdict([held, dim]) == "unknown"
    assert verdict([held, dim, broken]) == "failed"


def test_the_command_prints_json_and_ends_with_the_verdict(checked, copy):
    """0: all held, 1: one failed, 2: it cannot be told, and nothing but JSON on standard output."""
    call = CliRunner().invoke
    fine = call(app, [str(checked), "--json"])
    assert fine.exit_code == 0
    assert [one["name"] for one in json.loads(fine.stdout)] == NAMES
    assert {one["verdict"] for one in json.loads(fine.stdout)} == {"held"}
    records = records_of(copy)
    a_second_end(records)
    write(copy, records)
    told = call(app, [str(copy)])
    assert told.exit_code == 1
    assert "failed   the-run-starts-and-ends-once: A run starts once" in told.stdout
    write(copy, [])
    assert call(app, [str(copy), "--json"]).exit_code == 2
