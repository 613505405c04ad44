# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Actuation coordinates of any routing: lengths, their derivatives, and the generalized force."""

import numpy as np
from oracles import tendons
import pytest
import softrobot_dynamics as sd
from support.differences import derivative, gradient
from support.robots import compiled, EXACT, rod, states

pytestmark = pytest.mark.quick

STEP = 2e-3  # of the differences: short against any line [rad or m]
ACTUATED = [name for name in EXACT if name not in ('zoo', 'steel_rod')]
"""Not the rod: between its nodes the oracle's curve is near it only; see test_cosserat_robots."""


@pytest.fixture(scope='module', params=ACTUATED)
def model(request):
    """Every robot with actuators."""
    return compiled(request.param)


@pytest.fixture(scope='module')
def hand():
    """Return the robot with tendons routed in every way."""
    return compiled('hand')


def test_coordinates_are_arc_lengths(model):
    """The coordinate y is the elongation of curve and straight lines; a joint's is q."""
    for q, qd, _ in states(model, 4, seed=1):
        found = sd.actuation(model, q=q, qd=qd).coordinates
        np.testing.assert_allclose(found, tendons.elongations(model.description, q), atol=1e-12)


def test_matrix_is_the_derivative_of_the_coordinates(model):
    """The matrix dnu/du is -(dy/dq)' for tendons, +(dy/dq)' for joints; rates are (dy/dq) qd."""
    signs = np.array([a.actuator.sign for a in model.description.actuators])
    for q, qd, _ in states(model, 3, seed=2):
        found = sd.actuation(model, q=q, qd=qd)
        by_q = gradient(lambda x: sd.actuation(model, q=x, qd=0.0 * x).coordinates, q, STEP)
        np.testing.assert_allclose(found.jacobian, by_q, atol=1e-10)
        np.testing.assert_allclose(found.matrix, found.jacobian.T * signs, atol=0.0)
        np.testing.assert_allclose(found.velocities, by_q @ qd, atol=1e-10)


def test_bias_is_the_rate_of_the_jacobian(model):
    """The bias is (d/dt dy/dq) qd."""
    for q, qd, _ in states(model, 3, seed=3):
        found = sd.actuation(model, q=q, qd=qd).bias
        rate = derivative(lambda t: sd.actuation(model, q=q + t * qd, qd=qd).velocities, STEP)  # noqa: B023
        np.testing.assert_allclose(found, rate, atol=1e-9)


def test_every_routing_moves(hand):
    """Each tendon of the test robot has a coordinate that depends on q, and most have a bias."""
    ((q, qd, _),) = states(hand, 1, seed=4)
    found = sd.actuation(hand, q=q, qd=qd)
    assert (np.abs(found.jacobian).max(axis=1) > 1e-3).all()
    curved = [
        i for i, n in enumerate(hand.actuator_names) if n not in ('straight', 'convergent', 'palm')
    ]
    assert (np.abs(found.bias[curved]) > 1e-6).all()


def test_coordinates_vanish_at_zero(model):
    """The coordinate y is zero at q = 0, exactly."""
    zero = np.zeros(model.n)
    assert not sd.actuation(model, q=zero, qd=zero).coordinates.any()


def test_virtual_power(model):
    """The power of the actuators is that of their generalized force: u' ydot with the sign."""
    rng = np.random.default_rng(5)
    for q, qd, _ in states(model, 3, seed=5):
        found, u = sd.actuation(model, q=q, qd=qd), rng.uniform(-1.0, 1.0, model.m)
        signs = np.array([a.actuator.sign for a in model.description.actuators])
        assert (found.matrix @ u) @ qd == pytest.approx((signs * u) @ found.velocities)


def test_tendons_touch_only_what_they_pass(hand):
    """A tendon's coordinate depends on no coordinate of bodies and joints it does not pass."""
    ((q, qd, _),) = states(hand, 1, seed=6)
    jacobian = sd.actuation(hand, q=q, qd=qd).jacobian
    index = hand.coordinate_names.index
    across, web = (jacobian[hand.actuator_names.index(n)] for n in ('across', 'web'))
    assert abs(across[index('palm')]) < 1e-15 and not across[index('thumb1') :].any()
    assert abs(web[index('palm')]) < 1e-15
    assert not web[index('index2/bend_x') : index('thumb1')].any()
    assert web[index('index1')] != 0.0 and web[index('thumb1')] != 0.0


def test_a_pulled_tendon_bends_towards_itself():
    """Pulling the tendon at +x bends the arm's tip towards +x, and positive bend_x does so too."""
    arm = compiled('pcc_arm')
    zero, u = np.zeros(arm.n), np.zeros(arm.m)
    u[arm.actuator_names.index('t1')] = 1.0
    qdd = sd.forward_dynamics(arm, q=zero, qd=zero, u=u)
    assert qdd[arm.coordinate_names.index('segment1/bend_x')] > 0.0
    bent = np.where([name == 'segment3/bend_x' for name in arm.coordinate_names], 0.3, 0.0)
    x, y, z = sd.forward_kinematics(arm, q=bent)[-1, :3, 3]
    assert x > 0.01 and abs(y) < 1e-15 and z < 0.6


def test_a_line_past_a_body_counts():
    """A straight line past a fixed body depends on the coordinates of the bodies it skips."""
    fixed = {'type': 'fixed'}
    bodies = [{'name': name, 'joint': fixed, 'body': rod()} for name in 'abc']
    path = [{'body': name, 'offset': [0.02, 0.01]} for name in 'ac']
    pull = {'name': 't', 'type': 'tendon', 'path': path}
    robot = {'name': 'past', 'bodies': bodies, 'actuators': [pull]}
    model = sd.compile_model(sd.load_robot(robot))
    ((q, qd, _),) = states(model, 1, seed=7)
    found = sd.actuation(model, q=q, qd=qd)
    wanted = tendons.elongations(model.description, q)
    np.testing.assert_allclose(found.coordinates, wanted, atol=1e-12)
    assert np.abs(found.jacobian[0, 3:6]).max() > 1e-3  # how b bends


def test_two_bodies_meeting_at_a_point_have_no_direction():
    """A line of length zero between two bodies adds zero to the Jacobian, not NaN."""
    link = {
        'type': 'rigid', 'mass': 1.0, 'inertia': {'ixx': 0.01, 'iyy': 0.01, 'izz': 0.01},
        'tip': {'xyz': [0.0, 0.0, 0.3]},
    }  # fmt: skip
    paths = [
        {'body': 'a', 'points': [[0.01, 0, 0.1], [0, 0, 0.3]]},
        {'body': 'b', 'points': [[0, 0, 0]]},
    ]
    model = sd.compile_model(
        sd.load_robot(
            {
                'name': 'touching',
                'bodies': [
                    {'name': name, 'joint': {'type': 'revolute', 'axis': [1, 0, 0]}, 'body': link}
                    for name in 'ab'
                ],
                'actuators': [{'name': 't', 'type': 'tendon', 'path': paths}],
            }
        )
    )
    found = sd.actuation(model, q=np.array([0.3, 0.4]), qd=np.array([1.0, 2.0]))
    assert not found.coordinates.any() and not found.matrix.any() and not found.bias.any()
