# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Robots whose joints follow others against the same robots with joints that move by themselves.

With x = G q + c of all joints, M = G' M_x G, and forces are G' f_x.
"""

from dataclasses import dataclass, replace
import functools

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.dynamics.derivatives import Differentiator
from softrobot_dynamics.estimation.sensors.contract import BoundRobot
from softrobot_dynamics.joints.contract import Joint, Mimic
from support.followers import FOLLOW, gripper, Pair

pytestmark = pytest.mark.quick


@functools.cache
def pair():
    """Return the gripper, with and without joints that follow others."""
    return Pair()


def assert_close(found, wanted, tolerance=1e-12):
    """Compare relative to the greatest entry."""
    scale = np.abs(wanted).max()
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=tolerance * scale)


def test_followers_have_no_coordinates():
    """Coordinates are those of joints that follow none, and of bodies."""
    soft = ('soft/bend_x', 'soft/bend_y', 'soft/elongation')
    assert pair().model.coordinate_names == ('turn', 'drive', *soft)


def test_inverse_dynamics_and_mass_matrix_are_those_of_joints_that_are_constrained():
    """ID, IID and M of a robot with followers are G' ID and G' M G of that without."""
    own = pair()
    for q, qd, qdd in own.states(3):
        x, xd, xdd = own.lead(q, qd, qdd)
        for call in (sd.mass_inverse_dynamics, sd.mass_inertial_inverse_dynamics):
            (force, M), (wanted, full) = (
                call(own.model, q=q, qd=qd, qdd=qdd),
                call(own.free, q=x, qd=xd, qdd=xdd),
            )
            assert_close(force, own.G.T @ wanted)
            assert_close(M, own.G.T @ full @ own.G)


def test_forces_and_energies_are_those_of_joints_that_are_constrained():
    """Gravity, elastic and damping force, and energies, of a robot with followers."""
    own = pair()
    ((q, qd, _),) = own.states(1)
    x, xd = own.lead(q, qd)
    for call in (sd.gravity_force, sd.elastic_force):
        assert_close(call(own.model, q=q), own.G.T @ call(own.free, q=x))
    wanted = own.G.T @ sd.damping_force(own.free, q=x, qd=xd)
    assert_close(sd.damping_force(own.model, q=q, qd=qd), wanted)
    wanted = sd.kinetic_energy(own.free, q=x, qd=xd)
    assert sd.kinetic_energy(own.model, q=q, qd=qd) == pytest.approx(wanted, rel=1e-12)
    wanted = sd.potential_energy(own.free, q=x)
    assert sd.potential_energy(own.model, q=q) == pytest.approx(wanted, rel=1e-12)
    zero = np.zeros(len(q))  # that where all are at ease is not zero: springs work on each other
    grown, wanted = (
        sd.elastic_energy(model, q=a) - sd.elastic_energy(model, q=b)
        for model, a, b in ((own.model, q, zero), (own.free, x, own.c))
    )
    assert grown == pytest.approx(wanted, rel=1e-12)


def test_actuators_act_at_leaders_and_followers():
    """Tendons and motors have the y, J and bias of the robot without followers, reduced by G."""
    own = pair()
    ((q, qd, _),) = own.states(1)
    x, xd = own.lead(q, qd)
    model, free = own.model.evaluator(), own.free.evaluator()
    found, wanted = model(q, qd), free(x, xd)
    np.testing.assert_allclose(found.y, wanted.y, rtol=1e-13)
    assert_close(found.J, wanted.J @ own.G)
    assert_close(found.bias, wanted.bias)


def test_forward_dynamics_and_its_derivatives_are_those_of_joints_that_are_constrained():
    """The acceleration and its derivatives by q, qd and u against the constrained equation."""
    own = pair()
    ((q, qd, _),) = own.states(1)
    u = np.linspace(0.1, 0.7, own.model.m)

    def acceleration(q, qd, u):
        x, xd = own.lead(q, qd)
        zero = np.zeros(own.free.n)
        h, M = sd.mass_inverse_dynamics(own.free, q=x, qd=xd, qdd=zero)
        push = own.free.evaluator()(x, xd).J.T @ (own.free.signs * u)
        return np.linalg.solve(own.G.T @ M @ own.G, own.G.T @ (push - h))

    wanted = acceleration(q, qd, u)
    assert_close(sd.forward_dynamics(own.model, q=q, qd=qd, u=u), wanted, 1e-10)
    found = sd.forward_dynamics_derivatives(own.model, q=q, qd=qd, u=u)
    for i, derivative in enumerate((found.by_q, found.by_qd, found.by_u)):
        given, columns = [q, qd, u], []
        for step in 1e-5 * np.eye(len(given[i])):
            ends = []
            for sign in (1.0, -1.0):
                given[i] = (q, qd, u)[i] + sign * step
                ends.append(acceleration(*given))
            columns.append((ends[0] - ends[1]) / 2e-5)
        assert_close(derivative, np.transpose(columns), 1e-7)


def test_derivatives_of_inverse_dynamics_are_those_of_joints_that_are_constrained():
    """DID/dq and dID/dqd of a robot with followers are G' (.) G of those without."""
    own = pair()
    ((q, qd, qdd),) = own.states(1)
    x, xd, xdd = own.lead(q, qd, qdd)
    loads = {'two_b': [0.1, 0.2, -0.1, 1.0, -2.0, 0.5], 'end': [0.0, 0.1, 0.1, 2.0, 1.0, 1.5]}
    loads['one'] = sd.Wrench([0.1, 0.0, 0.2, 1.0, 0.5, -1.0], frame='base')
    for wrenches in (None, loads):
        found = sd.inverse_dynamics_derivatives(own.model, q=q, qd=qd, qdd=qdd, wrenches=wrenches)
        wanted = sd.inverse_dynamics_derivatives(own.free, q=x, qd=xd, qdd=xdd, wrenches=wrenches)
        assert_close(found.by_q, own.G.T @ wanted.by_q @ own.G, 1e-11)
        assert_close(found.by_qd, own.G.T @ wanted.by_qd @ own.G, 1e-11)


@pytest.mark.parametrize(
    'body, point', [('two_b', None), ('end', None), ('soft', [0.01, 0, 0.05])]
)
def test_jacobians_and_their_derivatives_are_those_of_joints_that_are_constrained(body, point):
    """J, dJ/dq, (dJ/dt) qd and its derivatives of frames beyond followers."""
    own = pair()
    ((q, qd, _),) = own.states(1)
    x, xd = own.lead(q, qd)
    found = sd.jacobian_derivatives(own.model, q=q, qd=qd, body=body, point=point)
    wanted = sd.jacobian_derivatives(own.free, q=x, qd=xd, body=body, point=point)
    assert_close(sd.jacobian(own.model, q=q, body=body, point=point), found.jacobian)
    assert_close(sd.frame(own.model, q=q, body=body), sd.frame(own.free, q=x, body=body))
    assert_close(found.jacobian, wanted.jacobian @ own.G)
    by_q = np.einsum('akj,kn,jm->anm', wanted.by_q, own.G, own.G)
    assert_close(found.by_q, by_q, 1e-11)
    assert_close(found.bias, wanted.bias, 1e-11)
    assert_close(found.bias_by_q, wanted.bias_by_q @ own.G, 1e-10)
    assert_close(found.bias_by_qd, wanted.bias_by_qd @ own.G, 1e-11)


def test_the_regressor_and_joint_torques_count_followers_once():
    """The regressor is G' that of free joints; drives of leaders do the work of all forces."""
    own = pair()
    ((q, qd, qdd),) = own.states(1)
    x, xd, xdd = own.lead(q, qd, qdd)
    found = sd.torque_regressor(own.model, q=q, qd=qd, qdd=qdd)
    wanted = sd.torque_regressor(own.free, q=x, qd=xd, qdd=xdd)
    assert_close(found.matrix, own.G.T @ wanted.matrix)
    force = sd.inverse_dynamics(own.model, q=q, qd=qd, qdd=qdd)
    assert_close(found.matrix @ found.parameters + found.rest, force)
    torques = sd.joint_torques(own.model, q=q, forces=force)
    names = own.model.description.joint_names
    axes = [names.index(name) for name in ('screw', 'tip2', 'tip1', 'slide')]
    assert np.all(torques[axes] == 0.0)
    assert np.linalg.norm(torques[names.index('drive')]) == pytest.approx(abs(force[1]))


def test_an_imu_beyond_followers_has_the_derivatives_of_its_residual():
    """H of an IMU on a follower against central differences of the residual."""
    own, h = pair(), 1e-6
    (sensor,) = sd.load_estimator(
        {
            'sensors': [
                {
                    'name': 'own',
                    'type': 'imu',
                    'body': 'two_b',
                    'orientation_noise': 0.1,
                    'acceleration_noise': 0.3,
                }
            ]
        }
    ).sensors
    ((q, qd, _),) = own.states(1)
    force, u = 0.1 * np.ones(own.model.n), np.linspace(0.1, 0.5, own.model.m)
    differentiate = Differentiator(own.model, force)
    seen = sensor.bind(BoundRobot(own.model, differentiate, u, False))

    def residual(x, z):
        at, rate, force[:] = np.split(x, 3)
        seen.observe(at, rate, z)
        return seen.observed.residual.copy()

    x = np.concatenate([q, qd, force])
    residual(x, np.zeros(15))
    z = seen.observed.predicted.copy()
    assert np.abs(residual(x, z)).max() < 1e-12
    H = seen.observed.H.copy()
    found = [(residual(x + s, z) - residual(x - s, z)) / (-2.0 * h) for s in h * np.eye(len(x))]
    scale = np.abs(H).max(axis=1, keepdims=True)
    np.testing.assert_allclose(H / scale, np.transpose(found) / scale, atol=1e-7)


def test_statics_hold_followers_by_their_leaders():
    """At rest under u the forces on the leaders' coordinates vanish, followers being at theirs."""
    own = pair()
    u = np.array([1.0, 0.5, 0.2, 0.1, 0.4, 0.1, 2.0])
    found = sd.equilibrium(own.model, u=u)
    (x,) = own.lead(found.q)
    force = sd.inverse_dynamics(own.free, q=x, qd=0.0 * x, qdd=0.0 * x)
    push = own.free.evaluator()(x, 0.0 * x).J.T @ (own.free.signs * u)
    assert np.abs(own.G.T @ (force - push)).max() < 1e-7 * np.abs(force).max()


@dataclass(frozen=True)
class Cam(Joint):
    """A joint of one coordinate that turns about z and rises as its square."""

    rise: float = 0.3  # [m/rad^2]

    type_name = 'cam'

    def coordinates(self):
        """Return the one coordinate."""
        return ('',)

    def motion(self, q, math):
        """Return the rotation, row-major, and the origin."""
        c, s = math.cos(q[0]), math.sin(q[0])
        return [c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, self.rise * q[0] * q[0]]


def with_cam(follow=True):
    """Return the gripper with a cam in place of its slide."""
    robot, cam = gripper(follow), Cam()
    if follow:
        cam = replace(cam, mimic=Mimic(*FOLLOW['slide']))
    (pusher,) = (body for body in robot['bodies'] if body['name'] == 'pusher')
    pusher |= {'name': 'slide', 'joint': cam}  # which bears the name of its body
    return {**robot, 'actuators': []}


def test_a_follower_of_any_motion_has_its_derivatives():
    """A follower that is no screw has the ID, M and derivatives of a constrained joint."""
    own = Pair(with_cam)
    ((q, qd, qdd),) = own.states(1)
    x, xd, xdd = own.lead(q, qd, qdd)
    (force, M), (wanted, full) = (
        sd.mass_inverse_dynamics(own.model, q=q, qd=qd, qdd=qdd),
        sd.mass_inverse_dynamics(own.free, q=x, qd=xd, qdd=xdd),
    )
    assert_close(force, own.G.T @ wanted)
    assert_close(M, own.G.T @ full @ own.G)
    found = sd.inverse_dynamics_derivatives(own.model, q=q, qd=qd, qdd=qdd)
    wanted = sd.inverse_dynamics_derivatives(own.free, q=x, qd=xd, qdd=xdd)
    assert_close(found.by_q, own.G.T @ wanted.by_q @ own.G, 1e-11)
    assert_close(found.by_qd, own.G.T @ wanted.by_qd @ own.G, 1e-11)
    found = sd.jacobian_derivatives(own.model, q=q, qd=qd, body='slide')
    wanted = sd.jacobian_derivatives(own.free, q=x, qd=xd, body='slide')
    by_q = np.einsum('akj,kn,jm->anm', wanted.by_q, own.G, own.G)
    assert_close(found.by_q, by_q, 1e-11)
