"""Windows of rounds: faults and phases, overlapping ones as one."""

from analysis import open_run
from analysis.windows import Window, merged, windows
from protocol.journal import Journal


def test_the_small_runs_faults(run):
    """A loss noticed in round 2 that ended before round 3 closed; a crash of no round."""
    assert windows(run) == [
        Window("fault", "crashed", ("host-1",), 0, 3),
        Window("fault", "lost", ("host-1",), 2, 3),
    ]


def test_phases_are_windows_and_an_endless_fault_has_no_last_round(tmp_path):
    """Rounds that are not training, and a host that never came back."""
    journal = Journal(tmp_path, "coordinator", clock=iter(range(100)).__next__)
    for number in range(4):
        journal.append("round.closed", round=number, theta=[0.0])
    for number in (5, 6):
        journal.append("round.closed", round=number, theta=[0.0], phase="unlearning")
    journal.append("client.lost", name="host-1", clients=["a"], round=3)
    journal.close()
    with open_run(tmp_path) as run:
        assert windows(run) == [
            Window("fault", "lost", ("host-1",), 3, None),
            Window("phase", "unlearning", (), 5, 6),
        ]


def test_overlapping_windows_are_merged():
    """By kind; names are kept once; an open end stays open."""
    found = [
        Window("fault", "lost", ("a",), 1, 5),
        Window("fault", "lost", ("b",), 4, 9),
        Window("fault", "lost", ("a",), 20, None),
        Window("fault", "lost", ("c",), 30, 31),
        Window("fault", "silent", ("a",), 4, 6),
    ]
    assert merged(reversed(found)) == [
        Window("fault", "lost", ("a", "b"), 1, 9),
        Window("fault", "silent", ("a",), 4, 6),
        Window("fault", "lost", ("a", "c"), 20, None),
    ]


def test_a_window_is_told_in_words():
    """Not more than three names."""
    assert Window("fault", "lost", ("a", "b", "c", "d"), 1, 2000).title == "lost a, b, c and 1 more: rounds 1 to 2,000"
    assert Window("phase", "unlearning", (), 3, None).title == "unlearning: rounds 3 to the end"
