#!/usr/bin/env python
"""Rewrites the table of docs/performance.md from a benchmark's figures, with the machine that they came from.

Made by: foltr bench --json > bench.json && python docs/bench_table.py bench.json
"""

import argparse
import json
import os
import platform
import re
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

__all__ = ["main", "tabled"]

LIBRARIES: Final = ("numpy", "numba", "pyzmq", "msgpack", "orjson", "duckdb")  # those whose speed the figures show
_BLOCK = re.compile(r"(<!-- bench: [^>]*-->\n).*?(<!-- end of bench -->)", re.DOTALL)


def tabled(page: str, rows: Sequence[dict[str, Any]]) -> str:
    """The page with the figures and the machine of this moment."""
    told = "\n".join([f"Measured on {_machine()}.", "", *_table(rows)])
    return _BLOCK.sub(lambda block: f"{block[1]}{told}\n{block[2]}", page)


def _table(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield "| what | value | floor or rival | ratio | goal | met |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for row in rows:
        value, floor = (f"{_figure(row[name])} {row['unit']}" for name in ("value", "floor"))
        yield f"| {row['name']} | {value} | {floor} | {row['ratio']:,.3g} | {row['goal']} | {_yes(row['met'])} |"


def _figure(number: float) -> str:
    """Three digits, or all before the point."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _yes(met: bool) -> str:
    return "yes" if met else "**no**"


def _machine() -> str:
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return (
        f"{os.cpu_count()} cores ({_processor()}), {platform.system()}, Python {platform.python_version()}, {libraries}"
    )


def _processor() -> str:
    """The processor's name, where the system tells it."""
    facts = Path("/proc/cpuinfo")
    names = re.findall(r"^model name\s*: (.*)$", facts.read_text(), re.MULTILINE) if facts.exists() else []
    return str(names[0]) if names else platform.machine()


def main(arguments: Sequence[str] | None = None) -> int:
    """Rewrite the page from the file that is named."""
    page = Path(__file__).with_name("performance.md")
    parser = argparse.ArgumentParser(description="Rewrite the table of docs/performance.md.")
    parser.add_argument("figures", type=Path, help="what `foltr bench --json` printed")
    rows = json.loads(parser.parse_args(arguments).figures.read_text(encoding="utf-8"))
    page.write_text(tabled(page.read_text(encoding="utf-8"), rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
