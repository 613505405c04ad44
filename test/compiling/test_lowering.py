# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Kernels that are lowered to LLVM code by this package compute what numba's own code computes."""

import io
import itertools
from typing import NamedTuple

from numba import float64, njit
from numba.core.compiler import run_frontend
from numba.core.compiler_lock import global_compiler_lock
from numba.core.ssa import reconstruct_ssa
import numpy as np
import pytest
from softrobot_dynamics.compiling import compiler  # noqa: F401 (which imports the internals)
from softrobot_dynamics.compiling.dispatchers import inner
from softrobot_dynamics.compiling.jit import OPTIONS
from softrobot_dynamics.compiling.lowering.pipeline import KernelCompiler
from softrobot_dynamics.compiling.lowering.single_assignment import rename

RANDOM = np.random.default_rng(11)
PASS = 'kernel_lowering'
INF, NAN = np.inf, np.nan


class Pair(NamedTuple):
    """A NamedTuple of two types."""

    values: np.ndarray
    factor: float


def compiled(function):
    """Return a function compiled by this package, and by numba alone."""
    return njit(pipeline_class=KernelCompiler, **OPTIONS)(function), njit(**OPTIONS)(function)


def assert_same(function, *cases):
    """Check that both give the same bits, of what is returned and of the arrays given."""
    ours, numbas = compiled(function)
    for case in cases:
        first, second = (tuple(map(copied, case)) for _ in range(2))
        assert bits(ours(*first)) == bits(numbas(*second))
        assert [bits(x) for x in first] == [bits(x) for x in second]
    for made in ours.overloads.values():
        times = made.metadata['pipeline_times']['nopython']
        assert any(name.endswith(PASS) for name in times)


def copied(value):
    """Return a value, or a copy of an array with the same strides."""
    return value.copy(order='K') if isinstance(value, np.ndarray) else value


def bits(value):
    """Return the type and the bytes of a number or an array; of several, a list."""
    if isinstance(value, tuple):
        return [bits(each) for each in value]
    found = np.asarray(value)
    return found.dtype.str, found.tobytes()


def test_operators_on_floats():
    """Sums, products, quotients and comparisons of floats equal numba's, non-finite values too."""

    def function(a, b):
        c = a
        c += 2 * b
        c -= b / 3
        c *= a - 1
        return c, a + b, a - b, a * b, a / b, -a, a < b, a <= b, a > b, a >= b, a == b, a != b

    values = 1.5, -2.25, 0.0, -0.0, INF, -INF, NAN, 1e-310
    assert_same(function, *((a, b) for a in values for b in values))
    assert_same(function, *((a, np.float32(b)) for a in values[:3] for b in values[:3]))


@pytest.mark.parametrize('first', ['int64', 'uint64', 'int32', 'uint32', 'int8', 'float32'])
@pytest.mark.parametrize('second', ['int64', 'uint64', 'uint32'])
def test_operators_on_integers(first, second):
    """Operators on integers equal numba's: of any type, signed or not, near their range's ends."""

    def function(a, b):
        c = a + 1
        c += 2
        return (c, a + b, a - b, a * b, a / b, 3 - a, 2.5 * b) + (
            a < b, a <= b, a > b, a >= b, a == b, a != b, a == 5, b > 2,
        )  # fmt: skip

    cases = [
        tuple(np.dtype(kind).type(x) for kind, x in ((first, a), (second, b)))
        for a in (1, 5, 100)
        for b in (1, 5, 2**31)
    ]
    if not first.startswith('u') and second == 'int64':
        cases += [
            (np.dtype(first).type(-3), np.int64(-7)),
            (np.dtype(first).type(-3), np.int64(2)),
        ]
    assert_same(function, *cases)


@pytest.mark.parametrize('kind', ['float64', 'float32', 'int64', 'uint32'])
def test_greatest_and_least(kind):
    """The greatest and the least of numbers equal numba's, NaN and zeros of either sign too."""

    def function(a, b, c):
        return max(a, b), min(a, b), max(a, b, c), min(c, b, a), max(a, 1), min(2.5, c)

    values = (1.5, -0.0, 0.0, INF, -INF, NAN) if kind.startswith('float') else (0, 1, 2, 5)
    numbers = [np.dtype(kind).type(value) for value in values]
    assert_same(function, *itertools.product(numbers, repeat=3))


def test_full_fastmath_takes_no_number_for_nan_in_a_choice():
    """With full fastmath `max` stays numba's, which ignores NaN as Python's does."""

    def function(a, b):
        return max(a, b), min(a, b)

    options = {**OPTIONS, 'fastmath': True}
    ours = njit(pipeline_class=KernelCompiler, **options)(function)
    numbas = njit(**options)(function)
    for case in itertools.product((1.0, NAN, INF), repeat=2):
        assert bits(ours(*case)) == bits(numbas(*case))


ARRAYS = {
    'contiguous': RANDOM.normal(size=7),
    'strided': RANDOM.normal(size=14)[::2],
    'reversed': RANDOM.normal(size=7)[::-1],
    'single': RANDOM.normal(size=7).astype(np.float32),
    'counts': RANDOM.integers(-9, 9, size=7),
    'unsigned': RANDOM.integers(0, 9, size=7).astype(np.uint32),
}


@pytest.mark.parametrize('name', ARRAYS)
def test_entries(name):
    """Entries are read, set and added to as by numba, with indices of any type and sign."""

    def function(a, i, j):
        a[i] = a[j]
        a[j] += 2
        a[-2] = a[0] * 2
        a[1] = 3
        return a[i] + a[-1], a[2], len(a), a.shape

    indices = (0, -1, -7, 3), (np.uint32(2), np.uint64(6)), (np.int32(-2), np.int32(1))
    for some in indices:
        assert_same(function, *((ARRAYS[name], i, j) for i in some for j in some))


BOUNDS = (0, 2, 7, 9, -1, -7, -9)


@pytest.mark.parametrize('name', ARRAYS)
def test_slices_of_a_vector(name):
    """Slices equal numba's: within and beyond the ends, empty, with bounds left out or known."""

    def function(a, i, j):
        b, c, d, e = a[i:j], a[i:], a[:j], a[:]
        total = 0.0
        for part in (b, c, d, e, a[1:-1], a[-20:30], a[:0], a[5:2]):
            for k in range(len(part)):
                total += part[k] * (k + 1)
        if len(b) > 1:
            b[1] = 9
            b[-1] = 8
        return total, b.shape, c.shape, d.size, a[2:][1], a[:4][:-1][-1]

    assert_same(function, *((ARRAYS[name], i, j) for i in BOUNDS for j in BOUNDS))


MATRICES = {
    'rows': RANDOM.normal(size=(4, 5)),
    'columns': RANDOM.normal(size=(5, 4)).T,
    'parts': RANDOM.normal(size=(8, 10))[1::2, 2:7],
}


@pytest.mark.parametrize('name', MATRICES)
def test_parts_of_a_matrix(name):
    """Rows, columns, blocks and entries of a matrix, and parts of those, equal numba's."""

    def function(a, i, j):
        a[i, j] = 2.0 * a[j, i]
        a[-1, 0] += 1.0
        row, column, block, rows = a[i], a[:, j], a[i:, :j], a[1:3]
        row[1] = column[1]
        total = rows[0, -1] + a[i][j]
        for k in range(block.shape[0]):
            for m in range(block.shape[1]):
                total += block[k, m] * (k + 2 * m)
        return total, row.shape, column.shape, block.shape, a.shape, rows.size, a[-1, 1:][0]

    assert_same(function, *((MATRICES[name], i, j) for i in (0, 2, -1) for j in (0, 1, 3, -2)))
    assert_same(function, (MATRICES[name], np.uint32(1), np.int64(2)))


def test_three_dimensions():
    """Entries and views of an array of three dimensions equal numba's."""

    def function(a, i):
        a[i, 1, -1] = a[-1, i, 0]
        part, matrix = a[i, 1:], a[1]
        part[0, 0] = 4.0
        return part.shape, matrix[i, i], a[i][i][i], a[:, i, 1:].size

    stack = RANDOM.normal(size=(3, 3, 4))
    assert_same(function, (stack, 0), (stack, 2), (stack, -1))


def test_ranges():
    """Loops over ranges run as numba's: empty ones, with steps, and left before their end."""

    def function(a, b, c):
        total = 0
        for i in range(b):
            total = 2 * total + i
        for i in range(a, b):
            for j in range(i, b):
                if j == 5:
                    break
                if j % 2:
                    continue
                total += i * j
        for i in range(b, a, c):
            total += 7 * i
        return total

    assert_same(function, *((a, b, c) for a in (0, 3, -4) for b in (0, 3, 8) for c in (1, 2, -1)))
    assert_same(function, (np.int32(1), np.int32(6), np.int32(1)))


def test_fields_and_tuples():
    """Fields of (nested) NamedTuples, entries of tuples, and new ones of both equal numba's."""

    def function(pair, others):
        made = Pair(pair.values[1:], pair.factor + others[0])
        nested = (made, others[-1], others)
        return nested[0].values[0] * nested[0].factor, nested[1], nested[2][1], others[1:][0]

    assert_same(function, (Pair(RANDOM.normal(size=3), 0.25), (1.5, 2.5, 3)))


def dump(function):
    """Return the operations of a function as numba prints them."""
    text = io.StringIO()
    function.dump(text)
    return text.getvalue()


def branches_and_loops(a, n):
    """Assign variables on some paths, in loops and in branches."""
    if n > 2:
        x = a[0]
        y = 2.0 * x
        only = 3.0 * a[2]
    else:
        x = -a[1]
        y = x
    low, high = a[0], a[0]
    for i in range(n):
        value = a[i] + x
        if value < low:
            low = value
        elif value > high:
            last = value
            high = last
        x, y = y, x
    if n > 2:
        high += only
    while y < 4.0 and n > 0:
        y += 1.5
        n -= 1
    if n > 1:
        value = 3.0
    total = 0.0
    for i in range(n):
        total = max(total, a[i])
    return low, high, x, y, value, n, total


def test_variables_that_branches_and_loops_assign():
    """Variables assigned on some paths, in loops or in branches have numba's values."""
    vector = RANDOM.normal(size=6)
    assert_same(branches_and_loops, (vector, 1), (vector, 2), (vector, 6))


def test_variables_are_renamed_as_by_numba():
    """Variables that are assigned more than once have the names that numba gives them."""
    ours, numbas = (run_frontend(branches_and_loops) for _ in range(2))
    before = dump(ours)
    rename(ours.blocks)
    assert dump(ours) == dump(reconstruct_ssa(numbas)) != before


def test_sums_that_may_be_reordered():
    """Sums over vectors with fastmath are vectorised as by numba."""

    def function(a, b, c):
        total, other = 0.0, 0.0
        for i in range(len(a)):
            total += a[i] * b[i]
            other += a[i] * c * b[i] + a[i]
        for i in range(3, len(a) - 2):
            a[i] = total * b[i] + a[i - 3]
        return total, other

    for fastmath in (True, {'contract', 'reassoc'}):
        options = {**OPTIONS, 'fastmath': fastmath}
        ours = njit(pipeline_class=KernelCompiler, **options)(function)
        numbas = njit(**options)(function)
        for size in (1, 4, 37, 1000):
            case = RANDOM.normal(size=size), RANDOM.normal(size=size), 0.3
            first, second = (tuple(map(copied, case)) for _ in range(2))
            assert bits(ours(*first)) == bits(numbas(*second))
            assert bits(first[0]) == bits(second[0])


def test_a_function_is_compiled_once_for_all_constants():
    """A function called with constants, by position or name, is that called with variables."""

    def shifted(x, i, negative):
        return x[i] if negative else -x[i]

    inner = njit(pipeline_class=KernelCompiler, **OPTIONS)(shifted)

    def function(x, i, negative, inner=inner):
        first = inner(x, 0, True) + 3.0 * inner(x, 1, negative=False)
        return first + 9.0 * inner(x, i, negative)

    outer = njit(pipeline_class=KernelCompiler, **OPTIONS)(function)
    assert outer(np.array([1.0, 2.0, 4.0]), 2, True) == 1.0 - 6.0 + 36.0
    assert len(inner.overloads) == 1


def test_an_exception_passes_through_callers():
    """An exception of a callee reaches Python with its message; without one there is a result."""

    def root(x):
        if x < 0.0:
            raise ValueError('negative')
        return x**0.5

    for way in ({'pipeline_class': KernelCompiler}, {}):
        compile_ = njit(**way, **OPTIONS)
        inner = compile_(root)

        def middle(x, inner=inner):
            return inner(x) + 1.0, x

        called = compile_(middle)

        def outermost(x, called=called):
            return called(x)

        outer = compile_(outermost)
        assert outer(4.0) == (3.0, 4.0)
        with pytest.raises(ValueError, match='negative'):
            outer(-1.0)


def test_a_function_given_to_another_leaves_no_address():
    """Code that passes a function on holds no address of this process, so that it can be kept."""
    half, _ = compiled(lambda x: 0.5 * x)
    repeat = inner(**OPTIONS)(lambda function, x: function(function(x)))
    quarter = inner(**OPTIONS)(lambda x: repeat(half, x))
    assert quarter(6.0) == 1.5
    quarter.compile((float64,))
    (made,) = quarter.overloads.values()
    with global_compiler_lock:
        assert not made.library.has_dynamic_globals


def test_a_function_that_catches_is_left_to_numba():
    """A function with a `try` is lowered by numba and catches the exception of a callee."""

    def root(x):
        if x < 0.0:
            raise ValueError('negative')
        return x

    inner = njit(pipeline_class=KernelCompiler, **OPTIONS)(root)

    def guarded(x):
        found = 0.0
        try:
            found = inner(x)
        except Exception:
            found = -5.0
        return found

    outer = njit(pipeline_class=KernelCompiler, **OPTIONS)(guarded)
    assert outer(2.0) == 2.0 and outer(-2.0) == -5.0


def test_an_operation_that_cannot_be_compiled_is_named_with_its_line():
    """An error of compilation names the operation and the line, as by numba."""

    def function(a):
        return np.linalg.inv(a)  # allocates, which takes numba's runtime

    with pytest.raises(Exception, match=r'(?s)inv.*test_lowering.py'):
        njit(pipeline_class=KernelCompiler, **OPTIONS)(function)(np.eye(2))
