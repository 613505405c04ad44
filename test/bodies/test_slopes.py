# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Derivatives of bodies and joints by their own coordinates, against many digits."""

from generated import instance, instances
from kernel_calls import call
import mpmath
import numpy as np
from oracles import slopes
from oracles.precise import PRECISE
import pytest
from robots import possible, reaches
from softrobot_dynamics.bodies.contract import BODIES
from softrobot_dynamics.joints.contract import JOINTS
from softrobot_dynamics.kernels import layout

TOLERANCE = 1e-12  # of the largest entry of its kind
LEAST = 1e-3  # of what is zero but for rounding
POINTS = 2  # that the oracle can wait for


def with_slopes(registry):
    """Parameters: all valid instances that have a kernel of slopes."""
    made = [
        pytest.param(instance(registry, given), id=f'{name}-{i}')
        for name in registry.names()
        for i, given in enumerate(instances(registry, name))
    ]
    return [p for p in made if p.values[0].coordinates() and p.values[0].slopes_kernel()]


def state(names, seed):
    """Draw q, qd, qdd for coordinates of these names."""
    rng = np.random.default_rng(seed)
    return reaches([f'/{name}' for name in names]) * rng.uniform(-1.0, 1.0, (3, len(names)))


def few(body):
    """Return a body with few of its material points, and these."""
    known, masses = body.material_points()
    some = np.random.default_rng(1).permutation(len(masses))[:POINTS]

    class Few(type(body)):
        def material_points(self):
            return known[some], masses[some]

    return Few(**vars(body)), [(slopes.vector(known[i]), masses[i]) for i in some]


def assert_kinds(found, wanted, n, size):
    """Compare kind by kind with the largest entry of each."""
    offsets = 'second_twists', 'force_slopes', 'spins', 'own_slopes', 'spin'
    places = [0, *(getattr(layout, f'{name}_offset').py_func(n) for name in offsets), size]
    for first, last in zip(places, places[1:]):
        part = wanted[first:last]
        if first < size:
            error = np.abs(found[first:last] - part).max()
            assert error <= TOLERANCE * max(np.abs(part).max(), LEAST), (first, error)


@pytest.mark.parametrize('body', with_slopes(BODIES))
def test_slopes_of_bodies(body):
    """All that the recursion asks for, by q and by qd."""
    body, points = few(body)
    n, size = len(body.coordinates()), layout.slopes_size(len(body.coordinates()))
    q, qd, qdd = state(body.coordinates(), 2)
    q, motion = possible(body, q), np.random.default_rng(3).uniform(-2.0, 2.0, 9)
    found, kernel = np.full(size, np.nan), body.slopes_kernel()
    scratch = np.full(kernel.scratch + 8, np.nan)
    call(kernel, 'P, q, qd, qdd, motion, D, S', q, qd, qdd, motion, found, scratch)
    assert np.isnan(scratch[kernel.scratch :]).all()
    with mpmath.workdps(slopes.DIGITS):
        q, qd, qdd, motion = map(slopes.vector, (q, qd, qdd, motion))

        def tip(q):
            return body.tip_frame(list(q), PRECISE)

        wanted = [slopes.twist_slopes(tip, q, qd, qdd)]
        wanted += [slopes.body_slopes(body, points, q, qd, qdd, motion)]
    assert_kinds(found, np.concatenate(wanted).astype(float), n, size)


@pytest.mark.parametrize('joint', with_slopes(JOINTS))
def test_slopes_of_joints(joint):
    """Derivatives of their twists."""
    n = len(joint.coordinates())
    q, qd, qdd = state(joint.coordinates(), 4)
    found = np.full(layout.force_slopes_offset.py_func(n), np.nan)
    call(joint.slopes_kernel(), 'P, q, qd, qdd, D', q, qd, qdd, found)
    before = joint.before
    with mpmath.workdps(slopes.DIGITS):

        def frame(q):
            R, t = joint.motion(list(q), PRECISE)
            R, t = np.array(R, dtype=object).reshape(3, 3), np.array(list(t), dtype=object)
            return (before[:3, :3] @ R).ravel(), before[:3, :3] @ t + before[:3, 3]

        wanted = slopes.twist_slopes(frame, *map(slopes.vector, (q, qd, qdd)))
    assert_kinds(found, wanted.astype(float), n, len(found))
