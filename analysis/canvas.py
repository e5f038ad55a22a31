"""A line chart in characters: braille dots where the terminal has them, letters where it does not."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil, floor, isfinite, log10
from operator import itemgetter
from typing import Final

__all__ = ["MARKS", "Axis", "Canvas", "Point"]

DOTS: Final = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))  # braille bits by column and row of a character
WIDE: Final = 2  # dots of one character
HIGH: Final = 4
BRAILLE: Final = 0x2800
MARKS: Final = "*o+x#@%&"
"""The letter of each curve where dots cannot be drawn or told apart."""

Point = tuple[float, float]


class Axis:
    """The interval that values fill, and the round values in it that are labelled."""

    def __init__(self, values: Sequence[float], ticks: int, smallest_step: float = 0.0) -> None:
        """Choose about so many ticks, at 1, 2 or 5 times a power of ten; values must be finite and at least one."""
        low, high = min(values), max(values)
        if low == high:
            low, high = low - (abs(low) / 10 or 0.5), high + (abs(high) / 10 or 0.5)
        rough = (high - low) / ticks
        power = 10.0 ** floor(log10(rough))
        step = max(smallest_step, next(one * power for one in (1, 2, 5, 10) if one * power >= rough * (1 - 1e-9)))
        self.low, self.high = low, high
        self.ticks = [one * step for one in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]
        self._decimals = max(0, -floor(log10(step) + 1e-9))

    def share(self, value: float) -> float:
        """Where a value lies between the ends, 0 … 1."""
        return (value - self.low) / (self.high - self.low)

    def label(self, tick: float) -> str:
        """A tick with as many decimals as tell it from its neighbours."""
        return f"{tick:,.{self._decimals}f}" if 1e-6 < self.high - self.low < 1e9 else f"{tick:.6g}"


Dot = tuple[int, int]


def _thinned(dots: Sequence[Dot | None]) -> Iterator[Dot | None]:
    """What is needed of many dots: of those in one column that follow one another the first, lowest, highest, last."""
    for column, group in groupby(dots, key=lambda dot: None if dot is None else dot[0]):
        if column is None:
            yield None
            continue
        heights = [dot[1] for dot in group if dot is not None]
        for height in dict.fromkeys((heights[0], min(heights), max(heights), heights[-1])):
            yield column, height


class Canvas:
    """Characters of a chart's inside, each with the dots drawn in it and the curve that drew last."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._bits = [[0] * width for _ in range(height)]
        self._owner = [[-1] * width for _ in range(height)]

    def draw(self, points: Sequence[Point], owner: int) -> None:
        """Join the points, each (right, up) in 0 … 1, by straight lines; a point that is not finite breaks them."""
        dots = [
            (round(x * (self.width * WIDE - 1)), round((1 - y) * (self.height * HIGH - 1))) if isfinite(y) else None
            for x, y in points
        ]
        before = None
        for dot in _thinned(dots):
            if dot is not None:
                self._line(before or dot, dot, owner)
            before = dot

    def _line(self, start: tuple[int, int], end: tuple[int, int], owner: int) -> None:
        steps = max(abs(end[0] - start[0]), abs(end[1] - start[1]), 1)
        for one in range(steps + 1):
            x = round(start[0] + (end[0] - start[0]) * one / steps)
            y = round(start[1] + (end[1] - start[1]) * one / steps)
            column, row = x // WIDE, y // HIGH
            self._bits[row][column] |= DOTS[x % WIDE][y % HIGH]
            self._owner[row][column] = owner

    def row(self, row: int, *, braille: bool) -> list[tuple[str, int]]:
        """The text of a row from the top, in pieces, each with the curve it belongs to."""
        characters = (
            (" " if not bits else chr(BRAILLE + bits) if braille else MARKS[owner % len(MARKS)], owner)
            for bits, owner in zip(self._bits[row], self._owner[row], strict=True)
        )
        pieces = groupby(characters, key=itemgetter(1))
        return [("".join(text for text, _ in piece), owner) for owner, piece in pieces]
