# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Joints of several coordinates: springs, limits and motors by name, and refusals."""

import math

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import DescriptionError
from support.robots import link


def chain(*joints, **more):
    """Return the description of a chain of rigid links on the given joints, j0, j1, ..."""
    bodies = [
        {'name': f'b{i}', 'joint': {'name': f'j{i}', **joint}, 'body': link(1.0 + 0.1 * i)}
        for i, joint in enumerate(joints)
    ]
    return {'name': 'chain', 'gravity': [0.0, 0.0, -9.81], 'bodies': bodies, **more}


BALL = {
    'type': 'spherical',
    'stiffness': 3.0,
    'damping': {'ry': 0.2},
    'rest': {'rx': 0.1, 'rz': -0.2},
    'limits': {'position': {'rx': [-1.0, 2.0]}, 'effort': {'rx': 5.0, 'ry': 7.0}},
}
RAIL = {
    'type': 'cylindrical',
    'stiffness': {'slide': 40.0},
    'limits': {'position': {'slide': [0, 1]}},
}


def test_springs_and_limits_are_by_coordinate():
    """One value holds for all coordinates; by name, those not named have none."""
    model = sd.compile_model(sd.load_robot(chain(BALL, RAIL)))
    assert model.coordinate_names == ('j0/rx', 'j0/ry', 'j0/rz', 'j1/angle', 'j1/slide')
    assert np.array_equal(model.stiffness, np.diag([3.0, 3.0, 3.0, 0.0, 40.0]))
    assert np.array_equal(model.damping, np.diag([0.0, 0.2, 0.0, 0.0, 0.0]))
    assert np.array_equal(model.q_lower, [-1.0, -np.inf, -np.inf, -np.inf, 0.0])
    assert np.array_equal(model.q_upper, [2.0, np.inf, np.inf, np.inf, 1.0])
    q, qd = np.linspace(0.3, 0.7, 5), np.linspace(-0.5, 0.5, 5)
    pull = model.stiffness @ (q - [0.1, 0.0, -0.2, 0.0, 0.0])
    np.testing.assert_allclose(sd.elastic_force(model, q=q), pull, rtol=1e-15)
    zero = np.zeros(5)
    found = [
        sd.inverse_dynamics(model, q=q, qd=qd, qdd=zero)
        - sd.inertial_inverse_dynamics(model, q=q, qd=qd, qdd=zero)
        - sd.gravity_force(model, q=q)
    ]
    np.testing.assert_allclose(found[0], pull + model.damping @ qd, atol=1e-13)


def motor(**fields):
    """Return the mapping of a joint actuator."""
    return {'name': fields.pop('name', 'm'), 'type': 'joint', 'joint': 'j0', **fields}


def test_a_motor_acts_along_one_coordinate_of_its_joint():
    """A motor's y is its coordinate, and its command has that name and both limits."""
    motors = [
        motor(name='b', coordinate='ry', limits=[-9.0, 6.0]),
        motor(name='a', coordinate='rx'),
        motor(name='c', joint='j1'),
    ]
    robot = sd.load_robot(chain(BALL, {'type': 'helical', 'pitch': 0.01}, actuators=motors))
    model = sd.compile_model(robot)
    assert model.actuator_names == ('j0/ry', 'j0/rx', 'j1')
    assert model.lower.tolist() == [-7.0, -5.0, -np.inf] and model.upper.tolist()[0] == 6.0
    q = np.array([0.1, 0.2, 0.3, 0.4])
    found = sd.actuation(model, q=q, qd=2.0 * q)
    assert np.array_equal(found.matrix, np.eye(4)[:, [1, 0, 3]])
    assert np.array_equal(found.coordinates, q[[1, 0, 3]])
    assert np.array_equal(found.velocities, 2.0 * q[[1, 0, 3]]) and not found.bias.any()


NAMES = 'one of the coordinates rx, ry, rz'
WRONG = [
    ({'stiffness': -1.0}, 'stiffness', 'a number >= 0 [N m/rad or N/m]'),
    ({'stiffness': [1.0, 2.0, 3.0]}, 'stiffness', 'a number >= 0'),
    ({'stiffness': {'rx': -1.0}}, 'stiffness.rx', 'a number >= 0'),
    ({'damping': {'ry': math.nan}}, 'damping.ry', 'finite'),
    ({'damping': {'rxx': 1.0}}, 'damping.rxx', f'{NAMES} (did you mean'),
    ({'rest': {1: 1.0}}, 'rest.1', NAMES),
    ({'parameters': 'roll_pitch_yaw', 'rest': {'rx': 1.0}}, 'rest.rx', 'roll, pitch, yaw'),
    ({'parameters': 'quaternion'}, 'parameters', 'one of rotation_vector, roll_pitch_yaw'),
    ({'limits': {'position': [1.0, -1.0]}}, 'limits.position', 'low < high'),
    ({'limits': {'position': {'rx': 1.0}}}, 'limits.position.rx', 'a list of 2 numbers'),
    ({'limits': {'effort': {'x': 1.0}}}, 'limits.effort.x', NAMES),
    ({'limits': {'velocity': {'rx': 0.0}}}, 'limits.velocity.rx', 'a number > 0'),
    ({'axis': [1, 0, 0]}, 'axis', 'one of the fields'),
    ({'type': 'free', 'stiffness': 1.0}, 'stiffness', 'a mapping of x, y, z, rx, ry, rz'),
    ({'type': 'planar', 'limits': {'effort': 1.0}}, 'limits.effort', 'which differ in unit'),
    ({'type': 'cylindrical', 'rest': 0.0}, 'rest', 'a mapping of angle, slide'),
    ({'type': 'cylindrical', 'dh': [0, 0, 0, 0], 'axis': [1, 0, 0]}, 'axis', 'no axis beside dh'),
    ({'type': 'helical'}, 'pitch', 'a number [m/rad]'),
    ({'type': 'helical', 'pitch': math.inf}, 'pitch', 'a number [m/rad], finite'),
    ({'type': 'universal', 'dh': [0, 0, 0, 0]}, 'dh', 'one of the fields'),
]


@pytest.mark.parametrize('fields, path, expected', WRONG, ids=[f'{w[1]}-{w[2]}' for w in WRONG])
def test_a_wrong_entry_of_a_joint_is_named(fields, path, expected):
    """Each wrong entry is one problem: its place, its value, and what would be right."""
    with pytest.raises(DescriptionError) as caught:
        sd.load_robot(chain({'type': 'spherical', **fields}, {'type': 'revolute'}))
    (problem,) = caught.value.problems
    assert problem.path == f'bodies[0].joint.{path}' and expected in problem.expected


BALL_NAMES = 'one of the coordinates of j0: rx, ry, rz'
WRONG_MOTORS = [
    ({}, 'coordinate', BALL_NAMES),
    ({'coordinate': 'rxx'}, 'coordinate', f'{BALL_NAMES} (did you mean'),
    ({'coordinate': 3}, 'coordinate', 'a name matching'),
    ({'coordinate': 'rx', 'limits': [5.5, 6.0]}, 'limits', 'within the effort limit of j0'),
    ({'joint': 'j1', 'coordinate': 'rx'}, 'coordinate', 'no coordinate: j1 has only one'),
    ({'joint': 'j2'}, 'joint', 'a joint with one coordinate or more: j0, j1'),
]


@pytest.mark.parametrize('fields, path, expected', WRONG_MOTORS)
def test_a_motor_s_wrong_coordinate_is_named(fields, path, expected):
    """A joint of several coordinates needs one named that it has; one that has one needs none."""
    with pytest.raises(DescriptionError) as caught:
        joints = BALL, {'type': 'revolute'}, {'type': 'fixed'}
        sd.load_robot(chain(*joints, actuators=[motor(**fields)]))
    (problem,) = caught.value.problems
    assert problem.path == f'actuators[0].{path}' and expected in problem.expected


def test_two_motors_on_one_coordinate_are_refused():
    """Commands are known by the coordinate's name, so there is one for each."""
    motors = [motor(name='a', coordinate='rx'), motor(name='b', coordinate='rx')]
    with pytest.raises(DescriptionError, match='actuators.0. has it'):
        sd.load_robot(chain(BALL, actuators=motors))
