"""The parts of the documentation that come from the code."""

import importlib.util
import re
from pathlib import Path

import pytest

from scenarios.load import check

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def generate():
    """docs/generate.py as a module; docs is no package."""
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_page_is_stale(generate, capsys):
    """`python docs/generate.py` brings the pages up to date."""
    assert generate.main(["--check"]) == 0, capsys.readouterr().out


def test_a_stale_page_is_named_and_then_rewritten(generate, tmp_path, capsys):
    """--check changes nothing and fails; without it the page is made anew."""
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- generated: scenario-keys -->\nold\n<!-- end -->\nafter\n", encoding="utf-8")
    (tmp_path / "plain.md").write_text("nothing generated\n", encoding="utf-8")
    assert generate.main(["--check"], tmp_path) == 1
    assert "page.md is stale" in capsys.readouterr().out
    assert "old" in page.read_text(encoding="utf-8")
    assert generate.main([], tmp_path) == 0
    fresh = page.read_text(encoding="utf-8")
    assert fresh.startswith("before\n<!-- generated: scenario-keys -->\n| key |")
    assert fresh.endswith("|\n<!-- end -->\nafter\n")
    assert generate.main(["--check"], tmp_path) == 0


def test_an_unknown_part_is_an_error_with_the_known_ones(generate, tmp_path, capsys):
    """A page cannot ask for what nobody makes."""
    (tmp_path / "page.md").write_text("<!-- generated: nobody -->\n<!-- end -->\n", encoding="utf-8")
    assert generate.main([], tmp_path) == 2
    assert "must be one of scenario-keys" in capsys.readouterr().err


def test_the_problems_shown_in_the_page_are_those_that_are_told(tmp_path):
    """The example of docs/scenarios.md is what the reader gets."""
    page = (DOCS / "scenarios.md").read_text(encoding="utf-8")
    shown = re.search(r"problems:\n((?:  .*\n)+)", page)[1]
    mine = tmp_path / "mine.toml"
    mine.write_text(
        'rounds = 0\n[learner]\nlearning_rat = 1\n[[clients]]\ncount = 1\nclicks = "perfect"\n'
        '[[clients]]\ncount = 1\nclicks = "navigation"\n',
        encoding="utf-8",
    )
    assert [f"  {problem}" for problem in check(mine)] == shown.splitlines()


@pytest.mark.parametrize("example", range(3))
def test_the_pages_toml_examples_load(tmp_path, example):
    """What the page shows in TOML is a scenario or a part of one."""
    page = (DOCS / "scenarios.md").read_text(encoding="utf-8")
    text = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[example]
    head = "" if "rounds" in text else "rounds = 1\n"
    tail = "" if "[[clients]]" in text else '[[clients]]\ncount = 1\nclicks = "perfect"\n'
    path = tmp_path / "example.toml"
    path.write_text(head + text + tail, encoding="utf-8")
    assert check(path) == []
