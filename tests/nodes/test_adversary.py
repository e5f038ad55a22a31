"""An adversary and its members in whole runs: the same bits everywhere, and what becomes of them when it is killed."""

import os
import signal
import time

import psutil
import pytest

from analysis.check import problems
from analysis.verify import verify
from learning.attacks import ATTACKS, WireAttack
from nodes.launch import launch
from protocol.journal import journal_path, read_journal
from protocol.mischief import MISCHIEF
from scenarios.load import from_dict, to_dict
from scenarios.toml_text import to_toml

SOURCE = "synthetic:mq2007?queries=12&documents=6"


def scenario(rounds=8, *, attack=None, timeline=(), engine="inline", **federation):
    """Three honest clients and two with an attack."""
    groups = [{"count": 3, "clicks": "informational"}, {"count": 2, "clicks": "informational"}]
    if attack is not None:
        groups[1] |= {"attack": attack}
    return from_dict(
        {
            "name": "plot",
            "rounds": rounds,
            "data": {"source": SOURCE},
            "federation": {"engine": engine, **federation},
            "evaluation": {"every": rounds},
            "clients": groups,
            "timeline": list(timeline),
        }
    )


def closed(run):
    """The rounds of a run."""
    return [one for one in read_journal(journal_path(run, "coordinator")) if one["event"] == "round.closed"]


def models(run):
    """The models of a run by their hashes."""
    return [one["model"] for one in closed(run)]


def play(tmp_path, **settings):
    """Run to the end; the log must pass every check."""
    run, ending = launch(scenario(**settings), tmp_path)
    assert ending.outcome == "completed", ending
    assert problems(run) == []
    return run


@pytest.mark.parametrize("knowledge", ["partial", "full"])
def test_processes_and_hosts_do_not_change_what_colluders_send(tmp_path, knowledge):
    """A process each, two hosts or one: every model has the same bits, and each update can be computed again."""
    attack = {"kind": "fang_mean", "knowledge": knowledge, "start": 2}
    one = play(tmp_path, attack=attack)
    two = play(tmp_path, attack=attack, hosts=2)
    real = play(tmp_path, attack=attack, engine="processes")
    assert models(one) == models(two) == models(real)
    assert models(one)[:2] == models(play(tmp_path))[:2]
    assert len({*models(one)[2:], *models(play(tmp_path))[2:]}) == 14
    found = verify(real, everything=True)
    assert (found.verdict, found.updates_recomputed) == ("held", 40)
    told = [one["event"] for one in read_journal(journal_path(real, "adversary"))]
    assert told.count("attack.crafted") == 7


def test_a_killed_adversary_leaves_honest_members_until_it_is_back(tmp_path):
    """Killed before round 3, back in round 6: as an attack with a gap; members are in every model."""
    attack = {"kind": "ipm", "epsilon": 3.0, "knowledge": "full"}
    kill = {"at_round": 3, "kill": "adversary", "restart_after": 3}
    run = play(tmp_path, attack=attack, timeline=[kill])
    until = play(tmp_path, attack=attack | {"stop": 2})
    assert models(run)[:6] == models(until)[:6]
    assert models(run)[6] != models(until)[6]
    assert all(one["missing"] == [] for one in closed(run))
    found = verify(run, everything=True)
    assert (found.verdict, found.updates_recomputed) == ("held", 40)


def test_a_killed_adversary_leaves_silent_members(tmp_path):
    """From then on they are missing, and no round waits for a deadline."""
    attack = {"kind": "lie", "z": 2.0, "without_adversary": "silent"}
    run = play(tmp_path, attack=attack, timeline=[{"at_round": 4, "kill": "adversary"}])
    assert [len(one["missing"]) for one in closed(run)[1:]] == [0, 0, 0, 2, 2, 2, 2, 2]
    assert not [one for one in read_journal(journal_path(run, "coordinator")) if one["event"] == "client.silent"]


def test_a_paused_adversary_is_given_up_at_the_deadline(tmp_path):
    """Once: until it speaks again its members are told at once."""
    attack = {"kind": "lie", "z": 2.0}
    pause = {"at_round": 3, "pause": "adversary"}
    run = play(tmp_path, attack=attack, timeline=[pause], deadline="5s")
    events = [one["event"] for one in read_journal(journal_path(run, "coordinator"))]
    assert events.count("adversary.silent") == 1
    assert models(run)[3:] == models(play(tmp_path, attack=attack | {"stop": 2}))[3:]


def test_killing_everybody_again_and_again_leaves_no_trace(tmp_path, start_foltr):
    """Processes under wait: adversary and members are killed while the run goes on, and every model is the same."""
    attack, rounds = {"kind": "fang_krum", "knowledge": "full"}, 300
    settings = {"rounds": rounds, "attack": attack, "on_missing": "wait", "restart": "always"}
    made = scenario(engine="processes", **settings)
    path = tmp_path / "plot.toml"
    path.write_text(to_toml(to_dict(made)))
    process = start_foltr("run", str(path))
    supervisor, killed = psutil.Process(process.pid), 0
    while killed < 6 and process.poll() is None:
        names = {" ".join(one.cmdline()[:1]): one.pid for one in supervisor.children(recursive=True)}
        wanted = ("adversary", "client-5")[killed % 2]
        pid = next((pid for name, pid in names.items() if wanted in name), None)
        if pid is not None and len(names) >= 8:
            os.kill(pid, signal.SIGKILL)
            killed += 1
            time.sleep(0.1)
        time.sleep(0.01)
    out, error = process.communicate(timeout=60)
    assert killed == 6, "the run was over before it could be disturbed"
    assert "completed" in out, error
    run = (tmp_path / "runs" / "latest").resolve()
    assert problems(run) == []
    assert models(run) == models(play(tmp_path / "calm", rounds=rounds, attack=attack))


def test_the_attacks_on_the_protocol_are_those_that_a_scenario_can_name():
    """Both tables have the same names."""
    named = [kind for kind, made in ATTACKS.items() if getattr(made, "func", None) is WireAttack]
    assert named == list(MISCHIEF)


@pytest.mark.parametrize("kind", MISCHIEF)
def test_every_attack_on_the_protocol_is_refused_and_changes_nothing(tmp_path, kind):
    """It is in the log with the rule that stops it, and every model is that of an honest run."""
    run = play(tmp_path, attack={"kind": kind, "start": 2, "stop": 5}, hosts=5)
    told = [one for one in read_journal(journal_path(run, "coordinator")) if one["event"].endswith(".refused")]
    assert len(told) == 8  # two clients in four rounds
    assert {one["event"] for one in told} == {MISCHIEF[kind].event}
    assert {one["reason"] for one in told} <= set(MISCHIEF[kind].refusals)
    assert models(run) == models(play(tmp_path))
