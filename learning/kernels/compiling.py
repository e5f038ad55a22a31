"""How a loop is compiled: once for each machine, kept on disk, free of the interpreter's lock.

A loop owns no arrays, it is given all that it needs: then numba counts no references, which would cost more than the
arithmetic of a short list.

The arithmetic stays as written: nothing is reordered, and only what says `fma` is fused, so that a result has the same
bits wherever it is computed. Loops whose iterations are independent are still turned into vector instructions.

To decide whether machine code on disk is still right, numba looks at the file of the loop itself and not at those of
the loops which that one calls. So ours is kept in a directory named after the contents of all sources that have loops:
what any other version of them has made is never loaded.
"""

import os
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar, cast

from llvmlite import ir
from numba import config, njit, types
from numba.extending import intrinsic
from platformdirs import user_cache_path

__all__ = ["bits_of", "code_directory", "compiled", "fma", "instruction", "multiply_high", "real_of"]

Loop = TypeVar("Loop", bound=Callable[..., Any])

_NUMBA: Any = config  # its settings are not annotated
_NJIT: Any = njit  # nor is _nrt
_SETTINGS = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "forceinline": True,  # an array is seven arguments to a call, and short lists make many calls
    "_nrt": False,  # no reference counts
}


def compiled(loop: Loop) -> Loop:
    """The loop as machine code; a division by zero gives what IEEE says, as in NumPy."""
    before = _NUMBA.CACHE_DIR
    _NUMBA.CACHE_DIR = str(code_directory())  # numba reads it when a loop is declared
    try:
        return cast("Loop", _NJIT(**_SETTINGS)(loop))
    finally:
        _NUMBA.CACHE_DIR = before


def instruction(definition: Callable[..., Any]) -> Callable[..., Any]:
    """A function of compiled code that is a few LLVM instructions; numba converts what it is given to its signature."""
    return cast("Callable[..., Any]", intrinsic(definition))


@cache
def code_directory() -> Path:
    """Where machine code is kept: beside the sources, or in the user's cache if that cannot be written."""
    package = Path(__file__).parent.parent
    sources = (source.read_bytes() for source in sorted(package.rglob("*.py")))
    digest = blake2b(
        b"".join(text for text in sources if b"@compiled" in text or b"@instruction" in text), digest_size=8
    )
    home = package / "__pycache__" if os.access(package, os.W_OK) else user_cache_path("foltr")
    return Path(_NUMBA.CACHE_DIR or home) / f"loops-{digest.hexdigest()}"


@instruction
def fma(typing: Any, x: Any, y: Any, z: Any) -> Any:  # noqa: ARG001 (numba gives the types of the arguments)
    """x·y + z of float64, rounded once."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), build


@instruction
def multiply_high(typing: Any, x: Any, y: Any) -> Any:  # noqa: ARG001 (numba gives the types of the arguments)
    """The upper 64 bits of the 128-bit product of two uint64."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        x, y = (builder.zext(value, wide) for value in arguments)
        return builder.trunc(builder.lshr(builder.mul(x, y), ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), build


@instruction
def bits_of(typing: Any, x: Any) -> Any:  # noqa: ARG001 (numba gives the types of the arguments)
    """The 64 bits of a float64 as an int64."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), build


@instruction
def real_of(typing: Any, bits: Any) -> Any:  # noqa: ARG001 (numba gives the types of the arguments)
    """The float64 that has these 64 bits."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), build
