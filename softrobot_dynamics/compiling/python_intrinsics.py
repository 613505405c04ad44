# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Intrinsics that :mod:`.python_calls` declares, as LLVM code: objects and errors of Python.

The places of fields in objects and arrays are those of the binary interfaces of CPython and numpy,
which extensions of either are compiled with. This is imported, and numba with it, when
something is compiled that uses one of them.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from softrobot_dynamics.compiling.address_intrinsics import array_of

_BIT, _CHAR, _INT, _LONG = map(ir.IntType, (1, 8, 32, 64))
_POINTER, _DOUBLE = _CHAR.as_pointer(), ir.DoubleType()
_OBJECT_SIZE = object.__basicsize__  # [bytes] of every object, of which the last are its type
_TYPE_OFFSET = _OBJECT_SIZE - 8
# of an array
_DATA, _DIMENSIONS, _SHAPE, _DTYPE, _FLAGS = (_OBJECT_SIZE + x for x in (0, 8, 16, 40, 48))
_ORDER, _NUMBER = _OBJECT_SIZE + 10, _OBJECT_SIZE + 12  # of what an array is of
_CONTIGUOUS_ALIGNED, _NPY_DOUBLE = 0x101, 12
_BOXING_FUNCTIONS = {types.float64: 'PyFloat_FromDouble', types.int64: 'PyLong_FromLongLong'}


@intrinsic
def table_of(context, owner):
    """Return the table (.,), an array of integers, that a function belongs to."""
    array = types.Array(types.int64, 1, 'C')

    def generate(context, builder, signature, arguments):
        """Emit the loads of address and length."""
        return _array_object(context, builder, array, arguments[0])

    return array(owner), generate


@intrinsic(prefer_literal=True)
def raise_count(context, expected):
    """Raise a TypeError in Python that as many arguments are expected; return nothing."""
    words = f'expected {expected.literal_value} arguments'

    def generate(context, builder, signature, arguments):
        """Emit the call that raises."""
        _raise_type_error(builder, words)
        return _POINTER(None)

    return types.voidptr(expected), generate


@intrinsic
def vector_of(context, owner, value):
    """Return the array (.,) of a Python object, which is looked at in the order that is safe."""
    array = types.Array(types.float64, 1, 'C')
    words = 'expected a contiguous array of floats, of one dimension'

    def generate(context, builder, signature, arguments):
        """Emit the checks, and the loads of address and length."""
        owner, value = arguments
        place = builder.alloca(context.get_value_type(array))
        right = builder.alloca(_BIT)
        builder.store(_BIT(0), right)
        kinds = (_field(builder, x, _TYPE_OFFSET, _POINTER) for x in arguments)
        with builder.if_then(builder.icmp_unsigned('==', *kinds)):  # as the table: it has fields
            numbers = _field(builder, value, _DTYPE, _POINTER)
            flags = builder.and_(_field(builder, value, _FLAGS, _INT), _INT(_CONTIGUOUS_ALIGNED))
            checks = [
                builder.icmp_unsigned('==', found, wanted)
                for found, wanted in (
                    (_field(builder, value, _DIMENSIONS, _INT), _INT(1)),
                    (flags, _INT(_CONTIGUOUS_ALIGNED)),
                    (_field(builder, numbers, _NUMBER, _INT), _INT(_NPY_DOUBLE)),
                    (_field(builder, numbers, _ORDER, _CHAR), _CHAR(ord('='))),
                )
            ]
            with builder.if_then(_all(builder, checks)):
                builder.store(_BIT(1), right)
                builder.store(_array_object(context, builder, array, value), place)
        with builder.if_then(builder.not_(builder.load(right)), likely=False):
            _raise_type_error(builder, words)
        return builder.load(place)

    return array(owner, value), generate


@intrinsic
def float_of(context, value):
    """Return the float of a Python object."""

    def generate(context, builder, signature, arguments):
        """Emit the call."""
        return _call(builder, _DOUBLE, 'PyFloat_AsDouble', *arguments)

    return types.float64(value), generate


@intrinsic
def int_of(context, value):
    """Return the integer of a Python object."""

    def generate(context, builder, signature, arguments):
        """Emit the call."""
        return _call(builder, _LONG, 'PyLong_AsLongLong', *arguments)

    return types.int64(value), generate


@intrinsic
def bool_of(context, value):
    """Tell whether a Python object is true."""

    def generate(context, builder, signature, arguments):
        """Emit the call and the comparison."""
        found = _call(builder, _INT, 'PyObject_IsTrue', *arguments)
        return builder.icmp_signed('>', found, _INT(0))

    return types.boolean(value), generate


@intrinsic
def has_failed(context):
    """Tell whether something was raised in Python."""

    def generate(context, builder, signature, arguments):
        """Emit the call and the comparison."""
        found = _call(builder, _POINTER, 'PyErr_Occurred')
        return builder.icmp_unsigned('!=', found, _POINTER(None))

    return types.boolean(), generate


@intrinsic
def nothing(context):
    """Return a pointer to nothing."""

    def generate(context, builder, signature, arguments):
        """Emit the pointer."""
        return _POINTER(None)

    return types.voidptr(), generate


@intrinsic
def release(context):
    """Let other threads run Python."""

    def generate(context, builder, signature, arguments):
        """Emit the call."""
        return _call(builder, _POINTER, 'PyEval_SaveThread')

    return types.voidptr(), generate


@intrinsic
def resume(context, thread):
    """Wait until this thread may run Python again."""

    def generate(context, builder, signature, arguments):
        """Emit the call."""
        _call(builder, ir.VoidType(), 'PyEval_RestoreThread', *arguments)
        return context.get_dummy_value()

    return types.void(thread), generate


@intrinsic
def object_of(context, value):
    """Return the Python object of a float, an integer, a truth value, or None."""

    def generate(context, builder, signature, arguments):
        """Emit the call."""
        if value == types.none:
            none = _symbol(builder, '_Py_NoneStruct')
            _call(builder, ir.VoidType(), 'Py_IncRef', none)
            return none
        if value == types.boolean:
            return _call(builder, _POINTER, 'PyBool_FromLong', builder.zext(arguments[0], _LONG))
        return _call(builder, _POINTER, _BOXING_FUNCTIONS[value], *arguments)

    return types.voidptr(value), generate


def _array_object(context: Any, builder: Any, array: Any, value: Any) -> Any:
    """Return the array (.,) that a Python object is."""
    pointer = context.get_data_type(array.dtype).as_pointer()
    length = builder.load(_field(builder, value, _SHAPE, _LONG.as_pointer()))
    return array_of(context, builder, array, _field(builder, value, _DATA, pointer), [length])


def _field(builder: Any, value: Any, place: int, kind: ir.Type) -> Any:
    """Load a field of an object at an offset [bytes]."""
    return builder.load(builder.bitcast(builder.gep(value, [_LONG(place)]), kind.as_pointer()))


def _all(builder: Any, checks: list[Any]) -> Any:
    good = checks[0]
    for check in checks[1:]:
        good = builder.and_(good, check)
    return good


def _raise_type_error(builder: Any, words: str) -> None:
    text = ir.Constant(ir.ArrayType(_CHAR, len(words) + 1), bytearray(words.encode() + b'\0'))
    place = ir.GlobalVariable(builder.module, text.type, builder.module.get_unique_name('words'))
    place.initializer, place.global_constant, place.linkage = text, True, 'private'
    kind = _symbol(builder, 'PyExc_TypeError')  # numba tells LLVM that this is the class
    _call(builder, ir.VoidType(), 'PyErr_SetString', kind, builder.bitcast(place, _POINTER))


def _symbol(builder: Any, name: str) -> Any:
    """Return the address of one of Python's variables."""
    known = builder.module.globals
    return known[name] if name in known else ir.GlobalVariable(builder.module, _CHAR, name)


def _call(builder: Any, kind: ir.Type, name: str, *arguments: Any) -> Any:
    """Call one of Python's functions."""
    known, types_of = builder.module.globals, [argument.type for argument in arguments]
    if name not in known:
        ir.Function(builder.module, ir.FunctionType(kind, types_of), name)
    return builder.call(known[name], arguments)
