"""Durations as people write them: "500ms", "30s", "2m", "1.5h"."""

import re

__all__ = ["LONGEST_SECONDS", "PATTERN", "duration_seconds"]

LONGEST_SECONDS = 86_400.0  # a day: a deadline beyond it is a slip of the pen
PATTERN = r"^[0-9]{1,9}(\.[0-9]{1,9})?(ms|s|m|h)$"

_SECONDS_A_UNIT = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def duration_seconds(text: str) -> float:
    """The length of a duration in seconds, more than 0 and at most a day; raises ValueError."""
    found = re.fullmatch(r"([0-9.]+)(ms|s|m|h)", text) if re.fullmatch(PATTERN, text) else None
    seconds = float(found[1]) * _SECONDS_A_UNIT[found[2]] if found else 0.0
    if not 0.0 < seconds <= LONGEST_SECONDS:
        raise ValueError(f'a duration must be a number with ms, s, m or h, more than 0 and at most 24h; got "{text}"')
    return seconds
