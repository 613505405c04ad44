# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Bind a robot's dispatchers into functions written for any robot.

Functions such as ``recursion.forward(joint_terms, body_terms, robot, ...)`` take the compiled
functions they call as leading arguments, which reads well, but numba cannot cache a caller that
passes functions. So the source of such a function is emitted once more, into a module of its own,
with those arguments gone and the names imported instead; functions it calls likewise.

Arguments that never change may be given once as well. numba looks at the fields of a NamedTuple
anew in every call, which takes 0.15 us each; the emitted function takes them as arguments of its
own, at 0.015 us, and makes the NamedTuple of them.
"""

import ast
import functools
import inspect

from numba.extending import is_jitted
from softrobot_dynamics.kinematics.cache import import_line, load_module
from softrobot_dynamics.kinematics.programs import HEADER

DISPATCHERS = ('joint_terms', 'body_terms', 'lengths')


def bind(dispatch, function, given):
    """
    Return ``function`` compiled with the dispatchers of the module ``dispatch`` bound.

    ``function`` is a kernel whose leading parameters may be among :data:`DISPATCHERS`, passed on
    unchanged to what it calls. The result takes the arguments that are not ``given`` by name.
    """
    if not given:
        return _bind(dispatch, function)
    program = _bind(dispatch, function, tuple((n, _shape(value)) for n, value in given.items()))
    return functools.partial(program, *(x for value in given.values() for x in _leaves(value)))


@functools.cache
def _bind(dispatch, function, shapes=()):
    """Return :func:`bind`'s program; it takes what is given first, NamedTuples field by field."""
    tree = ast.parse(inspect.getsource(function.py_func))
    definition = _Unbound().visit(tree.body[0])
    lines = [
        _import_line(dispatch, name, value)
        for name, value in _globals_used(function.py_func).items()
    ]
    lines += _take_apart(definition, shapes)
    lines += [f'from {dispatch.__name__} import {name}' for name in _bound(function)]
    source = (
        HEADER
        + '\n'.join(sorted(lines))
        + '\n\n\n@njit(cache=CACHE, **OPTIONS)\n'
        + ast.unparse(definition)
        + '\n'
    )
    return getattr(load_module(source, function.__name__), function.__name__)


class _Unbound(ast.NodeTransformer):
    """Takes the dispatchers out of a function's parameters and of the calls it makes."""

    def visit_FunctionDef(self, node):
        node.decorator_list = []
        node.args.args = [arg for arg in node.args.args if arg.arg not in DISPATCHERS]
        return self.generic_visit(node)

    def visit_Call(self, node):
        node.args = [
            arg for arg in node.args if not (isinstance(arg, ast.Name) and arg.id in DISPATCHERS)
        ]
        return self.generic_visit(node)


def cached(function, /, **given):
    """
    Return a kernel that depends on no robot, with its machine code kept across processes.

    The result takes the arguments that are not ``given``.
    """
    return bind(None, function, given)


def _shape(value):
    """Return (class, shapes of the fields) of a NamedTuple, None of anything else."""
    return (type(value), tuple(map(_shape, value))) if hasattr(value, '_fields') else None


def _leaves(value):
    """Yield what is in a NamedTuple, also within its fields, or the value itself."""
    if not hasattr(value, '_fields'):
        yield value
        return
    for field in value:
        yield from _leaves(field)


def _take_apart(definition, shapes):
    """Let a function take arguments of these shapes first, by leaves; return import lines."""
    leaves, classes = [], {}

    def join(name, shape):
        if shape is None:
            leaves.append(name)
            return name
        cls, parts = shape
        classes[cls.__name__] = cls
        fields = [join(f'{name}_{field}', part) for field, part in zip(cls._fields, parts)]
        return f'{cls.__name__}({", ".join(fields)})'

    made = [f'{name} = {join(name, shape)}' for name, shape in shapes]
    others = [arg for arg in definition.args.args if arg.arg not in dict(shapes)]
    definition.args.args = [ast.arg(leaf) for leaf in leaves] + others
    definition.body = ast.parse('\n'.join(made)).body + definition.body
    return [import_line(cls.__module__, name, name) for name, cls in classes.items()]


def _bound(function):
    parameters = inspect.signature(function.py_func).parameters
    return [name for name in DISPATCHERS if name in parameters]


def _globals_used(python_function):
    """Module-level names a function uses, with their values."""
    return {
        name: python_function.__globals__[name]
        for name in python_function.__code__.co_names
        if name in python_function.__globals__
    }


def _import_line(dispatch, name, value):
    if is_jitted(value) and _bound(value):
        return import_line(_bind(dispatch, value).py_func.__module__, value.__name__, name)
    if is_jitted(value):
        return import_line(value.py_func.__module__, value.__name__, name)
    if inspect.ismodule(value):
        return f'import {value.__name__} as {name}'
    # a plain int would become a literal type, and every value of it one more compilation
    return f'{name} = np.int64({value})' if type(value) is int else f'{name} = {value!r}'
