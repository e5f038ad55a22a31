"""The compiled loop over the bytes of LETOR text: label, query and `index:value` pairs of each line.

A number with a mantissa of at most 2⁵³ and a power of ten of at most 22 is converted exactly by one multiplication or
division, because both operands are exact doubles (Clinger, "How to read floating point numbers accurately", PLDI 1990).
Any other number is reported as odd and left to Python's `float`.
"""

import numpy as np
from numpy.typing import NDArray

from learning.kernels.compiling import compiled

__all__ = [
    "BAD_FEATURE",
    "BAD_LABEL",
    "BAD_VALUE",
    "FINE",
    "MAX_FEATURE",
    "MAX_LABEL",
    "NOT_TEXT",
    "NO_QUERY",
    "REPEATED_FEATURE",
    "scan_lines",
]

MAX_LABEL = 127  # the largest int8
MAX_FEATURE = 100_000  # no known set comes near it; a larger index is a misread line and would ask for a huge matrix

FINE, NOT_TEXT, BAD_LABEL, NO_QUERY, BAD_FEATURE, REPEATED_FEATURE, BAD_VALUE = range(7)
NUMBER, ODD_NUMBER, NO_NUMBER = range(3)

TAB, NEWLINE, RETURN, SPACE, HASH, PLUS, MINUS, POINT, ZERO, NINE, COLON = 9, 10, 13, 32, 35, 43, 45, 46, 48, 57, 58
LETTER_E, LETTER_N, LETTER_A, LETTER_Q, LETTER_I, LETTER_D = 101, 110, 97, 113, 105, 100
LOWER = 0x20  # the bit that makes an ASCII letter lower case

EXACT_MANTISSA = 1 << 53
MANTISSA_DIGITS = 18  # as many always fit 64 bits
EXACT_POWER = 22
POWERS = np.array([float(f"1e{power}") for power in range(EXACT_POWER + 1)])


@compiled
def scan_lines(  # noqa: C901, PLR0911, PLR0912, PLR0915 (one compiled loop, one array an answer)
    text: NDArray[np.uint8],
    end: int,
    line: int,
    labels: NDArray[np.int8],
    stops: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    firsts: NDArray[np.int64],
    names: NDArray[np.int64],
    starts: NDArray[np.int64],
    lines: NDArray[np.int64],
    odd: NDArray[np.int64],
    seen: NDArray[np.int64],
) -> tuple[int, int, int, int, int, int]:
    """Scan the whole lines text[:end] and fill the arrays.

    text    uint8; text[end − 1] is a newline
    line    the number of the first line
    labels  int8 [documents]; stops int64 [documents + 1], stops[0] = 0; indices int32, values float64 [entries]
    firsts  int64 [queries], a query's first document; names [queries, 2], where its Q starts and stops;
            starts [queries], where its first line starts; lines [queries], that line's number
    odd     int64 [entries, 3]: entry, start and stop of a number that `float` must convert
    seen    int64 [MAX_FEATURE + 1]: the last document that gave the feature; seen[0] counts documents

    Returns (status, position of a refused token, its line or the line after the last, documents, queries, odd numbers).
    """
    documents = queries = entries = odds = 0
    at = 0
    while at < end:
        start = at
        at = _skip_blanks(text, at)
        byte = text[at]
        if byte not in (NEWLINE, HASH):
            # the label
            token, label = at, 0
            while ZERO <= text[at] <= NINE and label <= MAX_LABEL:
                label = label * 10 + (text[at] - ZERO)
                at += 1
            if at == token or label > MAX_LABEL or not _ends_token(text[at]):
                return _text_or(text, token, BAD_LABEL), token, line, documents, queries, odds
            # the query
            at = _skip_blanks(text, at)
            token = at
            if not (
                text[at] == LETTER_Q
                and text[at + 1] == LETTER_I
                and text[at + 2] == LETTER_D
                and text[at + 3] == COLON
                and not _ends_token(text[at + 4])
            ):
                return _text_or(text, token, NO_QUERY), token, line, documents, queries, odds
            at += 4
            name = at
            while not _ends_token(text[at]):
                if text[at] < SPACE or text[at] > 126:
                    return NOT_TEXT, at, line, documents, queries, odds
                at += 1
            if queries == 0 or not _same(text, name, at, names[queries - 1, 0], names[queries - 1, 1]):
                firsts[queries] = documents
                names[queries, 0], names[queries, 1] = name, at
                starts[queries], lines[queries] = start, line
                queries += 1
            # the features
            seen[0] += 1
            while True:
                at = _skip_blanks(text, at)
                if text[at] == NEWLINE or text[at] == HASH:
                    break
                token, index = at, 0
                while ZERO <= text[at] <= NINE and index <= MAX_FEATURE:
                    index = index * 10 + (text[at] - ZERO)
                    at += 1
                if text[at] != COLON or index < 1 or index > MAX_FEATURE:
                    return _text_or(text, token, BAD_FEATURE), token, line, documents, queries, odds
                if seen[index] == seen[0]:
                    return REPEATED_FEATURE, token, line, documents, queries, odds
                seen[index] = seen[0]
                kind, value, stop = _scan_number(text, at + 1)
                if kind == NO_NUMBER:
                    return _text_or(text, at + 1, BAD_VALUE), token, line, documents, queries, odds
                if kind == ODD_NUMBER:
                    odd[odds, 0], odd[odds, 1], odd[odds, 2] = entries, at + 1, stop
                    odds += 1
                indices[entries], values[entries] = index - 1, value
                entries += 1
                at = stop
            labels[documents] = label
            documents += 1
            stops[documents] = entries
        # the comment
        while text[at] != NEWLINE:
            if text[at] == 0:
                return NOT_TEXT, at, line, documents, queries, odds
            at += 1
        at += 1
        line += 1
    return FINE, at, line, documents, queries, odds


@compiled
def _skip_blanks(text: NDArray[np.uint8], at: int) -> int:
    while text[at] == SPACE or text[at] == TAB or text[at] == RETURN:
        at += 1
    return at


@compiled
def _ends_token(byte: int) -> bool:
    return byte == SPACE or byte == NEWLINE or byte == RETURN or byte == TAB or byte == HASH  # noqa: PLR1714 (compiled)


@compiled
def _same(text: NDArray[np.uint8], one: int, one_stop: int, other: int, other_stop: int) -> bool:
    if one_stop - one != other_stop - other:
        return False
    for step in range(one_stop - one):  # noqa: SIM110 (compiled)
        if text[one + step] != text[other + step]:
            return False
    return True


@compiled
def _text_or(text: NDArray[np.uint8], at: int, refusal: int) -> int:
    """NOT_TEXT if the token that starts here holds a byte no text has, else the refusal."""
    while not _ends_token(text[at]):
        if text[at] < SPACE or text[at] > 126:
            return NOT_TEXT
        at += 1
    return refusal


@compiled
def _scan_number(text: NDArray[np.uint8], at: int) -> tuple[int, float, int]:  # noqa: C901, PLR0912 (compiled)
    """(kind, value, stop) of the number that starts here: [sign] digits [. digits] [e [sign] digits], or nan = 0."""
    negative = text[at] == MINUS
    if negative or text[at] == PLUS:
        at += 1
    start = at
    mantissa = np.int64(0)
    digits = kept = fraction = 0  # digits met; digits in the mantissa, without leading zeros; those after the point
    while ZERO <= text[at] <= NINE:
        digits += 1
        if kept > 0 or text[at] != ZERO:
            kept += 1
            if kept <= MANTISSA_DIGITS:
                mantissa = mantissa * 10 + (np.int64(text[at]) - ZERO)
        at += 1
    if text[at] == POINT:
        at += 1
        while ZERO <= text[at] <= NINE:
            digits += 1
            fraction += 1
            if kept > 0 or text[at] != ZERO:
                kept += 1
                if kept <= MANTISSA_DIGITS:
                    mantissa = mantissa * 10 + (np.int64(text[at]) - ZERO)
            at += 1
    if digits == 0:
        is_nan = (text[start] | LOWER) == LETTER_N and (text[start + 1] | LOWER) == LETTER_A
        if is_nan and (text[start + 2] | LOWER) == LETTER_N and _ends_token(text[start + 3]):
            return NUMBER, 0.0, start + 3
        return NO_NUMBER, 0.0, at
    power = 0
    if (text[at] | LOWER) == LETTER_E:
        at += 1
        negative_power = text[at] == MINUS
        if negative_power or text[at] == PLUS:
            at += 1
        exponent_digits = 0
        while ZERO <= text[at] <= NINE:
            exponent_digits += 1
            power = min(power * 10 + int(text[at]) - ZERO, 100_000)  # far beyond any double, far below an overflow
            at += 1
        if exponent_digits == 0:
            return NO_NUMBER, 0.0, at
        if negative_power:
            power = -power
    if not _ends_token(text[at]):
        return NO_NUMBER, 0.0, at
    power -= fraction
    if mantissa == 0:
        value = 0.0
    elif kept > MANTISSA_DIGITS or mantissa > EXACT_MANTISSA or power > EXACT_POWER or power < -EXACT_POWER:
        return ODD_NUMBER, 0.0, at
    elif power < 0:
        value = mantissa / POWERS[-power]
    else:
        value = mantissa * POWERS[power]
    return NUMBER, -value if negative else value, at
