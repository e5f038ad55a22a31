"""Comparisons that a metric is held to: ">= 0.30"."""

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["PATTERN", "Comparison", "parse_comparison"]

PATTERN = r"^(>=|<=|==|>|<) *[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$"

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A bound on one number, such as ≥ 0.30."""

    sign: str
    bound: float

    def holds(self, value: float) -> bool:
        """Tell whether the value keeps the bound; a NaN keeps none."""
        return _OPERATORS[self.sign](value, self.bound)


def parse_comparison(text: str) -> Comparison:
    """Read a sign and a finite number; raises ValueError."""
    found = re.fullmatch(PATTERN, text)
    bound = float(text[len(found[1]) :]) if found else math.inf
    if found is None or not math.isfinite(bound):
        raise ValueError(f'a comparison must be one of >= <= == > < and a number, such as ">= 0.30"; got "{text}"')
    return Comparison(found[1], bound)
