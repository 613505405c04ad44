# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Fields of joints and actuators become constant transforms, routings and limits."""

import math

import numpy as np
import pytest
from softrobot_dynamics.actuators.joint import JointActuator
from softrobot_dynamics.actuators.routing import Helix, Polynomial
from softrobot_dynamics.joints.fixed import Fixed
from softrobot_dynamics.joints.prismatic import Prismatic
from softrobot_dynamics.joints.revolute import Revolute, RevoluteLimits
from softrobot_dynamics.schema.poses import Pose, transform, z_onto

pytestmark = pytest.mark.quick


def turn(axis, angle):
    """Return the transform (4, 4) about a unit axis by Rodrigues' formula."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return transform(np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K)


def shift(vector):
    """Return the transform (4, 4) by a vector."""
    return transform(np.eye(3), vector)


X, Y, Z = np.eye(3)
AXES = [Z, -Z, X, -X, Y, -Y, (0.6, 0.0, -0.8), (1e-9, 0.0, -1.0), (2 / 3, 1 / 3, -2 / 3)]


def test_pose_is_roll_pitch_yaw_about_fixed_axes():
    """A pose turns about fixed x, then y, then z, and then translates, as in URDF."""
    expected = shift((1, 2, 3)) @ turn(Z, 0.3) @ turn(Y, -0.5) @ turn(X, 0.7)
    assert Pose((1, 2, 3), (0.7, -0.5, 0.3)).matrix() == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize('axis', AXES)
def test_the_frame_along_an_axis_is_a_rotation(axis):
    """The frame along an axis is a rotation, also for axes at and next to -z."""
    R = z_onto(axis)[:3, :3]
    assert R[:, 2] == pytest.approx(np.array(axis) / np.linalg.norm(axis), abs=1e-15)
    assert R @ R.T == pytest.approx(np.eye(3), abs=1e-15) and np.linalg.det(R) > 0


@pytest.mark.parametrize('axis', AXES)
def test_axis_joints_move_along_or_about_their_axis_in_the_origin_frame(axis):
    """T = origin Motion_axis(q), made of a motion of z between two constants."""
    origin, q = Pose((0.1, -0.2, 0.3), (0.4, 0.5, -0.6)), 0.7
    unit = np.array(axis) / np.linalg.norm(axis)
    revolute, prismatic = (kind(origin=origin, axis=tuple(unit)) for kind in (Revolute, Prismatic))
    assert revolute.before @ turn(Z, q) @ revolute.after == pytest.approx(
        origin.matrix() @ turn(unit, q), abs=1e-15
    )
    assert prismatic.before @ shift(q * Z) @ prismatic.after == pytest.approx(
        origin.matrix() @ shift(q * unit), abs=1e-15
    )


def test_dh_row_is_the_standard_one():
    """T = Rz(theta0 + q) Tz(d) Tx(a) Rx(alpha); prismatic adds q to d."""
    alpha, a, d, theta0, q = 0.3, 0.2, -0.1, 0.5, 0.7
    revolute, prismatic = (kind(dh=(alpha, a, d, theta0)) for kind in (Revolute, Prismatic))
    assert revolute.before @ turn(Z, q) @ revolute.after == pytest.approx(
        turn(Z, theta0 + q) @ shift((0, 0, d)) @ shift((a, 0, 0)) @ turn(X, alpha), abs=1e-15
    )
    assert prismatic.before @ shift(q * Z) @ prismatic.after == pytest.approx(
        turn(Z, theta0) @ shift((0, 0, d + q)) @ shift((a, 0, 0)) @ turn(X, alpha), abs=1e-15
    )


@pytest.mark.parametrize('joint', [Revolute(), Prismatic(), Fixed()], ids=lambda j: j.type_name)
def test_a_joint_is_at_its_parents_tip_unless_placed(joint):
    """Without origin, axis and dh both constant transforms of a joint are the identity."""
    assert np.array_equal(joint.before, np.eye(4)) and np.array_equal(joint.after, np.eye(4))


def test_fixed_joint_is_its_origin():
    """A fixed joint is a constant pose without coordinates."""
    origin = Pose((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
    assert np.array_equal(Fixed(origin=origin).before, origin.matrix())
    assert Fixed().coordinates() == ()


ROUTINGS = [
    Polynomial((0.02,), (0.01,)),
    Polynomial((0.01, -0.02, 0.03), (0.0, 0.5)),
    Helix(0.02, 0.4, 1.5),
    Helix(0.02),
]


@pytest.mark.parametrize('routing', ROUTINGS, ids=str)
def test_derivative_of_a_routing_is_its_derivative(routing):
    """Central differences agree to their own accuracy, on arrays too."""
    sigma, h = np.linspace(0.0, 1.0, 7), 1e-5
    for k in range(2):
        numeric = (routing.at(sigma + h)[k] - routing.at(sigma - h)[k]) / (2 * h)
        assert routing.derivative(sigma)[k] + 0 * sigma == pytest.approx(numeric, abs=1e-9)


def test_routings_are_in_powers_of_relative_length_and_turn_from_x_to_y():
    """Routing numbers are powers of relative length, and angles turn from x to y."""
    assert Polynomial((1.0, 2.0, 3.0), (4.0,)).at(0.5) == (2.75, 4.0)
    assert Helix(2.0, 0.0, 1.0).at(0.25) == pytest.approx((0.0, 2.0), abs=1e-15)


@pytest.mark.parametrize(
    'effort, limits, expected',
    [
        (math.inf, (-3.0, 4.0), (-3.0, 4.0)),
        (2.0, (-math.inf, math.inf), (-2.0, 2.0)),
        (3.5, (-3.0, 4.0), (-3.0, 3.5)),
    ],
)
def test_a_motor_does_not_exceed_its_joints_effort_limit(effort, limits, expected):
    """The narrower of the actuator's and the joint's limits counts, on each side."""
    joints = {'elbow': Revolute(limits=RevoluteLimits(effort=effort))}
    assert JointActuator('elbow', limits).command_limits(joints) == expected
