# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Stiffness and damping near a posture: those of the true forces, however the posture moves."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.recursion.linearisation import Linearisation
from support.robots import compiled, SHIPPED, states

NONLINEAR = ['hybrid_arm', 'trimmed_helicoid']


def test_robots_with_nonlinear_forces_are_known():
    """The tested robots are all those with nonlinear passive forces."""
    assert [name for name in SHIPPED if not compiled(name).linear] == NONLINEAR


def derivatives(model, q):
    """Return dk/dq and dd/dqd (n, n) of the passive forces at rest, by central differences."""
    zero, steps = np.zeros(model.n), 1e-6 * np.eye(model.n)
    K = [sd.elastic_force(model, q=q + s) - sd.elastic_force(model, q=q - s) for s in steps]
    D = [sd.damping_force(model, q=q, qd=unit) for unit in np.eye(model.n)]
    assert not sd.damping_force(model, q=q, qd=zero).any()
    return np.array(K).T / 2e-6, np.array(D).T


def assert_close(near, wanted):
    """Compare both matrices, to the accuracy of central differences."""
    for found, matrix in zip((near.stiffness, near.damping), wanted):
        np.testing.assert_allclose(found, matrix, atol=1e-8 * np.abs(matrix).max())


@pytest.mark.parametrize('name', ['pcc_arm', *NONLINEAR])
def test_it_starts_with_derivatives_of_passive_forces(name):
    """A linearisation starts with the constant matrices of linear robots, or the posture's."""
    model = compiled(name)
    ((q, _, _),) = states(model, 1, seed=4, size=0.5)
    near = Linearisation(model)
    near.begin(q)
    assert_close(near, derivatives(model, q))
    if name in NONLINEAR:
        changed = np.abs(near.stiffness - model.stiffness).max()
        assert changed > 1e-3 * np.abs(model.stiffness).max()  # or this would show nothing


@pytest.mark.parametrize('name', NONLINEAR)
def test_it_updates_body_by_body(name):
    """After as many calls as a body has coordinates its matrices are those of the posture."""
    model = compiled(name)
    (q, qd, _), (start, _, _) = states(model, 2, seed=5, size=0.5)
    near = Linearisation(model)
    near.begin(start)
    go_on, before = cached(run, entry=near.follow), near.stiffness.copy()
    go_on(q, qd)
    first, count = model.nonlinear[0]
    own = slice(first, first + count)
    assert not np.array_equal(before[own, own], near.stiffness[own, own])
    if len(model.nonlinear) > 1:
        last = slice(first + count, None)
        assert np.array_equal(before[last, last], near.stiffness[last, last])
    for _ in range(model.nonlinear[:, 1].max() - 1):
        go_on(q, qd)
    assert_close(near, derivatives(model, q))


def test_an_invalid_posture_changes_no_matrix():
    """A posture that a body cannot take leaves that body's matrices unchanged."""
    model = compiled('trimmed_helicoid')
    q = np.zeros(model.n)
    near = Linearisation(model)
    q[1] = 1e3
    near.begin(q)
    for found, wanted in ((near.stiffness, model.stiffness), (near.damping, model.damping)):
        assert np.array_equal(found[:8, :8], wanted[:8, :8])
    q[1] = 0.1
    near.begin(q)
    assert not np.array_equal(near.stiffness[0, :8], model.stiffness[0, :8])
