# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Compiled functions with their machine code kept across processes: for Python, and by address.

Their source is emitted once more into a module of its own, which the cache keeps. Arguments that
never change may be given once, by a table of numbers and addresses: a call then passes one
argument for all of them, where numba would look at every field of every NamedTuple.
"""

import ast
from collections.abc import Callable, Iterator
import functools
import inspect
import itertools
import sys
import textwrap
from types import FunctionType
from typing import Any

import numpy as np
from softrobot_dynamics.annotations import Integers
from softrobot_dynamics.compiling.addresses import Entry
from softrobot_dynamics.compiling.cache import import_line, load_module, StandIn
from softrobot_dynamics.compiling.jit import Compiled
from softrobot_dynamics.compiling.python_calls import python_function
from softrobot_dynamics.errors import ArgumentError


def cached(function: Compiled[..., Any], types: str = '', /, **given: Any) -> Callable[..., Any]:
    """
    Return a kernel for Python: a callable of the arguments that are not ``given``.

    Given may be floats, integers, contiguous arrays, and NamedTuples of such. The numbers in
    arrays may change afterwards. It is compiled when it is first called, or here and now if the
    ``types`` of the other arguments are told, as 'VECTOR, float64, boolean'; it is then kept
    without numba (:mod:`.python_calls`), and raises TypeError if it is called with others. Raises
    ArgumentError.
    """
    program = _emitted(function, _kinds(given), False, types)
    if types:
        if isinstance(program, StandIn):
            return program
        return python_function(function.__name__, program.address, _table(given))
    return functools.partial(program, _table(given)) if given else program


def bound_arguments(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the bound arguments, by name, of a kernel that :func:`cached` returned; {}: none."""
    bound = getattr(function, 'args', ()) or (getattr(function, '__self__', None),)
    table = bound[0]
    while isinstance(table, (np.ndarray, memoryview)):
        table = table.base if isinstance(table, np.ndarray) else table.obj
    return table.given if isinstance(table, _Keeper) else {}


def entry(function: Compiled[..., Any], /, **given: Any) -> Entry:
    """
    Return the :class:`Entry` of a kernel whose arguments that are not ``given`` are arrays (.,).

    The kernel does not know the lengths of these.
    """
    return Entry(_emitted(function, _kinds(given), True).address, _table(given))


def address(module: str, function: str, arguments: str) -> int:
    """
    Return the address of the C function for a kernel found by its import path.

    ``arguments`` names those of the kernel in a text, all arrays (.,) of floats. Its source is
    compiled with our own options, whatever it was decorated with. Raises ArgumentError if its
    arguments are others.
    """
    found = getattr(sys.modules[module], function)
    names = _parameters(found.py_func)
    if ', '.join(names) != arguments:
        raise ArgumentError(f'{module}.{function}', list(names), f'a kernel of {arguments}')
    return _emitted(found, (), True).address


@functools.cache
def _parameters(function: FunctionType) -> tuple[str, ...]:
    """Return the names of a function's parameters."""
    return tuple(inspect.signature(function).parameters)


def _emitted(
    function: Compiled[..., Any], kinds: tuple[Any, ...], by_address: bool, types: str = ''
) -> Any:
    """Return the emitted function; it takes the table first, if anything is given."""
    name = function.__name__
    return getattr(load_module(_source(function.py_func, kinds, by_address, types), name), name)


@functools.cache
def _source(function: FunctionType, kinds: tuple[Any, ...], by_address: bool, types: str) -> str:
    """
    Return the source of a function's module.

    It is compiled for Python, as a C function of pointers, or with ``types`` as one for Python.
    """
    label, first = function.__name__, []
    lines = [_import_line(name, value) for name, value in _globals_used(function).items()]
    names = [name for name in _parameters(function) if name not in dict(kinds)]
    head, tail = ['@for_python(**OPTIONS)', f'def {label}(%s):'], []
    if by_address:
        pointers = ['INTEGERS'] * bool(kinds) + ['FLOATS'] * len(names)
        head[0] = f'@by_address(void({", ".join(pointers)}), **OPTIONS)'
        lines = [*lines, _ADDRESSES]
        first = [f'{name} = array_at({name})' for name in ['bound_table'] * bool(kinds) + names]
    if types:
        head = ['@kernel', 'def python_computed(%s):']
        lines = [*lines, _PYTHON_CALLS]
        tail = _call_from_python(label, bool(kinds), types.split(', '))
    if kinds:
        names.insert(0, 'bound_table')
        classes: dict[str, type] = {}
        places = itertools.count()
        first += [f'{name} = {_reading(kind, places, classes)}' for name, kind in kinds]
        lines = [*lines, _ADDRESS_IMPORT]
        lines += [import_line(c.__module__, c.__name__, name) for name, c in classes.items()]
    head = ['', '', head[0], head[1] % ', '.join(names)]
    body = [f'    {line}' for line in first] + _body(function)
    return '\n'.join([_HEADER, *sorted(lines), *head, *body, *tail, ''])


def _call_from_python(label: str, given: bool, types: list[str]) -> list[str]:
    """Return the lines of a function for Python that calls the kernel `python_computed`."""
    reads = [_ARGUMENT_READERS[kind].format(f'arguments[{i}]') for i, kind in enumerate(types)]
    names = [f'argument_{i}' for i in range(len(types))]
    return [
        '',
        '',
        '@by_address(POINTER(POINTER, CPointer(POINTER), int64), **OPTIONS)',
        f'def {label}(owner, arguments, count):',
        f'    if count != {len(types)}:',
        f'        return python_raise_count({len(types)})',
        *(f'    {name} = python_{read}' for name, read in zip(names, reads)),
        '    if python_has_failed():',
        '        return python_nothing()',
        '    thread = python_release()',
        f'    found = python_computed({", ".join(["python_table_of(owner)"] * given + names)})',
        '    python_resume(thread)',
        '    return python_object_of(found)',
    ]


def _body(function: FunctionType) -> list[str]:
    """Return the lines within a function, four spaces deep, comments kept but no docstring."""
    source, definition = _definition(function)
    lines = source.splitlines()
    first, *others = definition.body
    if ast.get_docstring(definition, clean=False) is not None and others:
        return lines[first.end_lineno : definition.end_lineno]
    start = first.lineno - 1
    while lines[start - 1].lstrip().startswith('#'):
        start -= 1
    return lines[start : definition.end_lineno]


def _definition(function: FunctionType) -> tuple[str, Any]:
    """
    Return the source of a function, as inspect.getsource but faster, and its syntax tree.

    There may be comments after it.
    """
    lines, first = inspect.findsource(function)
    depth = len(lines[first]) - len(lines[first].lstrip())
    begin = next(i for i in range(first, len(lines)) if lines[i].lstrip().startswith('def '))
    ends = (
        i
        for i in range(begin + 1, len(lines))
        if lines[i][: depth + 1].strip() and lines[i].lstrip()[0] not in ')#'
    )
    source = textwrap.dedent(''.join(lines[first : next(ends, len(lines))]))
    try:
        return source, ast.parse(source).body[0]
    except SyntaxError:  # a text of several lines, or so, that does not keep to the indentation
        source = textwrap.dedent(inspect.getsource(function))
        return source, ast.parse(source).body[0]


_HEADER = '''\
"""Emitted by softrobot_dynamics; do not edit: it is written anew whenever a source changes."""

import numpy as np

from softrobot_dynamics.compiling.jit import OPTIONS
'''
_ADDRESS_IMPORT = 'from softrobot_dynamics.compiling.addresses import bound_array, bound_float'
_ARGUMENT_READERS = {
    'VECTOR': 'vector_of(owner, {})',
    'float64': 'float_of({})',
    'int64': 'int_of({})',
    'boolean': 'bool_of({})',
}
_PYTHON_CALLS = """\
from numba.types import CPointer, int64, voidptr as POINTER
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.compiling.python_calls import (
    bool_of as python_bool_of,
    float_of as python_float_of,
    has_failed as python_has_failed,
    int_of as python_int_of,
    nothing as python_nothing,
    object_of as python_object_of,
    raise_count as python_raise_count,
    release as python_release,
    resume as python_resume,
    table_of as python_table_of,
    vector_of as python_vector_of,
)"""
_ADDRESSES = """\
from numba.types import CPointer, float64, int64, void
from softrobot_dynamics.compiling.addresses import array_at
FLOATS, INTEGERS = CPointer(float64), CPointer(int64)"""


def _kinds(given: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Return the kinds of arguments that code depends on: ((name, kind), ...)."""
    return tuple((name, _kind(name, value)) for name, value in given.items())


def _kind(name: str, value: Any) -> Any:
    """Return (class, kinds of fields), (data type, dimensions), or the class of a number."""
    if isinstance(value, np.ndarray) and value.flags.c_contiguous:
        return _type_name(value.dtype), value.ndim
    if hasattr(value, '_fields'):
        return type(value), tuple(map(_kind, value._fields, value))
    if not isinstance(value, (int, float)):
        raise ArgumentError(name, value, 'a number, a contiguous array, or a NamedTuple of such')
    return float if isinstance(value, float) else int


@functools.cache
def _type_name(dtype: np.dtype[Any]) -> str:
    """Return the name of a data type, which numpy composes anew whenever it is asked for."""
    return dtype.name


class _Keeper(bytearray):
    """The bytes of a table, and references that keep alive the arrays whose addresses it holds."""

    given: dict[str, Any]


def _table(given: dict[str, Any]) -> Integers:
    """Return the table (.,): of an array the address and the shape, of a float the bits."""
    entries = [x for value in given.values() for x in _entries(value)]
    keeper = _Keeper(np.array(entries, dtype=np.int64).tobytes())
    keeper.given = given
    return np.frombuffer(keeper, dtype=np.int64)


def _entries(value: Any) -> list[Any]:
    """Return the numbers that a given argument has in the table."""
    if isinstance(value, np.ndarray):
        return [value.ctypes.data, *value.shape]
    if hasattr(value, '_fields'):
        return [x for field in value for x in _entries(field)]
    return [np.float64(value).view(np.int64)] if isinstance(value, float) else [value]


def _reading(kind: Any, places: Iterator[int], classes: dict[str, type]) -> str:
    """Return the expression that reads a value of a kind from the table's next places."""
    if kind is int:
        return f'bound_table[{next(places)}]'
    if kind is float:
        return f'bound_float(bound_table, {next(places)})'
    first, second = kind
    if isinstance(first, str):
        place, *_ = [next(places) for _ in range(1 + second)]
        return f'bound_array(bound_table, {place}, np.{first}, {second})'
    name = first.__name__
    while classes.setdefault(name, first) is not first:  # another's
        name += '_'
    return f'{name}({", ".join(_reading(k, places, classes) for k in second)})'


def _globals_used(function: FunctionType) -> dict[str, Any]:
    """Module-level names a function uses, with their values."""
    return {
        name: function.__globals__[name]
        for name in function.__code__.co_names
        if name in function.__globals__
    }


def _import_line(name: str, value: Any) -> str:
    if inspect.ismodule(value):
        return f'import {value.__name__} as {name}'
    if hasattr(value, 'py_func'):
        return import_line(value.py_func.__module__, value.__name__, name)
    if hasattr(value, '__module__'):  # an intrinsic
        return import_line(value.__module__, value.__name__, name)
    # a plain int would become a literal type, and every value of it one more compilation
    return f'{name} = np.int64({value})' if type(value) is int else f'{name} = {value!r}'
