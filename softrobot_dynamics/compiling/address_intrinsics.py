# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Intrinsics that :mod:`.addresses` declares, as LLVM code: calls and arrays by address.

This is imported, and numba with it, when something is compiled that uses one of them.
"""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

UNKNOWN_LENGTH = 2**40  # [numbers] of arrays of which only the beginning is known


@intrinsic
def call(context, address, *arrays):
    """
    Call the C function at an ``address``, an integer, with pointers to where ``arrays`` begin.

    The function returns nothing and takes as many pointers.
    """
    known = types.float64, types.int64
    if not all(
        isinstance(a, types.Array) and a.layout == 'C' and a.dtype in known for a in arrays
    ):
        return None  # numba then says that there is no such call
    own = types.StarArgTuple(arrays)

    def generate(context, builder, signature, arguments):
        """Emit the call."""
        address = arguments[0]
        values = [builder.extract_value(arguments[1], i) for i in range(len(arrays))]
        pointers = [
            context.make_array(array)(context, builder, value).data
            for array, value in zip(own, values)
        ]
        function = ir.FunctionType(ir.VoidType(), [pointer.type for pointer in pointers])
        builder.call(builder.inttoptr(address, function.as_pointer()), pointers)
        return context.get_dummy_value()

    return types.void(address, own), generate


@intrinsic
def array_at(context, pointer):
    """Return the array (UNKNOWN_LENGTH,) that begins at a pointer."""
    array = types.Array(pointer.dtype, 1, 'C')

    def generate(context, builder, signature, arguments):
        """Emit the array."""
        shape = [context.get_constant(types.intp, UNKNOWN_LENGTH)]
        return array_of(context, builder, array, arguments[0], shape)

    return array(pointer), generate


@intrinsic
def matrix_at(context, array, rows, columns):
    """Return the array (rows, columns) of the first numbers of a contiguous one."""
    if not isinstance(array, types.Array) or array.layout != 'C':
        return None
    matrix = types.Array(array.dtype, 2, 'C', readonly=not array.mutable)

    def generate(context, builder, signature, arguments):
        """Emit the matrix."""
        data = context.make_array(array)(context, builder, arguments[0]).data
        return array_of(context, builder, matrix, data, arguments[1:])

    return matrix(array, types.intp, types.intp), generate


@intrinsic(prefer_literal=True)
def bound_array(context, table, index, dtype, dimensions):
    """Return the array, contiguous, of which table[index] and on hold the address and shape."""
    array = types.Array(dtype.dtype, dimensions.literal_value, 'C')

    def generate(context, builder, signature, arguments):
        """Emit the loads of address and shape."""
        entries = context.make_array(table)(context, builder, arguments[0]).data
        address, *shape = (
            builder.load(builder.gep(entries, [context.get_constant(types.intp, i)]))
            for i in range(index.literal_value, index.literal_value + 1 + array.ndim)
        )
        pointer = context.get_data_type(array.dtype).as_pointer()
        return array_of(context, builder, array, builder.inttoptr(address, pointer), shape)

    return array(table, index, dtype, dimensions), generate


@intrinsic(prefer_literal=True)
def bound_float(context, table, index):
    """Return the float of which table[index] holds the bits."""

    def generate(context, builder, signature, arguments):
        """Emit the load of the bits."""
        entries = context.make_array(table)(context, builder, arguments[0]).data
        place = builder.gep(entries, [context.get_constant(types.intp, index.literal_value)])
        return builder.bitcast(builder.load(place), ir.DoubleType())

    return types.float64(table, index), generate


def array_of(context: Any, builder: Any, array: Any, pointer: Any, shape: Sequence[Any]) -> Any:
    """Return the value of a contiguous array at a pointer, which nobody owns."""
    made = context.make_array(array)(context, builder)
    size = context.get_constant(types.intp, context.get_abi_sizeof(pointer.type.pointee))
    strides = [size]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    made.data, made.itemsize, made.nitems = pointer, size, shape[0]
    for length in shape[1:]:
        made.nitems = builder.mul(made.nitems, length)
    made.shape = _packed(builder, shape)
    made.strides = _packed(builder, strides)
    return made._getvalue()


def _packed(builder: Any, values: Sequence[Any]) -> Any:
    """Return values of one LLVM type as an LLVM array."""
    packed: Any = ir.Constant(ir.ArrayType(values[0].type, len(values)), ir.Undefined)
    for i, value in enumerate(values):
        packed = builder.insert_value(packed, value, i)
    return packed
