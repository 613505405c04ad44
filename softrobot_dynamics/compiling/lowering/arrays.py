# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
LLVM code for entries and views of arrays, as numba emits it, but without memory for their parts.

Indices count from the end if they are negative, and slices end where the array does; entries are
not checked to be within it, as in numba. An array is an LLVM structure, whose fields have the
places below; arrays of numbers are supported, and indices that are integers or slices without a
step.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from softrobot_dynamics.compiling.lowering.internals import cgutils
from softrobot_dynamics.compiling.lowering.numbers import conversion

PARENTS, ITEM_COUNT, ITEM_SIZE, DATA, SHAPE, STRIDES = (0, 1), 2, 3, 4, 5, 6
START, STOP = 0, 1  # places of the fields of a slice
_MAX_INDEX = 2**63 - 1  # end of a slice without one
_INDEX = ir.IntType(64)
_ZERO = _INDEX(0)


class Index(NamedTuple):
    """An integer index: an LLVM value, and whether it may be negative."""

    value: Any
    signed: bool


class Slice(NamedTuple):
    """A slice without a step: LLVM values of where it begins and ends."""

    start: Any
    stop: Any


def is_supported(array: Any) -> bool:
    """Tell whether a type is that of an array of numbers, aligned and of one dimension or more."""
    number = isinstance(array, types.Array) and isinstance(
        array.dtype, (types.Float, types.Integer)
    )
    return bool(number and array.aligned and array.ndim and array.layout in 'CA')


def indices_of(context: Any, builder: Any, kind: Any, value: Any) -> list[Index | Slice] | None:
    """Return the indices that a value of a type stands for; None if one is not supported."""
    if not isinstance(kind, types.BaseTuple):
        found = [_index_of(context, builder, kind, value)]
    else:
        found = [
            _index_of(context, builder, each, builder.extract_value(value, i))
            for i, each in enumerate(kind.types)
        ]
    return None if None in found else found  # type: ignore[return-value]  # no None is left


def _index_of(context: Any, builder: Any, kind: Any, value: Any) -> Index | Slice | None:
    if isinstance(kind, types.IntegerLiteral):
        return constant_index(kind.literal_value)
    if isinstance(kind, types.Integer):
        wide = types.intp if kind.signed else types.uintp
        return Index(conversion(context, builder, value, kind, wide), kind.signed)
    if isinstance(kind, types.SliceLiteral):
        return constant_index(kind.literal_value)
    if isinstance(kind, types.SliceType) and not kind.has_step:
        return Slice(*(builder.extract_value(value, place) for place in (START, STOP)))
    return None


def constant_index(index: Any) -> Index | Slice | None:
    """Return an index that is known when code is compiled; None if it is not supported."""
    if isinstance(index, int):
        return Index(_INDEX(index), True)
    if isinstance(index, slice) and index.step is None:
        return slice_of(*(x if x is None else _INDEX(x) for x in (index.start, index.stop)))
    return None


def slice_of(start: Any, stop: Any) -> Slice:
    """Return the slice between two LLVM values; None stands for the beginning or the end."""
    return Slice(_ZERO if start is None else start, _INDEX(_MAX_INDEX) if stop is None else stop)


def entry(builder: Any, kind: Any, array: Any, indices: Sequence[Index | Slice]) -> Any:
    """Return a pointer to the entry of an array that integers select, one for each axis."""
    first = [
        _from_start(builder, index, _size(builder, array, i)) for i, index in enumerate(indices)
    ]
    return _pointer(builder, kind, array, first)


def view(
    context: Any,
    builder: Any,
    kind: Any,
    array: Any,
    indices: Sequence[Index | Slice],
    wanted: Any,
) -> Any:
    """Return the part of an array that indices select, as an array of a type."""
    sizes = [_size(builder, array, i) for i in range(kind.ndim)]
    steps = [builder.extract_value(array, (STRIDES, i)) for i in range(kind.ndim)]
    first, shape, strides = [], [], []
    for index, size, step in zip(indices, sizes, steps):
        if isinstance(index, Slice):
            start, length = _bounds(builder, index, size)
            first.append(start)
            shape.append(length)
            strides.append(step)
        else:
            first.append(_from_start(builder, index, size))
    pointer, count = _pointer(builder, kind, array, first), len(indices)
    fields = [(place, builder.extract_value(array, place)) for place in (*PARENTS, ITEM_SIZE)]
    shape, strides = shape + sizes[count:], strides + steps[count:]
    return structure(context, builder, wanted, fields, pointer, shape, strides)


def _size(builder: Any, array: Any, axis: int) -> Any:
    return builder.extract_value(array, (SHAPE, axis))


def _pointer(builder: Any, kind: Any, array: Any, first: Sequence[Any]) -> Any:
    """Return a pointer to an entry of an array, by indices that count from the start."""
    data = builder.extract_value(array, DATA)
    if kind.layout == 'C':
        sizes = [_size(builder, array, i) for i in range(kind.ndim)] if kind.ndim > 1 else []
        return builder.gep(data, [_offset(builder, first, sizes)])
    steps = (builder.extract_value(array, (STRIDES, i)) for i in range(len(first)))
    return cgutils.pointer_add(builder, data, _displacement(builder, first, steps))


def _from_start(builder: Any, index: Any, size: Any) -> Any:
    """Return an index, or the value of one that may be negative, counted from the start."""
    if isinstance(index, Index):
        if not index.signed:
            return index.value
        index = index.value
    if isinstance(index, ir.Constant):
        return index if index.constant >= 0 else builder.add(index, size)
    negative = builder.icmp_signed('<', index, _ZERO)
    return builder.select(negative, builder.add(index, size), index)


def _bounds(builder: Any, index: Slice, size: Any) -> tuple[Any, Any]:
    """Return where a slice of an axis begins, and its length."""
    start, stop = (_clamped(builder, each, size) for each in index)
    length = stop if _is(start, 0) else builder.sub(stop, start)
    empty = builder.icmp_signed('<=', length, _ZERO)
    return start, builder.select(empty, _ZERO, length)


def _clamped(builder: Any, bound: Any, size: Any) -> Any:
    """Return a bound of a slice within 0 and the size of the axis."""
    if _is(bound, 0):
        return bound
    if _is(bound, _MAX_INDEX):
        return size
    bound = _from_start(builder, bound, size)
    within = builder.select(builder.icmp_signed('<', bound, _ZERO), _ZERO, bound)
    return builder.select(builder.icmp_signed('>=', bound, size), size, within)


def _is(value: Any, number: int) -> bool:
    return isinstance(value, ir.Constant) and value.constant == number


def _offset(builder: Any, first: Sequence[Any], sizes: Sequence[Any]) -> Any:
    """Return the place of an entry of a contiguous array, counted in entries."""
    place = None
    for i, index in enumerate(first):
        for size in sizes[i + 1 :]:
            index = builder.mul(index, size)
        place = index if place is None else builder.add(place, index)
    return place


def _displacement(builder: Any, first: Sequence[Any], steps: Iterable[Any]) -> Any:
    """Return the place of an entry of an array, counted in bytes."""
    place = None
    for index, step in zip(first, steps):
        distance = builder.mul(step, index)
        place = distance if place is None else builder.add(place, distance)
    return place


def structure(
    context: Any,
    builder: Any,
    kind: Any,
    fields: Sequence[tuple[int, Any]],
    pointer: Any,
    shape: Sequence[Any],
    strides: Sequence[Any],
) -> Any:
    """Return the LLVM structure of an array; ``fields`` are its parents and the size of items."""
    count = shape[0]
    for size in shape[1:]:
        count = builder.mul(count, size, flags=['nsw'])
    own = (
        (ITEM_COUNT, count),
        (DATA, pointer),
        (SHAPE, packed(builder, shape)),
        (STRIDES, packed(builder, strides)),
    )
    made: Any = ir.Constant(context.get_value_type(kind), ir.Undefined)
    for place, value in (*fields, *own):
        made = builder.insert_value(made, value, place)
    return made


def packed(builder: Any, values: Sequence[Any]) -> Any:
    """Return values of one LLVM type as an LLVM array."""
    made: Any = ir.Constant(ir.ArrayType(values[0].type, len(values)), ir.Undefined)
    for i, value in enumerate(values):
        made = builder.insert_value(made, value, i)
    return made
