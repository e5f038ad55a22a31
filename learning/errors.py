"""What goes wrong in the mathematics because of what a user gave it.

Every message states the constraint, then the value, then the known choices, in one sentence.
"""

from collections.abc import Iterable

__all__ = ["DataError", "LearningError", "UnknownName"]


class LearningError(ValueError):
    """A setting or an input that the mathematics cannot work with; the message is meant for the user."""


class DataError(LearningError):
    """A data source that is missing, damaged or not what it says; names the file and the line where there is one."""


class UnknownName(LearningError):  # noqa: N818 - named for what is wrong
    """A name that no registry knows; lists the known ones."""

    def __init__(self, family: str, name: str, known: Iterable[object]) -> None:
        choices = ", ".join(sorted(str(one) for one in known))
        super().__init__(f"{family} must be one of {choices}; got {name!r}")
