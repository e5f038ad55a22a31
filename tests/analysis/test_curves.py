"""Metrics over rounds: the numbers, the chart in the terminal, the picture."""

import shutil
import subprocess
import sys

import pytest

from analysis.curves import Curve, curve, plot_picture, plot_terminal
from analysis.pack import pack
from protocol.errors import UserError


@pytest.fixture
def two():
    """One curve that rises and one that falls."""
    return [
        Curve("a", "up", list(range(101)), [0.2 + 0.002 * one for one in range(101)]),
        Curve("b", "down", list(range(101)), [0.4 - 0.001 * one for one in range(101)]),
    ]


def test_a_curve_is_the_metrics_values(played, small):
    """NDCG by round, labelled with the scenario."""
    (drawn,) = curve([played], "ndcg_at_10")
    assert (drawn.label, drawn.rounds, drawn.values) == ("small", [0, 1, 2, 3], small.ndcg)
    assert drawn.as_dict() == {"run": str(played), "label": "small", "rounds": [0, 1, 2, 3], "values": small.ndcg}


def test_a_metric_of_clients_is_their_mean(played):
    """Online nDCG in a round is drawn as the mean over the clients."""
    (drawn,) = curve([played], "online_ndcg_at_10")
    assert drawn.rounds == [1, 2, 3]
    assert drawn.values == [0.5, 0.75, 0.25]


def test_runs_of_one_scenario_are_told_apart(played, tmp_path):
    """Labels are names where these differ, and names with times where they do not."""
    other = tmp_path / "small" / "20270101-120000-8"
    shutil.copytree(played, other)
    assert [one.label for one in curve([played, other], "online")] == [
        "small/20260101-120000-7",
        "small/20270101-120000-8",
    ]


def test_a_packed_run_is_labelled_like_its_directory_or_by_its_own_name(played, tmp_path):
    """run.duckdb says nothing, small-one.duckdb does."""
    copy = tmp_path / "small" / "20270101-120000-8"
    shutil.copytree(played, copy)
    runs = [pack(copy), pack(copy, tmp_path / "one.duckdb")]
    assert [drawn.label for drawn in curve(runs, "online")] == ["small", "one"]


def test_an_unknown_metric_lists_the_known(played, tmp_path):
    """The sentence has what there is."""
    with pytest.raises(UserError, match="one of ndcg_at_10, online, online_ndcg_at_10; got 'ndcg'"):
        curve([played], "ndcg")
    (tmp_path / "journal").mkdir()
    with pytest.raises(UserError, match="none yet"):
        curve([tmp_path], "ndcg_at_10")


def test_a_straight_line_in_dots():
    """A rising line goes from the lower left to the upper right, and the chart fits the width."""
    chart = plot_terminal([Curve("r", "line", [0, 100], [0.0, 1.0])], "m", 60, braille=True, colour=False).splitlines()
    assert chart[0] == "m by round"
    assert max(map(len, chart)) <= 60
    body = [line[5:] for line in chart[1:17]]
    starts = [len(line) - len(line.lstrip()) for line in body]
    assert starts == sorted(starts, reverse=True)
    assert all(0x2800 < ord(one) <= 0x28FF for line in body for one in line.strip())
    assert [line[:3] for line in chart[1:17] if line[0] != " "] == ["1.0", "0.5", "0.0"]
    assert chart[18].split() == ["0", "50", "100"]
    assert chart[-1] == "⣿ line: 1.0000 in round 100"


def test_plain_terminals_get_plain_characters(two):
    """Without unicode everything is ASCII, and two curves are two letters."""
    chart = plot_terminal(two, "ndcg_at_10", 70, braille=False, colour=False)
    assert chart.isascii()
    assert {"*", "o"} <= set(chart)
    assert chart.splitlines()[-2:] == ["* up: 0.4000 in round 100", "o down: 0.3000 in round 100"]


def test_two_curves_are_told_apart_by_colour_or_by_letters(two):
    """Dots in colours where there are colours, letters where there are none."""
    coloured = plot_terminal(two, "m", 70, braille=True, colour=True)
    assert "\x1b[34m" in coloured
    assert "\x1b[33m" in coloured
    plain = plot_terminal(two, "m", 70, braille=True, colour=False)
    assert "\x1b" not in plain
    assert not any(0x2800 <= ord(one) <= 0x28FF for one in plain)


@pytest.mark.parametrize(
    ("rounds", "values"),
    [
        ([3], [0.25]),
        ([0, 1, 2], [0.5, 0.5, 0.5]),
        ([0, 1, 2], [0.1, float("nan"), 0.3]),
        ([], []),
        ([1, 2], [0.0, 0.0]),
    ],
)
@pytest.mark.parametrize("width", [10, 40, 200])
def test_odd_curves_are_drawn(rounds, values, width):
    """One point, a constant, a gap, nothing at all: a chart of the usual height."""
    chart = plot_terminal([Curve("r", "odd", rounds, values)], "m", width, braille=True, colour=False).splitlines()
    assert len(chart) == 20
    assert max(map(len, chart)) <= max(40, width)


@pytest.mark.parametrize(("name", "first"), [("a.png", b"\x89PNG"), ("a.SVG", b"<?xml"), ("a.pdf", b"%PDF")])
def test_a_picture(two, tmp_path, name, first):
    """The suffix says which kind of file it is."""
    plot_picture(two, "ndcg_at_10", tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(first)


def test_a_picture_names_its_axes_and_curves(two, tmp_path, monkeypatch):
    """Axis titles, title and legend are in the picture, as text where text is kept."""
    import matplotlib as mpl

    monkeypatch.setitem(mpl.rcParams, "svg.fonttype", "none")
    plot_picture(two, "ndcg_at_10", tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    for word in (">round<", ">ndcg_at_10<", ">ndcg_at_10 by round<", ">up<", ">down<"):
        assert word in text


def test_a_picture_that_cannot_be_written_is_one_sentence(two, tmp_path):
    """A wrong suffix, a directory that is not there."""
    with pytest.raises(UserError, match=r"must end in one of \.png, \.svg, \.pdf; got .*a\.jpg"):
        plot_picture(two, "m", tmp_path / "a.jpg")
    with pytest.raises(UserError, match="cannot be written: No such file"):
        plot_picture(two, "m", tmp_path / "none" / "a.png")


def test_what_a_command_does_not_need_is_not_imported():
    """Asking a run starts without matplotlib, prompt_toolkit, the compiler and the network."""
    program = (
        "import sys, analysis, analysis.curves, analysis.tables, analysis.summary, analysis.pack, analysis.prompt\n"
        "print([name for name in ('matplotlib', 'prompt_toolkit', 'numba', 'zmq') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
