"""Counterfactuals: a run again with the same seeds, unchanged or without somebody, as a child of the first."""

import json

from protocol.journal import journal_path, read_journal


def closed(run):
    """The rounds of a run."""
    return [one for one in read_journal(journal_path(run, "coordinator")) if one["event"] == "round.closed"]


def test_a_replay_is_the_same_and_without_a_client_it_is_not(tmp_path, foltr):
    """Unchanged, every model is the same; without a client, it is in no model; both link to their parent."""
    sets = ("--set", "rounds=30", "--set", "clients[0].count=4")
    first = json.loads(foltr("run", "quickstart", "--engine", "inline", "--json", *sets).stdout)
    same = json.loads(foltr("replay", first["run"], "--json").stdout)
    without = json.loads(foltr("replay", first["run"], "--without", "client-2", "--json").stdout)
    assert same["model"] == first["model"]
    assert without["model"] != first["model"]
    assert {name for one in closed(tmp_path / without["run"])[1:] for name in one["participants"]} == {
        "client-1", "client-3", "client-4",
    }  # fmt: skip
    for child in (same, without):
        told = json.loads(foltr("sql", child["run"], "select parent from run", "--json").stdout)
        assert told == [{"parent": first["run"]}]


def test_a_client_that_was_not_there_cannot_be_left_out(foltr):
    """One sentence with the choices."""
    foltr("run", "quickstart", "--engine", "inline", "--set", "rounds=3")
    done = foltr("replay", "latest", "--without", "nobody")
    assert done.returncode == 2
    assert "a client to leave out must be one of client-1" in done.stderr
