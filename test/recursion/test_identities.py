# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
# ruff: noqa: B023 (functions used at once)
"""Identities that hold for every robot: the shipped ones and one with every registered part."""

import numpy as np
from oracles.trees import place
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.tracing.arithmetic import Numeric
from support.differences import derivative, derivative_at_once, gradient, gradient_by_rows
from support.robots import compiled, reaches, ROBOTS, states

CLOSE = 1e-9  # of the largest entry, for what is differentiated numerically
EXACT = 1e-11
GAUSS = np.polynomial.legendre.leggauss(6)  # with which works of elastic forces are right to 2e-11


@pytest.fixture(scope='module', params=ROBOTS)
def model(request):
    """Every robot in turn."""
    return compiled(request.param)


def assert_close(found, wanted, tolerance, scale=0.0):
    """Compare arrays relative to the largest entry of the wanted one, or to ``scale``."""
    scale = max(scale, np.abs(wanted).max())
    assert np.abs(found - wanted).max() <= tolerance * scale


def mass_matrix(model, q):
    """Mass matrix (n, n)."""
    zero = np.zeros(model.n)
    return sd.mass_inertial_inverse_dynamics(model, q=q, qd=zero, qdd=zero)[1]


class Plain(Numeric):
    """Arithmetic of numbers whose cubic, here by cosines, takes whole arrays at once."""

    @staticmethod
    def cubic(a):
        return 2.0 / np.sqrt(3.0) * np.cos(np.arccos(1.5 * np.sqrt(3.0) * a) / 3.0)


def potential(model, q):
    """Potential energy of gravity [J] at q (..., n), from the positions of all points."""
    each = list(np.moveaxis(q, -1, 0)[..., None])
    return -sum(
        g * np.sum(b.masses * c, axis=-1)
        for b in place(model.description, each, Plain())
        for g, c in zip(model.description.gravity, b.points)
    )


def elastic_energy(model, q):
    """Work [J] against the elastic force from rest to q, along a straight line."""
    way = q - model.rest
    return sum(
        0.5 * w * way @ sd.elastic_force(model, q=model.rest + 0.5 * (s + 1.0) * way)
        for s, w in zip(*GAUSS)
    )


def test_mass_matrix_is_symmetric_positive_definite(model):
    """M is symmetric to the last bit and positive definite, at zero and in any posture."""
    zero = np.zeros(model.n)
    for q in (zero, *(q for q, _, _ in states(model, 5, seed=1, size=2.0))):
        M = mass_matrix(model, q)
        assert np.array_equal(M, M.T)
        scale = 1.0 / np.sqrt(np.diag(M))
        assert np.linalg.eigvalsh(scale[:, None] * M * scale).min() > 0.0


def test_columns_of_the_mass_matrix_are_inertial_forces(model):
    """IID(q, 0, e_i) is column i of M."""
    for q, _, _ in states(model, 3, seed=2):
        M, zero = mass_matrix(model, q), np.zeros(model.n)
        columns = [
            sd.inertial_inverse_dynamics(model, q=q, qd=zero, qdd=e) for e in np.eye(model.n)
        ]
        assert_close(np.array(columns).T, M, EXACT)


def test_mass_matrix_of_mid_equals_single_calls(model):
    """The M of MID is n calls of ID, less the one without acceleration; its forces are ID's."""
    for q, qd, qdd in states(model, 3, seed=3):
        Q, M = sd.mass_inverse_dynamics(model, q=q, qd=qd, qdd=qdd)
        assert np.array_equal(Q, sd.inverse_dynamics(model, q=q, qd=qd, qdd=qdd))
        h = sd.inverse_dynamics(model, q=q, qd=qd, qdd=np.zeros(model.n))
        columns = [sd.inverse_dynamics(model, q=q, qd=qd, qdd=e) - h for e in np.eye(model.n)]
        assert_close(np.array(columns).T, M, EXACT, np.abs(h).max())
        assert_close(h + M @ qdd, Q, EXACT, np.abs(h).max())


def test_inverse_dynamics_is_linear_in_the_acceleration(model):
    """ID(a + 2 b) - ID(0) = (ID(a) - ID(0)) + 2 (ID(b) - ID(0))."""
    for q, qd, a in states(model, 3, seed=4):
        b = np.cos(np.arange(model.n))
        h, first, second, both = (
            sd.inverse_dynamics(model, q=q, qd=qd, qdd=x) for x in (0.0 * a, a, b, a + 2.0 * b)
        )
        scale = max(np.abs(x).max() for x in (h, first, second))
        assert_close(both - h, first - h + 2.0 * (second - h), EXACT, scale)


def test_inverse_dynamics_is_the_sum_of_its_forces(model):
    """ID = IID + g + k + d."""
    for q, qd, qdd in states(model, 3, seed=5):
        parts = (
            sd.inertial_inverse_dynamics(model, q=q, qd=qd, qdd=qdd),
            sd.gravity_force(model, q=q),
            sd.elastic_force(model, q=q),
            sd.damping_force(model, q=q, qd=qd),
        )
        scale = max(np.abs(part).max() for part in parts)
        assert_close(sum(parts), sd.inverse_dynamics(model, q=q, qd=qd, qdd=qdd), EXACT, scale)


def test_mass_rate_and_coriolis_force_do_no_work(model):
    """Qd' (Mdot qd - 2 c) = 0."""
    for q, qd, _ in states(model, 3, seed=6):
        rate = derivative(lambda t: mass_matrix(model, q + t * qd))
        c = sd.inertial_inverse_dynamics(model, q=q, qd=qd, qdd=np.zeros(model.n))
        scale = np.abs(qd) @ (np.abs(rate) @ np.abs(qd) + np.abs(c))
        assert abs(qd @ rate @ qd - 2.0 * qd @ c) <= CLOSE * scale


def test_power_balance(model):
    """The energy's rate is the power of all forces but damping: dE/dt = qd' (nu - d)."""

    def energy(q, qd):  # of many states, in rows
        others = [
            0.5 * v @ mass_matrix(model, x) @ v + elastic_energy(model, x) for x, v in zip(q, qd)
        ]
        return potential(model, q) + others

    for q, qd, qdd in states(model, 3, seed=7):

        def along(t):
            t = t[:, None]
            return energy(q + t * qd + 0.5 * t * t * qdd, qd + t * qdd)

        rate = derivative_at_once(along)
        nu = sd.inverse_dynamics(model, q=q, qd=qd, qdd=qdd)
        d = sd.damping_force(model, q=q, qd=qd)
        scale = np.abs(qd) @ (np.abs(nu) + np.abs(d)) + abs(potential(model, q))
        assert abs(rate - qd @ (nu - d)) <= CLOSE * scale
        assert qd @ d >= 0.0


def test_gravity_force_is_the_gradient_of_the_potential(model):
    """The gravity force g is the gradient dV/dq of the potential energy."""
    for q, _, _ in states(model, 3, seed=8):
        reach = reaches(model.coordinate_names)
        wanted = gradient_by_rows(lambda rows: potential(model, rows), q, reach=reach)
        scale = abs(potential(model, q))
        assert_close(sd.gravity_force(model, q=q), wanted, CLOSE, scale)


def test_elastic_force_is_the_gradient_of_an_energy(model):
    """The elastic force s is the gradient dU/dq of an energy."""
    for q, _, _ in states(model, 3, seed=9):
        reach = reaches(model.coordinate_names)
        wanted = gradient(lambda x: elastic_energy(model, x), q, reach=reach)
        assert_close(sd.elastic_force(model, q=q), wanted, CLOSE, 1e-6)


def test_forward_dynamics_inverts_inverse_dynamics(model):
    """ID at the acceleration of forward dynamics is the actuators' generalized force A u."""
    rng = np.random.default_rng(10)
    for q, qd, _ in states(model, 3, seed=10):
        u = rng.uniform(-1.0, 1.0, model.m)
        qdd = sd.forward_dynamics(model, q=q, qd=qd, u=u)
        nu = sd.inverse_dynamics(model, q=q, qd=qd, qdd=qdd)
        h = sd.inverse_dynamics(model, q=q, qd=qd, qdd=np.zeros(model.n))
        assert_close(nu, sd.actuation(model, q=q, qd=qd).matrix @ u, 1e-8, np.abs(h).max())


def test_equal_calls_give_equal_bits(model):
    """Two calls with the same arguments give the same bits, and leave the arguments alone."""
    ((q, qd, qdd),) = states(model, 1, seed=11)
    kept = q.copy(), qd.copy(), qdd.copy()
    first, second = (sd.mass_inverse_dynamics(model, q=q, qd=qd, qdd=qdd) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first, second))
    assert all(np.array_equal(a, b) for a, b in zip(kept, (q, qd, qdd)))
