"""The README's commands, run in order in a scratch directory: they succeed, and print what the README shows, in shape.

Only what is written here differs from the page: `SHORTER` has fewer rounds and, for the runs in the background, a
slow network, so that all of it takes seconds; `SET_UP` is what the machine that runs the tests has done already.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
SET_UP = ("make test", "source .venv/bin/activate")
SLOW_NETWORK = """--set 'timeline=[{at_round=1, delay="clients", by="20ms", for="25s"}]'"""
SHORTER = {
    "make quickstart": "foltr run quickstart --set rounds=300",
    "rounds=100000": f"rounds=100000 {SLOW_NETWORK}",  # leaves the machine time for the other commands
    "rounds=20000 --set federation.on_missing=wait": f"rounds=4000 --set federation.on_missing=wait {SLOW_NETWORK}",
    "rounds=1000 --seed": "rounds=200 --seed",
    "rounds=5000": "rounds=500",
    "rounds=20000": "rounds=4000",
    "round = 20000": "round = 4000",
    "--schedules 20": "--schedules 5",
}
PATH_OF_DATA = "/path/to/MQ2008"
FIRST_TIME = ("installing foltr", "compiling the numeric")  # lines that only the first run on a machine prints
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def examples(page: str) -> list[tuple[str, list[str]]]:
    """The commands of a page, each with the lines that it is shown to print."""
    found: list[tuple[str, list[str]]] = []
    for block in CONSOLE.findall((ROOT / page).read_text(encoding="utf-8")):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line.removeprefix("$ ").partition("   #")[0], []))
            else:
                found[-1][1].append(line)
    return found


def shape(line: str) -> str:
    """A line without what differs from run to run: numbers, hashes, names of people, widths."""
    line = re.sub(r"/\S*/runs/", "/runs/", line)
    line = re.sub(r"\b[\w-]+@[\w.-]+", "who@where", line)
    line = re.sub(r"\b[0-9a-f]{16,}\b", "hash", line)
    line = re.sub(r"\bnever\b", "0 s ago", line)  # a node that has only just been started
    line = re.sub(r"[\d,.:]*\d", "0", line)
    line = re.sub(r"letor:/\S+, fold 0: .*", "letor: the data", line)
    return " ".join(re.sub(r"[━─]+", "─", line).split())


def is_shown(shown: list[str], printed: str) -> bool:
    """Whether each shown line is printed, in order; a line `…` stands for any others, and ends the comparison."""
    wanted = [shape(line) for line in shown if line.strip() and not line.startswith(FIRST_TIME)]
    lines = [shape(line) for line in printed.splitlines() if line.strip()]
    whole = "…" not in wanted
    wanted = wanted if whole else wanted[: wanted.index("…")]
    return wanted == (lines if whole else lines[: len(wanted)])


def shortened(command: str, data: Path) -> str:
    """The command as the test runs it."""
    for long, short in SHORTER.items():
        command = command.replace(long, short)
    return command.replace(PATH_OF_DATA, str(data))


def test_the_readme_does_what_it_says(tmp_path, letor_folder):
    """Every command succeeds, one after the other, and prints what is shown below it."""
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "COLUMNS": "120"}
    try:
        for command, shown in examples("README.md"):
            if command in SET_UP:
                continue
            done = subprocess.run(
                ["bash", "-c", shortened(command, letor_folder)],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
            assert "Traceback" not in done.stderr
            if shown:
                assert is_shown(shown, done.stdout), f"{command} printed\n{done.stdout}"
    finally:
        for live in tmp_path.glob("runs/*/*/control.json"):
            subprocess.run([BIN / "foltr", "stop", live.parent], capture_output=True, check=False)


def test_the_readmes_python_runs(tmp_path, foltr):
    """The block of Python prints a line a measured round."""
    (code,) = PYTHON.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert foltr("run", "quickstart", "--engine", "inline", "--set", "rounds=3").returncode == 0
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["0", "1", "2", "3"]


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))])
def test_links_lead_somewhere(page):
    """Every relative link of a page names a file of the checkout."""
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = [one.partition("#")[0] for one in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in one]
    assert [one for one in targets if one and not ((ROOT / page).parent / one).exists()] == []
