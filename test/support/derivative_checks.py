# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Compare derivatives of kernels with those of the formulas in high precision."""

import mpmath
import numpy as np
from oracles import derivatives
from oracles.known import known
from oracles.precise import PRECISE
from softrobot_dynamics.kernels import layout
from support.kernel_calls import call
from support.robots import possible, reaches

TOLERANCE = 1e-12  # of the largest entry of its kind
LEAST = 1e-3  # of what is zero but for rounding


def state(names, seed):
    """Draw q, qd, qdd for coordinates of these names."""
    rng = np.random.default_rng(seed)
    return reaches([f'/{name}' for name in names]) * rng.uniform(-1.0, 1.0, (3, len(names)))


def assert_body_derivatives(body, points):
    """Compare a body's kernel with its formulas, of material points (position, mass)."""
    n, size = len(body.coordinates()), layout.derivatives_size(len(body.coordinates()))
    q, qd, qdd = state(body.coordinates(), 2)
    q, motion = possible(body, q), np.random.default_rng(3).uniform(-2.0, 2.0, 9)
    found, kernel = np.full(size, np.nan), body.derivatives_kernel()
    scratch = np.full(kernel.scratch + 8, np.nan)
    call(kernel, 'P, q, qd, qdd, motion, D, S', q, qd, qdd, motion, found, scratch)
    assert np.isnan(scratch[kernel.scratch :]).all()
    with mpmath.workdps(derivatives.DIGITS):
        q, qd, qdd, motion = map(derivatives.vector, (q, qd, qdd, motion))

        def tip(q):
            return body.tip_frame(list(q), PRECISE)

        def computed():
            twists = derivatives.twist_derivatives(tip, q, qd, qdd)
            sums = derivatives.body_derivatives(body, points, q, qd, qdd, motion)
            return np.concatenate([twists, sums]).astype(float)

        # the least of them are always computed, so that the oracle is
        given = _given(body, points, q, qd, qdd, motion)
        wanted = computed() if n < 2 else known(given, computed)
    assert_kinds(found, wanted, n, size)


def _given(body, points, q, qd, qdd, motion):
    """Return what derivatives of a body depend on, formulas as their values in two postures."""
    formulas = []
    for posture in (q, 0.7 * q + 0.1 * qd):
        formulas.append(body.tip_frame(list(posture), PRECISE))
        for x, _ in points:
            formulas.append(body.position(x, list(posture), PRECISE))
            formulas.append(_stretched(body, x, posture))
    numbers = body.stiffness(), body.damping_matrix(), getattr(body, 'density', None)
    return [body.type_name, points, q, qd, qdd, motion, formulas, numbers, body.viscosity()]


def _stretched(body, x, q):
    """Return the strain energy at a point, None where a body has none."""
    if body.energy(np.eye(3).tolist(), PRECISE) is None:
        return None

    def place(x):
        return np.array(body.position(x, list(q), PRECISE), dtype=object)

    F = derivatives.gradient(place, x).T
    return body.energy(F.tolist(), PRECISE)


def assert_kinds(found, wanted, n, size):
    """Compare kind by kind with the largest entry of each."""
    offsets = 'second_twists', 'force_derivatives', 'spins', 'own_derivatives', 'spin'
    places = [0, *(getattr(layout, f'{name}_offset').py_func(n) for name in offsets), size]
    for first, last in zip(places, places[1:]):
        part = wanted[first:last]
        if first < size:
            error = np.abs(found[first:last] - part).max()
            assert error <= TOLERANCE * max(np.abs(part).max(), LEAST), (first, error)
