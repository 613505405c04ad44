# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Robots with reference values from an independent model: reference/robots.json."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from support.robots import reference

ROBOTS = {robot['name']: robot for robot in reference('robots.json')['robots']}
TOLERANCE = 1e-10  # of the largest entry of the reference array
VOLUME = reference('robots.json')['lvp']


def tendon(name, bodies, x, y=0.0):
    """Return the mapping of a straight tendon through whole bodies."""
    return {
        'name': name,
        'type': 'tendon',
        'path': [{'body': body, 'offset': [x, y]} for body in bodies],
    }


def ring(names, bodies, radius, phase=0.0):
    """Return mappings of three tendons, 120 degrees apart."""
    angles = phase + 2.0 * np.pi * np.arange(3) / 3.0
    points = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    return [tendon(name, bodies, *map(float, p)) for name, p in zip(names, points)]


def rod(length, radius, density, young_modulus, damping, poisson_ratio=0.5):
    """Return the mapping of a thin spatial rod."""
    return {
        'type': 'pcc', 'length': length, 'radius': radius, 'density': density,
        'young_modulus': young_modulus, 'poisson_ratio': poisson_ratio, 'damping': damping,
        'section_inertia': False,
    }  # fmt: skip


def fixed(*bodies):
    """Modules b1, b2, ... on fixed joints."""
    return [
        {'name': f'b{i}', 'joint': {'type': 'fixed'}, 'body': body}
        for i, body in enumerate(bodies, start=1)
    ]


def planar():
    """Two planar bodies and two tendons."""
    body = {
        'type': 'planar_cc', 'length': 0.3, 'radius': 0.03, 'density': 1000.0,
        'young_modulus': 534000.0, 'damping': 0.05, 'section_inertia': False,
    }  # fmt: skip
    return fixed(body, body), [tendon('t1', ['b1'], 0.02), tendon('t2', ['b1', 'b2'], -0.02)]


def tapered():
    """Three tapered bodies and six tendons."""
    sizes = (0.25, [0.03, 0.025]), (0.2, [0.025, 0.02]), (0.15, [0.02, 0.015])
    bodies = [rod(*size, 1062.0, 6.66e5, 0.1) for size in sizes]
    long = ring(['t1', 't2', 't3'], ['b1', 'b2', 'b3'], 0.012)
    short = ring(['t4', 't5', 't6'], ['b1'], 0.02, np.pi / 3.0)
    return fixed(*bodies), [*long, *short]


def soft_arm():
    """Return the soft arm of simulation 2."""
    return fixed(rod(0.3, 0.02, 1070.0, 0.5e6, 0.1, 0.4)), ring(['t1', 't2', 't3'], ['b1'], 0.015)


def volume():
    """Return a cylinder with the modes of Table 4 and three tendons on its surface."""
    body = {
        'type': 'lvp', 'length': 0.1, 'outer_radius': 0.02, 'density': 960.0, 'modes': 'table_4',
        'material': {'type': 'incompressible_neo_hookean', 'modulus': 0.178e6, 'damping': 0.05},
        'quadrature': {'axial': 6, 'radial': 3, 'angular': 8},
    }  # fmt: skip
    return fixed(body), ring(['t1', 't2', 't3'], ['b1'], 0.02)


def rigid_arm():
    """Return the UR10e as the table of its DH parameters and links."""
    quarter = np.pi / 2.0
    dh = [
        [quarter, 0.0, 0.1807], [0.0, -0.6127, 0.0], [0.0, -0.57155, 0.0],
        [quarter, 0.0, 0.17415], [-quarter, 0.0, 0.11985], [0.0, 0.0, 0.11655],
    ]  # fmt: skip
    links = [
        (7.369, [0.021, 0, 0.027], [0.03408, 0.03529, 0.02156, 2e-5, -0.00425, 8e-5]),
        (13.051, [0.38, 0, 0.158], [0.02814, 0.77068, 0.76943, 5e-5, -0.01561, 2e-5]),
        (3.989, [0.24, 0, 0.068], [0.01014, 0.30928, 0.30646, 8e-5, 0.00916, 0]),
        (2.1, [0, 0.007, 0.018], [0.00296, 0.00222, 0.00258, -1e-5, 0, -0.00024]),
        (1.98, [0, 0.007, 0.018], [0.00296, 0.00222, 0.00258, -1e-5, 0, -0.00024]),
        (0.615, [0, 0, -0.026], [0.00040, 0.00041, 0.00034, 0, 0, 0]),
    ]
    keys = 'ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz'
    return [
        {
            'name': f'a{i}',
            'joint': {'type': 'revolute', 'dh': [*row, 0.0]},
            'body': {'type': 'rigid', 'mass': m, 'com': com, 'inertia': dict(zip(keys, moments))},
        }
        for i, (row, (m, com, moments)) in enumerate(zip(dh, links))
    ], []


def affine():
    """Return a planar and a spatial body of curvatures affine in s, and two tendons."""
    constant, line = ({'basis': 'monomial', 'order': order} for order in (0, 1))
    body = {
        'type': 'cosserat', 'length': 0.3, 'section': {'type': 'circular', 'radius': 0.02},
        'density': 1062.0, 'young_modulus': 6.66e5, 'damping': 0.1, 'section_inertia': False,
    }  # fmt: skip
    spatial = {'kappa_x': line, 'kappa_y': line, 'gamma_z': constant}
    bodies = {**body, 'strains': {'kappa_y': line}}, {**body, 'strains': spatial}
    tendons = tendon('t1', ['b1', 'b2'], 0.012), tendon('t2', ['b1'], 0.0, 0.012)
    return fixed(*bodies), list(tendons)


def hybrid():
    """Return the UR10e with the soft arm."""
    return [*rigid_arm()[0], *soft_arm()[0]], []


BUILT = {
    'PCC2D_x2': planar,
    'PCC3D_x3_tapered': tapered,
    'PAC2D_PAC3D_NG10': affine,
    'UR10e': rigid_arm,
    'sim2_soft_arm': soft_arm,
    'UR10e_PCC3D': hybrid,
}
CASES = [(name, i) for name in BUILT for i in range(len(ROBOTS[name]['states']))]


PER_LENGTH = 1.0 / 0.3
UNITS = {
    'PCC2D_x2': np.array([-1.0, -1.0]),  # the planar file counts bends the other way
    'PAC2D_PAC3D_NG10': np.array([-PER_LENGTH] * 3 + [-1.0, PER_LENGTH, 1.0, PER_LENGTH]),
}
"""Factors from the reference's coordinates to ours, where they differ."""


class Case:
    """One state of a reference robot, in the reference's coordinates."""

    def __init__(self, name, index):
        bodies, actuators = BUILT[name]()
        gravity = ROBOTS[name]['gravity']
        self.model = sd.compile_model(
            sd.load_robot(
                {'name': name, 'gravity': gravity, 'bodies': bodies, 'actuators': actuators}
            )
        )
        self.expected = ROBOTS[name]['states'][index]
        self.units = UNITS.get(name, np.ones(self.model.n))
        self.q, self.qd, self.qdd = (
            self.units * np.array(self.expected[key]) for key in ('q', 'qd', 'qdd')
        )

    def check(self, key, found, vanishing=None):
        """Compare an array with the reference's, relative to its largest entry."""
        wanted = np.array(self.expected[key], dtype=float)
        scale = np.abs(wanted).max() or np.abs(self.expected[vanishing]).max()
        assert found.shape == wanted.shape
        assert np.abs(found - wanted).max() <= TOLERANCE * scale


@pytest.fixture(scope='module', params=CASES, ids=lambda case: f'{case[0]}-{case[1]}')
def case(request):
    """One state of one reference robot."""
    return Case(*request.param)


def test_inverse_dynamics_and_mass_equal_the_reference(case):
    """M, IID and ID equal the reference to 1e-10."""
    state = {'q': case.q, 'qd': case.qd, 'qdd': case.qdd}
    Q, M = sd.mass_inverse_dynamics(case.model, **state)
    case.check('M', case.units[:, None] * M * case.units)
    case.check('ID', case.units * Q)
    case.check('IID', case.units * sd.inertial_inverse_dynamics(case.model, **state))


def test_each_force_equals_the_reference(case):
    """c, g, k and d equal the reference to 1e-10."""
    model, q, qd = case.model, case.q, case.qd
    c = sd.inertial_inverse_dynamics(model, q=q, qd=qd, qdd=0.0 * q)
    case.check('c', case.units * c, vanishing='ID')
    case.check('g', case.units * sd.gravity_force(model, q=q), vanishing='ID')
    case.check('k', case.units * sd.elastic_force(model, q=q), vanishing='ID')
    case.check('d', case.units * sd.damping_force(model, q=q, qd=qd), vanishing='ID')


def test_tip_frames_equal_the_reference(case):
    """The tip frames of all bodies equal the reference to 1e-10."""
    case.check('T_tip', sd.forward_kinematics(case.model, q=case.q))


def test_actuation_equals_the_reference(case):
    """A = (dy/dq)' and y equal the reference to 1e-10, and the public matrix is minus A."""
    if 'A' not in case.expected:
        assert case.model.m == 0
        return
    found = sd.actuation(case.model, q=case.q, qd=case.qd)
    case.check('A', (found.jacobian * case.units).T)
    case.check('A', -case.units[:, None] * found.matrix)
    case.check('y', found.coordinates)


@pytest.mark.parametrize('state', VOLUME['states'])
def test_a_volume_equals_the_reference(state):
    """All terms of a volume equal the reference to 1e-7 of the largest entry."""
    bodies, actuators = volume()
    parts = {'gravity': VOLUME['gravity'], 'bodies': bodies, 'actuators': actuators}
    model = sd.compile_model(sd.load_robot({'name': 'volume', **parts}))
    q, qd, qdd = (np.array(state[key]) for key in ('q', 'qd', 'qdd'))
    ID, M = sd.mass_inverse_dynamics(model, q=q, qd=qd, qdd=qdd)
    act = sd.actuation(model, q=q, qd=qd)
    found = {
        'M': M,
        'ID_objective': ID,
        'IID': sd.inertial_inverse_dynamics(model, q=q, qd=qd, qdd=qdd),
        'c': sd.inertial_inverse_dynamics(model, q=q, qd=qd, qdd=0.0 * q),
        'g': sd.gravity_force(model, q=q),
        'k': sd.elastic_force(model, q=q),
        'd_objective': sd.damping_force(model, q=q, qd=qd),
        'T_tip': sd.forward_kinematics(model, q=q)[0],
        'A': act.jacobian.T,
        'y': act.coordinates,
    }
    for key, value in found.items():
        wanted = np.array(state[key])
        scale = np.abs(wanted).max()
        scale = np.abs(ID).max() if scale < 1e-12 else scale
        assert value.shape == wanted.shape
        assert np.abs(value - wanted).max() <= 1e-7 * scale, key
