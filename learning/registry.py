"""Making a thing from its name and options, as a scenario gives them."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from learning.errors import LearningError, UnknownName

__all__ = ["make"]

Made = TypeVar("Made")


def make(family: str, registry: Mapping[str, Callable[..., Made]], kind: object, *given: Any, **options: Any) -> Made:
    """`registry[kind](*given, **options)`; its keyword-only parameters are the options that a user may set."""
    if not isinstance(kind, str) or kind not in registry:
        raise UnknownName(family, str(kind), registry)
    maker = registry[kind]
    parameters = inspect.signature(maker).parameters.values()
    known = {one.name: one for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY}
    choices = ", ".join(sorted(known)) or "none"
    for name in options:
        if name not in known:
            raise LearningError(f"an option of {family} {kind} must be one of {choices}; got {name!r}")
    for name, parameter in known.items():
        if parameter.default is inspect.Parameter.empty and name not in options:
            raise LearningError(f"{family} {kind} needs the option {name!r}; its options are {choices}")
    return maker(*given, **options)
