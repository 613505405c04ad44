# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Pressure chambers: volumes by arc length, virtual work, a bent segment in closed form."""

from math import inf, pi

import numpy as np
from oracles import tendons
from oracles.held import exponential
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.sampled_data.command import HeldCommand
from softrobot_dynamics.dynamics.derivatives import forward_dynamics_derivatives
from softrobot_dynamics.errors import DescriptionError
from support.differences import assert_close, derivative, gradient
from support.robots import hand, reaches, rod, states

AREA = 2e-4  # [m^2]
STEP = 2e-3  # of the differences
SPAN = {'offset': {'radius': 0.012, 'phase': 0.3, 'turns': 0.7}, 'span': [0.1, 0.9]}
COSSERAT = {
    'type': 'cosserat', 'length': 0.1, 'section': {'type': 'circular', 'radius': 0.01},
    'density': 1000.0, 'young_modulus': 2e5,
    'strains': {name: {'basis': 'legendre'} for name in ('kappa_x', 'kappa_y', 'gamma_z')},
}  # fmt: skip
PCC = {
    'type': 'pcc', 'length': 0.1, 'radius': 0.01, 'density': 1000.0, 'young_modulus': 2e5,
}  # fmt: skip
LVP = {
    'type': 'lvp', 'length': 0.1, 'outer_radius': 0.02, 'density': 960.0,
    'material': {'type': 'incompressible_neo_hookean', 'modulus': 1.8e5, 'damping': 0.05},
}  # fmt: skip


def chamber(*path, name='c', **fields):
    """Return the mapping of a chamber."""
    return {'name': name, 'type': 'chamber', 'path': list(path), 'area': AREA, **fields}


def single(body, *actuators, **fields):
    """Return the model of one body on a fixed joint."""
    bodies = [{'name': 'b', 'joint': {'type': 'fixed'}, 'body': body}]
    robot = {'name': 'one', 'bodies': bodies, 'actuators': list(actuators), **fields}
    return sd.compile_model(sd.load_robot(robot))


def routed():
    """Return the hand with chambers where it has tendons: along, through and between bodies."""
    robot = hand()
    paths = {a['name']: a['path'] for a in robot['actuators'] if 'path' in a}
    chambers = [chamber(*path, name=name) for name, path in paths.items()]
    return sd.compile_model(sd.load_robot({**robot, 'actuators': chambers}))


def helical():
    """Return a rod with two chambers whose lengths are not linear in q, and no straight lines."""
    other = {'body': 'b', 'offset': {'x': [0.012, -0.006], 'y': [0.002, 0.003, -0.001]}}
    return single(rod(), chamber({'body': 'b', **SPAN}), chamber(other, name='d'))


@pytest.fixture(scope='module', params=[routed, helical], ids=lambda make: make.__name__)
def model(request):
    """Return a robot with chambers."""
    return request.param()


def test_the_coordinate_is_the_growth_of_the_volume(model):
    """A chamber's y is area times elongation of its centre line, which an oracle measures."""
    for q, qd, _ in states(model, 3, seed=1):
        found = sd.actuation(model, q=q, qd=qd)
        assert_close(found.coordinates, tendons.elongations(model.description, q))
        by_q = gradient(lambda x: sd.actuation(model, q=x, qd=0.0 * x).coordinates, q, STEP)
        assert_close(found.jacobian, by_q)
        assert_close(found.matrix, by_q.T)

        def rates(t, q=q, qd=qd):
            return sd.actuation(model, q=q + t * qd, qd=qd).velocities

        assert_close(found.bias, derivative(rates, STEP), 1e-8)
    zero = np.zeros(model.n)
    assert not sd.actuation(model, q=zero, qd=zero).coordinates.any()


def test_pressure_times_volume_rate_is_the_power(model):
    """The power of the force that pressures exert equals pressure times rate of volume."""
    ((q, qd, _),), u = states(model, 1, seed=2), np.linspace(1e4, 5e4, model.m)
    pushed, free = (sd.forward_dynamics(model, q=q, qd=qd, u=each) for each in (u, 0.0 * u))
    M = sd.mass_inverse_dynamics(model, q=q, qd=qd, qdd=0.0 * q)[1]
    rate = derivative(lambda t: tendons.elongations(model.description, q + t * qd), STEP)
    assert abs(u @ rate) > 1e-3  # [W]
    assert (M @ (pushed - free)) @ qd == pytest.approx(u @ rate, rel=1e-8)


def test_forward_dynamics_has_its_derivatives(model):
    """Derivatives of forward dynamics by q include how the force of pressures changes with q."""
    ((q, qd, _),) = states(model, 1, seed=3, size=0.5)
    u, reach = np.linspace(1e5, 3e5, model.m), reaches(model.coordinate_names)

    def acceleration(q):
        return sd.forward_dynamics(model, q=q, qd=qd, u=u)

    found = forward_dynamics_derivatives(model, q=q, qd=qd, u=u)
    assert_close(found.by_q, gradient(acceleration, q, STEP, reach))
    without = forward_dynamics_derivatives(model, q=q, qd=qd, u=0.0 * u).by_q
    assert np.abs(found.by_q - without).max() > 1e-4 * np.abs(found.by_q).max()


def test_a_held_pressure_is_linearised(model):
    """The response to a held command is that of the matrix exponential with dnu/dq."""
    (q, qd, _), u = states(model, 1, seed=4, size=0.3)[0], np.full(model.m, 5e5)
    qdd = sd.forward_dynamics(model, q=q, qd=qd, u=u)
    change = sd.inverse_dynamics_derivatives(model, q=q, qd=qd, qdd=qdd)
    pull = gradient(lambda x: sd.actuation(model, q=x, qd=0.0 * x).matrix @ u, q, STEP)
    D = sd.inverse_dynamics_derivatives(model, q=q, qd=0.0 * q, qdd=qdd).by_qd
    K = change.by_q - pull
    G, R = exponential(change.by_qdd, 0.5 * (D + D.T), 0.5 * (K + K.T), 1e-3)
    held = HeldCommand(model, 1e-3)
    held.begin(q, qd, u)
    assert_close(held.extrapolation.present[0], G, 1e-3)
    assert_close(held.extrapolation.present[1], R @ K, 1e-3)
    assert np.abs(R @ pull).max() > 2e-3 * np.abs(R @ K).max()


@pytest.mark.parametrize('body', [COSSERAT, LVP], ids=lambda body: body['type'])
def test_bodies_of_other_kinds_may_have_one(body):
    """A helical chamber may run through a rod and through an `lvp` body."""
    model = single(body, chamber({'body': 'b', **SPAN}))
    for q, qd, _ in states(model, 2, seed=5, size=0.3):
        found = sd.actuation(model, q=q, qd=qd)
        tolerance = 1e-9 if body is not LVP else 1e-5  # ten points along it
        assert_close(found.coordinates, tendons.elongations(model.description, q), tolerance)
        assert found.velocities == pytest.approx(found.jacobian @ qd, rel=1e-12, abs=0.0)


@pytest.mark.parametrize('body', [PCC, COSSERAT], ids=lambda body: body['type'])
def test_a_segment_bends_away_from_its_chamber(body):
    """A segment bends by p A r / (E I) and stretches by p A / (E A), as the closed form says."""
    r, p = 0.006, 3e3
    path = {'body': 'b', 'offset': [r, 0.0]}
    model = single(body, chamber(path), gravity=[0.0, 0.0, 0.0])
    found = sd.equilibrium(model, u=[p]).q
    curvature = -p * AREA * r / (2e5 * pi / 4.0 * 0.01**4)
    stretch = p * AREA / (2e5 * pi * 0.01**2)
    assert 0.1 < -curvature * 0.1 < 1.0 and stretch > 0.005
    wanted = {
        'pcc': [curvature * 0.1, 0.0, stretch * 0.1], 'cosserat': [0.0, curvature, stretch],
    }[body['type']]  # fmt: skip
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
    assert sd.forward_kinematics(model, q=found)[-1, 0, 3] < -0.01


def test_a_chamber_pushes_and_is_safe_at_zero():
    """A chamber has a positive sign, limits from zero, a safe command of zero, and words."""
    model = single(PCC, chamber({'body': 'b', 'offset': [0.006, 0.0]}))
    assert (model.signs[0], model.lower[0], model.upper[0]) == (1.0, 0.0, inf)
    assert model.description.actuators[0].actuator.safe == 'zero'
    assert model.commands == (('pressure', 'Pa'),) and model.outputs == (('volume', 'm^3'),)
    qdd = sd.forward_dynamics(model, q=np.zeros(3), qd=np.zeros(3), u=[1e4])
    assert qdd[2] > 0.0 > qdd[0]


ALONG = {'body': 'b', 'offset': [0.01, 0.0]}
POINTS = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.05]]
WRONG = [
    ({'area': None}, 'area', 'a number > 0 [m^2]'),
    ({'area': 0.0}, 'area', 'a number > 0 [m^2]'),
    ({'limits': [2.0, 1.0]}, 'limits', '[low, high] with low < high [Pa]'),
    ({'pressure': 1.0}, 'pressure', 'one of the fields'),
    ({'path': []}, 'path', 'a list, not empty'),
    ({'path': [{**ALONG, 'body': 'd'}]}, 'path[0].body', 'the name of a body: plate, b'),
    ({'path': [{'body': 'b', 'points': POINTS}]}, 'path[0].points', 'b has sections'),
    ({'path': [{'body': 'plate', 'offset': [0, 0]}]}, 'path[0].offset', 'plate has no sections'),
    ({'path': [{'body': 'plate', 'points': POINTS}]}, 'path', 'of this chamber never changes'),
    ({'path': [ALONG, {'body': 'plate', 'points': POINTS}]}, 'path[1].body', 'from base to tip'),
    ({'path': [{**ALONG, 'span': [0.5, 1.5]}]}, 'path[0].span', 'within [0, 1]'),
]


@pytest.mark.parametrize('changed, place, words', WRONG)
def test_wrong_fields_of_a_chamber_are_named(changed, place, words):
    """A wrong entry of a chamber is refused with what would be right."""
    plate = {'type': 'rigid', 'mass': 1.0, 'inertia': {'ixx': 0.01, 'iyy': 0.01, 'izz': 0.01}}
    bodies = [
        {'name': name, 'joint': {'type': 'fixed'}, 'body': body}
        for name, body in (('plate', plate), ('b', PCC))
    ]
    given = {key: x for key, x in {**chamber(ALONG), **changed}.items() if x is not None}
    with pytest.raises(DescriptionError) as caught:
        sd.load_robot({'name': 'wrong', 'bodies': bodies, 'actuators': [given]})
    said = [str(problem) for problem in caught.value.problems]
    assert any(f'actuators[0].{place}:' in each and words in each for each in said), said
