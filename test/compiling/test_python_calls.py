# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Kernels that Python calls as built-in functions, and a start that imports no numba."""

import gc
import sys
import threading

import llvmlite.binding
import numpy as np
import pytest
from softrobot_dynamics.compiling import c_functions, cache_integrity
from softrobot_dynamics.compiling.binding import bound_arguments, cached
from softrobot_dynamics.compiling.jit import kernel
from support.programs import finish, start

pytestmark = pytest.mark.quick


@kernel
def weighted(weights, x, factor, negative):
    """Sum of x times weights times a factor, or its negative."""
    found = 0.0
    for i in range(len(x)):
        found += factor * weights[i] * x[i]
    return -found if negative else found


@kernel
def count_above(x, least):
    """Return how many numbers are larger than another."""
    count = 0
    for i in range(len(x)):
        count += x[i] > least
    return count


@kernel
def fill(x, value):
    """Fill an array."""
    for i in range(len(x)):
        x[i] = value


@kernel
def pick(x, index):
    """Return one of some numbers."""
    return x[index]


def weigh():
    """Return a function of x, a factor and whether the result is negative."""
    return cached(weighted, 'VECTOR, float64, boolean', weights=np.array([1.0, 2.0, 3.0]))


def test_results_are_floats_integers_or_none():
    """A kernel with declared types returns what its Python source would."""
    x = np.arange(3.0)
    assert weigh()(x, 2, False) == 16.0 and weigh()(x, np.float64(2.0), True) == -16.0
    found = cached(count_above, 'VECTOR, float64')(x, 0.5)
    assert found == 2 and isinstance(found, int)
    assert cached(fill, 'VECTOR, float64')(x, 7.0) is None and x.tolist() == [7.0] * 3


@pytest.mark.parametrize('x', [
    [1.0, 2.0, 3.0], None, np.ones(6)[::2], np.ones(3, dtype=np.float32), np.ones((3, 1)),
    np.ones(3, dtype='>f8'), np.ones(3, dtype=int),
])  # fmt: skip
def test_other_arrays_are_refused(x):
    """An object other than a contiguous array of floats, of one dimension, raises a TypeError."""
    with pytest.raises(TypeError, match='contiguous array of floats, of one dimension'):
        weigh()(x, 1.0, False)


def test_other_numbers_of_arguments_are_refused():
    """Too few or too many arguments, or text for a number, raise a TypeError."""
    x = np.ones(3)
    for arguments in ((), (x, 1.0), (x, 1.0, False, 1.0)):
        with pytest.raises(TypeError, match='expected 3 arguments'):
            weigh()(*arguments)
    with pytest.raises(TypeError, match='real number'):
        weigh()(x, 'text', False)


def test_an_integer_is_one_of_python_or_numpy():
    """An argument of type int64 takes any integer; a float or text raises a TypeError."""
    program, x = cached(pick, 'VECTOR, int64'), np.arange(3.0)
    assert [program(x, index) for index in (2, np.int32(1), True, -3)] == [2.0, 1.0, 1.0, 0.0]
    for other in (1.0, '1', None):
        with pytest.raises(TypeError, match='integer'):
            program(x, other)
    with pytest.raises(OverflowError):
        program(x, 2**63)


def test_what_was_given_is_kept_and_known():
    """Arrays that a kernel was given last as long as it, and can be asked for by name."""
    program = cached(weighted, 'VECTOR, float64, boolean', weights=np.full(10**6, 3.0))
    gc.collect()
    filled = [np.full(10**6, np.nan) for _ in range(4)]  # would take the place of what was freed
    assert program(np.ones(10**6), 1.0, False) == 3e6 and len(filled) == 4
    assert list(bound_arguments(program)) == ['weights']


def test_no_reference_is_lost_or_kept():
    """A thousand calls leave the reference counts of their arguments and of None as they were."""
    x, program = np.zeros(3), cached(fill, 'VECTOR, float64')
    before = sys.getrefcount(x), sys.getrefcount(program.__self__)
    none = sys.getrefcount(None)
    for _ in range(1000):
        program(x, 1.0)
    assert (sys.getrefcount(x), sys.getrefcount(program.__self__)) == before
    assert abs(sys.getrefcount(None) - none) < 100


def test_other_threads_run_meanwhile():
    """While a kernel computes, another thread runs Python."""
    x, program, ticks = np.zeros(2 * 10**7), cached(fill, 'VECTOR, float64'), []
    done = threading.Event()

    def tick():
        while not done.wait(1e-4):
            ticks.append(0)

    thread = threading.Thread(target=tick)
    thread.start()
    most = 0
    for _ in range(20):  # the other thread needs a processor, too
        before = len(ticks)
        program(x, 1.0)
        most = max(most, len(ticks) - before)
    done.set()
    thread.join()
    assert most > 2


def test_kept_functions_need_nothing_of_numba():
    """The object of a kernel with declared types takes no function from numba."""
    assert weigh()(np.ones(3), 1.0, False) == 6.0
    for path in cache_integrity.own_folder().glob('softrobot_dynamics_emitted_weighted_*.o'):
        _, _, code = cache_integrity.read(path).partition(b'\n')
        assert not [x for x in c_functions.undefined_symbols(code) if x.startswith('numba_')]


@pytest.mark.skipif(
    getattr(llvmlite.binding.targets, 'has_svml', bool)(),
    reason="this llvmlite may use Intel's library of functions, which numba looks for",
)
def test_a_start_with_a_full_cache_imports_no_numba(tmp_path):
    """A process imports numba to compile a kernel; the next one, which loads it, does not."""
    program = """
        import sys
        import numpy as np
        from softrobot_dynamics.compiling.binding import cached
        from softrobot_dynamics.kernels.sums import dot
        print(cached(dot, 'VECTOR, VECTOR')(np.ones(3), np.arange(3.0)), 'numba' in sys.modules)
    """
    first, again = (finish(start(program, tmp_path))[0].split() for _ in range(2))
    assert first == ['3.0', 'True'] and again == ['3.0', 'False']


@pytest.mark.parametrize('first', ['softrobot_dynamics.kernels.sums', 'numba'])
def test_functions_of_numba_call_kernels_whichever_was_imported_first(tmp_path, first):
    """A function that a user decorates by numba.njit may call our kernels."""
    program = f"""
        import {first}
        import numba
        import numpy as np
        from softrobot_dynamics.kernels.sums import dot

        @numba.njit
        def squared(x):
            return dot(x, x)

        print(squared(np.arange(3.0)), squared(np.ones(2)))
    """
    assert finish(start(program, tmp_path))[0].split() == ['5.0', '2.0']
