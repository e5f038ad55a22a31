"""Nodes on a time line."""

import xml.etree.ElementTree as ET

from analysis import open_run
from analysis.timeline import draw_timeline, timeline
from protocol.journal import Journal


def test_lives_and_faults_of_processes(run):
    """host-1 was killed, lost, and came back as another process."""
    line = timeline(run)
    assert line.nodes == ("coordinator", "evaluator", "host-0", "host-1")
    lives = [bar for bar in line.bars if bar.kind == "alive" and bar.node == "host-1"]
    assert [(bar.violent, bar.end > bar.start) for bar in lives] == [(True, True), (False, True)]
    assert "ended with signal 9" in lives[0].title
    assert {bar.title.split(":")[0] for bar in line.bars if bar.kind == "fault"} == {
        "host-1 lost in round 2",
        "host-1 crashed",
    }
    assert all(0 <= bar.start <= bar.end <= line.seconds for bar in line.bars)


def test_the_drawing_has_a_bar_each(run):
    """Every bar has its tooltip, every node its name."""
    line = timeline(run)
    drawn = ET.fromstring(draw_timeline(line))
    assert len([one for one in drawn.iter() if one.tag.endswith("rect")]) == len(line.bars)
    assert {"coordinator", "host-0", "host-1"} <= {one.text for one in drawn.iter() if one.tag.endswith("text")}


def test_where_all_ran_in_one_process_hosts_are_shown(tmp_path):
    """From the run's start to the last closed round."""
    journal = Journal(tmp_path, "coordinator", clock=iter(range(100)).__next__)
    journal.append("run.started", scenario={"name": "x"})
    journal.append("clients.enrolled", clients=["a", "b"], hosts=["h", "h"], clicks=["perfect"] * 2)
    journal.append("round.closed", round=0, theta=[0.0])
    journal.close()
    with open_run(tmp_path) as run:
        (bar,) = timeline(run).bars
        assert (bar.node, bar.start, bar.end) == ("h", 0.0, 2.0)


def test_of_very_many_nodes_those_with_faults_are_drawn(tmp_path):
    """The others are counted."""
    supervisor = Journal(tmp_path, "supervisor", clock=iter(range(10_000)).__next__)
    coordinator = Journal(tmp_path, "coordinator", clock=lambda: 500.0)
    for number in range(100):
        supervisor.append("node.started", name=f"host-{number}", role="host", pid=number)
    coordinator.append("client.lost", name="host-99", clients=["a"], round=1)
    for journal in (supervisor, coordinator):
        journal.close()
    with open_run(tmp_path) as run:
        line = timeline(run)
    assert (len(line.nodes), line.left_out) == (40, 60)
    assert "host-99" in line.nodes


def test_a_run_without_a_record_has_no_line(tmp_path):
    """Nothing is drawn."""
    (tmp_path / "journal").mkdir()
    with open_run(tmp_path) as run:
        assert draw_timeline(timeline(run)) == ""
