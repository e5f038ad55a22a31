"""Message <-> bytes: msgpack with a version tag, an array extension type and limits. Never pickle.

A frame is the msgpack array `[version, name, id, cause, field, field, …]`. `id` counts the sender's messages, `cause`
is the id of the message that this one answers (0: none). An array is extension type 1: one byte for the type (1: int64,
2: float64), one for the number of dimensions (1 or 2), each dimension as a little-endian uint32, then the
little-endian numbers. Decoded arrays are read-only. A list of names is extension type 2: each name in UTF-8, ended by a
zero byte. No array or map is ever inside the frame's own array: msgpack reserves what a header declares before it has
seen an element, so that a thousand nested headers in a few bytes would cost as many lists. After the array come four
bytes, the little-endian CRC-32 of all before: a frame that was damaged on its way is never taken for another message.

Whatever arrives that is not exactly this raises `RefusedFrame` with its reason: no byte string makes `decode` raise
anything else or allocate more than a small multiple of the frame's own length.
"""

import math
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import msgpack
import numpy as np
from numpy.typing import NDArray

from protocol.errors import Refusal, RefusedFrame
from protocol.messages import MESSAGES, Message, kinds

__all__ = ["KINDS", "LARGEST_FRAME", "VERSION", "Codec", "Envelope"]

VERSION: Final = 1
ARRAY_EXTENSION: Final = 1
NAMES_EXTENSION: Final = 2
CHECKSUM: Final = 4  # bytes
HEAD: Final = 4  # version, name, id, cause come before the fields
LARGEST_FRAME: Final = 1 << 30  # 1 GiB: 100,000 clients' models of 700 weights on one host are 560 MB
LONGEST_TEXT: Final = 4096  # bytes
MOST_PARTS: Final = 15  # what msgpack's shortest array header can count; no message comes near

_DTYPES: Final = {1: np.dtype("<i8"), 2: np.dtype("<f8")}
_HEADERS: Final = {1: struct.Struct("<BBI"), 2: struct.Struct("<BBII")}
_CODES: Final = {dtype: code for code, dtype in _DTYPES.items()}


@dataclass(frozen=True, slots=True)
class Envelope:
    """A decoded frame: the message, its id, the id of what it answers, and how long the frame was."""

    message: Message
    id: int
    cause: int
    size: int


class Codec:
    """Encodes and decodes frames up to a limit; one a node, because a packer keeps a buffer."""

    def __init__(self, largest: int = LARGEST_FRAME) -> None:
        self.largest = min(largest, LARGEST_FRAME)
        self._packer = msgpack.Packer(autoreset=False)

    def encode(self, message: Message, id: int, cause: int = 0) -> bytes:  # noqa: A002 - the wire's own word
        """The frame of a message. Raises `RefusedFrame` if it is over the limit: better here than at the peer."""
        packer, fields = self._packer, _FIELDS[message.name]
        packer.reset()  # a message that could not be packed may have left its beginning
        packer.pack_array_header(HEAD + len(fields))
        for value in (VERSION, message.name, id, cause):
            packer.pack(value)
        for one in fields:
            value = getattr(message, one)
            if isinstance(value, np.ndarray):
                packer.pack_ext_type(ARRAY_EXTENSION, _array_bytes(value))
            elif isinstance(value, tuple):
                packer.pack_ext_type(NAMES_EXTENSION, b"".join(name.encode() + b"\0" for name in value))
            elif isinstance(value, int | str):
                packer.pack(value)
            else:
                raise _untravelled(value)
        body: bytes = packer.bytes()
        frame = body + zlib.crc32(body).to_bytes(CHECKSUM, "little")
        if len(frame) > self.largest:
            raise RefusedFrame(Refusal.OVERSIZED, f"{message.name} has {len(frame)} bytes, at most {self.largest}")
        return frame

    def decode(self, frame: bytes | memoryview) -> Envelope:
        """The message in a frame, every field checked against its kind. Raises `RefusedFrame`."""
        size = len(frame)
        if size > self.largest:
            raise RefusedFrame(Refusal.OVERSIZED, f"the frame has {size} bytes, at most {self.largest}")
        body = memoryview(frame)[:-CHECKSUM]
        if zlib.crc32(body) != int.from_bytes(frame[-CHECKSUM:], "little"):
            raise RefusedFrame(Refusal.MALFORMED, "the checksum does not fit")
        try:
            parts = msgpack.unpackb(body, ext_hook=_unpack_extension, **_LIMITS)
        except (ValueError, TypeError, msgpack.UnpackException, RecursionError, MemoryError) as error:
            raise RefusedFrame(Refusal.MALFORMED, str(error) or type(error).__name__) from error
        if not isinstance(parts, list) or len(parts) < HEAD or not all(map(_is_integer, (parts[0], *parts[2:HEAD]))):
            raise RefusedFrame(Refusal.MALFORMED, "a frame is [version, name, id, cause, fields…]")
        version, name, identity, cause = parts[:HEAD]
        if version != VERSION:
            raise RefusedFrame(Refusal.OTHER_VERSION, f"version must be {VERSION}, got {version}")
        known = _FIELDS.get(name) if isinstance(name, str) else None
        if known is None:
            raise RefusedFrame(Refusal.UNKNOWN_TYPE, f"the name must be one of {', '.join(MESSAGES)}; got {name!r:.80}")
        values = parts[HEAD:]
        if len(values) != len(known):
            raise RefusedFrame(Refusal.MALFORMED, f"{name} has {len(known)} fields, got {len(values)}")
        for (one, check), value in zip(known.items(), values, strict=True):
            if not check(value):
                raise RefusedFrame(Refusal.MALFORMED, f"{name}.{one} must be {KINDS[kinds(MESSAGES[name])[one]][0]}")
        return Envelope(_BUILD[name](*values), identity, cause, size)


def _is_integer(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 63


def _is_text(value: Any) -> bool:
    return type(value) is str


def _are_names(value: Any) -> bool:
    return type(value) is tuple


def _is_array(dtype: str, dimensions: int) -> Callable[[Any], bool]:
    wanted = np.dtype(dtype)

    def check(value: Any) -> bool:
        return isinstance(value, np.ndarray) and value.dtype == wanted and value.ndim == dimensions

    return check


KINDS: Final[dict[str, tuple[str, Callable[[Any], bool]]]] = {
    "integer": ("an integer from 0 to 2^63 - 1", _is_integer),
    "text": (f"a string of at most {LONGEST_TEXT} bytes", _is_text),
    "names": ("a list of strings", _are_names),
    "integers": ("an int64 array of one dimension", _is_array("<i8", 1)),
    "vector": ("a float64 array of one dimension", _is_array("<f8", 1)),
    "matrix": ("a float64 array of two dimensions", _is_array("<f8", 2)),
}
"""What a field may be: its description and its check."""

_FIELDS: Final = {
    name: {one: KINDS[kind][1] for one, kind in kinds(message).items()} for name, message in MESSAGES.items()
}
_BUILD: Final[dict[str, Callable[..., Message]]] = dict(MESSAGES)
_LIMITS: Final = {"max_array_len": MOST_PARTS, "max_map_len": 0, "max_bin_len": 0, "max_str_len": LONGEST_TEXT}


def _array_bytes(value: NDArray[Any]) -> bytes:
    """What the wire has of an array; one of another type or rank is our own mistake."""
    if value.dtype not in _CODES or value.ndim not in _HEADERS:
        raise _untravelled(value)
    return _HEADERS[value.ndim].pack(_CODES[value.dtype], value.ndim, *value.shape) + value.tobytes()


def _untravelled(value: Any) -> TypeError:
    travel = "only integers, texts, names and int64 or float64 arrays of 1 or 2 dimensions travel"
    return TypeError(f"{travel}, got {getattr(value, 'dtype', type(value))}")


def _unpack_extension(code: int, data: bytes) -> Any:
    """The array or the names in an extension's bytes; a wrong code, type, rank, length or end is a `ValueError`."""
    if code == NAMES_EXTENSION:
        *names, rest = data.decode().split("\0")
        if rest:
            raise ValueError("the last name has no end")
        return tuple(names)
    header = _HEADERS.get(data[1]) if code == ARRAY_EXTENSION and len(data) > 1 else None
    if header is None:
        raise ValueError("an extension is 1, an array with its type and 1 or 2 dimensions, or 2, names")
    if len(data) < header.size:
        raise ValueError("an array's shape is cut short")
    kind, _, *shape = header.unpack_from(data)
    dtype = _DTYPES.get(kind)
    if dtype is None:
        raise ValueError(f"an array is of type {' or '.join(map(str, _DTYPES))}, got {kind}")
    if len(data) - header.size != dtype.itemsize * math.prod(shape):
        raise ValueError(f"an array of shape {shape} does not have {len(data) - header.size} bytes")
    return np.ndarray(shape, dtype, data, header.size)
