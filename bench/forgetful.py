"""A journal that keeps nothing: importing this module, as a forkserver can, turns the log off for what runs after."""

from typing import Any

from protocol.journal import Journal

__all__: list[str] = []


def _forget(_journal: Journal, _event: str, **_fields: Any) -> None:
    """Keep nothing."""


setattr(Journal, "append", _forget)  # noqa: B010 - the one way to run without a log, for a benchmark only
