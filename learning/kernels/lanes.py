"""Eight float64 side by side, for loops whose sums must be vector instructions and must keep their bits.

A compiler may turn a sum into vector instructions only if it may reorder it, and then the bits depend on the machine.
Here the order is written down: eight interleaved partial sums, which `total` adds in a fixed tree. Every machine has
these operations; one with narrower registers does them in pieces. Arrays are contiguous float32 or float64; nothing is
assumed about their alignment, and what is read is always made float64.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import models, register_model

from learning.kernels.compiling import instruction

__all__ = ["LANES", "add_product", "fetch_line", "load", "load_first", "spread", "store", "store_first", "total"]

LANES = 8

_BIT, _INT32, _INT64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_SIZE = {types.float32: 4, types.float64: 8}  # bytes of an element, which is the alignment that can be relied on
_SUFFIX = {types.float32: "v8f32.p0", types.float64: "v8f64.p0"}  # of LLVM's names


class _LanesType(types.Type):
    """The type of eight float64 side by side, known to compiled code only."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):
    """How LLVM sees it."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)  # type: ignore[no-untyped-call]  # numba has no annotations


_LANES = _LanesType()


@instruction
def spread(typing: Any, value: Any) -> Any:  # noqa: ARG001 (numba gives the types of the arguments)
    """The number in every lane."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return _spread(builder, arguments[0])

    return _LANES(types.float64), build


@instruction
def add_product(typing: Any, x: Any, y: Any, z: Any) -> Any:  # noqa: ARG001 (numba gives the types of the arguments)
    """x·y + z in every lane, rounded once."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        shape = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
        return builder.call(_function(builder, shape, "llvm.fma.v8f64"), arguments)

    return _LANES(_LANES, _LANES, _LANES), build


@instruction
def total(typing: Any, x: Any) -> Any:  # noqa: ARG001 (numba gives the types of the arguments)
    """The sum of the lanes, ((x0 + x4) + (x2 + x6)) + ((x1 + x5) + (x3 + x7))."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        (vector,) = arguments
        for half in (4, 2, 1):
            lower, upper = (
                builder.shuffle_vector(
                    vector, vector, ir.Constant(ir.VectorType(_INT32, half), list(range(at, at + half)))
                )
                for at in (0, half)
            )
            vector = builder.fadd(lower, upper)
        return builder.extract_element(vector, ir.Constant(_INT32, 0))

    return types.float64(_LANES), build


@instruction
def load(typing: Any, array: Any, first: Any) -> Any:  # noqa: ARG001 (numba gives the types of the arguments)
    """array[first … first + 7]."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        pointer, vector = _vector_at(context, builder, kind, *arguments)
        return _widened(builder, builder.load(pointer, align=_SIZE[kind.dtype], typ=vector))

    return _LANES(array, types.int64), build


@instruction
def load_first(typing: Any, array: Any, first: Any, count: Any) -> Any:  # noqa: ARG001 (numba gives the types)
    """array[first … first + count − 1] in the first lanes and 0 in the others; no more is read."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        array, first, count = arguments
        pointer, vector = _vector_at(context, builder, kind, array, first)
        mask = _first_lanes(builder, count)
        alignment, zeros = ir.Constant(_INT32, _SIZE[kind.dtype]), ir.Constant(vector, None)
        shape = ir.FunctionType(vector, [pointer.type, _INT32, mask.type, vector])
        function = _function(builder, shape, f"llvm.masked.load.{_SUFFIX[kind.dtype]}")
        return _widened(builder, builder.call(function, [pointer, alignment, mask, zeros]))

    return _LANES(array, types.int64, types.int64), build


@instruction
def store(typing: Any, array: Any, first: Any, x: Any) -> Any:  # noqa: ARG001 (numba gives the types of the arguments)
    """Set array[first … first + 7], float64, to the lanes."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, first, x = arguments
        pointer, _ = _vector_at(context, builder, signature.args[0], array, first)
        builder.store(x, pointer, align=_SIZE[types.float64])
        return context.get_dummy_value()

    return types.void(array, types.int64, _LANES), build


@instruction
def store_first(typing: Any, array: Any, first: Any, count: Any, x: Any) -> Any:  # noqa: ARG001 (numba gives the types)
    """Set array[first … first + count − 1], float64, to the first lanes; no more is written."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, first, count, x = arguments
        pointer, vector = _vector_at(context, builder, signature.args[0], array, first)
        mask = _first_lanes(builder, count)
        shape = ir.FunctionType(ir.VoidType(), [vector, pointer.type, _INT32, mask.type])
        function = _function(builder, shape, "llvm.masked.store.v8f64.p0")
        builder.call(function, [x, pointer, ir.Constant(_INT32, _SIZE[types.float64]), mask])
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64, _LANES), build


@instruction
def fetch_line(typing: Any, array: Any, first: Any) -> Any:  # noqa: ARG001 (numba gives the types of the arguments)
    """Ask for the cache line of array[first], which will be read soon; changes nothing but the time that takes."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer, _ = _vector_at(context, builder, signature.args[0], *arguments)
        shape = ir.FunctionType(ir.VoidType(), [pointer.type, _INT32, _INT32, _INT32])
        function = _function(builder, shape, "llvm.prefetch.p0")
        to_read, second_level, data = (ir.Constant(_INT32, value) for value in (0, 2, 1))
        builder.call(function, [pointer, to_read, second_level, data])
        return context.get_dummy_value()

    return types.void(array, types.int64), build


def _vector_at(context: Any, builder: Any, kind: Any, array: Any, first: Any) -> tuple[Any, Any]:
    """A pointer to array[first] and the type of the eight elements there."""
    data = context.make_array(kind)(context, builder, array).data
    vector = ir.VectorType(context.get_data_type(kind.dtype), LANES)
    return builder.bitcast(builder.gep(data, [first], inbounds=True), vector.as_pointer()), vector


def _function(builder: Any, shape: Any, name: str) -> Any:
    """LLVM's function of that name, declared once in a module."""
    known = builder.module.globals.get(name)
    return ir.Function(builder.module, shape, name) if known is None else known


def _spread(builder: Any, value: Any) -> Any:
    first = builder.insert_element(
        ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined), value, ir.Constant(_INT32, 0)
    )
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(_INT32, LANES), [0] * LANES))


def _first_lanes(builder: Any, count: Any) -> Any:
    numbers = ir.Constant(ir.VectorType(_INT64, LANES), list(range(LANES)))
    return builder.icmp_signed("<", numbers, _spread(builder, count))


def _widened(builder: Any, vector: Any) -> Any:
    return vector if vector.type == _VECTOR else builder.fpext(vector, _VECTOR)
