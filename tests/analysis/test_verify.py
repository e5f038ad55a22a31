"""A run is computed again, and a forged log is found out."""

import json
import shutil

import pytest

from analysis.pack import pack
from analysis.verify import verify
from protocol.errors import UserError
from protocol.terms import fingerprint

ROUNDS = 12


@pytest.fixture(scope="module")
def made(tmp_path_factory, letor_folder):
    """Small real runs that keep all weights, some and none of them."""
    from nodes.launch import launch
    from scenarios.load import load_scenario

    def run(weights):
        changes = [
            f"rounds={ROUNDS}",
            f"data.source=letor:{letor_folder}",
            "federation.engine=inline",
            f"log.weights={weights}",
        ]
        return launch(load_scenario("quickstart", changes), tmp_path_factory.mktemp("runs"))[0]

    return {weights: run(weights) for weights in ("all", "every:3", "models")}


@pytest.fixture
def copied(made, tmp_path):
    """A run that may be changed."""
    return shutil.copytree(made["all"], tmp_path / "run")


def rewrite(run, event, number, change):
    """Change one record of the coordinator's log."""
    path = run / "journal" / "coordinator.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record in records:
        if record["event"] == event and record.get("round") == number:
            change(record)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def test_a_whole_run_is_derived_and_recomputed(made):
    """Every model, the start too, and every update; also from the packed file."""
    for path in (made["all"], pack(made["all"], made["all"].parent / "packed.duckdb")):
        found = verify(path, everything=True)
        assert (found.verdict, found.problems, found.limits) == ("held", [], [])
        assert (found.models, found.models_derived) == (ROUNDS + 1, ROUNDS + 1)
        assert (found.updates, found.updates_recomputed) == (10 * ROUNDS, 10 * ROUNDS)
        assert found.sentence() == (
            "held: 13 of 13 models derived again from the log and 120 of 120 updates computed again, bit for bit"
        )


def test_attackers_and_clients_who_came_later_are_computed_too(tmp_path, letor_folder):
    """What an attacker sends follows from the scenario as well, and so does the work of one who was added."""
    from nodes.launch import launch
    from scenarios.load import load_scenario

    (tmp_path / "liar.toml").write_text(
        f"""
        seed = 5
        rounds = {ROUNDS}
        data = {{ source = "letor:{letor_folder}" }}
        federation = {{ engine = "inline" }}
        clients = [
            {{ count = 3, clicks = "navigational" }},
            {{ id = "mallory", clicks = "navigational", attack = {{ kind = "sign_flip", z = 2, start = 4 }} }},
            {{ id = "oscar", clicks = "perfect", attack = {{ kind = "random" }} }},
        ]
        [[timeline]]
        at_round = 6
        add = 1
        id = "late"
        clicks = "informational"
        """
    )
    run, _ending = launch(load_scenario(tmp_path / "liar.toml"), tmp_path / "runs")
    found = verify(run, everything=True)
    assert (found.verdict, found.limits, found.models_derived) == ("held", [], ROUNDS + 1)
    assert found.updates == found.updates_recomputed == 5 * ROUNDS + (ROUNDS - 5)


def test_a_sample_a_client_a_round(made):
    """50 by default, or those that are named."""
    assert verify(made["all"]).updates_recomputed == 50
    assert verify(made["all"], "client-3").updates_recomputed == ROUNDS
    assert verify(made["all"], number=4).updates_recomputed == 10
    assert verify(made["all"], "client-3", 4).updates_recomputed == 1
    with pytest.raises(UserError, match="accepted update of what is named; got nobody in round 4"):
        verify(made["all"], "nobody", 4)


def test_what_the_log_does_not_keep_is_told(made):
    """Models without their updates cannot be derived; updates are compared by what is kept."""
    some, none = verify(made["every:3"], everything=True), verify(made["models"], everything=True)
    assert (some.verdict, some.models_derived) == ("held", 1 + ROUNDS // 3)
    assert some.limits == [
        "8 models, because the log lacks weights that they are made of",
        "80 updates by their lengths and online figures only, because the log keeps no weights of them",
    ]
    assert (none.verdict, none.models_derived, none.updates_recomputed) == ("held", 1, 120)


def bend(record):
    """Change a weight in its last bit."""
    import math

    record["theta"][0] = math.nextafter(record["theta"][0], 9)


def test_a_model_with_another_bit_is_found(copied):
    """Its hash does not fit, it cannot be derived, and neither can what was made of it."""
    rewrite(copied, "round.closed", 5, bend)
    found = verify(copied, everything=True)
    assert found.verdict == "failed"
    assert found.problems[:2] == ["the hash of model 5", "model 5"]
    assert "the update of client-1 in round 6" in found.problems


def test_a_forged_model_with_its_own_hash_is_found(copied):
    """The hash fits the weights, but no updates give them."""
    import numpy as np

    def forge(record):
        bend(record)
        record["model"] = fingerprint(np.array(record["theta"]))

    rewrite(copied, "round.closed", ROUNDS, forge)
    assert verify(copied).problems == [f"model {ROUNDS}"]


def test_a_forged_update_is_found(copied):
    """An update that the client did not compute, and the figure that its users did not see."""

    def forge(record):
        record["thetas"][2][0] += 1e-12
        record["online"][4] += 1e-3

    rewrite(copied, "update.received", 7, forge)
    found = verify(copied, number=7)
    assert found.problems == [
        "model 7",
        "the update of client-3 in round 7",
        "the update of client-5 in round 7",
    ]
    assert len(found.as_dict()["problems"]) == 3


def test_an_update_that_was_asked_for_twice_counts_once(copied):
    """As a resumed run does; the two answers must both be right."""
    path = copied / "journal" / "coordinator.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if '"update.received"' in line and json.loads(line)["round"] == 5)
    path.write_text("".join([*lines[:at], lines[at], *lines[at:]]))
    found = verify(copied, number=5)
    assert (found.verdict, found.updates, found.updates_recomputed) == ("held", 10 * ROUNDS, 10)


def test_without_the_data_the_rest_is_verified(copied):
    """A run copied to a machine that lacks the data set."""
    rewrite(copied, "run.started", None, lambda record: record["scenario"]["data"].update(source="letor:/nowhere"))
    found = verify(copied)
    assert (found.verdict, found.models_derived, found.updates_recomputed) == ("held", ROUNDS, 0)
    assert found.limits[0].startswith("updates, because the data set cannot be opened here: ")


def test_a_scenario_of_another_version_leaves_the_hashes(copied):
    """Nothing can be computed, and that is no verdict."""
    rewrite(copied, "run.started", None, lambda record: record["scenario"].update(dreams=True))
    found = verify(copied)
    assert (found.verdict, found.models) == ("unknown", ROUNDS + 1)
    assert "cannot read the run's scenario" in found.sentence()


def test_torn_and_empty_logs(copied, tmp_path):
    """A lost round costs what depends on it; an empty run has no verdict."""
    path = copied / "journal" / "coordinator.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if '"round.closed"' in line and json.loads(line)["round"] == 6)
    path.write_text("".join([*lines[:at], lines[at][:40] + "\n", *lines[at + 1 :]]))
    found = verify(copied, everything=True)
    assert (found.verdict, found.models, found.models_derived) == ("held", ROUNDS, ROUNDS - 1)
    assert found.updates_recomputed == 10 * (ROUNDS - 2)
    (tmp_path / "empty" / "journal").mkdir(parents=True)
    assert verify(tmp_path / "empty").verdict == "unknown"
