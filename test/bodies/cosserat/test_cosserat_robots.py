# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Robots of Cosserat rods: other bodies that must agree, elasticity, tendons, wrong entries."""

import numpy as np
from oracles import rods
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.bodies.contract import BODIES
from softrobot_dynamics.bodies.released_strains import STRAINS
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.quadrature import gauss_legendre
from softrobot_dynamics.tracing.arithmetic import NUMERIC
from support.cosserat import (
    assert_close,
    BENT,
    given,
    L,
    robot,
    rod,
    slab,
    state,
    strain_of,
    VARYING,
)
from support.differences import derivative, gradient
from support.generated import instance

STRAIGHT = {'type': 'elliptic', 'half_axis_x': 0.02, 'half_axis_y': 0.012}


def test_a_step_that_turns_too_far_is_refused():
    """Terms are nan, calls raise, and the body explains what would be right."""
    body = rod(quadrature=1)
    q = np.array([2.4 * np.pi / L, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert np.isnan(slab(body, q, 0.0 * q)[layout.inertia_offset(6) + 4])
    assert 'less than 3.63 rad' in body.explain(q) and 'not 3.77' in body.explain(q)
    model = robot(given(quadrature=1))
    with pytest.raises(sd.errors.ArgumentError, match='a: strains that turn it by less than'):
        sd.inverse_dynamics(model, q=q, qd=0.0 * q, qdd=0.0 * q)
    assert np.isfinite(slab(rod(quadrature=3), q, 0.0 * q)).all()


@pytest.mark.parametrize('thick', [True, False], ids=['disc', 'thin'])
@pytest.mark.parametrize('kind', ['pcc', 'planar_cc'])
def test_the_same_rod_as_another_body(kind, thick):
    """ID, M, tips and tendons agree to 1e-10 with the bodies of constant curvature."""
    shared = {'length': L, 'density': 1070.0, 'young_modulus': 6e5, 'damping': 0.05,
              'section_inertia': thick, 'quadrature': 12}  # fmt: skip
    own, radius = (('kappa_x', 'kappa_y', 'gamma_z'), [0.02, 0.015])
    if kind == 'planar_cc':
        own, radius = ('kappa_y',), 0.02
    strains = {name: {'basis': 'legendre'} for name in own}
    ours = {**given(strains), **shared, 'section': {'type': 'circular', 'radius': radius}}
    helix = {'radius': 0.01, 'phase': 0.3, 'turns': 0.7}
    path = [{'body': 'a', 'offset': [0.012, 0.003]}, {'body': 'b', 'offset': helix}]
    tendon = {'name': 't', 'type': 'tendon', 'path': path}
    theirs = {'type': kind, 'radius': radius, **shared}
    first, second = (robot(b, b, actuators=[tendon]) for b in (ours, theirs))
    # strains per coordinate: bend_x, bend_y, elongation
    T = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]) / L
    T = np.kron(np.eye(2), T if kind == 'pcc' else np.array([[1.0 / L]]))
    rng = np.random.default_rng(4)
    for _ in range(3):
        q, qd, qdd = rng.uniform(-1.0, 1.0, (3, second.n)) * ([1.5, 1.5, 0.04] * 2)[: second.n]
        Q, M = sd.mass_inverse_dynamics(first, q=T @ q, qd=T @ qd, qdd=T @ qdd)
        R, N = sd.mass_inverse_dynamics(second, q=q, qd=qd, qdd=qdd)
        assert_close(T.T @ Q, R, 1e-10)
        assert_close(T.T @ M @ T, N, 1e-10)
        tips = (sd.forward_kinematics(m, q=x) for m, x in ((first, T @ q), (second, q)))
        assert_close(next(tips), next(tips), 1e-10)
        mine, its = sd.actuation(first, q=T @ q, qd=T @ qd), sd.actuation(second, q=q, qd=qd)
        assert_close(T.T @ mine.matrix, its.matrix, 1e-10)
        for name in ('coordinates', 'velocities', 'bias'):
            assert_close(getattr(mine, name), getattr(its, name), 1e-10)


def test_pieces_are_bodies_in_a_row():
    """A rod of two pieces of constant strain is two rods of one: ID and M agree to 1e-11."""
    cut, ends = 0.3, [0.02, 0.0185, 0.015]
    section = {'type': 'circular', 'radius': [ends[0], ends[2]]}
    whole = given({name: {'basis': 'piecewise_constant', 'ends': [cut]} for name in STRAINS},
                  section=section)  # fmt: skip
    halves = [
        given(length=share * L, section={'type': 'circular', 'radius': radii})
        for share, radii in ((cut, ends[:2]), (1.0 - cut, ends[1:]))
    ]
    one, two = robot(whole), robot(*halves)
    order = [2 * i + piece for piece in (0, 1) for i in range(6)]
    body = rod()
    for seed in (5, 6):
        q, qd, qdd = (np.concatenate([state(body, seed=s + seed)[0] for s in (0, 10)])
                      for _ in range(3))  # fmt: skip
        Q, M = sd.mass_inverse_dynamics(two, q=q, qd=qd, qdd=qdd)
        inverse = np.argsort(order)
        R, N = sd.mass_inverse_dynamics(one, q=q[inverse], qd=qd[inverse], qdd=qdd[inverse])
        assert_close(R[order], Q, 1e-11)
        assert_close(N[np.ix_(order, order)], M, 1e-11)


def test_a_curved_rod_is_at_rest_at_zero():
    """The reference strain bends the rod without force; it may vary along the rod."""
    bent = given(reference_strain={'kappa_y': 6.0, 'kappa_z': 3.0})
    model = robot(bent)
    zero = np.zeros(6)
    assert not sd.elastic_force(model, q=zero).any()
    body = instance(BODIES, bent)
    tip = rods.pose(rods.constant(L, np.array([0.0, 6.0, 3.0, 0.0, 0.0, 1.0]), zero))[0]
    assert_close(slab(body, zero, zero)[:12], tip)
    shape = {'basis': 'legendre', 'order': 2, 'coefficients': [4.0, -2.0, 1.5]}
    curved = rod({'kappa_x': {'basis': 'monomial'}}, reference_strain={'kappa_y': shape})
    strains = {'kappa_y': {'basis': 'legendre', 'order': 2}}
    moved = rod(strains).tip_frame([4.0, -2.0, 1.5], NUMERIC)
    assert_close(slab(curved, zero[:1], zero[:1])[:12], np.concatenate(moved))


@pytest.mark.parametrize('thick', [True, False], ids=['disc', 'thin'])
def test_inertia_of_a_straight_rod(thick):
    """A straight rod's inertia about its base is int rho (A s^2 + I) ds, int rho (Ix + Iy) ds."""
    body = rod(section_inertia=thick)
    s, weights = gauss_legendre(20, 0.0, L)
    area, Ix, Iy, _ = body.section.at(s / L)
    Ix, Iy = Ix * thick, Iy * thick
    wanted = 1070.0 * np.array(
        [weights @ v for v in (area * s**2 + Ix, area * s**2 + Iy, Ix + Iy)]
    )
    found = slab(body, np.zeros(6), np.zeros(6))[layout.inertia_offset(6) :][4:7]
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-18)


def test_stiffness_is_the_energy_of_the_strains():
    """Twice the energy, q' K q, is int xi' diag(E Ix, E Iy, G J, k G A, k G A, E A) xi ds."""
    body = rod(VARYING, poisson_ratio=0.4, shear_correction=0.85, damping=0.1)
    s, weights = gauss_legendre(200, 0.0, L)
    area, Ix, Iy, J = body.section.at(s / L)
    E, G = 6e5, 6e5 / 2.8
    q = state(body, seed=7)[0]
    xi = np.array([strain_of(body, q, rate=True)(each) for each in s]).T
    rigidity = np.array([E * Ix, E * Iy, G * J, 0.85 * G * area, 0.85 * G * area, E * area])
    wanted = np.sum(weights * rigidity * xi**2)
    assert q @ body.stiffness() @ q == pytest.approx(wanted, rel=1e-8)
    np.testing.assert_allclose(body.damping_matrix(), 0.1 * body.stiffness(), rtol=1e-15)


def test_rigidities_make_the_same_rod():
    """A rod given by the rigidities of a tapered elliptic section has the terms of that rod."""
    shape = rod(VARYING, poisson_ratio=0.4, shear_correction=0.85, damping=0.1, section=STRAIGHT)
    A, Ix, Iy, J = shape.section.at(0.5)
    E, G, rho = 6e5, 6e5 / 2.8, 1070.0
    own = {
        'type': 'rigidities', 'EI': {'x': E * Ix, 'y': [E * Iy, E * Iy]}, 'GJ': G * J,
        'GA': 0.85 * G * A, 'EA': E * A, 'rhoA': rho * A, 'rhoI': {'x': rho * Ix, 'y': rho * Iy},
    }  # fmt: skip
    same = instance(BODIES, numbered(VARYING, own, damping=0.1))
    q, qd, w = state(shape, seed=9)
    np.testing.assert_allclose(slab(same, q, qd, w), slab(shape, q, qd, w), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(same.stiffness(), shape.stiffness(), rtol=1e-12, atol=1e-18)


def test_rigidities_may_taper_and_lack_what_is_locked():
    """A tapering E I counts by its mean, and locked strains need no rigidity."""
    own = {'type': 'rigidities', 'EI': [2.0, 1.0], 'rhoA': 0.3}
    body = instance(BODIES, numbered({'kappa_y': {'basis': 'legendre'}}, own))
    assert body.stiffness() == pytest.approx(np.array([[1.5 * L]]), rel=1e-14)
    found = slab(body, np.zeros(1), np.zeros(1))[layout.inertia_offset(1) :]
    np.testing.assert_allclose(found[4:7], [0.1 * L**3, 0.1 * L**3, 0.0], rtol=1e-12, atol=1e-18)


def test_each_strain_may_have_its_own_damping():
    """D is K times the damping of each strain, and zero for a strain not named."""
    each = {'kappa_x': 0.1, 'gamma_z': 0.3}
    body, plain = rod(VARYING, damping=each), rod(VARYING)
    names = [c.rpartition('_')[0] for c in body.coordinates()]
    factors = np.array([each.get(name, 0.0) for name in names])
    assert set(factors) == {0.0, 0.1, 0.3}
    np.testing.assert_allclose(body.damping_matrix(), factors[:, None] * plain.stiffness())
    model = robot(given(VARYING, damping=each))
    q, qd, _ = state(body, seed=10)
    force = sd.damping_force(model, q=q, qd=qd)
    np.testing.assert_allclose(force, factors * (plain.stiffness() @ qd), rtol=1e-12)


def numbered(strains, section, **fields):
    """Return the mapping of a rod whose section is given by rigidities."""
    mapping = given(strains, section=section, **fields)
    return {key: x for key, x in mapping.items() if key not in ('density', 'young_modulus')}


def test_tendons_of_any_route():
    """Length and its rates are those of the curve the tendon takes, over a jump in the strain."""
    strains = {**VARYING, 'kappa_y': {'basis': 'piecewise_constant', 'ends': [0.4]}}
    mapping = given(strains, quadrature=40, reference_strain=BENT)
    offset = {'x': [0.012, -0.006], 'y': [0.002, 0.003, -0.001]}
    path = [{'body': 'a', 'offset': offset, 'span': [0.2, 0.9]}]
    model = robot(mapping, actuators=[{'name': 't', 'type': 'tendon', 'path': path}])
    body = instance(BODIES, mapping)
    q, qd, _ = state(body, seed=8)
    zero, found = 0.0 * q, sd.actuation(model, q=q, qd=qd)
    wanted = polygon(body, q) - polygon(body, zero)
    assert found.coordinates[0] == pytest.approx(wanted, rel=1e-5)

    def length(x):
        return sd.actuation(model, q=x, qd=zero).coordinates

    assert_close(found.jacobian, gradient(length, q), 1e-9)
    rate = derivative(lambda t: sd.actuation(model, q=q + t * qd, qd=zero).jacobian @ qd)
    assert_close(found.bias, rate, 1e-9)


def polygon(body, q):
    """Length [m] of the tendon above, as a polygon of many corners, extrapolated."""

    def of(corners):
        sigma = np.linspace(0.2, 0.9, corners)
        x, y = 0.012 - 0.006 * sigma, 0.002 + 0.003 * sigma - 0.001 * sigma**2
        curve = np.array(body.position([x, y, sigma * L], q, NUMERIC))
        return np.linalg.norm(np.diff(curve, axis=1), axis=0).sum()

    return (4.0 * of(1401) - of(701)) / 3.0


def test_more_functions_than_points_are_refused():
    """The quadrature must see all functions of a strain, piece by piece."""
    with pytest.raises(sd.errors.DescriptionError) as caught:
        robot(given({'kappa_y': {'basis': 'legendre', 'order': 5}}))
    ((path, value, expected),) = caught.value.problems
    assert (path, value) == ('bodies[0].body.quadrature', 5)
    assert expected == 'a whole number >= 6: kappa_y has 6 functions'
    rod({'kappa_y': {'basis': 'piecewise_constant', 'order': 5}}, quadrature=1)


ALL = {'type': 'rigidities', 'EI': 0.1, 'GJ': 0.1, 'GA': 9.0, 'EA': 9.0, 'rhoA': 0.3}
NUMBERED = {'section': ALL, 'density': None, 'young_modulus': None}
WRONG = [
    ({'strains': {'kappa_x': {'basis': 'spline'}}}, 'strains.kappa_x.basis', 'one of the bases'),
    ({'section': {'type': 'round', 'radius': 1.0}}, 'section.type', 'one of the section types'),
    ({'section': {'type': 'circular'}}, 'section.radius', 'a number'),
    ({'reference_strain': [0.0, 0.0, 1.0]}, 'reference_strain', 'a list of 6 numbers'),
    ({'shear_correction': 0.0}, 'shear_correction', 'a number > 0 [-]'),
    ({'density': None}, 'density', 'a number > 0 [kg/m^3]'),
    ({'young_modulus': None}, 'young_modulus', 'a number > 0 [Pa]'),
    ({'damping': {'kappa_w': 0.1}}, 'damping.kappa_w', 'one of the strains'),
    ({'damping': {'kappa_x': -0.1}}, 'damping.kappa_x', 'a number >= 0 [s]'),
    ({**NUMBERED, 'density': 1000.0}, 'density', 'none beside a section of rigidities'),
    ({**NUMBERED, 'section': ALL | {'GJ': None}}, 'section.GJ', '> 0 [N m^2], for kappa_z'),
    ({**NUMBERED, 'section': ALL | {'EI': {'x': 1.0}}}, 'section.EI.y', 'a number > 0 [N m^2]'),
    ({**NUMBERED, 'section': ALL | {'rhoA': 0.0}}, 'section.rhoA', 'a number > 0 [kg/m]'),
]


@pytest.mark.parametrize('fields, path, expected', WRONG)
def test_wrong_fields_are_refused(fields, path, expected):
    """Each wrong entry is named by its path in the file, with what would be right."""
    with pytest.raises(sd.errors.DescriptionError) as caught:
        robot(given() | fields)
    (problem,) = caught.value.problems
    assert problem.path == f'bodies[0].body.{path}' and expected in problem.expected
