"""LETOR text becomes the numbers it says, or a sentence with file and line."""

import io
import random
import re
import struct
from math import isinf, isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.data import parsing
from learning.data.parsing import read_blocks
from learning.errors import DataError

NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?"


def parse(text: bytes):
    """All documents as (label, query number, {index: value})."""
    documents, query = [], 0
    for block in read_blocks(io.BytesIO(text), "file"):
        for first, last in zip(block.offsets[:-1], block.offsets[1:], strict=True):
            for row in range(first, last):
                entries = slice(block.stops[row], block.stops[row + 1])
                features = dict(zip(block.indices[entries].tolist(), block.values[entries].tolist(), strict=True))
                documents.append((int(block.labels[row]), query, features))
            query += 1
    return documents


def parse_slowly(text: bytes):
    """The same, straight from the format's description; None for what is not LETOR."""
    documents, names = [], []
    for line in text.split(b"\n"):
        body = line.partition(b"#")[0]
        tokens = [token.decode("latin-1") for token in re.split(rb"[ \t\r]+", body) if token]
        if b"\0" in line or not all(" " < character < "\x7f" for token in tokens for character in token):
            return None
        if not tokens:
            continue
        label, name, *pairs = [*tokens, ""]
        if not (re.fullmatch("[0-9]+", label) and int(label) <= 127 and re.fullmatch("qid:.+", name)):
            return None
        if name not in names:
            names.append(name)
        if name != names[-1]:
            return None
        features = {}
        for pair in pairs[:-1]:
            match = re.fullmatch(rf"([0-9]+):({NUMBER}|[+-]?nan)", pair, re.IGNORECASE)
            index, value = (int(match[1]), float(match[2])) if match else (0, 0.0)
            if not 1 <= index <= 100_000 or index - 1 in features or isinf(value):
                return None
            features[index - 1] = 0.0 if isnan(value) else value
        documents.append((int(label), len(names) - 1, features))
    return documents


def made_up_text(seed, queries=30):
    """A LETOR file with all that is allowed: comments, sparse lines, blank lines, tabs, CRLF, odd numbers."""
    dice = random.Random(seed)
    lines = []
    for query in range(queries):
        for _ in range(dice.randint(1, 6)):
            features = sorted(dice.sample(range(1, 60), dice.randint(0, 12)))
            pairs = " ".join(f"{one}:{dice.choice(['0', '1e-320', 'NaN', '.5', '-3.25e2'])}" for one in features)
            comment = dice.choice(["", " # docid = GX-1 inc = 1", "#x"])
            gap = dice.choice([" ", "\t", "  "])
            lines.append(f"{dice.randint(0, 4)}{gap}qid:{query * 7}{gap}{pairs}{comment}")
        lines.extend([""] * dice.randint(0, 1))
    return dice.choice(["\n", "\r\n"]).join(lines).encode()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("chunk", [1, 64, 1000, parsing.CHUNK])
def test_chunks_of_any_size_give_what_the_slow_parser_gives(seed, chunk, monkeypatch):
    """Where the text is cut into chunks does not show."""
    monkeypatch.setattr(parsing, "CHUNK", chunk)
    text = made_up_text(seed)
    assert parse(text) == parse_slowly(text)


def test_a_little_change_is_judged_as_the_slow_parser_judges_it(monkeypatch):
    """Bytes changed, added and removed at random: the same numbers or a refusal, and never anything else."""
    dice, refused = random.Random(6), 0
    good = b"2 qid:1 1:0.5 3:1e5 # x\n0 qid:1 2:-.25\r\n\n1 qid:2 46:12345678901234567890\n0 qid:12 7:nan 8:1E-320\n"
    for _ in range(3_000):
        text = bytearray(good)
        for _ in range(dice.randint(1, 3)):
            place = dice.randrange(len(text))
            text[place : place + dice.randint(0, 1)] = dice.choices(
                b"01239 :.eE+-#\n\r\tqidnaN\x00\xff_", k=dice.randint(0, 1)
            )
        monkeypatch.setattr(parsing, "CHUNK", dice.choice([1, 7, 50, 1_000]))
        expected = parse_slowly(bytes(text))
        if expected is None:
            refused += 1
            with pytest.raises(DataError, match=r"^file, line [1-6]: "):
                parse(bytes(text))
        else:
            assert parse(bytes(text)) == expected, bytes(text)
    assert 1_000 < refused < 2_500


def assert_numbers_equal_float(tokens):
    """Each token is converted to the bits that float gives."""
    text = "".join(
        f"0 qid:{start} " + " ".join(f"{i + 1}:{token}" for i, token in enumerate(tokens[start : start + 50])) + "\n"
        for start in range(0, len(tokens), 50)
    )
    values = np.concatenate([block.values for block in read_blocks(io.BytesIO(text.encode()), "file")])
    expected = np.array([float(token) for token in tokens])
    assert values.tobytes() == expected.tobytes()


def test_ordinary_numbers_equal_python_floats():
    """Up to 15 digits, fixed or with an exponent, as LETOR files have them."""
    dice = random.Random(1)
    tokens = [f"{dice.random():.6f}" for _ in range(5_000)]
    tokens += [str(dice.randint(-(10**9), 10**9)) for _ in range(5_000)]
    tokens += [f"{dice.uniform(-1, 1) * 10 ** dice.randint(-9, 9):.{dice.randint(1, 15)}g}" for _ in range(20_000)]
    assert_numbers_equal_float(tokens)


def test_odd_numbers_equal_python_floats():
    """Any double, printed with any number of digits, and the corners of the grammar."""
    dice = random.Random(2)
    doubles = [struct.unpack("d", dice.randbytes(8))[0] for _ in range(10_000)]
    tokens = [repr(one) for one in doubles if abs(one) < float("inf")]
    tokens += [f"{dice.uniform(-1, 1):.{dice.randint(16, 40)}e}" for _ in range(5_000)]
    tokens += ["1e-320", "12345678901234567890", "9007199254740993", "9007199254740992", "1e22", "1e23", "0e999", "-0"]
    tokens += [
        "+1.5",
        ".5",
        "5.",
        "1E5",
        "0.1e+1",
        "1" + "0" * 300,
        "0." + "0" * 400 + "1",
        "1.79769313486e+308",
        "2e-9999",
    ]
    assert_numbers_equal_float(tokens)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_survives_its_shortest_form(number):
    """The value written with repr is the value read."""
    assert_numbers_equal_float([repr(number)])


@pytest.mark.parametrize("token", ["nan", "NaN", "NAN", "-nan"])
def test_nan_is_zero(token):
    """A value that is not known is 0, whatever its case or sign."""
    assert parse(f"1 qid:1 1:{token}".encode()) == [(1, 0, {0: 0.0})]


def test_lines_without_documents_are_skipped():
    """Blank lines and comments count as lines and nothing else."""
    assert parse(b"\n# heading\n\r\n1 qid:1 1:2\n \t\n") == [(1, 0, {0: 2.0})]
    with pytest.raises(DataError, match="line 4"):
        parse(b"\n# heading\n\r\nx qid:1 1:2\n")


def test_a_document_may_have_no_features():
    """An absent feature is 0, so all may be absent."""
    assert parse(b"1 qid:a\n0 qid:a # none\n") == [(1, 0, {}), (0, 0, {})]


REFUSED = {
    "a missing label": (b"qid:1 1:0", "label must be an integer from 0 to 127, got 'qid:1'"),
    "a label with a fraction": (b"1.0 qid:1 1:0", "label must be an integer from 0 to 127, got '1.0'"),
    "a negative label": (b"-1 qid:1 1:0", "label must be an integer from 0 to 127, got '-1'"),
    "a large label": (b"128 qid:1 1:0", "label must be an integer from 0 to 127, got '128'"),
    "a huge label": (
        b"99999999999999999999 qid:1",
        "label must be an integer from 0 to 127, got '99999999999999999999'",
    ),
    "no query": (b"1 1:0.5", "must be followed by qid:Q, got '1:0.5'"),
    "an empty query": (b"1 qid: 1:0.5", "must be followed by qid:Q, got 'qid:'"),
    "only a label": (b"1", "must be followed by qid:Q, got ''"),
    "index 0": (b"1 qid:1 0:0.5", "from 1 to 100,000, got '0:0.5'"),
    "a negative index": (b"1 qid:1 -1:0.5", "from 1 to 100,000, got '-1:0.5'"),
    "an index with a fraction": (b"1 qid:1 1.5:0.5", "from 1 to 100,000, got '1.5:0.5'"),
    "an absurd index": (b"1 qid:1 100001:1", "from 1 to 100,000, got '100001:1'"),
    "no index": (b"1 qid:1 0.5", "from 1 to 100,000, got '0.5'"),
    "a repeated index": (b"1 qid:1 3:1 2:1 3:1", "at most once, got '3:1'"),
    "no value": (b"1 qid:1 1: 2:1", "finite number, got '1:'"),
    "a word as value": (b"1 qid:1 1:high", "finite number, got '1:high'"),
    "half an exponent": (b"1 qid:1 1:1e", "finite number, got '1:1e'"),
    "two points": (b"1 qid:1 1:1.2.3", "finite number, got '1:1.2.3'"),
    "python's underscore": (b"1 qid:1 1:1_000", "finite number, got '1:1_000'"),
    "a point before nan": (b"1 qid:1 1:.nan", "finite number, got '1:.nan'"),
    "infinity": (b"1 qid:1 1:inf", "finite number, got '1:inf'"),
    "an overflow": (b"1 qid:1 1:1e999", "finite number, got '1e999'"),
    "a binary file": (b"\x1f\x8b\x08\x00", "must be plain text"),
    "UTF-16": ("1 qid:1 1:0".encode("utf-16"), "must be plain text"),
    "a letter with an accent": ("1 qid:é 1:0".encode(), "must be plain text"),
    "a zero byte in a comment": (b"1 qid:1 1:0 # \x00", "must be plain text"),
}


@pytest.mark.parametrize(("line", "sentence"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("chunk", [16, parsing.CHUNK])
def test_what_is_not_letor_is_refused_with_its_line(line, sentence, chunk, monkeypatch):
    """The error names the file, the line, the rule and what was found instead."""
    monkeypatch.setattr(parsing, "CHUNK", chunk)
    good = b"0 qid:0 1:1 2:2\n2 qid:0 1:1\n\n"
    with pytest.raises(DataError) as refusal:
        parse(good + line + b"\n" + good)
    assert str(refusal.value).startswith("file, line 4: ")
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("chunk", [16, parsing.CHUNK])
def test_scattered_documents_of_a_query_are_refused(chunk, monkeypatch):
    """A query that comes back after another one is named with the line where it does."""
    monkeypatch.setattr(parsing, "CHUNK", chunk)
    with pytest.raises(DataError, match=r"file, line 3: .* contiguous, got qid:7 again"):
        parse(b"0 qid:7 1:1\n0 qid:8 1:1\n0 qid:7 1:1\n")


def test_names_of_queries_are_compared_whole():
    """A query whose name is the beginning of the next one's is another query."""
    assert [query for _, query, _ in parse(b"0 qid:1 1:1\n0 qid:12 1:1\n0 qid:123 1:1\n")] == [0, 1, 2]


def test_an_endless_line_is_refused(monkeypatch):
    """A file without line ends is not read into memory for ever."""
    monkeypatch.setattr(parsing, "LONGEST_LINE", 1000)
    monkeypatch.setattr(parsing, "CHUNK", 100)
    with pytest.raises(DataError, match="shorter than 1,000 bytes"):
        parse(b"1 qid:1 " + b" " * 5000)


def test_a_long_refused_token_is_shortened():
    """An error repeats the beginning of what it refuses, not a megabyte."""
    with pytest.raises(DataError) as refusal:
        parse(b"1 qid:1 " + b"x" * 10_000)
    assert len(str(refusal.value)) < 200
