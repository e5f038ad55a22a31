"""What all commands have in common: an example, a place in the documentation, JSON for scripts."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_command

import foltr as command_line
from protocol.layout import CONTROL

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LIVE = ("ps", "pause", "unpause", "kill", "restart", "add", "leave", "stop", "resume")


def commands(group, above: str = "") -> Iterator[tuple[str, object]]:
    """Every command with the words that call it."""
    for name, one in group.commands.items():
        if hasattr(one, "commands"):
            yield from commands(one, f"{name} ")
        else:
            yield f"{above}{name}", one


COMMANDS = dict(commands(get_command(command_line.app)))
WITH_JSON = {name for name, one in COMMANDS.items() if any("--json" in option.opts for option in one.params)}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_tells_what_a_command_does_and_shows_an_example(name):
    """The first line is a sentence, and there is a line to copy."""
    told = COMMANDS[name].help
    assert re.match(r"[A-Z].*[.;:]", told.partition("\n\n")[0])
    assert f"Example: foltr {name}" in told


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_in_the_documentation(name):
    """README.md or a page of docs/ mentions it."""
    assert any(f"foltr {name}" in page.read_text(encoding="utf-8") for page in PAGES)


def test_the_documentation_has_no_commands_that_are_not_there():
    """What a page calls `foltr …` can be called."""
    called = {
        (page.name, words)
        for page in PAGES
        for words in re.findall(
            r"(?:^\$ |`)foltr ([a-z]+(?:-[a-z]+)*(?: [a-z-]+)?)", page.read_text(encoding="utf-8"), re.MULTILINE
        )
    }
    known = {name.partition(" ")[0] for name in COMMANDS}
    groups = {name.partition(" ")[0] for name in COMMANDS if " " in name}
    wrong = {(page, words) for page, words in called if words.partition(" ")[0] not in known}
    wrong |= {(page, words) for page, words in called if words.partition(" ")[0] in groups and words not in COMMANDS}
    assert wrong == set()


def test_help_is_quick_because_it_loads_nothing_heavy():
    """Neither compilers nor databases are imported until a command runs."""
    code = "import sys, foltr; print([one for one in ('numba', 'duckdb', 'zmq', 'matplotlib') if one in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> Path:
    """A directory with two short runs."""
    folder = tmp_path_factory.mktemp("played")
    for name in ("one", "two"):
        words = ["run", "quickstart", "--engine", "inline", "--set", "rounds=4", "--set", f"name={name}"]
        subprocess.run([Path(sys.executable).with_name("foltr"), *words], cwd=folder, capture_output=True, check=True)
    return folder


FINISHED = {
    "run": ["quickstart", "--engine", "inline", "--set", "rounds=2"],
    "replay": ["one", "--rounds", "2"],
    "unlearn": ["one", "client-3", "--method", "rollback,federaser", "--every", "2"],
    "forget-log": ["two", "client-3"],
    "sql": ["latest", "from run"],
    "curves": ["latest"],
    "compare": ["one", "two"],
    "verify": ["latest"],
    "check": ["latest"],
    "audit": ["one", "--rules", "median"],
    "fuzz": ["--schedules", "1"],
    "bench": ["nothing-yet"],
    "scenario check": ["quickstart"],
    "scenario list": [],
    "data describe": ["synthetic:mq2007?queries=5"],
}
"""How each command with --json is called here; a new one must be added, or be one of the live ones."""


def test_every_command_with_json_is_tried():
    """A new command with --json fails this test until it is in the table above."""
    assert FINISHED.keys() | set(LIVE) == WITH_JSON


@pytest.mark.parametrize("name", [one for one in FINISHED if one != "bench"])
def test_json_is_all_that_is_printed(played, name):
    """Standard output is one JSON value, whatever else there is to say."""
    words = [*name.split(), *FINISHED[name], "--json"]
    done = subprocess.run(
        [Path(sys.executable).with_name("foltr"), *words], cwd=played, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)


def test_json_of_orders_to_a_live_run(foltr):
    """One run in the background: every order answers with JSON; resuming is tried in tests/nodes/test_live.py."""
    few = "clients[0].count=3"
    live = json.loads(foltr("run", "quickstart", "--set", "rounds=1000000", "--set", few, "--detach", "--json").stdout)
    orders = ["ps", "pause client-1", "unpause client-1", "kill client-2", "restart client-2", "add", "leave client-3"]
    for verb, *whom in [one.split() for one in [*orders, "stop"]]:
        json.loads(foltr(verb, live["run"], *whom, "--json").stdout)
    until = time.monotonic() + 30
    while (Path(live["run"]) / CONTROL).exists():
        assert time.monotonic() < until, "the run does not stop"
        time.sleep(0.05)
