"""Curves drawn: in the terminal, as a picture, as a page."""

import pytest

from analysis.curves import Curve, curves
from analysis.plotting import plot_picture, plot_terminal
from analysis.windows import Window
from protocol.errors import UserError


@pytest.fixture
def two():
    """One curve that rises and one that falls."""
    return [
        Curve("up", ("a",), list(range(101)), [0.2 + 0.002 * one for one in range(101)]),
        Curve("down", ("b",), list(range(101)), [0.4 - 0.001 * one for one in range(101)]),
    ]


def test_a_straight_line_in_dots():
    """A rising line goes from the lower left to the upper right, and the chart fits the width."""
    chart = plot_terminal(
        [Curve("line", ("r",), [0, 100], [0.0, 1.0])], "m", 60, braille=True, colour=False
    ).splitlines()
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
    chart = plot_terminal([Curve("odd", ("r",), rounds, values)], "m", width, braille=True, colour=False).splitlines()
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
    with pytest.raises(UserError, match=r"must end in one of \.png, \.svg, \.pdf, \.html; got .*a\.jpg"):
        plot_picture(two, "m", tmp_path / "a.jpg")
    with pytest.raises(UserError, match="cannot be written: No such file"):
        plot_picture(two, "m", tmp_path / "none" / "a.png")


@pytest.fixture
def repeated():
    """A mean of repeats with its band, a fault and a phase."""
    rounds = list(range(101))
    values = [0.2 + 0.002 * one for one in rounds]
    return Curve(
        "mean",
        ("a", "b"),
        rounds,
        values,
        [one - 0.05 for one in values],
        [one + 0.05 for one in values],
        (Window("fault", "lost", ("host-1",), 20, 40), Window("phase", "unlearning", (), 60, 80)),
    )


def test_a_band_is_dotted_and_told(repeated):
    """More dots than the line alone, and ± in the legend."""
    chart = plot_terminal([repeated], "m", 80, braille=True, colour=False)
    alone = plot_terminal(
        [Curve("mean", ("a",), repeated.rounds, repeated.values)], "m", 80, braille=True, colour=False
    )
    dots = [sum(0x2800 < ord(one) <= 0x28FF for one in text) for text in (chart, alone)]
    assert dots[0] > dots[1] * 1.3
    assert "mean: 0.4000 ± 0.0500 in round 100" in chart


def test_faults_and_phases_are_marked_under_the_rounds(repeated):
    """The marks stand under rounds 20 to 40 and 60 to 80, and are told below."""
    lines = plot_terminal([repeated], "m", 106, braille=False, colour=False).splitlines()
    (marks,) = [line for line in lines if set(line.strip()) == {"~", " "}]
    axis = next(line for line in lines if line.lstrip().startswith("+"))
    width = len(axis) - axis.index("+") - 2
    begin = marks.index("~") - axis.index("+") - 1
    assert begin == pytest.approx(0.2 * width, abs=1)
    assert lines[-2:] == ["~ lost host-1: rounds 20 to 40", "~ unlearning: rounds 60 to 80"]


@pytest.mark.parametrize("name", ["a.svg", "a.html"])
def test_bands_and_windows_are_in_the_pictures(repeated, tmp_path, monkeypatch, name):
    """By name, as text."""
    import matplotlib as mpl

    monkeypatch.setitem(mpl.rcParams, "svg.fonttype", "none")
    plot_picture([repeated], "ndcg_at_10", tmp_path / name)
    text = (tmp_path / name).read_text()
    for word in ("lost", "unlearning", "mean"):
        assert word in text


def test_a_page_needs_no_network_and_escapes_names(repeated, tmp_path):
    """A scenario may have any name."""
    odd = Curve("<b>&", ("r",), repeated.rounds, repeated.values)
    plot_picture([odd], "m", tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text()
    assert "<b>&" not in text
    assert "&lt;b&gt;&amp;" in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "prefers-color-scheme:dark" in text


def test_a_long_curve_is_thinned_and_keeps_its_peaks(tmp_path):
    """A million rounds are a small page, and the one spike is in it."""
    values = [0.5] * 200_000
    values[123_456] = 0.9
    plot_picture([Curve("long", ("r",), list(range(200_000)), values)], "m", tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text()
    assert len(text) < 60_000
    path = text.split('class="line c0"')[1]
    assert " 12.0L" in path  # the top of the drawing


def test_a_run_with_a_fault_is_shaded(played):
    """host-1 was lost in round 2 and back before round 3 was closed."""
    (drawn,) = curves([played], "ndcg_at_10")
    assert Window("fault", "lost", ("host-1",), 2, 3) in drawn.windows
