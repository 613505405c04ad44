# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Ritz-Galerkin bodies against closed forms of beams and of uniform strain, and bad input."""

import numpy as np
import pytest
from scipy.linalg import eigh
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError, DescriptionError
from softrobot_dynamics.tracing.arithmetic import NUMERIC

E, L, R, RHO = 4e5, 0.3, 0.02, 1000.0
AREA, INERTIA = np.pi * R**2, np.pi / 4 * R**4
HOOKE = {'type': 'st_venant_kirchhoff', 'young_modulus': E, 'poisson_ratio': 0.0}
VOLUME = {'type': 'ritz', 'length': L, 'radius': R, 'density': RHO, 'material': HOOKE}
ROD = {'type': 'ritz_backbone', 'length': L, 'radius': R, 'density': RHO, 'young_modulus': E}
BEND = {'x': {'s^2': 1.0}, 'z': {'x s': -2.0}}
SPATIAL = {'x2': {'x': {'s^2': 1.0}}, 'y2': {'y': {'s^2': 1.0}}, 'z1': {'z': {'s': 1.0}}}


def described(body, gravity=(0.0, 0.0, 9.81)):
    """Describe a robot of one body at the base."""
    bodies = [{'name': 'b', 'joint': {'type': 'fixed'}, 'body': body}]
    return sd.load_robot({'name': 'r', 'gravity': list(gravity), 'bodies': bodies})


def compiled(body, **options):
    """Return the model of a robot of one body."""
    return sd.compile_model(described(body, **options))


def mass_matrix(model):
    """M at rest."""
    zero = np.zeros(model.n)
    return sd.mass_inverse_dynamics(model, q=zero, qd=zero, qdd=zero)[1]


@pytest.fixture(scope='module')
def volume():
    """Return a model of a volume that stretches and bends both ways."""
    bend_y = {'y': {'s^2': 1.0}, 'z': {'y s': -2.0}}
    fields = {'stretch': {'z': {'s': 1.0}}, 'bend_x': BEND, 'bend_y': bend_y}
    return compiled({**VOLUME, 'fields': fields})


def powers(letter, first, count):
    """Return functions s^first, s^(first + 1), ... in a component."""
    return {f'{letter}{k}': {letter: {f's^{k}': 1.0}} for k in range(first, first + count)}


def elastic_line(count):
    """Return the functions of a rod that bends in a plane and stretches, bends first."""
    return {**powers('x', 2, count), **powers('z', 1, count)}


def test_small_strains_have_the_stiffness_of_a_rod(volume):
    """Stiffness is E A/L in stretch and 4 E I/L^3 in uniform curvature."""
    K = np.diag([E * AREA / L, 4 * E * INERTIA / L**3, 4 * E * INERTIA / L**3])
    np.testing.assert_allclose(volume.stiffness, K, atol=1e-6 * K.max())


def test_mass_matrix_is_that_of_the_fields(volume):
    """Stretch: m/3; uniform curvature: m/5 and 4/3 rho I/L of the turning sections."""
    m = RHO * AREA * L
    bend = m / 5 + 4 / 3 * RHO * INERTIA / L
    np.testing.assert_allclose(mass_matrix(volume), np.diag([m / 3, bend, bend]), atol=1e-14)


def test_large_stretch_obeys_the_material(volume):
    """The force of a St Venant-Kirchhoff bar is E A (s^3 - s)/2 at any stretch s."""
    for stretch in (0.7, 1.0, 1.5):
        force = sd.elastic_force(volume, q=np.array([(stretch - 1.0) * L, 0.0, 0.0]))
        wanted = E * AREA * (stretch**3 - stretch) / 2
        np.testing.assert_allclose(force, [wanted, 0.0, 0.0], atol=1e-12 * E * AREA)


def test_backbone_frequencies_converge_to_those_of_a_beam():
    """With more powers of s the first bending frequency of a thin rod converges to a beam's."""
    r, errors = 2e-3 * L, []
    model = compiled({**ROD, 'radius': r, 'functions': elastic_line(5), 'quadrature': 14})
    K, M = model.stiffness, mass_matrix(model)
    for count in (2, 4):  # of the powers, without the others
        first = np.sqrt(eigh(K[:count, :count], M[:count, :count], eigvals_only=True)[0])
        errors.append(first / (1.8751040687**2 * np.sqrt(E * r**2 / 4 / (RHO * L**4))) - 1.0)
    assert 1e-3 < errors[0] < 5e-3
    assert abs(errors[1]) < 3e-6  # of which rotary inertia takes away 2.3e-6


def test_backbone_is_a_rod_in_stretch():
    """E A/L, mass m/3, and damping times the stiffness."""
    model = compiled({**ROD, 'functions': SPATIAL, 'damping': 0.2})
    np.testing.assert_allclose(model.stiffness[2, 2], E * AREA / L, rtol=1e-8)
    np.testing.assert_allclose(model.damping[2, 2], 0.2 * E * AREA / L, rtol=1e-12)
    np.testing.assert_allclose(mass_matrix(model)[2, 2], RHO * AREA * L / 3, rtol=1e-12)
    force = sd.elastic_force(model, q=np.array([0.0, 0.0, 0.4 * L]))
    wanted = 0.4 * E * AREA
    np.testing.assert_allclose(force, [0.0, 0.0, wanted], rtol=1e-12, atol=1e-12 * wanted)


ELASTICA = {1.0: (-0.1234714020, 0.9912463953), 5.0: (-0.4959050446, 0.8466571800)}
"""Tip (x, z)/L under self-weight rho g A L^3/(E I), clamped level (inextensible)."""


def test_backbone_bends_as_the_elastica():
    """Under its weight a thin rod takes the shape of the closed solution, ever closer."""
    r = 0.005 * L
    errors = {}
    for count in (3, 5):
        for load, wanted in ELASTICA.items():
            young_modulus = RHO * 9.81 * L**3 * 4 / (load * r**2)
            body = {**ROD, 'radius': r, 'young_modulus': young_modulus,
                    'functions': elastic_line(count)}  # fmt: skip
            model = compiled({**body, 'quadrature': 14}, gravity=(-9.81, 0.0, 0.0))
            q = sd.equilibrium(model, u=np.zeros(0), q0=np.zeros(model.n)).q
            tip = sd.forward_kinematics(model, q=q)[-1, :3, 3] / L
            assert tip[1] == 0.0
            errors[count, load] = np.abs(tip[[0, 2]] - wanted).max()
    assert errors[5, 1.0] < 5e-5 and errors[5, 5.0] < 2e-3
    assert all(errors[5, load] < 0.02 * errors[3, load] for load in ELASTICA)


@pytest.fixture(scope='module')
def bent():
    """Return a model of a backbone that bends both ways and stretches."""
    return compiled({**ROD, 'functions': SPATIAL}, gravity=(0.0, 0.0, 0.0))


def test_sections_stand_normal_to_the_backbone(bent):
    """Sections are rigid, normal to the backbone and turned least from the base."""
    body, h = bent.description.modules[0].body, 1e-5
    for q in 0.2 * np.random.default_rng(2).uniform(-1, 1, (5, 3)):
        s = 0.6 * L
        at = [body.position(x, q, NUMERIC) for x in
              ((0, 0, s - h), (0, 0, s + h), (0, 0, s), (1, 0, s), (0, 1, s))]  # fmt: skip
        below, above, centre, a, b = np.array(at)
        tangent, a, b = (above - below) / np.linalg.norm(above - below), a - centre, b - centre
        frame = np.column_stack([a, b, np.cross(a, b)])
        np.testing.assert_allclose(frame.T @ frame, np.eye(3), atol=1e-13)
        np.testing.assert_allclose(frame[:, 2], tangent, atol=1e-8)
        axis = np.cross([0.0, 0.0, 1.0], tangent)
        np.testing.assert_allclose(frame @ axis, axis, atol=1e-8)
        assert np.trace(frame) == pytest.approx(1.0 + 2.0 * tangent[2], abs=1e-8)


def test_no_direction_of_bending_is_preferred(bent):
    """Turning posture and motion about the axis turns all forces with them."""
    angle = 0.7
    turn = np.eye(3)
    turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    q, qd, qdd = np.random.default_rng(3).uniform(-0.1, 0.1, (3, 3))
    wanted = sd.inverse_dynamics(bent, q=q, qd=qd, qdd=qdd)
    found = sd.inverse_dynamics(bent, q=turn @ q, qd=turn @ qd, qdd=turn @ qdd)
    np.testing.assert_allclose(turn.T @ found, wanted, atol=1e-10 * np.abs(wanted).max())


def test_a_backbone_that_points_back_is_refused(bent):
    """A backbone that points backwards is refused: its section has no least rotation."""
    with pytest.raises(ArgumentError, match='posture'):
        sd.inverse_dynamics(
            bent, q=np.array([0.0, 0.0, -2.0 * L]), qd=np.zeros(3), qdd=np.zeros(3)
        )


@pytest.mark.parametrize('fields, path, words', [
    ({}, 'fields', 'coefficient'),
    (3, 'fields', 'coefficient'),
    ({'1st': BEND}, 'fields', 'names matching'),
    ({'a': 3}, 'fields.a', 'polynomials'),
    ({'a': {}}, 'fields.a', 'polynomials'),
    ({'a': {'w': {'s': 1.0}}}, 'fields.a', 'polynomials'),
    ({'a': {'x': 's^2'}}, 'fields.a.x', 'monomial'),
    ({'a': {'x': {'t': 1.0}}}, 'fields.a.x', 'products of x, y, s'),
    ({'a': {'x': {'x^2 y': 1.0}}}, 'fields.a.x', 'with s in each'),
    ({'a': {'x': {'s^0': 1.0}}}, 'fields.a.x', 'products'),
    ({'a': {'x': {'s s': 1.0}}}, 'fields.a.x', 'products'),
    ({'a': {'x': {'': 1.0}}}, 'fields.a.x', 'products'),
    ({'a': {'x': {'s': 'one'}}}, 'fields.a.x.s', 'a number'),
    ({'a': {'x': {'s': float('nan')}}}, 'fields.a.x.s', 'finite'),
    ({'a': {'x': {'s': 0.0}}}, 'fields', 'independent'),
    ({'a': BEND, 'b': {'x': {'s^2': 2.0}, 'z': {'x s': -4.0}}}, 'fields', 'independent'),
    ({'a': {'x': {'s^12': 1.0}}}, 'quadrature', 'at least 14'),
], ids=str)  # fmt: skip
def test_wrong_fields_are_refused(fields, path, words):
    """Each wrong field is refused by its place with what would be right."""
    with pytest.raises(DescriptionError) as caught:
        described({**VOLUME, 'fields': fields})
    (problem,) = caught.value.problems
    assert problem.path == f'bodies[0].body.{path}' and words in problem.expected


@pytest.mark.parametrize('functions, path, words', [
    ({'a': {'x': {'s': 1.0}}}, 'functions.a.x', 's^2'),
    ({'a': {'x': {'x s^2': 1.0}}}, 'functions.a.x', 'products of s'),
    ({'a': {'x': {'s^2': 1.0}}, 'b': {'x': {'s^2': 1.0}}}, 'functions', 'independent'),
], ids=str)  # fmt: skip
def test_wrong_functions_are_refused(functions, path, words):
    """Lateral functions that begin below s^2, so that a backbone is not clamped, are refused."""
    with pytest.raises(DescriptionError) as caught:
        described({**ROD, 'functions': functions})
    (problem,) = caught.value.problems
    assert problem.path == f'bodies[0].body.{path}' and words in problem.expected


def test_a_material_that_is_not_at_rest_is_refused():
    """A `ritz` body refuses a material with stress at rest."""
    wrong = {'type': 'incompressible_neo_hookean', 'modulus': 1e5}
    with pytest.raises(DescriptionError, match='without stress at rest'):
        described({**VOLUME, 'material': wrong, 'fields': {'bend': BEND}})
