"""What a run's log tells about where it stood."""

from learning.aggregation import make_rule
from nodes.launch import launch, resume
from nodes.past import closed_rounds, read_past
from protocol.journal import journal_path, read_journal
from protocol.terms import fingerprint
from scenarios.load import from_dict

LIVELY = {
    "name": "lively",
    "rounds": 9,
    "data": {"source": "synthetic:mq2007?queries=12&documents=6"},
    "federation": {"engine": "inline", "hosts": "per-client"},
    "clients": [{"count": 3, "clicks": "informational"}],
    "timeline": [
        {"at_round": 2, "kill": "client-2", "restart_after": 2},
        {"at_round": 3, "add": 1, "id": "late"},
        {"at_round": 5, "kill": "coordinator"},
        {"at_round": 6, "leave": "client-1"},
    ],
}


def test_every_closed_round_can_be_told_again(tmp_path):
    """The updates of each round, whoever came, went, died or was missing, give the model that is in the log."""
    run, ending = launch(from_dict(LIVELY), tmp_path)
    assert ending.outcome == "aborted"  # the coordinator was killed
    assert resume(run).outcome == "completed"
    logged = [one for one in read_journal(journal_path(run, "coordinator")) if one["event"] == "round.closed"]
    rounds = list(closed_rounds(run, read_past(run).closed))
    assert [one.round for one in rounds] == list(range(1, 10))
    names = ["client-1", "client-2", "client-3", "late"]
    for updates, record in zip(rounds, logged[1:], strict=True):
        assert [names[number] for number in updates.clients] == record["participants"]
        assert fingerprint(make_rule("fedavg")(updates).theta) == record["model"]
    assert {tuple(one.clients.tolist()) for one in rounds} == {(0, 1, 2), (0, 2), (0, 2, 3), (0, 1, 2, 3), (1, 2, 3)}
