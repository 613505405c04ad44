# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
C functions that Python calls as its own built-in ones: kept as objects, loaded without numba.

Such a function has the calling convention METH_FASTCALL: it takes the object that it belongs to,
here the table of what it was given, and an array of the objects that it is called with. It refuses
others than it was compiled for by a TypeError, and lets other threads run while it computes.
"""

from collections.abc import Callable
import ctypes
from typing import Any

from softrobot_dynamics.annotations import Integers
from softrobot_dynamics.compiling.jit import intrinsic

_METH_FASTCALL = 0x80  # flag of CPython's calling convention


class _Definition(ctypes.Structure):
    """A PyMethodDef."""

    _fields_ = (
        ('name', ctypes.c_char_p),
        ('address', ctypes.c_void_p),
        ('flags', ctypes.c_int),
        ('words', ctypes.c_char_p),
    )


_definitions: dict[tuple[str, int], _Definition] = {}  # they last as long as the process
_make = ctypes.pythonapi.PyCFunction_NewEx
_make.restype = ctypes.py_object
_make.argtypes = ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p


def python_function(name: str, address: int, table: Integers) -> Callable[..., Any]:
    """Return the function at an address, for Python; its ``__self__`` is the table."""
    key = name, int(address)
    if key not in _definitions:
        _definitions[key] = _Definition(name.encode(), address, _METH_FASTCALL, None)
    made: Callable[..., Any] = _make(ctypes.addressof(_definitions[key]), table, None)
    return made


@intrinsic
def table_of(owner):
    """Return the table (.,), an array of integers, that a function belongs to."""


@intrinsic
def raise_count(expected):
    """Raise a TypeError in Python that as many arguments are expected; return nothing."""


@intrinsic
def vector_of(owner, value):
    """Return the array (.,) of a Python object; any other object raises a TypeError there."""


@intrinsic
def float_of(value):
    """Return the float of a Python object; if it has none a TypeError is raised there."""


@intrinsic
def int_of(value):
    """Return the integer of a Python object; if it is none a TypeError is raised there."""


@intrinsic
def bool_of(value):
    """Tell whether a Python object is true."""


@intrinsic
def has_failed():
    """Tell whether something was raised in Python."""


@intrinsic
def nothing():
    """Return a pointer to nothing, which tells Python that something was raised."""


@intrinsic
def release():
    """Let other threads run Python; return what :func:`resume` takes."""


@intrinsic
def resume(thread):
    """Wait until this thread may run Python again."""


@intrinsic
def object_of(value):
    """Return the Python object of a float, an integer, a truth value, or None."""
