"""Whether a run was made by a newer foltr than this one, which may have logged what this one cannot read."""

import re
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from analysis.beginnings import beginning
from protocol.codec import VERSION

__all__ = ["newer_run", "newer_versions"]


def newer_run(run: Path) -> str | None:
    """A sentence if a run's first record names a newer foltr or protocol than ours; none if not, or if it has none."""
    return newer_versions(beginning(run).versions)


def newer_versions(versions: Mapping[str, Any]) -> str | None:
    """The same of the versions that a run's first record names."""
    ours = {"foltr": version("foltr"), "protocol": str(VERSION)}
    for name, mine in ours.items():
        theirs = str(versions.get(name, mine))
        if _numbers(theirs) > _numbers(mine):
            return (
                f"the run was made by {name} {theirs}, which is newer than this {name} {mine}: "
                "what it logs beyond what this one knows is in the view events only"
            )
    return None


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in re.findall(r"\d+", text))
