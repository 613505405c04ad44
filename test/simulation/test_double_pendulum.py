# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The actuated double pendulum of R. N. Watanabe, M theta'' = C + G + Q in absolute angles."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.simulation.simulator import Simulator
from support.robots import compiled

pytestmark = pytest.mark.quick

L = M = 1.0  # length [m] and mass [kg] of both bars
G = 9.81
TO_JOINTS = np.array([[1.0, 0.0], [-1.0, 1.0]])  # shoulder = theta1, elbow = theta2 - theta1


def mass(theta):
    """Mass matrix (2, 2) in absolute angles."""
    coupling = 0.5 * M * L * L * np.cos(theta[0] - theta[1])
    return np.array([[M * L * L / 3 + M * L * L, coupling], [coupling, M * L * L / 3]])


def centrifugal(theta, rate):
    """C (2,): the side of the known terms."""
    return (
        0.5 * M * L * L * np.sin(theta[0] - theta[1]) * np.array([-(rate[1] ** 2), rate[0] ** 2])
    )


def gravity(theta):
    """G (2,): the side of the known terms."""
    return np.array([-1.5 * M * G * L * np.sin(theta[0]), -0.5 * M * G * L * np.sin(theta[1])])


def random_angles(count, seed):
    """Absolute angles, rates and accelerations, (count, 3, 2)."""
    return np.random.default_rng(seed).uniform(-3.0, 3.0, (count, 3, 2))


@pytest.fixture(scope='module')
def pendulum():
    """Return the shipped double pendulum."""
    return compiled('double_pendulum')


def test_equations_of_motion_equal_the_closed_form(pendulum):
    """M, c and g in absolute angles are the paper's M, -C and -G to 1e-12."""
    for theta, rate, _ in random_angles(50, seed=1):
        q, qd, zero = TO_JOINTS @ theta, TO_JOINTS @ rate, np.zeros(2)
        c, M_q = sd.mass_inertial_inverse_dynamics(pendulum, q=q, qd=qd, qdd=zero)
        g = sd.gravity_force(pendulum, q=q)
        np.testing.assert_allclose(TO_JOINTS.T @ M_q @ TO_JOINTS, mass(theta), atol=1e-12)
        np.testing.assert_allclose(TO_JOINTS.T @ c, -centrifugal(theta, rate), atol=2e-11)
        np.testing.assert_allclose(TO_JOINTS.T @ g, -gravity(theta), atol=2e-11)


def test_motors_act_as_in_the_closed_form(pendulum):
    """Forward dynamics with the torques M1 and M12 is M^-1 (C + G + [M1 - M12, M12])."""
    for theta, rate, torque in random_angles(50, seed=2):
        qdd = sd.forward_dynamics(pendulum, q=TO_JOINTS @ theta, qd=TO_JOINTS @ rate, u=torque)
        Q = np.array([torque[0] - torque[1], torque[1]])
        wanted = np.linalg.solve(mass(theta), centrifugal(theta, rate) + gravity(theta) + Q)
        np.testing.assert_allclose(np.cumsum(qdd), wanted, rtol=1e-11, atol=1e-10)


def test_positive_angles_swing_towards_x(pendulum):
    """Bars hang down at zero, and tips at angles theta are where trigonometry puts them."""
    theta = np.array([0.4, -0.9])
    elbow = L * np.array([np.sin(theta[0]), 0.0, -np.cos(theta[0])])
    tip = elbow + L * np.array([np.sin(theta[1]), 0.0, -np.cos(theta[1])])
    frames = sd.forward_kinematics(pendulum, q=TO_JOINTS @ theta)
    np.testing.assert_allclose(frames[:, :3, 3], [elbow, tip], atol=1e-15)


def test_energy_drift_falls_with_the_step(pendulum):
    """Over 10 s from the source's initial state the energy drift falls with the step."""
    drifts = []
    for substep in (1e-3, 2.5e-4):
        simulator = Simulator(pendulum, qd=TO_JOINTS @ [np.pi, -2.0 * np.pi], substep=substep)
        energies = []
        for _ in range(1000):
            energies.append(energy(simulator.q, simulator.qd))
            simulator.step(np.zeros(2), 0.01)
        drifts.append(np.ptp(energies))
    assert drifts[1] < 0.4 * drifts[0]


def energy(q, qd):
    """Kinetic and potential energy [J] in joint angles."""
    theta, rate = np.cumsum(q), np.cumsum(qd)
    height = -1.5 * L * np.cos(theta[0]) - 0.5 * L * np.cos(theta[1])
    return 0.5 * rate @ mass(theta) @ rate + M * G * height
