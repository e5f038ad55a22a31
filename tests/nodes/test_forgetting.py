"""Forgetting in a run: the same bits from every engine and after every crash, and a log that can be checked."""

from pathlib import Path

import pytest

from analysis.check import check, verdict
from analysis.rerun import scenario_from_run
from analysis.runs import open_run
from analysis.verify import verify
from nodes.ending import Interruption
from nodes.engines.inline import Crash, Federation
from nodes.launch import launch, prepare, resume
from nodes.watcher import Quiet
from protocol.journal import journal_path, read_journal
from scenarios.load import from_dict

FEDERASER = {"method": "federaser", "every": 4, "interactions": 2}


def scenario(source: str, *happenings: dict, rounds: int = 20, **federation):
    """Four honest clients and a liar, with a timeline."""
    return from_dict(
        {
            "name": "forgetting",
            "rounds": rounds,
            "data": {"source": source},
            "federation": {"engine": "inline", **federation},
            "clients": [
                {"count": 4, "clicks": "navigational"},
                {"id": "mallory", "clicks": "navigational", "attack": {"kind": "sign_flip", "z": 2}},
            ],
            "timeline": list(happenings),
        }
    )


def forget(at_round: int = 15, **settings) -> dict:
    """Mallory leaves and is forgotten."""
    return {"at_round": at_round, "leave": "mallory", "forget": FEDERASER | settings}


def closed(run: Path) -> list[tuple[int, str, str]]:
    """Every round with its phase and model."""
    records = (one for one in read_journal(journal_path(run, "coordinator")) if one["event"] == "round.closed")
    return [(one["round"], one.get("phase", "training"), one["model"]) for one in records]


@pytest.fixture(scope="module")
def source(letor_folder):
    """The small data set."""
    return f"letor:{letor_folder}"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, source):
    """A run that forgets mallory after round 14, then trains on."""
    run, ending = launch(scenario(source, forget()), tmp_path_factory.mktemp("runs"))
    assert ending.outcome == "completed"
    return run


def test_a_phase_goes_back_to_the_start_and_training_goes_on_after_it(undisturbed):
    """Rounds count on: the start again in round 15, four steps for the rounds 1, 5, 9 and 13, then rounds 15 to 20."""
    rounds = closed(undisturbed)
    assert [number for number, _, _ in rounds] == list(range(1 + 20 + 1 + 4))
    assert [number for number, phase, _ in rounds if phase == "unlearning"] == list(range(15, 20))
    assert rounds[15][2] == rounds[0][2]
    records = list(read_journal(journal_path(undisturbed, "coordinator")))
    kept = [one for one in records if one["event"] == "update.kept"]
    assert [(one["round"], one["of"], one["draws"]) for one in kept] == [
        (16, 1, 15),
        (17, 5, 16),
        (18, 9, 17),
        (19, 13, 18),
    ]
    answers = [one for one in records if one["event"] == "update.received"]
    told = {(one["round"], client): one for one in answers for client in one["clients"]}
    norms = [told[5, client]["norm"][told[5, client]["clients"].index(client)] for client in kept[1]["clients"]]
    assert kept[1]["clients"] == ["client-1", "client-2", "client-3", "client-4"]
    assert kept[1]["norm"] == norms
    steps = [one for one in answers if one["round"] == 17]
    assert [count for one in steps for count in one["interactions"]] == [2, 2, 2, 2]
    assert sorted(norm for one in steps for norm in one["norm"]) == pytest.approx(sorted(norms))
    assert [one["clients"] for one in records if one["event"] == "client.forgotten"] == [["mallory"]]


def test_the_log_of_a_run_that_forgot_is_checked_and_verified(undisturbed):
    """Every check holds, and every model and update of both phases comes out again."""
    with open_run(undisturbed) as run:
        assert verdict(check(run)) == "held"
        phases = run.rows("select phase, count(*) as n from rounds group by phase order by phase")
        measured = run.rows(
            "select phase, count(*) as n from metrics where name = 'ndcg_at_10' group by phase order by phase"
        )
    assert phases == [{"phase": "training", "n": 21}, {"phase": "unlearning", "n": 5}] == measured
    found = verify(undisturbed, everything=True)
    assert found.verdict == "held", found.sentence()
    assert (found.models_derived, found.updates_recomputed, found.limits) == (26, 14 * 5 + 4 * 4 + 6 * 4, [])


def test_processes_forget_with_the_same_bits_while_nodes_die(tmp_path, source, undisturbed):
    """A client and the coordinator are killed with SIGKILL in the middle of unlearning; every model is the same."""
    kills = [{"at_round": 17, "kill": "client-2"}, {"at_round": 18, "kill": "coordinator"}]
    disturbed = scenario(source, forget(), *kills, engine="processes", on_missing="wait", restart="always")
    run, ending = launch(disturbed, tmp_path)
    assert ending.outcome == "completed", ending
    assert closed(run) == closed(undisturbed)
    with open_run(run) as opened:
        assert verdict(check(opened)) == "held"


@pytest.mark.parametrize("fatal", [17, 18, 20])
def test_a_coordinator_that_dies_between_log_and_send_goes_on_with_the_same_bits(tmp_path, source, undisturbed, fatal):
    """Killed before its frame leaves, at the start of unlearning or within it, and resumed from its log."""
    plan, sent = prepare(scenario(source, forget()), tmp_path, Quiet()), []

    def before_send() -> None:
        sent.append(1)
        if len(sent) == fatal:
            raise Crash

    federation = Federation(plan, Quiet(), Interruption(), None, before_send)
    assert federation.run().outcome == "aborted"
    federation.close()
    assert len(closed(plan.run)) < len(closed(undisturbed))
    assert resume(plan.run).outcome == "completed"
    assert closed(plan.run) == closed(undisturbed)


def test_a_run_may_end_with_its_unlearned_model(tmp_path, source):
    """Because the leaver left after the last round, or because it is wanted."""
    late, _ = launch(scenario(source, forget(21)), tmp_path)
    assert closed(late)[-1][:2] == (21 + 5, "unlearning")
    early, _ = launch(scenario(source, forget(15, then="end")), tmp_path)
    assert closed(early)[-1][:2] == (19, "unlearning")


def test_whoever_came_late_or_was_away_is_asked_only_where_it_has_an_update(tmp_path, source):
    """One client joins in round 6, one is dead in round 9: the steps for 1, 5, 9 and 13 ask those who were there."""
    happenings = [
        {"at_round": 6, "add": 1, "id": "late"},
        {"at_round": 9, "kill": "client-1", "restart_after": 2},
    ]
    run, ending = launch(scenario(source, *happenings, forget(), hosts="per-client"), tmp_path)
    assert ending.outcome == "completed"
    kept = [one["clients"] for one in read_journal(journal_path(run, "coordinator")) if one["event"] == "update.kept"]
    four = ["client-1", "client-2", "client-3", "client-4"]
    assert kept == [four, four, [*four[1:], "late"], [*four, "late"]]
    with open_run(run) as opened:
        assert verdict(check(opened)) == "held"
    assert verify(run).verdict == "held"


def test_two_leave_one_after_the_other(tmp_path, source):
    """The second one is forgotten out of what the first one's unlearning left, once that is over."""
    second = {"at_round": 17, "leave": "client-4", "forget": FEDERASER | {"every": 2}}
    run, _ = launch(scenario(source, forget(), second), tmp_path)
    records = list(read_journal(journal_path(run, "coordinator")))
    began = [(one["round"], one["clients"], one["steps"]) for one in records if one["event"] == "phase.began"]
    assert began == [(15, ["mallory"], 4), (20, ["client-4"], 2)]
    assert [one["of"] for one in records if one["event"] == "update.kept" and one["round"] > 20] == [16, 18]
    with open_run(run) as opened:
        assert verdict(check(opened)) == "held"
    assert verify(run, everything=True).verdict == "held"


@pytest.mark.parametrize("method", ["retrain", "accumulate", "subtract", "rollback", "fedavg-retrain"])
def test_every_method_works_live(tmp_path, source, method):
    """The phase has as many rounds as the method needs; the log holds."""
    happening = {"at_round": 15, "leave": "mallory", "forget": {"method": method}}
    run, ending = launch(scenario(source, happening), tmp_path)
    assert ending.outcome == "completed"
    steps = {"retrain": 14, "fedavg-retrain": 2}.get(method, 0)
    assert sum(phase == "unlearning" for _, phase, _ in closed(run)) == 1 + steps
    with open_run(run) as opened:
        assert verdict(check(opened)) == "held"


def test_who_never_taught_anything_is_forgotten_at_once(tmp_path, source):
    """Mallory leaves before the first round: unlearning is its start alone, and training goes on."""
    run, ending = launch(scenario(source, forget(1)), tmp_path)
    assert ending.outcome == "completed"
    assert [phase for _, phase, _ in closed(run)] == ["training", "unlearning", *["training"] * 20]


def test_what_was_asked_of_a_live_run_is_in_its_scenario(tmp_path, source):
    """A wish to be forgotten that a person typed is an entry of the timeline that does it again."""
    plan = prepare(scenario(source, rounds=6), tmp_path, Quiet())
    federation = Federation(plan, Quiet(), Interruption())
    federation.director.order("leave", ["mallory"], {"forget": FEDERASER}, "ann")
    assert federation.run().outcome == "completed"
    federation.close()
    with open_run(plan.run) as run:
        tables = scenario_from_run(run)
    assert tables["timeline"] == [{"at_round": 1, "leave": "mallory", "forget": FEDERASER}]
    again, _ = launch(from_dict(tables), tmp_path)
    assert closed(again) == closed(plan.run)
