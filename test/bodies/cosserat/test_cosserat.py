# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Kernels of Cosserat rods against exponentials and a solver of differential equations."""

import numpy as np
from oracles import newton_euler, rods
import pytest
from softrobot_dynamics.kernels.quadrature import gauss_legendre
from softrobot_dynamics.tracing.arithmetic import NUMERIC
from softrobot_dynamics.tracing.graph import symbol, SYMBOLIC
from softrobot_dynamics.tracing.traversal import evaluate
from support.cosserat import (
    assert_close,
    BENT,
    L,
    parts,
    rod,
    slab,
    SMOOTH,
    state,
    strain_of,
    TOLERANCE,
    VARYING,
)


def motions(body, stations, q, qd):
    """Series of the frames at stations [m] along each coordinate and along qd, (K, n + 1)."""
    n, strain = len(q), strain_of(body, q)
    directions = [strain_of(body, each, rate=True) for each in (*np.eye(n), qd)]
    if all(basis.count() == 1 and not basis.breaks() for _, basis in body.strains):
        return [[rods.constant(s, strain(s), d(s)) for d in directions] for s in stations]
    return np.transpose([rods.varying(stations, strain, d) for d in directions], (1, 0, 2, 3))


def check(body, q, qd, w, tolerance):
    """Compare a slab with the frames of the oracle."""
    n, W = len(q), slab(body, q, qd, w)
    points, masses = body.material_points()
    stations, index = np.unique(points[:, 2], return_inverse=True)
    frames = motions(body, np.array([*stations, L]), q, qd)
    wanted = rods.sums(points, masses, [frames[i] for i in index], w)
    for found, expected in zip(parts(W, n), wanted):
        assert_close(found, expected, tolerance)
    check_tip(W, n, frames[-1], tolerance)


def check_tip(W, n, tip, tolerance):
    """Compare the frame of a slab with the series of the oracle."""
    place, _, acceleration = rods.pose(tip[-1])
    assert_close(W[:12], place, tolerance)
    R, scale = place[:9].reshape(3, 3), np.abs(acceleration).max()
    assert np.abs(W[15:18] - acceleration[9:]).max() <= tolerance * scale
    second, first = acceleration[:9].reshape(3, 3), rods.pose(tip[-1])[1][:9].reshape(3, 3)
    assert np.abs(W[12:15] - vee(R.T @ second + first.T @ first)).max() <= tolerance * scale
    columns = [rods.pose(tip[j])[1] for j in range(n)]
    wanted = [vee(R.T @ column[:9].reshape(3, 3)) for column in columns]
    wanted += [column[9:] for column in columns]
    assert_close(W[18 : 18 + 6 * n], np.concatenate(wanted), tolerance)


def vee(S):
    """Vector of a skew matrix."""
    return np.array([S[2, 1], S[0, 2], S[1, 0]])


@pytest.mark.parametrize('thick', [True, False], ids=['disc', 'thin'])
@pytest.mark.parametrize('size', [0.0, 1e-6, 1e-3, 1.0, 5.0], ids='size={}'.format)
def test_constant_strains_are_exponentials(size, thick):
    """Frames, Jacobians, biases and all sums equal those of expm(s hat(xi)) to 1e-12."""
    body = rod(section_inertia=thick)
    q, qd, w = state(body, size)
    check(body, q if size else 0.0 * q, qd, w, TOLERANCE)


def test_varying_strains_are_integrated():
    """With many points a rod equals the solution of its differential equation to 1e-7."""
    for seed, strains in ((1, VARYING), (2, SMOOTH)):
        body = rod(strains, quadrature=100, reference_strain=BENT)
        check(body, *state(body, seed=seed), 1e-7)


def test_convergence_is_of_fourth_order():
    """Errors of the tip, its Jacobian and bias, of M and c fall like the step to the fourth."""
    fine = rod(VARYING, quadrature=40, reference_strain=BENT)
    q, qd, w = state(fine, seed=2)
    points, masses = fine.material_points()
    stations, index = np.unique(points[:, 2], return_inverse=True)
    frames = motions(fine, np.array([*stations, L]), q, qd)
    *_, mass, bias = rods.sums(points, masses, [frames[i] for i in index], w)
    place, _, acceleration = rods.pose(frames[-1][-1])
    errors, steps = [], []
    for count in (20, 40):
        W = slab(rod(VARYING, quadrature=count, reference_strain=BENT), q, qd, w)
        *_, M, b = parts(W, len(q))
        pairs = (W[:12], place), (W[15:18], acceleration[9:]), (M, mass), (b, bias)
        errors.append([np.abs(x - y).max() / np.abs(y).max() for x, y in pairs])
        steps.append(np.diff([0.0, *gauss_legendre(count)[0]]).max())
    orders = np.log(np.divide(*errors)) / np.log(steps[0] / steps[1])
    assert (orders > 3.85).all() and (orders < 4.3).all()
    assert max(errors[1]) < 3e-6


@pytest.mark.parametrize('count', [14, 15, 16, 40])
def test_sums_are_right_for_any_number_of_blocks(count):
    """However many vector blocks the steps fill, the sums are those over all points."""
    body = rod(quadrature=count)
    q, qd, w = state(body, seed=3)
    found = parts(slab(body, q, qd, w), len(q))
    for part, wanted in zip(found, newton_euler.body_sums(body, q, qd, w)):
        assert_close(part, wanted)


def test_twist_of_a_straight_rod():
    """A twisted straight rod has the tip and the inertia of a shaft, at rest and after 2 pi."""
    body = rod({'kappa_z': {'basis': 'monomial'}}, section={'type': 'rectangular', 'width': 0.03,
                                                            'height': 0.01})  # fmt: skip
    polar = 1070.0 * (0.03 * 0.01**3 + 0.03**3 * 0.01) / 12.0
    for turn in (0.0, 1e-9, 0.3, 2.0 * np.pi):
        W = slab(body, np.array([turn / L]), np.array([0.7]), np.array([0.0, 0.0, 0.4]))
        c, s = np.cos(turn), np.sin(turn)
        np.testing.assert_allclose(W[:12], [c, -s, 0, s, c, 0, 0, 0, 1, 0, 0, L], atol=1e-14)
        np.testing.assert_allclose(W[18:24], [0, 0, L, 0, 0, 0], atol=1e-15)
        *_, coupling, mass, bias = parts(W, 1)
        np.testing.assert_allclose(coupling, [[0, 0, polar * L**2 / 2.0, 0, 0, 0]], atol=1e-18)
        np.testing.assert_allclose(mass, [[polar * L**3 / 3.0]], rtol=1e-13)
        assert np.abs(bias) < 1e-17


@pytest.mark.parametrize('quadrature', [1, 2, 5])
def test_two_pi_per_segment(quadrature):
    """A full circle is represented whatever the quadrature; its tip comes back to its base."""
    body = rod(quadrature=quadrature)
    axis = np.array([0.6, 0.0, 0.8])
    q = np.concatenate([2.0 * np.pi / L * axis, np.zeros(3)])
    check(body, q, *state(body)[1:], TOLERANCE)
    W = slab(body, q, 0.0 * q)
    np.testing.assert_allclose(W[:9].reshape(3, 3), np.eye(3), atol=1e-14)
    np.testing.assert_allclose(W[9:12], 0.8 * L * axis, atol=1e-15)
    assert body.explain(q) is None


def test_the_formula_can_be_traced():
    """Position and tip frame are formulas: traced and evaluated they give what arrays give."""
    body = rod(VARYING, quadrature=3, reference_strain=BENT)
    q = state(body, seed=9)[0]
    symbols = {('q', j): v for j, v in enumerate(q)}
    nodes = body.position([symbol('x', i) for i in range(3)],
                          [symbol('q', j) for j in range(len(q))], SYMBOLIC)  # fmt: skip
    for x in ([0.01, -0.02, 0.0], [0.0, 0.02, 0.3 * L], [0.01, 0.01, L]):
        at = {('x', i): v for i, v in enumerate(x)}
        found = evaluate(nodes, symbols | at, NUMERIC)
        assert_close(np.array(found, dtype=float), body.position(x, q, NUMERIC))
