"""The coordinator's part in a plot: it carries letters, once they are all there, and knows when nobody answers them."""

import numpy as np
import pytest
from stage import Stage

from protocol.errors import Refusal
from protocol.letters import Abstain, Attend, Brief, Confide, Craft, Instruct
from protocol.machine import Say
from protocol.messages import ADVERSARY, Ready
from protocol.terms import Plot

ATTACK = '{"kind": "lie"}'
HOSTS = {"honest": [0], "mixed": [1, 2], "plotter": [3]}


def always(_number):
    """The plot is on in every round."""
    return True


def odd(number):
    """The plot is on in odd rounds."""
    return number % 2 == 1


class Plotting(Stage):
    """A stage with a plot of c2 and c3; client 0 has a host of its own, client 1 shares one with c2."""

    def __init__(self, *, full=False, awaits=False, is_on=always, **rules):
        plot = Plot(ATTACK, ("c2", "c3"), is_on, full=full, awaits=awaits)
        super().__init__(HOSTS, plot=plot, deadline=10.0, **rules)

    def attend(self, pid=9):
        """The adversary's process says that it is here."""
        return self.hear(ADVERSARY, Attend(pid))

    def confide(self, host, *clients, number=None):
        """Members on a host tell what they learned: their number, twice."""
        rows = np.array(clients)[:, None] * np.ones(2)
        return self.hear(host, Confide(self.machine.closed + 1 if number is None else number, np.array(clients), rows))

    def craft(self, *clients, number=None, value=-7.0):
        """The adversary decides."""
        rows = np.full((len(clients), 2), value)
        return self.hear(ADVERSARY, Craft(self.machine.closed + 1 if number is None else number, clients, rows))

    def said(self, kind):
        """The last message of a kind."""
        return [one.message for one in self.history if isinstance(one, Say) and isinstance(one.message, kind)][-1]

    def ready(self):
        """Everybody is here, and round 1 is open."""
        self.gather()
        self.attend()
        return self


def test_the_adversary_is_briefed_once_every_member_has_confided():
    """Partial knowledge: its members' models, the model before and the number of clients; nobody else's."""
    stage = Plotting().ready()
    assert stage.confide("mixed", 2) == ["confide.received"]
    assert stage.confide("plotter", 3) == ["confide.received", "brief -> adversary"]
    brief = stage.said(Brief)
    assert (brief.round, brief.size, brief.clients) == (1, 4, ("c2", "c3"))
    assert brief.theta.tolist() == [[2.0, 2.0], [3.0, 3.0]]
    assert brief.others.shape == (0, 2)
    assert brief.before.tolist() == stage.machine.theta.tolist()


def test_what_it_decides_goes_to_the_members_hosts_and_comes_back_as_updates():
    """The round closes with it, in client order."""
    stage = Plotting().ready()
    stage.update("honest")
    stage.update("mixed", clients=[1])
    stage.confide("mixed", 2)
    stage.confide("plotter", 3)
    assert stage.craft("c2", "c3") == ["craft.received", "instruct -> mixed", "instruct -> plotter"]
    assert stage.said(Instruct).theta.tolist() == [[-7.0, -7.0]]
    stage.update("mixed", clients=[2], theta=np.full((1, 2), -7.0))
    assert stage.update("plotter", theta=np.full((1, 2), -7.0)) == ["update.received", "aggregate c0 c1 c2 c3"]


def test_full_knowledge_waits_for_everybody_elses_update():
    """And shows them, in client order."""
    stage = Plotting(full=True).ready()
    stage.confide("mixed", 2)
    stage.confide("plotter", 3)
    stage.update("mixed", clients=[1])
    assert stage.update("honest") == ["update.received", "brief -> adversary"]
    assert stage.said(Brief).others.tolist() == [[0.25, 0.75], [1.25, 1.75]]
    assert stage.did[-1].tells == {"clients": ["c2", "c3"], "others": ["c0", "c1"], "size": 4}


@pytest.mark.parametrize("wait", [False, True])
def test_the_adversary_is_not_kept_waiting_by_the_dead_unless_the_round_is(wait):
    """An honest host dies: with skip the brief goes out without it, with wait only when it is back."""
    stage = Plotting(full=True, wait=wait).ready()
    stage.update("mixed", clients=[1])
    stage.confide("mixed", 2)
    stage.confide("plotter", 3)
    did = stage.lose("honest")
    assert ("brief -> adversary" in did) is not wait
    if wait:
        stage.join("honest", pid=2)
        assert stage.update("honest") == ["update.received", "brief -> adversary"]
    assert stage.said(Brief).size == (4 if wait else 3)


def test_a_dead_member_is_not_waited_for_and_comes_back_in_the_next_round():
    """Who is there when the adversary is briefed makes the round: nobody is asked after it."""
    stage = Plotting().ready()
    stage.confide("mixed", 2)
    assert "brief -> adversary" in stage.lose("plotter")
    assert stage.join("plotter", pid=2) == ["join.received", "client.rejoined", "welcome -> plotter"]
    assert stage.join("mixed")[-1] == "train -> mixed"
    stage.craft("c2")
    stage.update("honest")
    stage.update("mixed", clients=[1])
    assert stage.update("mixed", clients=[2])[-1] == "aggregate c0 c1 c2"
    assert stage.aggregated()[-1] == "train -> honest mixed plotter"


def test_a_round_that_needs_whoever_comes_asks_them_after_the_brief_too():
    """Below the quorum a returned member is asked; the second brief is about both, and only who waits is told."""
    stage = Plotting(quorum=1.0).ready()
    stage.confide("mixed", 2)
    assert "brief -> adversary" in stage.lose("plotter")
    stage.craft("c2")
    stage.update("mixed", clients=[1])
    stage.update("mixed", clients=[2])
    assert stage.join("plotter", pid=2)[-1] == "train -> plotter"
    assert stage.confide("plotter", 3) == ["confide.received", "brief -> adversary"]
    assert stage.said(Brief).clients == ("c2", "c3")
    assert stage.craft("c2", "c3") == ["craft.received", "instruct -> plotter"]


def test_a_new_adversary_is_briefed_again_and_one_that_has_answered_is_not():
    """The heartbeat of an idle adversary repairs a lost brief; once all are told there is nothing to repair."""
    stage = Plotting(awaits=True).ready()
    stage.confide("mixed", 2)
    stage.confide("plotter", 3)
    assert stage.attend() == ["attend.received", "brief -> adversary"]
    assert stage.lose(ADVERSARY, pid=9) == ["lost.received", "adversary.lost"]
    assert stage.attend(pid=9) == ["frame.refused: unexpected"]
    assert stage.attend(pid=10) == ["attend.received", "adversary.joined", "brief -> adversary"]
    stage.craft("c2", "c3")
    assert stage.attend(pid=10) == ["attend.received"]


def test_a_member_that_asks_again_is_told_again():
    """A lost instruction is repaired by the next letter."""
    stage = Plotting().ready()
    stage.confide("mixed", 2)
    stage.confide("plotter", 3)
    stage.craft("c2", "c3")
    assert stage.confide("plotter", 3) == ["confide.received", "instruct -> plotter"]
    assert stage.said(Instruct).theta.tolist() == [[-7.0, -7.0]]


def test_without_an_adversary_members_are_told_so_at_once():
    """Those who wait, and then whoever confides, until there is one again; who was told keeps to it for the round."""
    stage = Plotting().ready()
    stage.confide("mixed", 2)
    assert stage.lose(ADVERSARY, pid=9) == ["lost.received", "adversary.lost", "instruct -> mixed"]
    assert stage.did[-1].tells == {"clients": ["c2"], "reason": "no adversary"}
    assert stage.confide("plotter", 3) == ["confide.received", "instruct -> plotter"]
    assert len(stage.said(Instruct).theta) == 0
    stage.attend(pid=10)
    assert stage.confide("plotter", 3) == ["confide.received", "instruct -> plotter"]
    stage.update("honest")
    stage.update("plotter")
    stage.update("mixed")
    stage.aggregated()
    stage.confide("mixed", 2)
    assert stage.confide("plotter", 3) == ["confide.received", "brief -> adversary"]


def test_news_of_a_dead_adversary_may_be_late():
    """A new process attended before the supervisor said that the old one died."""
    stage = Plotting().ready()
    stage.attend(pid=10)
    assert stage.lose(ADVERSARY, pid=9) == ["lost.received"]


def test_members_that_abstain_are_missing():
    """The round closes without them."""
    stage = Plotting().ready()
    stage.update("honest")
    stage.update("mixed", clients=[1])
    stage.hear("mixed", Abstain(1, np.array([2])))
    assert stage.hear("plotter", Abstain(1, np.array([3]))) == ["abstain.received", "aggregate c0 c1"]
    stage.aggregated()
    assert stage.fields("round.closed")["missing"] == ["c2", "c3"]


def test_a_deadline_frees_first_the_adversary_and_then_its_members():
    """A silent honest host is left out, then a silent adversary, each with a deadline of its own."""
    stage = Plotting(full=True).ready()
    stage.update("mixed", clients=[1])
    stage.confide("mixed", 2)
    stage.confide("plotter", 3)
    stage.wait(1.0)
    assert stage.wait(9.0) == ["client.silent", "brief -> adversary"]
    assert stage.machine.wake_at == stage.now + 10.0
    assert stage.wait(10.0) == ["adversary.silent", "instruct -> mixed", "instruct -> plotter"]
    stage.update("mixed", clients=[2])
    assert stage.update("plotter")[-1] == "aggregate c1 c2 c3"
    stage.aggregated()
    assert stage.confide("plotter", 3) == ["confide.received", "instruct -> plotter"]


def test_members_that_do_not_even_send_what_they_were_told_are_silent():
    """The last deadline is everybody's."""
    stage = Plotting().ready()
    stage.update("honest")
    stage.update("mixed", clients=[1])
    stage.confide("mixed", 2)
    stage.confide("plotter", 3)
    stage.craft("c2", "c3")
    stage.wait(1.0)
    assert stage.wait(9.0) == ["client.silent", "client.silent", "aggregate c0 c1"]


def test_the_plot_has_its_rounds():
    """In a round in which it is off nobody confides, and members answer as all others."""
    stage = Plotting(is_on=odd, closed=1).ready()
    assert stage.confide("plotter", 3) == ["frame.refused: stale-round"]
    for host in ("honest", "mixed"):
        stage.update(host)
    assert stage.update("plotter")[-1] == "aggregate c0 c1 c2 c3"


def test_the_console_is_told_that_the_adversary_is_waited_for():
    """It is named like any other node that does not answer."""
    stage = Plotting(awaits=True, wait=True).ready()
    stage.lose(ADVERSARY, pid=9)
    stage.confide("mixed", 2)
    stage.wait(1.0)
    assert stage.fields("run.waiting")["waiting"] == ["honest", "mixed", "plotter", ADVERSARY]


def test_a_client_that_is_enrolled_with_the_plots_attack_is_a_member():
    """Others are not."""
    stage = Plotting().ready()
    stage.enrol("late", "c4", attacks=(ATTACK,))
    stage.enrol("later", "c5")
    for host in ("honest", "mixed", "plotter"):
        stage.update(host)
    stage.aggregated()
    stage.join("late")
    stage.join("later")
    assert stage.confide("late", 4) == ["confide.received"]
    assert stage.confide("later", 5) == ["frame.refused: unexpected"]


@pytest.mark.parametrize(
    ("host", "clients", "number", "reason"),
    [
        ("honest", [3], 1, Refusal.NOT_YOURS),
        ("honest", [0], 1, Refusal.UNEXPECTED),
        ("plotter", [3], 0, Refusal.STALE_ROUND),
        ("plotter", [3], 2, Refusal.STALE_ROUND),
    ],
)
def test_letters_of_others_and_of_other_rounds_are_not_carried(host, clients, number, reason):
    """A host confides for its own members, in the open round."""
    stage = Plotting().ready()
    assert stage.confide(host, *clients, number=number) == [f"frame.refused: {reason}"]


def test_a_decision_about_something_else_is_refused():
    """Another round, other members, other shapes; and a host cannot speak as the adversary."""
    stage = Plotting().ready()
    assert stage.craft("c2", "c3") == ["frame.refused: unexpected"]
    stage.confide("mixed", 2)
    stage.confide("plotter", 3)
    assert stage.craft("c2", "c3", number=2) == ["frame.refused: unexpected"]
    assert stage.craft("c3", "c2") == ["frame.refused: unexpected"]
    assert stage.hear(ADVERSARY, Craft(1, ("c2", "c3"), np.zeros((1, 2)))) == ["frame.refused: unexpected"]
    assert stage.hear("plotter", Craft(1, ("c2", "c3"), np.zeros((2, 2)))) == ["frame.refused: unexpected"]
    assert stage.hear("plotter", Abstain(1, np.array([0]))) == ["frame.refused: not-yours"]
    assert stage.hear("plotter", Abstain(0, np.array([3]))) == ["frame.refused: stale-round"]


def test_a_staged_round_waits_for_an_adversary_that_was_started_for_it():
    """And is told of the run's end like the hosts."""
    stage = Plotting(cues=frozenset({1}))
    stage.gather()
    stage.attend()
    stage.lose(ADVERSARY, pid=9)
    assert stage.hear("supervisor", Ready(1, (ADVERSARY,))) == ["ready.received"]
    assert stage.attend(pid=10)[-1] == "train -> honest mixed plotter"
    assert stage.stop()[-2] == "finish -> honest mixed plotter adversary"
