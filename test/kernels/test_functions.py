# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Scalar functions of the kernels: accurate over their whole range, NaN beyond it."""

import functools
import math

import numpy as np
from oracles.precise import PRECISE
import pytest
from softrobot_dynamics.compiling.cache import load_module
from softrobot_dynamics.compiling.jit import Kernel, kernel
from softrobot_dynamics.kernels import functions
from softrobot_dynamics.tracing import emit, programs
from softrobot_dynamics.tracing.arithmetic import NUMERIC
from softrobot_dynamics.tracing.graph import symbol, SYMBOLIC
from support.kernel_calls import fibre

mpmath = pytest.importorskip('mpmath')

LIMIT = functions.SINCOS_LIMIT
NOT_NUMBERS = [np.nan, np.inf, -np.inf]


@kernel
def sines_and_cosines(x, out):
    """Both functions over an array, as kernels call them: in a loop that vectorises."""
    for i in range(len(x)):
        out[0, i] = functions.vector_sin(x[i])
        out[1, i] = functions.vector_cos(x[i])


def angles():
    """Random angles of every size, and the doubles next to multiples of a quarter turn."""
    rng = np.random.default_rng(1)
    sizes = 10.0 ** rng.uniform(-8.0, np.log10(LIMIT), 2000)
    quarters = 0.5 * np.pi * np.concatenate([np.arange(200), rng.integers(0, 600000, 800)])
    near = [np.nextafter(quarters, 0.0), quarters, np.nextafter(quarters, np.inf)]
    x = np.concatenate([sizes, *near, [0.0, np.nextafter(LIMIT, 0.0)]])
    return np.concatenate([x, -x])


def test_vector_sine_and_cosine_are_right_over_their_whole_range():
    """Vectorised sine and cosine are within one and a half units in the last place."""
    x = angles()
    out = np.empty((2, len(x)))
    sines_and_cosines(x, out)
    with mpmath.workdps(50):
        for found, exact in zip(out, (mpmath.sin, mpmath.cos)):
            wanted = [exact(mpmath.mpf(float(a))) for a in x]
            errors = [
                abs(mpmath.mpf(float(a)) - b) / np.spacing(abs(float(b)))
                for a, b in zip(found, wanted)
            ]
            assert float(max(errors)) <= 1.5


def test_vector_sine_and_cosine_are_nan_beyond_their_range():
    """Beyond a million radians, and for what is no number, the result is NaN."""
    x = np.array([LIMIT, -LIMIT, 1e7, -1e300, *NOT_NUMBERS])
    out = np.zeros((2, len(x)))
    sines_and_cosines(x, out)
    assert np.isnan(out).all()


@kernel
def cubics(a, out):
    """Roots over an array, as kernels call them: in a loop that vectorises."""
    for i in range(len(a)):
        out[i] = functions.cubic(a[i])


def test_the_cubic_is_solved_to_rounding_up_to_its_double_root():
    """The cubic's root is exact to two units in the last place and rounding of its argument."""
    limit, rng = functions.CUBIC_LIMIT, np.random.default_rng(2)
    near = limit * (1.0 - 10.0 ** rng.uniform(-15.5, 0.0, 1000))
    even = limit * np.linspace(-1.0, 1.0, 2002)[1:-1]
    a = np.concatenate([even, near, -near, [0.0, 1e-300, -1e-17, np.nextafter(limit, 0.0)]])
    found = np.empty(len(a))
    cubics(a, found)
    np.testing.assert_allclose(found, NUMERIC.cubic(a), rtol=5e-16)
    with mpmath.workdps(50):
        for value, root in zip(a, found):
            exact = PRECISE.cubic(mpmath.mpf(float(value)))
            derivative = 1 / (3 * exact**2 - 1)
            error = abs(mpmath.mpf(float(root)) - exact)
            assert error <= 2 * np.spacing(float(exact)) + 6e-17 * derivative


def test_the_cubic_is_nan_beyond_its_double_root():
    """Beyond its double root, and for nan, the cubic's root is nan."""
    limit = functions.CUBIC_LIMIT
    a = np.array([limit, -limit, 1.0, -1.0, 1e300, *NOT_NUMBERS])
    found = np.zeros(len(a))
    cubics(a, found)
    assert np.isnan(found).all() and np.isnan(NUMERIC.cubic(a)).all()


def check_stumpff(k, z, found, tolerance=1e-14):
    """Compare c_k with its series in fifty digits, relative to the largest of its terms."""
    for a, b, largest in zip(z, found, largest_terms(k, z)):
        exact, rest = stumpff_in_parts(k, float(a))
        assert abs((float(b) - exact) - rest) <= tolerance * largest


@functools.cache
def stumpff_in_parts(k, z):
    """Return c_k(z) as a number and what rounding it has left of fifty digits."""
    with mpmath.workdps(50):
        exact = PRECISE.stumpff(k, mpmath.mpf(z))
        return float(exact), float(exact - float(exact))


def largest_terms(k, z):
    """Return the largest of |z|^j / (k + 2 j)! for each z (.,)."""
    j = np.arange(1, 90)
    ratios = np.abs(z)[:, None] / ((k + 2 * j - 1) * (k + 2 * j))
    return np.maximum(np.cumprod(ratios, axis=1).max(axis=1), 1.0) / math.factorial(k)


def squares(limit):
    """Arguments from zero to the limit, both sides of every switch between formulas."""
    switches = [np.nextafter(z, [0.0, z, 99.0]) for z in (4.0, 13.0)]
    return np.concatenate([[0.0, 1e-300, 1e-8], np.linspace(0.01, limit, 80), *switches])


@pytest.mark.parametrize('k', range(8))
def test_scalar_stumpff(k):
    """The scalar c_k and that of numpy are right for any z, to 1e-14 up to k = 3."""
    tolerance = 1e-14 if k < 4 else 3e-14  # those beyond occur in derivatives only
    for z in (squares(200.0), -squares(200.0)):
        check_stumpff(k, z, [functions.stumpff(k, a) for a in z], tolerance)
        check_stumpff(k, z, NUMERIC.stumpff(k, z), tolerance)


def test_stumpff_family():
    """The family c_0 ... c_7 is the eight functions, each to 1e-14."""
    z = np.concatenate([squares(200.0), -squares(200.0)])
    family = np.array([functions.stumpff_family(a) for a in z])
    for k in range(8):
        check_stumpff(k, z, family[:, k])


@pytest.mark.parametrize('value', NOT_NUMBERS)
def test_stumpff_of_no_number_is_nan(value):
    """NaN and infinite arguments give NaN, not a number that looks right."""
    assert not np.isfinite(functions.stumpff(0, value))
    assert not np.isfinite(functions.stumpff_family(value)[0])


@pytest.fixture(scope='module')
def emitted():
    """Return emitted length kernels whose speed is c_k(x1 q), one for each k."""
    traced = [
        programs.fibre_length(SYMBOLIC.stumpff(k, symbol('x', 0) * symbol('q', 0)), 1)
        for k in range(4)
    ]
    return [(t, load_module(t.source, 'test_stumpff').__name__) for t in traced]


def in_the_loop(emitted, k, z):
    """c_k at each z, by the emitted series."""
    traced, module = emitted[k]
    tables = [traced.tables.table(np.array([[value]]), np.ones(1), {}) for value in z]
    kernels = [Kernel(module, 'length', np.array([1.0, *t]), traced.scratch) for t in tables]
    return np.array([fibre(kernel, np.ones(1), np.zeros(1))[0] for kernel in kernels])


@pytest.mark.parametrize('k', range(4))
def test_stumpff_in_the_loop(emitted, k):
    """The emitted series is right to 1e-14 of its largest term for angles up to 8 rad."""
    for z in (squares(emit.MAX_SERIES_ARGUMENT), -squares(emit.MAX_SERIES_ARGUMENT)):
        check_stumpff(k, z, in_the_loop(emitted, k, z))


@pytest.mark.parametrize('k', range(4))
def test_stumpff_in_the_loop_is_nan_beyond(emitted, k):
    """Beyond its range the emitted series is NaN, and so it is for what is no number."""
    beyond = [np.nextafter(emit.MAX_SERIES_ARGUMENT, 100.0), 65.0, 1e10, -65.0, *NOT_NUMBERS]
    assert np.isnan(in_the_loop(emitted, k, beyond)).all()
