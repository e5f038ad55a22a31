#!/usr/bin/env python
"""Rewrites the parts of docs/*.md that come from the code; with `--check` it only says what is stale.

A page marks such a part with `<!-- generated: NAME -->` and `<!-- end -->`; `BLOCKS` says what belongs in between.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from analysis.meanings import VIEWS
from analysis.runs import open_run
from scenarios.load import shipped
from scenarios.schema import Scenario
from scenarios.words import keys

__all__ = ["BLOCKS", "filled", "main", "table"]

_BLOCK = re.compile(r"(<!-- generated: (?P<name>[a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the cells are Markdown already."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def scenario_keys() -> str:
    """Every key of a scenario file."""
    rows = [(f"`{key.path}`", key.expects, key.default, key.meaning) for key in keys(Scenario)]
    return table(("key", "value", "default", "meaning"), rows)


def shipped_scenarios() -> str:
    """Every scenario that comes with foltr, with the first comment of its file."""
    rows = [
        (f"`{name}`", path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# "))
        for name, path in shipped().items()
    ]
    return table(("name", "what it is"), rows)


def sql_views() -> str:
    """Every public view with its columns; the types are those of a run without any record."""
    with TemporaryDirectory() as empty:
        (Path(empty) / "journal").mkdir()
        with open_run(Path(empty)) as run:
            types = {view: run.columns(view) for view in VIEWS}
    return "\n\n".join(
        f"### `{name}`\n\nOne row is {view.row}.\n\n"
        + table(
            ("column", "type", "meaning"),
            [(f"`{column}`", kind, view.columns[column]) for column, kind in types[name].items()],
        )
        for name, view in VIEWS.items()
    )


BLOCKS: dict[str, Callable[[], str]] = {
    "scenario-keys": scenario_keys,
    "shipped-scenarios": shipped_scenarios,
    "sql-views": sql_views,
}


def filled(page: str) -> str:
    """The page with every generated part made anew; raises KeyError for a part that no function makes."""
    return _BLOCK.sub(lambda block: f"{block[1]}{BLOCKS[block['name']]()}\n{block[3]}", page)


def main(arguments: Sequence[str] | None = None, folder: Path = Path(__file__).parent) -> int:
    """Rewrite the stale pages of a folder, or with --check name them; the exit code."""
    parser = argparse.ArgumentParser(description="Rewrite the generated parts of docs/*.md.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if a page is stale")
    check = parser.parse_args(arguments).check
    stale = 0
    for path in sorted(folder.glob("*.md")):
        page = path.read_text(encoding="utf-8")
        try:
            fresh = filled(page)
        except KeyError as error:
            sys.stderr.write(f"{path}: a generated part must be one of {', '.join(BLOCKS)}; got {error.args[0]}\n")
            return 2
        if fresh != page:
            stale += 1
            sys.stdout.write(f"{path} {'is stale; run python docs/generate.py' if check else 'rewritten'}\n")
            if not check:
                path.write_text(fresh, encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
