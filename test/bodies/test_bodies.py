# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Contract tests of every registered body and joint; a new file is tested without a new test."""

import numpy as np
from oracles import material, newton_euler
from oracles.jets import Jet, jet, JETS
import pytest
from softrobot_dynamics.bodies.contract import BODIES, Body
from softrobot_dynamics.compiling.addresses import Entry, run_three
from softrobot_dynamics.compiling.binding import address, cached
from softrobot_dynamics.joints.contract import JOINTS
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.reductions import BLOCK
from softrobot_dynamics.tracing.arithmetic import NUMERIC
from softrobot_dynamics.tracing.graph import symbol, SYMBOLIC
from softrobot_dynamics.tracing.traversal import evaluate
from support.differences import derivative, gradient
from support.generated import instance, members
from support.kernel_calls import body_slab, joint_slab
from support.robots import possible, reaches

pytestmark = pytest.mark.quick

TOLERANCE = 1e-12  # of the largest entry


@pytest.fixture(scope='module', params=members(BODIES))
def body(request):
    """Every registered body."""
    return request.param


@pytest.fixture(scope='module', params=members(JOINTS))
def joint(request):
    """Every registered joint."""
    return request.param


def random_states(body, count, seed, size=1.0):
    """States (q, qd, w) of a body on a turning joint frame; offsets in metres are small."""
    rng = np.random.default_rng(seed)
    reach = body_reaches(body, size)
    drawn = [
        (*(reach * rng.uniform(-1.0, 1.0, (2, len(reach)))), rng.uniform(-2.0, 2.0, 3))
        for _ in range(count)
    ]
    return [(possible(body, q), qd, w) for q, qd, w in drawn]


def body_reaches(body, size=1.0):
    """Return the ranges (n,) of a body's coordinates."""
    return reaches([f'/{name}' for name in body.coordinates()], size)


def assert_close(found, wanted, tolerance=TOLERANCE):
    """Compare arrays relative to the largest entry of the wanted one."""
    assert found.shape == wanted.shape
    if wanted.size:
        assert np.abs(found - wanted).max() <= tolerance * np.abs(wanted).max()


@pytest.mark.parametrize('size', [0.0, 1e-3, 1.0, 3.0], ids='size={}'.format)
def test_sums_equal_the_material_points(body, size):
    """Inertia, bias wrench, coupling, mass and bias are the sums over the body's points."""
    n = len(body.coordinates())
    for q, qd, w in random_states(body, 3, seed=1):
        q = possible(body, size * q)
        W = body_slab(body.kernel(), q, qd, w)
        inertia, wrench, coupling, mass, bias = newton_euler.body_sums(body, q, qd, w)
        assert_close(W[layout.inertia_offset(n) :][:10], inertia)
        assert_close(W[layout.wrench_offset(n) :][:6], wrench)
        assert_close(W[layout.coupling_offset(n) :][: 6 * n], coupling.ravel())
        assert_close(W[layout.mass_offset(n) :][: n * n], mass.ravel())
        assert_close(W[layout.bias_offset(n) :][:n], bias)


def test_closed_form_equals_the_traced_formula(body):
    """A body's own kernel fills the same slab as the kernel traced from its formula."""
    if body.tabulated or not body.traceable:
        return  # there is no formula to trace and compile
    n = len(body.coordinates())
    own, traced = body.kernel(), Body.kernel(body)
    if n and (own.module, own.function) == (traced.module, traced.function):
        assert np.array_equal(own.parameters, traced.parameters)
        return
    for q, qd, w in random_states(body, 5, seed=2, size=2.0):
        found, wanted = body_slab(own, q, qd, w), body_slab(traced, q, qd, w)
        parts = [0, 9, 12, 15, 18, 18 + 3 * n, layout.inertia_offset(n), layout.wrench_offset(n),
                 layout.coupling_offset(n), layout.mass_offset(n), layout.bias_offset(n),
                 layout.body_size(n)]  # fmt: skip
        for first, last in zip(parts, parts[1:]):
            scale = max(1e-3, np.abs(wanted[first:last]).max(initial=0.0))
            assert np.abs(found[first:last] - wanted[first:last]).max(initial=0.0) < 1e-12 * scale


def test_frame_slab_equals_the_tip_formula(body):
    """The tip's pose, Jacobian and bias in the slab are the tip formula and its derivatives."""
    n = len(body.coordinates())
    for q, qd, w in random_states(body, 3, seed=3):

        def frame(x):
            rotation, origin = body.tip_frame(list(x), NUMERIC)
            return np.array([float(v) for v in (*rotation, *origin)])

        check_frame(body_slab(body.kernel(), q, qd, w), frame, n, q, qd, body_reaches(body))


def check_frame(W, frame, n, q, qd, reach=1.0):
    """Compare a frame slab with the pose ``frame(q)`` (12,) and its numerical derivatives."""
    np.testing.assert_allclose(W[:12], frame(q), atol=1e-14)
    R = W[:9].reshape(3, 3)
    derivatives = gradient(frame, q, reach=reach) if n else np.zeros((12, 0))

    def rate(t):  # relative twist along the motion: angular in B, linear in A
        x = q + t * qd
        gradient = derivative(lambda s: frame(x + s * qd))
        spin = frame(x)[:9].reshape(3, 3).T @ gradient[:9].reshape(3, 3)
        return np.array([spin[2, 1], spin[0, 2], spin[1, 0], *gradient[9:]])

    np.testing.assert_allclose(W[12:18], derivative(rate), atol=1e-9)
    for j in range(n):
        spin = R.T @ derivatives[:9, j].reshape(3, 3)
        angular = [spin[2, 1], spin[0, 2], spin[1, 0]]
        np.testing.assert_allclose(W[18 + 3 * j :][:3], angular, atol=1e-10)
        np.testing.assert_allclose(W[18 + 3 * n + 3 * j :][:3], derivatives[9:, j], atol=1e-10)


def test_material_points_are_those_of_the_formula(body):
    """The kernel of points gives the formula's p, dp/dx1, dp/dx2 and their derivatives by q."""
    known, n = np.asarray(body.material_points()[0]), len(body.coordinates())
    points = known[np.random.default_rng(10).integers(len(known), size=BLOCK + 3)]
    kernel = body.points_kernel(points)
    entry = Entry(address(kernel.module, kernel.function, 'P, q, V, S'), kernel.parameters)
    V, S = np.full((2, n + 1, 9, BLOCK), np.nan), np.full(kernel.scratch, np.nan)
    for q, _, _ in random_states(body, 2, seed=11):
        cached(run_three, entry=entry)(q, V.reshape(-1), S)
        for k in (0, 17, BLOCK + 2):
            wanted = material.values_and_derivatives(body, points[k], q)
            np.testing.assert_allclose(V[k // BLOCK, ..., k % BLOCK], wanted, atol=1e-12)


def test_tip_frame_from_three_points(body):
    """A tip frame given directly is the one of three material points, if the section is rigid."""
    if not body.section_path or body.tabulated:
        return  # its tip is a frame of its own
    for q, _, _ in random_states(body, 5, seed=7, size=2.0):
        L = body.length
        centre, rim = (body.position((r, 0.0, L), list(q), NUMERIC) for r in (0.0, L))
        if not abs(np.linalg.norm(np.subtract(rim, centre)) - L) <= 1e-9 * L:
            return
        own, general = body.tip_frame(list(q), NUMERIC), Body.tip_frame(body, list(q), NUMERIC)
        for found, wanted in zip(own, general):
            np.testing.assert_allclose(np.array(found, dtype=float), wanted, atol=1e-13)


def test_fibre_speed_is_the_speed_of_the_position(body):
    """The length per x3 of a material curve is the norm of its derivative, for every body."""
    rng, n = np.random.default_rng(8), len(body.coordinates())
    x, gradient = [symbol('x', i) for i in range(3)], [symbol('x', i) for i in (3, 4)]
    q = [symbol('q', i) for i in range(n)]
    tolerance = 1e-13 if body.traceable else 1e-5  # of a position that is itself integrated
    writers = (type(body), Body)[: 1 + body.traceable]
    for cls in writers if body.section_path and not body.tabulated else ():
        speed = cls.fibre_speed(body, x, gradient, q, SYMBOLIC)
        for values, _, _ in random_states(body, 5, seed=9):
            at = [0.01, -0.008, 0.7 * body.length]
            derivatives = rng.uniform(-0.3, 0.3, 2)
            given = {('x', i): v for i, v in enumerate([*at, *derivatives])}
            given |= {('q', i): v for i, v in enumerate(values)}
            curve = [Jet(v, d) for v, d in zip(at, [*derivatives, 1.0])]
            velocity = [jet(c).first for c in body.position(curve, list(values), JETS)]
            (found,) = evaluate([speed], given, NUMERIC)
            np.testing.assert_allclose(found, np.linalg.norm(velocity), rtol=tolerance)


def test_springs_of_the_slab_are_the_body_s(body):
    """The elastic and the damping force in the slab are K q and D qd, K and D symmetric."""
    n = len(body.coordinates())
    K, D = body.stiffness(), body.damping_matrix()
    linear = body.energy(np.eye(3).tolist(), NUMERIC) is None
    assert K.shape == D.shape == (n, n)
    assert np.array_equal(K, K.T) and np.array_equal(D, D.T)
    assert (np.linalg.eigvalsh(K) >= 0.0).all() and (np.linalg.eigvalsh(D) >= 0.0).all()
    for q, qd, w in random_states(body, 2, seed=4) if linear else ():
        W = body_slab(body.kernel(), q, qd, w)
        np.testing.assert_allclose(W[layout.bias_offset(n) + n :][:n], K @ q, rtol=1e-13)
        np.testing.assert_allclose(W[layout.bias_offset(n) + 2 * n :][:n], D @ qd, rtol=1e-13)


def test_mass_is_positive_and_stays(body):
    """The material points have a positive mass, which the slab reports in any posture."""
    points, masses = body.material_points()
    assert np.shape(points) == (len(masses), 3) and (masses > 0.0).all()
    n = len(body.coordinates())
    for q, qd, w in random_states(body, 2, seed=5):
        found = body_slab(body.kernel(), q, qd, w)[layout.inertia_offset(n)]
        np.testing.assert_allclose(found, masses.sum(), rtol=1e-14)


def test_nothing_is_stretched_at_rest(body):
    """The smallest factor of length or volume is one."""
    assert body.stretch(np.zeros(len(body.coordinates()))) == pytest.approx(1.0, abs=1e-6)


def test_the_smallest_stretch_is_that_of_the_formula():
    """The smallest stretch is the least det dp/dx on a rod's axis or at a solid's points."""
    half = {'length': 0.2, 'radius': [0.02, 0.02], 'density': 1e3, 'young_modulus': 1e5}
    functions = {'along': {'z': {'s': 1.0}}, 'more': {'z': {'s^2': 1.0}}}
    backbone = instance(BODIES, {'type': 'ritz_backbone', **half, 'functions': functions})
    farthest = max(backbone.material_points()[0][:, 2]) / 0.2
    wanted = 1.0 - (0.1 + 2.0 * 0.04 * farthest) / 0.2
    assert backbone.stretch([-0.1, -0.04]) == pytest.approx(wanted, abs=1e-8)
    assert not backbone.stretch([-0.3, 0.0]) > 0.0  # its formula has no such posture
    pcc = instance(BODIES, {'type': 'pcc', **half})
    assert pcc.stretch([1.0, 2.0, -0.3]) == pytest.approx(-0.5)
    section = {'type': 'circular', 'radius': 0.02}
    strains = {'gamma_z': {'basis': 'legendre', 'order': 1}}
    rod = {k: half[k] for k in ('length', 'density', 'young_modulus')}
    cosserat = instance(
        BODIES, {'type': 'cosserat', **rod, 'section': section, 'strains': strains}
    )
    assert cosserat.stretch([0.0, -1.2]) == pytest.approx(-0.2)


def test_a_state_that_is_no_number_gives_none(body):
    """A NaN in q or qd is not swallowed: the slab's generalized bias or mass is NaN."""
    n = len(body.coordinates())
    for j in range(n):
        for which in range(2):
            state = [np.full(n, 0.1), np.full(n, 0.2)]
            state[which][j] = np.nan
            W = body_slab(body.kernel(), *state, np.full(3, 0.3))
            assert not np.isfinite(W).all()


def test_joint_frame_is_differentiated(joint):
    """A joint's Jacobian and bias are the derivatives of its pose."""
    kernel, n = joint.kernel(), len(joint.coordinates())

    def slab(q, qd):
        return joint_slab(kernel, q, qd)

    rng = np.random.default_rng(6)
    for q, qd in rng.uniform(-2.0, 2.0, (3, 2, n)):
        check_frame(slab(q, qd), lambda x: slab(x, 0.0 * x)[:12], n, q, qd)  # noqa: B023
        R = slab(q, qd)[:9].reshape(3, 3)
        np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
