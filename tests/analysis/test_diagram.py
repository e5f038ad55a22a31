"""The drawing of a conversation."""

import xml.etree.ElementTree as ET

import pytest

from analysis.conversation import conversation
from analysis.diagram import diagram, write_diagram
from protocol.errors import UserError

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def drawn(run):
    """Rounds 2 and 3 of the small run, parsed."""
    return ET.fromstring(diagram(conversation(run, 2, 3)))


def test_every_message_is_an_arrow_with_its_story(drawn, run):
    """As many groups as messages, each with a tooltip."""
    groups = [one for one in drawn.iter(f"{SVG}g") if "message" in one.get("class", "")]
    assert len(groups) == len(conversation(run, 2, 3).messages)
    titles = [one.find(f"{SVG}title").text for one in groups]
    assert any("train number 12 from coordinator to host-1; round 2; 50 bytes" in one for one in titles)
    assert any(one.endswith("never received") for one in titles)


def test_losses_refusals_and_faults_are_named(drawn):
    """In words, on the drawing."""
    texts = [one.text for one in drawn.iter(f"{SVG}text")]
    for word in ("train lost", "update refused: duplicate", "lost", "rejoined", "host-1"):
        assert word in texts
    assert len([one for one in drawn.iter(f"{SVG}path") if one.get("class") == "life gone"]) >= 1


def test_time_runs_down_the_page_and_everything_is_inside(drawn):
    """Each row has its own height, within the drawing."""
    width, height = (float(drawn.get(one)) for one in ("width", "height"))
    times = [float(one.get("y")) for one in drawn.iter(f"{SVG}text") if one.get("class") == "time"]
    assert times == sorted(set(times))
    for one in drawn.iter(f"{SVG}text"):
        assert 0 <= float(one.get("x")) <= width
        assert 0 <= float(one.get("y")) <= height


def test_light_and_dark(run):
    """By the reader's setting."""
    assert "prefers-color-scheme:dark" in diagram(conversation(run, 1, 1))


def test_a_round_in_which_nothing_was_said(run):
    """Says so."""
    assert "these nodes said nothing in round 99" in diagram(conversation(run, 99, 99))


def test_a_file(played, tmp_path):
    """One round, several, or the one that tells most; a mistake is one sentence."""
    target = tmp_path / "a.svg"
    for rounds, word in (("1", "round 1 closed"), ("1..3", "round 3 closed"), (None, "round 2 closed")):
        write_diagram(played, rounds, (), target)
        assert word in target.read_text()
    for rounds, path, sentence in (
        ("x", target, "a number or first..last; got 'x'"),
        ("1", tmp_path / "a.png", "must end in .svg"),
        ("1", tmp_path / "none" / "a.svg", "cannot be written: No such file"),
    ):
        with pytest.raises(UserError, match=sentence):
            write_diagram(played, rounds, (), path)
