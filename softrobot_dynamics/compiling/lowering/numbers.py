# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
LLVM code for operations on numbers, as numba emits it, without looking for its implementation.

Each function returns an LLVM value, or None for what is left to numba.
"""

import operator
from typing import Any

from llvmlite import ir
from numba import types

_ARITHMETIC = {
    operator.add: 'add', operator.iadd: 'add', operator.sub: 'sub', operator.isub: 'sub',
    operator.mul: 'mul', operator.imul: 'mul',
}  # fmt: skip
_DIVISIONS = {operator.truediv, operator.itruediv}
_COMPARISONS = {
    operator.lt: '<', operator.le: '<=', operator.gt: '>', operator.ge: '>=', operator.eq: '==',
    operator.ne: '!=',
}  # fmt: skip
_LITERAL_BITS = 64  # of the integers whose literals become constants


def operation(context: Any, builder: Any, function: Any, signature: Any, a: Any, b: Any) -> Any:
    """Return the value of an operator on two numbers of the same type, those of a signature."""
    kind, other = signature.args
    if kind != other:
        return None
    if isinstance(kind, types.Float):
        return _of_floats(context, builder, function, a, b)
    if isinstance(kind, types.Integer) and not isinstance(kind, types.Literal):
        return _of_integers(builder, function, kind, signature.return_type, a, b)
    return None


def _of_floats(context: Any, builder: Any, function: Any, a: Any, b: Any) -> Any:
    if function in _ARITHMETIC:
        return getattr(builder, 'f' + _ARITHMETIC[function])(a, b)
    if function in _DIVISIONS and not context.error_model.raise_on_fp_zero_division:
        return builder.fdiv(a, b)
    if function in _COMPARISONS:
        ordered = function is not operator.ne  # NaN differs from all
        compare = builder.fcmp_ordered if ordered else builder.fcmp_unordered
        return compare(_COMPARISONS[function], a, b)
    return None


def _of_integers(builder: Any, function: Any, kind: Any, result: Any, a: Any, b: Any) -> Any:
    if function in _ARITHMETIC and result == kind:
        flags = ['nsw'] if kind.signed else []  # as numba: an index i + 1 of i > 0 is > 0
        return getattr(builder, _ARITHMETIC[function])(a, b, flags=flags)
    if function in _COMPARISONS:
        compare = builder.icmp_signed if kind.signed else builder.icmp_unsigned
        return compare(_COMPARISONS[function], a, b)
    return None


def conversion(context: Any, builder: Any, value: Any, kind: Any, wanted: Any) -> Any:
    """Convert a number from one type to another; other values are converted by numba."""
    if kind == wanted:
        return value
    if isinstance(kind, types.IntegerLiteral):
        if isinstance(wanted, types.Float):
            return ir.Constant(context.get_value_type(wanted), float(kind.literal_value))
        if isinstance(wanted, types.Integer) and wanted.bitwidth == _LITERAL_BITS:
            return ir.Constant(context.get_value_type(wanted), kind.literal_value)
        return context.cast(builder, value, kind, wanted)
    if not isinstance(kind, types.Integer) or isinstance(kind, types.Literal):
        return context.cast(builder, value, kind, wanted)
    if isinstance(wanted, types.Integer) and wanted.bitwidth >= kind.bitwidth:
        if wanted.bitwidth == kind.bitwidth:
            return value
        extend = builder.sext if kind.signed else builder.zext
        return extend(value, context.get_value_type(wanted))
    if isinstance(wanted, types.Float):
        convert = builder.sitofp if kind.signed else builder.uitofp
        return convert(value, context.get_value_type(wanted))
    return context.cast(builder, value, kind, wanted)
