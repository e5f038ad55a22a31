"""Frames: what goes in comes out, and whatever else arrives is refused with its reason."""

import re
import struct
import subprocess
import sys
import zlib
from dataclasses import fields
from pathlib import Path

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from protocol.codec import KINDS, LARGEST_FRAME, LONGEST_TEXT, VERSION, Codec
from protocol.errors import REFUSALS, Refusal, RefusedFrame
from protocol.messages import MESSAGES, Finish, Join, Progress, Stop, Train, Update, Welcome, kinds

text = st.text(st.characters(codec="utf-8"), max_size=LONGEST_TEXT // 4)
name = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
numbers = st.floats(width=64, allow_nan=True, allow_infinity=True)
VALUES = {
    "integer": st.integers(0, 2**63 - 1),
    "text": text,
    "names": st.lists(name, max_size=20).map(tuple),
    "integers": arrays.arrays(np.int64, st.integers(0, 9)),
    "vector": arrays.arrays(np.float64, st.integers(0, 9), elements=numbers),
    "matrix": arrays.arrays(np.float64, st.tuples(st.integers(0, 5), st.integers(0, 5)), elements=numbers),
}
messages = st.sampled_from(list(MESSAGES.values())).flatmap(
    lambda message: st.builds(message, *(VALUES[kind] for kind in kinds(message).values()))
)


def values(message):
    """A message's fields in order."""
    return [getattr(message, one.name) for one in fields(message)]


def same(one, other):
    """Equality to the last bit, for arrays in type and shape too."""
    if isinstance(one, np.ndarray):
        return (
            isinstance(other, np.ndarray)
            and (one.dtype, one.shape) == (other.dtype, other.shape)
            and one.tobytes() == other.tobytes()
        )
    return type(one) is type(other) and one == other


def read_plainly(code, data):
    """An extension's bytes read from the format's description alone."""
    if code == 2:
        return tuple(part.decode() for part in data.split(b"\0")[:-1])
    letter, rank = {1: "q", 2: "d"}[data[0]], data[1]
    shape = [int.from_bytes(data[2 + 4 * axis : 6 + 4 * axis], "little") for axis in range(rank)]
    numbers = [one for (one,) in struct.iter_unpack(f"<{letter}", data[2 + 4 * rank :])]
    return np.array(numbers, dtype=f"<{letter}").reshape(shape)


def sealed(body):
    """A frame with this body and the checksum that belongs to it."""
    return body + zlib.crc32(body).to_bytes(4, "little")


def refusal(frame, codec=None):
    """Why a frame is refused; none if it is not."""
    try:
        (codec or Codec()).decode(frame)
    except RefusedFrame as error:
        told = error
    else:
        return None
    assert str(told) == f"{REFUSALS[told.reason]}: {told.detail}"
    assert len(str(told)) < 400
    return told.reason


UPDATE = Update(3, np.array([4, 7]), np.array([[0.5, -1.0], [2.0, 0.25]]), np.array([5, 5]), np.array([0.1, 0.9]), 10)
SAMPLES = [
    Join(np.array([0, 1]), 77),
    Welcome(2),
    Train(3, np.array([0.5, -1.0]), np.array([], dtype=np.int64), 10, 7, 2, np.array([0.25])),
    UPDATE,
    Finish("completed"),
    Stop("enough"),
    Progress(3, 9, 2, ("host-1", "ünï"), "", ""),
]


@given(messages, VALUES["integer"], VALUES["integer"])
def test_every_message_comes_back_as_it_was(message, identity, cause):
    """Decoding gives the same fields to the bit, NaN and infinities too, the id, the cause and the length."""
    frame = Codec().encode(message, identity, cause)
    envelope = Codec().decode(frame)
    assert type(envelope.message) is type(message)
    assert all(map(same, values(message), values(envelope.message)))
    assert (envelope.id, envelope.cause, envelope.size) == (identity, cause, len(frame))


@given(messages, VALUES["integer"])
def test_a_frame_reads_the_same_without_the_codec(message, identity):
    """Plain msgpack and the described extension types give version, name, id, cause and the fields."""
    parts = msgpack.unpackb(Codec().encode(message, identity)[:-4], ext_hook=read_plainly)
    assert parts[:4] == [VERSION, message.name, identity, 0]
    assert all(map(same, values(message), parts[4:]))


@given(messages)
def test_a_decoded_array_cannot_be_written(message):
    """What arrived stays as it arrived."""
    for value in values(Codec().decode(Codec().encode(message, 1)).message):
        assert not isinstance(value, np.ndarray) or not value.flags.writeable


def test_the_frame_shown_in_the_documentation_is_what_it_says():
    """docs/protocol.md has the bytes of one frame."""
    page = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^    ((?:[0-9a-f]{2} )+[0-9a-f]{2})$", page, re.MULTILINE)
    assert bytes.fromhex(shown) == Codec().encode(Welcome(7), 5, 2)


@given(messages, st.data())
def test_a_changed_byte_is_noticed_wherever_it_is(message, data):
    """A frame that was damaged on its way is refused, and never taken for another message."""
    frame = bytearray(Codec().encode(message, 1))
    frame[data.draw(st.integers(0, len(frame) - 1))] ^= data.draw(st.integers(1, 255))
    assert refusal(bytes(frame)) is Refusal.MALFORMED


def test_a_frame_may_be_a_memoryview():
    """The transport hands over views, not copies."""
    assert values(Codec().decode(memoryview(Codec().encode(Welcome(9), 1))).message) == [9]


def test_an_array_that_is_not_contiguous_travels_as_it_reads():
    """Rows and columns are kept whatever the memory's order."""
    theta = np.arange(6.0).reshape(2, 3)
    sent = Update(1, np.array([0, 1, 2]), theta.T, np.array([1, 1, 1]), theta[:, ::2].ravel()[:3], 0)
    got = Codec().decode(Codec().encode(sent, 1)).message
    np.testing.assert_array_equal(got.theta, theta.T)


@pytest.mark.parametrize("value", [np.zeros(1, np.float32), np.zeros(1, ">f8"), np.zeros((1, 1, 1)), object(), {1}])
def test_what_does_not_travel_is_our_mistake_and_leaves_the_codec_usable(value):
    """A wrong array raises TypeError, and the next frame has no trace of it."""
    codec = Codec()
    with pytest.raises(TypeError, match="arrays of 1 or 2 dimensions travel"):
        codec.encode(Finish(value), 1)
    assert codec.encode(Welcome(1), 2) == Codec().encode(Welcome(1), 2)


@pytest.mark.parametrize("message", SAMPLES, ids=lambda message: message.name)
def test_a_frame_cut_anywhere_is_malformed(message):
    """No prefix of a frame is a frame."""
    frame = Codec().encode(message, 300, 2**40)
    assert {refusal(frame[:end]) for end in range(len(frame))} == {Refusal.MALFORMED}


@pytest.mark.parametrize("message", SAMPLES, ids=lambda message: message.name)
@pytest.mark.parametrize("extra", [b"\0", b"\xc1", b"\x90", b"x" * 100])
def test_bytes_after_a_frame_make_it_malformed(message, extra):
    """A frame is one whole message and nothing more."""
    assert refusal(Codec().encode(message, 1) + extra) is Refusal.MALFORMED


@given(st.binary(max_size=200))
def test_garbage_is_refused_or_is_a_message(garbage):
    """No byte string makes the decoder raise anything but a refusal."""
    assert refusal(garbage) in {*Refusal, None}


@given(st.sampled_from(SAMPLES), st.integers(0, 10_000), st.integers(1, 255))
def test_a_flipped_byte_is_refused_or_is_another_message(message, at, mask):
    """Damage on the way never raises anything but a refusal."""
    frame = bytearray(Codec().encode(message, 1))
    frame[at % len(frame)] ^= mask
    assert refusal(bytes(frame)) in {*Refusal, None}


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ([VERSION + 1, "welcome", 1, 0, 5], Refusal.OTHER_VERSION),
        ([0, "anything", 1, 0], Refusal.OTHER_VERSION),
        ([VERSION, "hello", 1, 0], Refusal.UNKNOWN_TYPE),
        ([VERSION, 7, 1, 0], Refusal.UNKNOWN_TYPE),
        ([VERSION, None, 1, 0], Refusal.UNKNOWN_TYPE),
        ([VERSION, "x" * 4000, 1, 0], Refusal.UNKNOWN_TYPE),
        ([VERSION, "welcome", 1, 0], Refusal.MALFORMED),
        ([VERSION, "welcome", 1, 0, 5, 6], Refusal.MALFORMED),
        ([VERSION, "welcome", 1], Refusal.MALFORMED),
        ([VERSION, "welcome", -1, 0, 5], Refusal.MALFORMED),
        ([VERSION, "welcome", 1, 2**63, 5], Refusal.MALFORMED),
        ([True, "welcome", 1, 0, 5], Refusal.MALFORMED),
        ([1.0, "welcome", 1, 0, 5], Refusal.MALFORMED),
        ([], Refusal.MALFORMED),
        ({}, Refusal.MALFORMED),
        ("welcome", Refusal.MALFORMED),
        (None, Refusal.MALFORMED),
        (1, Refusal.MALFORMED),
        ({"version": 1}, Refusal.MALFORMED),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_wrong_head_is_refused_with_its_reason(parts, reason):
    """Version, name, id, cause and the number of fields are checked in this order."""
    assert refusal(sealed(msgpack.packb(parts))) is reason


def array_bytes(dtype, shape, data):
    """An array extension's bytes as a liar would write them."""
    return msgpack.ExtType(1, struct.pack(f"<BB{len(shape)}I", dtype, len(shape), *shape) + data)


RIGHT = {
    "integer": 5,
    "text": "words",
    "names": msgpack.ExtType(2, b"a\0b\0"),
    "integers": array_bytes(1, (1,), bytes(8)),
    "vector": array_bytes(2, (1,), bytes(8)),
    "matrix": array_bytes(2, (1, 1), bytes(8)),
}
WRONG = [None, True, -1, 2**63, 1.5, b"bytes", [], ["a", 1], [["a"]], {}, {"a": 1}]


def with_field(message, wrong, value):
    """A frame whose fields are all of their kind but one."""
    return [
        VERSION,
        message.name,
        1,
        0,
        *(value if one == wrong else RIGHT[kind] for one, kind in kinds(message).items()),
    ]


@pytest.mark.parametrize(
    ("message", "field"),
    [(message, field) for message in MESSAGES.values() for field in kinds(message)],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_a_field_of_another_kind_is_malformed(message, field):
    """Each field takes its own kind and no other, foreign msgpack types included."""
    kind = kinds(message)[field]
    for other, value in [*RIGHT.items(), *(("foreign", one) for one in WRONG)]:
        expected = None if other == kind else Refusal.MALFORMED
        assert refusal(sealed(msgpack.packb(with_field(message, field, value)))) is expected, value


@pytest.mark.parametrize(
    "extension",
    [
        msgpack.ExtType(0, b""),
        msgpack.ExtType(3, bytes(14)),
        msgpack.ExtType(127, bytes(14)),
        msgpack.Timestamp(1, 1),
        msgpack.ExtType(1, b""),
        msgpack.ExtType(1, b"\2"),
        msgpack.ExtType(1, b"\2\1"),
        msgpack.ExtType(1, b"\2\1\0\0\0"),
        msgpack.ExtType(1, b"\2\0"),
        array_bytes(0, (1,), bytes(8)),
        array_bytes(3, (1,), bytes(8)),
        array_bytes(2, (1,), bytes(7)),
        array_bytes(2, (1,), bytes(9)),
        array_bytes(2, (2,), bytes(8)),
        array_bytes(2, (0,), bytes(8)),
        array_bytes(2, (2**32 - 1,), bytes(8)),
        array_bytes(2, (1, 1), bytes(8)),
        array_bytes(2, (2**31, 2**31), b""),
        array_bytes(2, (2**32 - 1, 2**32 - 1), bytes(8)),
        array_bytes(2, (1, 1, 1), bytes(8)),
    ],
    ids=str,
)
def test_an_array_that_lies_is_malformed(extension):
    """Unknown extension and element types, cut shapes and shapes that the bytes do not fill are refused."""
    assert refusal(sealed(msgpack.packb(with_field(Train, "theta", extension)))) is Refusal.MALFORMED


@pytest.mark.parametrize("data", [b"a", b"a\0b", b"\xff\0"])
def test_names_without_an_end_or_not_utf8_are_malformed(data):
    """Each name is UTF-8 and ended by a zero byte."""
    assert (
        refusal(sealed(msgpack.packb(with_field(Progress, "waiting", msgpack.ExtType(2, data))))) is Refusal.MALFORMED
    )


def test_text_has_a_longest():
    """A string of the longest allowed length passes, a longer one does not."""
    assert refusal(Codec().encode(Stop("x" * LONGEST_TEXT), 1)) is None
    assert refusal(Codec().encode(Stop("x" * (LONGEST_TEXT + 1)), 1)) is Refusal.MALFORMED


def test_text_that_is_not_utf8_is_malformed():
    """Broken encodings are damage."""
    assert refusal(sealed(Codec().encode(Stop("ab"), 1)[:-5] + b"\xff")) is Refusal.MALFORMED


def test_a_frame_over_the_limit_is_refused_on_both_sides():
    """The limit holds to the byte, for the sender and for the receiver."""
    frame = Codec().encode(UPDATE, 1)
    exact, small = Codec(len(frame)), Codec(len(frame) - 1)
    assert exact.encode(UPDATE, 1) == frame
    assert refusal(frame, exact) is None
    assert refusal(frame, small) is Refusal.OVERSIZED
    with pytest.raises(RefusedFrame, match=f"update has {len(frame)} bytes, at most {len(frame) - 1}"):
        small.encode(UPDATE, 1)


def test_a_frame_that_there_is_no_memory_for_is_refused(monkeypatch):
    """Even that is the peer's problem."""

    def unpack(*_arguments, **_limits):
        raise MemoryError

    monkeypatch.setattr("protocol.codec.msgpack.unpackb", unpack)
    assert refusal(b"anything") is Refusal.MALFORMED


def test_no_limit_is_above_the_largest():
    """A codec cannot be told to take more than the protocol's limit."""
    assert Codec(2 * LARGEST_FRAME).largest == LARGEST_FRAME


HUGE = {
    "array32": b"\xdd\xff\xff\xff\xff",
    "map32": b"\xdf\xff\xff\xff\xff",
    "str32": b"\xdb\xff\xff\xff\xff",
    "bin32": b"\xc6\xff\xff\xff\xff",
    "ext32": b"\xc9\xff\xff\xff\xff\x01",
    "array32 of an allowed length": b"\xdd\x00\x00\x00\x0f",
    "array32 of 100,000": b"\xdd\x00\x01\x86\xa0",
    "array16": b"\xdc\xff\xff",
}


@pytest.mark.parametrize("header", HUGE.values(), ids=HUGE)
@pytest.mark.parametrize("depth", [1, 2, 1_000, 100_000])
def test_huge_declared_lengths_and_deep_nesting_are_malformed(header, depth):
    """A header's promise is not believed, however often it is nested."""
    assert refusal(sealed(header * depth)) is Refusal.MALFORMED
    inside = msgpack.packb([VERSION, "stop", 1, 0])[1:]
    assert refusal(sealed(b"\x95" + inside + header * depth)) is Refusal.MALFORMED


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from Linux's /proc")
def test_hostile_frames_cost_no_memory():
    """In a process of its own, refusing all of them raises the peak by less than a few megabytes."""
    program = f"""
import zlib
from pathlib import Path
from protocol.codec import Codec
from protocol.errors import RefusedFrame

def peak():
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])

codec, before = Codec(), peak()
for header in {list(HUGE.values())!r} * 3:
    try:
        codec.decode(header * 1_000 + zlib.crc32(header * 1_000).to_bytes(4, "little"))
    except RefusedFrame:
        pass
print(peak() - before)
"""
    grown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert int(grown) < 4 * 1024  # kilobytes


def test_every_kind_is_used_and_described():
    """A kind without a field, or a field without a kind, is a slip."""
    assert {kind for message in MESSAGES.values() for kind in kinds(message).values()} == set(KINDS)
    assert set(VALUES) == set(KINDS)


def test_every_message_says_who_sends_it_and_what_answers():
    """Roles and answers exist, every field has a meaning, and the frame's array has room for the fields."""
    for message in MESSAGES.values():
        assert {message.sender, message.recipient} <= {"host", "coordinator", "supervisor", "adversary", "operator"}
        assert message.answer in {"", *MESSAGES}
        assert len(fields(message)) <= 11
        assert all(one.metadata["meaning"] for one in fields(message))
        assert message.__doc__
