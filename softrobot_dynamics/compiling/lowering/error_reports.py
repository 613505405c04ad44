# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Functions of numba that a C function calls where an exception leaves it, as own functions.

No kernel raises one on purpose, but numba prepares for it wherever one might, as by a slice with a
step of zero. With these in its object, a C function needs nothing of numba when it is loaded.
Python then reports a RuntimeError that it ignores, as it does of any function that C calls.
"""

from typing import Any

from llvmlite import ir

_MESSAGE = b'a compiled function has raised an exception\0'
_POINTER, _INT, _VOID = ir.IntType(8).as_pointer(), ir.IntType(32), ir.VoidType()


def error_reports() -> ir.Module:
    """Return a module that defines them, for whatever it is linked with."""
    module = ir.Module('error_reports')
    state = _INT.as_pointer()

    builder, (place,) = _function(module, 'numba_gil_ensure', _VOID, state)
    builder.store(builder.call(_python(module, 'PyGILState_Ensure', _INT), []), place)
    builder.ret_void()

    builder, (place,) = _function(module, 'numba_gil_release', _VOID, state)
    release = _python(module, 'PyGILState_Release', _VOID, _INT)
    builder.call(release, [builder.load(place)])
    builder.ret_void()

    text = ir.GlobalVariable(module, ir.ArrayType(ir.IntType(8), len(_MESSAGE)), 'error_words')
    text.initializer = ir.Constant(text.type.pointee, bytearray(_MESSAGE))
    text.linkage, text.global_constant = 'private', True
    kind = ir.GlobalVariable(module, ir.IntType(8), 'PyExc_RuntimeError')
    tell = _python(module, 'PyErr_SetString', _VOID, _POINTER, _POINTER)
    for name, arguments in (
        ('numba_unpickle', (_POINTER, _INT, _POINTER)),
        ('numba_runtime_build_excinfo_struct', (_POINTER, _POINTER)),
    ):
        builder, _ = _function(module, name, _POINTER, *arguments)
        builder.call(tell, [kind, builder.bitcast(text, _POINTER)])
        builder.ret(_POINTER(None))

    builder, _ = _function(module, 'numba_do_raise', _INT, _POINTER)
    builder.ret(_INT(0))
    return module


def _function(module: ir.Module, name: str, kind: ir.Type, *arguments: ir.Type) -> tuple[Any, Any]:
    """Return the builder and the arguments of a function that replaces none of the same name."""
    function = ir.Function(module, ir.FunctionType(kind, arguments), name)
    function.linkage = 'linkonce_odr'
    return ir.IRBuilder(function.append_basic_block()), function.args


def _python(module: ir.Module, name: str, kind: ir.Type, *arguments: ir.Type) -> ir.Function:
    """Return a function of Python."""
    return ir.Function(module, ir.FunctionType(kind, arguments), name)
