"""How a loop is compiled: once for each machine, kept on disk, free of the interpreter's lock.

The arithmetic stays as written: nothing is reordered, and only what says `fma` is fused, so that a result has the same
bits wherever it is computed. Loops whose iterations are independent are still turned into vector instructions.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

__all__ = ["bits_of", "compiled", "fma", "multiply_high", "real_of"]

Loop = TypeVar("Loop", bound=Callable[..., Any])


def compiled(loop: Loop) -> Loop:
    """The loop as machine code; a division by zero gives what IEEE says, as in NumPy."""
    return cast("Loop", njit(cache=True, nogil=True, error_model="numpy")(loop))


def _instruction(definition: Callable[..., Any]) -> Callable[..., Any]:
    """A function of compiled code that is a few LLVM instructions; numba converts what it is given to its signature."""
    return cast("Callable[..., Any]", intrinsic(definition))


@_instruction
def fma(typing: Any, x: Any, y: Any, z: Any) -> Any:  # noqa: ARG001 (numba gives the types of the arguments)
    """x·y + z of float64, rounded once."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), build


@_instruction
def multiply_high(typing: Any, x: Any, y: Any) -> Any:  # noqa: ARG001 (numba gives the types of the arguments)
    """The upper 64 bits of the 128-bit product of two uint64."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        x, y = (builder.zext(value, wide) for value in arguments)
        return builder.trunc(builder.lshr(builder.mul(x, y), ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), build


@_instruction
def bits_of(typing: Any, x: Any) -> Any:  # noqa: ARG001 (numba gives the types of the arguments)
    """The 64 bits of a float64 as an int64."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), build


@_instruction
def real_of(typing: Any, bits: Any) -> Any:  # noqa: ARG001 (numba gives the types of the arguments)
    """The float64 that has these 64 bits."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), build
