"""The shape of the tree, beyond what import-linter holds: who may import what, and that tests mirror the code."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("analysis", "bench", "commands", "learning", "nodes", "protocol", "scenarios")
SOURCES = sorted([ROOT / "foltr.py", *(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))])

MAY_IMPORT_ZMQ = {
    "protocol/transport.py",  # the transport
    "bench/floor.py",  # the floor is bare ZeroMQ
}
WITHOUT_A_TWIN = {
    "tests/test_arrows.py": "this file",
    "tests/test_readme.py": "README.md and docs/",
    "tests/docs/test_generated.py": "docs/generate.py, which is no package",
    "tests/commands/test_every_command.py": "all commands",
    "tests/commands/test_mistakes.py": "all commands",
    "tests/analysis/test_views.py": "analysis/sql/views.sql",
    "tests/learning/aggregation/test_by_hand.py": "every rule of the folder on an example worked by hand",
    "tests/learning/aggregation/test_contract.py": "what every rule of the folder promises",
    "tests/nodes/test_defences.py": "whole runs under rules of learning/aggregation",
    "tests/learning/attacks/test_attacks.py": "the contract of all attacks",
    "tests/learning/attacks/test_colluding.py": "the colluding attacks against slow twins",
    "tests/learning/clicks/test_clicks.py": "the contract of all click models",
    "tests/learning/learners/test_golden.py": "the pinned bits of a small run",
    "tests/learning/privacy/test_privacy.py": "the contract of all privacy mechanisms",
    "tests/learning/rankers/test_rankers.py": "the contract of all rankers",
    "tests/nodes/test_es_run.py": "runs of evolution strategies, from their clients to their logs",
    "tests/nodes/test_forgetting.py": "runs that forget clients, from their commands to their logs",
    "tests/nodes/test_hostile.py": "a real coordinator against hostile peers",
    "tests/nodes/test_live.py": "a live run, from its commands to its log",
    "tests/nodes/test_replay.py": "replayed runs, from their commands to their logs",
    "tests/nodes/test_same_bits.py": "all engines and layouts",
    "tests/protocol/test_coordination_members.py": "protocol/coordination.py, clients that come and go",
    "tests/protocol/test_coordination_staging.py": "protocol/coordination.py, rounds of the timeline",
    "tests/protocol/test_coordination_trials.py": "protocol/coordination.py, clients that send trials",
    "tests/protocol/test_federation.py": "the machines together",
}


@cache
def parsed(path: Path) -> ast.Module:
    """A file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path, *, everywhere: bool) -> Iterator[str]:
    """What a file imports: at its top level, or inside functions too."""
    tree = parsed(path)
    for node in ast.walk(tree) if everywhere else _top_level(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def _top_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements that run when the module is imported, those in if and try too; not those for type checkers."""
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]


def importers(library: str, *, everywhere: bool = True) -> set[str]:
    """The files that import a library."""
    return {
        str(path.relative_to(ROOT))
        for path in SOURCES
        if any(name.partition(".")[0] == library for name in imports(path, everywhere=everywhere))
    }


def test_nothing_imports_the_command():
    """foltr.py is the top: it imports, and is imported by nobody."""
    assert importers("foltr") == set()


def test_nothing_but_benchmarks_is_told_of_benchmarks():
    """The product runs without bench/; the command that measures loads it by its name when asked."""
    assert {one for one in importers("bench") if not one.startswith("bench/")} == set()


def test_only_the_transport_imports_zmq():
    """Sockets are one file's business."""
    assert importers("zmq") == MAY_IMPORT_ZMQ


def test_compilers_stay_in_learning():
    """Whoever is not mathematics does not wait for numba."""
    assert {one for one in importers("numba") if not one.startswith("learning/")} == set()


@pytest.mark.parametrize("library", ["matplotlib", "numba", "duckdb", "prompt_toolkit"])
def test_commands_load_what_they_need_when_they_run(library):
    """`foltr --help` is quick because no file of commands/ imports a heavy library or one of our packages that does."""
    assert {one for one in importers(library, everywhere=False) if one.startswith(("commands/", "foltr.py"))} == set()


def test_matplotlib_is_loaded_when_a_picture_is_drawn():
    """It takes half a second, which no other answer should wait for."""
    assert importers("matplotlib", everywhere=False) == set()


def test_tests_mirror_the_tree():
    """tests/X/test_Y.py tests X/Y.py, but for the exceptions above, each with what it tests instead."""
    tests = {str(path.relative_to(ROOT)): path for path in (ROOT / "tests").rglob("test_*.py")}
    alone = set()
    for name, path in tests.items():
        twin = ROOT / path.parent.relative_to(ROOT / "tests") / path.name.removeprefix("test_")
        if not twin.exists() and not twin.with_suffix("").is_dir():
            alone.add(name)
    assert alone == WITHOUT_A_TWIN.keys()


def test_tests_are_no_packages():
    """They are found by their paths."""
    assert list((ROOT / "tests").rglob("__init__.py")) == []
