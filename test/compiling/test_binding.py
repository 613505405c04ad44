# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Arguments bound to a compiled program give the same results as a call with all of them."""

import ast
import gc
import importlib.util
import inspect
from pathlib import Path
import sys
import textwrap
import types
from typing import NamedTuple

from numba.core.codegen import JITCodeLibrary
from numba.core.errors import TypingError
import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.compiling import binding
from softrobot_dynamics.compiling.addresses import call, Entry, run
from softrobot_dynamics.compiling.binding import address, cached, entry
from softrobot_dynamics.compiling.deferred import Deferred
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.recursion.operations import inverse_dynamics
from softrobot_dynamics.recursion.passes import FULL
from softrobot_dynamics.simulation.integrators.exponential_step import allocate_motion
from support.robots import compiled, states

pytestmark = pytest.mark.quick

PACKAGE = Path(sd.__file__).parent


class Inner(NamedTuple):
    """A NamedTuple as a field of another one."""

    x: np.ndarray
    factor: float


class Outer(NamedTuple):
    """A NamedTuple that holds another, and arrays of several kinds."""

    inner: Inner
    y: np.ndarray
    table: np.ndarray  # (., .) of small integers
    count: int


@kernel
def add(a, outer, b, out):
    """Sum of all arguments."""
    out[0] = a + outer.inner.factor * outer.inner.x[0] + outer.y[0] + b
    for i in range(outer.table.shape[0]):
        for j in range(outer.table.shape[1]):
            out[0] += outer.count * outer.table[i, j]


@kernel
def scale(factors, offset, x, y):
    """Fill y with as many x as there are factors."""
    for i in range(len(factors)):
        y[i] = factors[i] * x[i] + offset


@kernel
def call_directly(address, table, x):
    """Call what takes one array besides its table."""
    call(address, table, x)


def outer():
    """Return something to be given, and the sum of what is in its table."""
    table = np.arange(6, dtype=np.uint32).reshape(2, 3)
    return Outer(Inner(np.array([3.0]), 10.0), np.array([0.5]), table, 100), 1500.0


class Motion(NamedTuple):
    """A NamedTuple by the name of another one."""

    x: np.ndarray


@kernel
def add_both(a, b, out):
    """Sum of a number of each."""
    out[0] = a.x[0] + b.F[0]


def test_two_named_tuples_may_have_one_name():
    """Two named tuples of one name are each read by their own fields."""
    other, out = allocate_motion(1, 1)._replace(F=np.array([4.0])), np.zeros(1)
    cached(add_both, a=Motion(np.array([3.0])), b=other)(out)
    assert out[0] == 7.0


def test_a_bound_robot_gives_the_same_result():
    """Inverse dynamics bound to a robot and a matrix equals the call with them."""
    model = compiled('pcc_arm')
    ((q, qd, qdd),) = states(model, 1)
    Q, M, given = np.zeros((2, model.n)), np.zeros((2, model.n, model.n)), model.robot()
    cached(inverse_dynamics)(model.robot(), FULL, True, Q[0], M[0], q, qd, qdd)
    program = cached(inverse_dynamics, robot=given, M=M[1])
    program(FULL, True, Q[1], q, qd, qdd)
    assert np.array_equal(*Q) and np.array_equal(*M) and M.any() and given.W.any()


def test_tuples_within_tuples_may_be_given():
    """Nested tuples can be bound, other arguments keep their order, and arrays may change."""
    given, more = outer()
    out = np.zeros(1)
    program = cached(add, b=100.0, outer=given)
    program(1000.0, out)
    assert out[0] == 1130.5 + more
    given.y[0] = 0.25
    program(1000.0, out)
    assert out[0] == 1130.25 + more
    cached(add)(1000.0, given, 100.0, out)
    assert out[0] == 1130.25 + more


def test_code_for_a_moved_class_is_compiled_again(monkeypatch, tmp_path):
    """Cached code names a class by its module, so code for a moved class is compiled again."""
    monkeypatch.setenv('SOFTROBOT_CACHE_DIR', str(tmp_path / 'kernels'))
    given, more = outer()
    out = np.zeros(1)
    module = types.ModuleType('where_it_was')
    monkeypatch.setitem(sys.modules, 'where_it_was', module)
    moved = type('Moved', (Outer,), {'__module__': 'where_it_was', '__qualname__': 'Moved'})
    module.Moved = moved
    program = cached(add).made
    program(1.0, moved(*given), 2.0, out)
    del module.Moved
    (signature,) = (each for each in program.signatures if 'Moved' in repr(each))
    assert program._cache.load_overload(signature, program.targetctx) is None
    assert out[0] == 33.5 + more


def test_other_numbers_and_sizes_are_the_same_code():
    """A robot of other numbers and sizes needs no compilation."""
    made = cached(scale, factors=np.ones(2), offset=1.0)
    other = cached(scale, factors=np.ones(30), offset=-2.0)
    assert made.func is other.func
    y = np.zeros(30)
    other(np.arange(30.0), y)
    assert np.array_equal(y, np.arange(30.0) - 2.0)


def test_an_entry_is_called_from_kernels():
    """A kernel that is called by address does the same, with arrays of any length."""
    y, x = np.zeros(5), np.arange(5.0)
    made = entry(scale, factors=np.array([2.0, 3.0]), offset=0.5)
    cached(run)(made, x, y)
    assert y.tolist() == [0.5, 3.5, 0.0, 0.0, 0.0]
    cached(run, entry=entry(scale, factors=np.ones(5), offset=0.0))(x, y)
    assert np.array_equal(y, x)


def test_arrays_live_as_long_as_an_entry():
    """Arrays are not freed while an entry, or a copy of it, has their address."""
    program = cached(run, entry=entry(scale, factors=np.full(10**6, 3.0), offset=0.0))
    copy = Entry(*entry(scale, factors=np.full(10**6, 4.0), offset=0.0))
    gc.collect()
    filled = [np.full(10**6, np.nan) for _ in range(4)]  # would take the place of what was freed
    x, y = np.ones(10**6), np.zeros(10**6)
    program(x, y)
    assert np.array_equal(y, np.full(10**6, 3.0))
    cached(run)(copy, x, y)
    assert np.array_equal(y, np.full(10**6, 4.0)) and len(filled) == 4


@pytest.mark.parametrize('wrong', ['text', None, np.ones((4, 4))[:, ::2], [1.0, 2.0]])
def test_unsupported_arguments_are_refused(wrong):
    """Arguments other than numbers, contiguous arrays and named tuples of them are refused."""
    with pytest.raises(ArgumentError, match='x.*contiguous array'):
        cached(add, outer=Outer(Inner(wrong, 1.0), np.ones(1), np.ones((1, 1)), 1))


def test_a_kernel_of_other_arguments_has_no_address():
    """A kernel whose arguments have other types or numbers is refused by address."""
    with pytest.raises(ArgumentError, match='test_binding.add.*a kernel of P, q'):
        address(__name__, 'add', 'P, q')


def test_python_may_call_a_kernel():
    """Python can call a kernel, which is then compiled for Python."""
    out = np.zeros(2)
    scale(np.ones(2), 0.5, np.arange(2.0), out)
    assert out.tolist() == [0.5, 1.5]


@pytest.mark.parametrize('wrong', [np.ones(8)[::2], np.ones(4, dtype=np.float32), 1.0])
def test_only_contiguous_floats_are_called_by_address(wrong):
    """A pointer to other numbers would be read wrongly: such a call does not compile."""
    made = entry(scale, factors=np.ones(2), offset=0.0)
    with pytest.raises(TypingError, match='No implementation of function.*call'):
        cached(call_directly)(made.address, made.table, wrong)


def test_only_called_functions_get_machine_code(monkeypatch):
    """A function that is linked into its callers gets no machine code of its own."""

    @kernel
    def double(x):
        x[0] *= 2.0

    @kernel
    def quadruple(x):
        double(x)
        double(x)

    made, finalize = [], JITCodeLibrary._finalize_specific
    monkeypatch.setattr(
        JITCodeLibrary, '_finalize_specific', lambda self: made.append(self.name) or finalize(self)
    )
    x = np.ones(1)
    quadruple(x)
    assert x[0] == 4.0
    assert double.made.signatures and any('quadruple' in name for name in made)
    assert not any('double' in name for name in made)


@pytest.mark.parametrize('module', [
    'controllers.allocation', 'kernels.linalg', 'recursion.passes',
    'simulation.integrators.exponential_step', 'estimation.filter_state',
])  # fmt: skip
def test_definitions_are_found_as_by_python(module):
    """The lines of a kernel are those that Python's own inspection finds."""
    found = importlib.import_module(f'softrobot_dynamics.{module}')
    kernels = [x.py_func for x in vars(found).values() if hasattr(x, 'py_func')]
    assert kernels
    for each in kernels:
        own, theirs = binding._definition(each)[0], textwrap.dedent(inspect.getsource(each))
        last = ast.parse(theirs).body[0].end_lineno
        assert own.splitlines()[:last] == theirs.splitlines()[:last]


def test_a_text_that_breaks_the_indentation_is_kept_whole(tmp_path):
    """A definition with lines of text at its left edge ends where Python says."""
    file = tmp_path / 'left_edge.py'
    file.write_text('def f(x):\n    """One\nTwo."""\n    return x\n\n\ny = 1\n')
    spec = importlib.util.spec_from_file_location('left_edge', file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert binding._definition(module.f)[0] == inspect.getsource(module.f)


def test_no_module_calls_a_kernel_from_python():
    """Python calls kernels from the cache; a kernel itself would be compiled in every process."""
    found = []
    for path in sorted(PACKAGE.rglob('*.py')):
        try:
            module = importlib.import_module(_module_name(path))
        except ModuleNotFoundError:  # of an extra that is not installed
            continue
        kernels = {name for name, x in vars(module).items() if isinstance(x, Deferred)}
        tree = ast.parse(path.read_text()) if kernels else ast.Module([], [])
        for part in tree.body:
            if getattr(part, 'name', '') not in kernels:
                called = {x.func.id for x in ast.walk(part) if _is_call_by_name(x)} & kernels
                for name in _called_as_written(part) & kernels:
                    called |= _kernels_used(getattr(module, name).py_func)
                found += [f'{module.__name__}: {name}' for name in sorted(called)]
    assert found == []


def _module_name(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix('').parts
    return '.'.join(parts).removesuffix('.__init__')


def _is_call_by_name(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)


def _called_as_written(part):
    """Return the names of which part of a module calls `py_func`."""
    called = [x.func for x in ast.walk(part) if isinstance(x, ast.Call)]
    written = [x.value for x in called if isinstance(x, ast.Attribute) and x.attr == 'py_func']
    return {x.id for x in written if isinstance(x, ast.Name)}


def _kernels_used(function):
    """Return the names of kernels among those that a function uses."""
    names = function.__code__.co_names
    return {x for x in names if isinstance(function.__globals__.get(x), Deferred)}
