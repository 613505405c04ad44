# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Forces and magnetic fields of a fixed direction as actuators, beside loads from outside."""

from math import inf

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.pfbl import PartialFeedbackLinearization
from softrobot_dynamics.dynamics.derivatives import forward_dynamics_derivatives
from softrobot_dynamics.errors import DescriptionError
from softrobot_dynamics.references.piecewise import constant
from softrobot_dynamics.simulation.simulator import Simulator
from support.differences import assert_close, derivative, gradient
from support.robots import link, reaches, rod, states

STEP = 2e-3
FORCE, FIELD, DIPOLE = [1.0, -2.0, 2.0], [0.6, 0.0, -0.8], [0.2, -0.1, 0.3]
POINT = [0.01, 0.02, -0.03]
PULL = {'name': 'pull', 'type': 'wrench', 'body': 'soft', 'force': FORCE, 'point': POINT}
COIL = {'name': 'coil', 'type': 'wrench', 'body': 'soft', 'field': FIELD, 'dipole': DIPOLE}


@pytest.fixture(scope='module')
def model():
    """Return a robot with a joint, a rigid and a soft body, a force and a field at each."""
    joint = {'type': 'revolute', 'axis': [0.2, 1.0, 0.1], 'stiffness': 1.0, 'damping': 0.05}
    bodies = [
        {'name': 'hard', 'joint': joint, 'body': link(0.3)},
        {'name': 'soft', 'joint': {'type': 'fixed'}, 'body': rod()},
    ]
    actuators = [
        PULL,
        COIL,
        {**PULL, 'name': 'push', 'body': 'hard', 'force': [0.0, 0.0, -3.0]},
        {**COIL, 'name': 'turn', 'body': 'hard', 'point': POINT},
    ]
    robot = {'name': 'r', 'gravity': [1.0, 2.0, -9.0], 'bodies': bodies, 'actuators': actuators}
    return sd.compile_model(sd.load_robot(robot))


def loads(model, q):
    """Return the wrenches of one unit of each actuator, as loads, by their definition."""
    frames = dict(zip(model.body_names, sd.forward_kinematics(model, q=q)))
    result = []
    for entry in model.description.actuators:
        body, T = entry.actuator.body, frames[entry.actuator.body]
        if entry.actuator.force is not None:
            f = np.array(entry.actuator.force)
            value = [*np.cross(T[:3, :3] @ entry.actuator.point, f), *f]
        else:
            value = [*np.cross(T[:3, :3] @ entry.actuator.dipole, entry.actuator.field), 0, 0, 0]
        result.append({body: sd.Wrench(value, None, 'base')})
    return result


@pytest.mark.quick
def test_its_column_is_that_of_the_wrench(model):
    """The actuator's column of A is J^T w of the same load in inverse dynamics."""
    for q, qd, qdd in states(model, 3, seed=1):
        matrix = sd.actuation(model, q=q, qd=qd).matrix
        free = sd.inverse_dynamics(model, q=q, qd=qd, qdd=qdd)
        for column, load in zip(matrix.T, loads(model, q)):
            loaded = sd.inverse_dynamics(model, q=q, qd=qd, qdd=qdd, wrenches=load)
            assert_close(free - loaded, column, 1e-10)


def test_the_coordinate_is_the_way_along_it(model):
    """The coordinate y is the path along the direction; A, rate and bias are its derivatives."""
    at, unit = np.append(POINT, 1.0), np.array(FORCE) / 3.0
    rest = sd.forward_kinematics(model, q=np.zeros(model.n))[-1]
    for q, qd, _ in states(model, 3, seed=2):
        found = sd.actuation(model, q=q, qd=qd)
        moved = sd.forward_kinematics(model, q=q)[-1] - rest
        turned = FIELD @ moved[:3, :3] @ DIPOLE
        np.testing.assert_allclose(
            found.coordinates[:2], [unit @ (moved @ at)[:3], turned], atol=1e-14
        )

        def along(x):
            return sd.actuation(model, q=x, qd=0.0 * x).coordinates

        def rates(t, q=q, qd=qd):
            return sd.actuation(model, q=q + t * qd, qd=qd).velocities

        assert_close(found.jacobian, gradient(along, q, STEP, reaches(model.coordinate_names)))
        assert_close(found.velocities, found.jacobian @ qd)
        assert_close(found.bias, derivative(rates, STEP), 1e-8)


def test_forward_dynamics_has_its_derivatives(model):
    """Derivatives by q include that a force of fixed direction turns against the body."""
    ((q, qd, _),), u = states(model, 1, seed=3, size=0.5), np.array([2.0, 3.0, -4.0, 5.0])

    def acceleration(q):
        return sd.forward_dynamics(model, q=q, qd=qd, u=u)

    found = forward_dynamics_derivatives(model, q=q, qd=qd, u=u)
    reach = reaches(model.coordinate_names)
    assert_close(found.by_q, gradient(acceleration, q, STEP, reach))


def test_a_compass_points_along_the_field():
    """A joint about z with a magnet: the period of small turns is that of m B over inertia."""
    body = {'type': 'rigid', 'mass': 0.1, 'inertia': {'ixx': 2e-4, 'iyy': 2e-4, 'izz': 2e-4}}
    bodies = [{'name': 'needle', 'joint': {'type': 'revolute'}, 'body': body}]
    coil = {**COIL, 'body': 'needle', 'field': [0.0, 1.0, 0.0], 'dipole': [0.5, 0.0, 0.0]}
    robot = {'name': 'compass', 'bodies': bodies, 'actuators': [coil]}
    model = sd.compile_model(sd.load_robot(robot))
    found = sd.equilibrium(model, u=[0.02], q0=[1.0])
    assert found.q[0] == pytest.approx(np.pi / 2, abs=1e-9) and found.stable
    assert found.stability == pytest.approx(0.5 * 0.02 / 2e-4, rel=1e-6)  # [1/s^2]


def test_a_law_holds_a_tip_by_a_force():
    """Under PFBL a soft arm pulled by a force brings its tip to the asked place."""
    pull = {**PULL, 'force': [1.0, 0.0, 0.0], 'point': [0.0, 0.0, 0.0]}
    bodies = [{'name': 'soft', 'joint': {'type': 'fixed'}, 'body': rod()}]
    robot = {'name': 'p', 'gravity': [0, 0, 9.81], 'bodies': bodies, 'actuators': [pull]}
    model = sd.compile_model(sd.load_robot(robot))
    law = PartialFeedbackLinearization(
        model, period=1e-3, settings=PartialFeedbackLinearization.make_settings(model)
    )
    simulator = Simulator(model)
    law.follow(constant(np.array([0.02])), 0.0, 0.0)
    law.start(simulator.q, simulator.qd, 0.0)
    for k in range(2000):
        command = law.compute(k * 1e-3, simulator.q, simulator.qd)
        assert command.ok
        simulator.step(command.u.copy(), 1e-3)
    tip = sd.forward_kinematics(model, q=simulator.q)[-1, :3, 3]
    assert tip[0] == pytest.approx(0.02, abs=1e-6)


def test_its_quantities_have_units_and_no_limits(model):
    """Units are N and m, or T and A m^2; there are no limits, and the safe command is zero."""
    units = [(u.unit, y.unit) for u, y in zip(model.commands, model.outputs)]
    assert units == 2 * [('N', 'm'), ('T', 'A m^2')]
    assert (model.lower == -inf).all() and (model.upper == inf).all()
    assert {entry.actuator.safe for entry in model.description.actuators} == {'zero'}


WRONG = [
    ({'force': None}, 'force', 'a direction in the base frame; or field and dipole'),
    ({'force': [0, 0, 0]}, 'force', '3 numbers, not all zero'),
    ({'field': FIELD}, 'field', 'either force, or field and dipole'),
    ({'force': None, 'field': FIELD}, 'dipole', '3 numbers, not all zero [A m^2]'),
    ({'force': None, 'field': FIELD, 'dipole': [0, 0, 0]}, 'dipole', 'not all zero [A m^2]'),
    ({'force': None, 'dipole': DIPOLE}, 'field', 'the direction of the field'),
    ({'body': 'arm'}, 'body', 'the name of a body: soft'),
]


@pytest.mark.parametrize('changed, place, words', WRONG)
def test_wrong_fields_of_a_wrench_are_named(changed, place, words):
    """A wrong entry of a wrench is refused with what would be right."""
    bodies = [{'name': 'soft', 'joint': {'type': 'fixed'}, 'body': rod()}]
    given = {key: x for key, x in {**PULL, **changed}.items() if x is not None}
    with pytest.raises(DescriptionError) as caught:
        sd.load_robot({'name': 'wrong', 'bodies': bodies, 'actuators': [given]})
    (problem,) = map(str, caught.value.problems)
    assert f'actuators[0].{place}:' in problem and words in problem
