# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Postures and actuation that hold points."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError, InfeasibleReferenceError
from softrobot_dynamics.references.inverse_statics import hold_points, RANGE_RESERVE
from support.mechanics import unbalanced
from support.robots import compiled


def circle(count, radius=0.1, height=0.57):
    """Points (count, 1, 3) of a horizontal circle below the base."""
    angle = 2.0 * np.pi * np.arange(count) / count
    points = [radius * np.cos(angle), radius * np.sin(angle), np.full(count, height)]
    return np.column_stack(points)[:, None]


@pytest.fixture(scope='module')
def held():
    """Postures of the arm on the shipped circle."""
    arm, points = compiled('pcc_arm'), circle(12)
    return arm, points, hold_points(arm, bodies=['segment3'], times=np.arange(12.0), points=points)


def test_points_are_held(held):
    """The tip is at its point to 1e-6 m, the forces balance, and y belongs to the posture."""
    arm, points, found = held
    for q, u, y, point in zip(found.q, found.u, found.y, points[:, 0]):
        tip = sd.forward_kinematics(arm, q=q)[-1, :3, 3]
        assert np.abs(tip - point).max() < 1e-6
        assert np.abs(unbalanced(arm, q, u)).max() < 1e-6
        assert np.array_equal(y, sd.actuation(arm, q=q, qd=0.0 * q).coordinates)


def test_commands_are_strictly_inside_the_limits(held):
    """Every u keeps away from its limits by the reserve."""
    arm, _, found = held
    reserve = RANGE_RESERVE * (arm.upper - arm.lower)
    assert np.all(found.u > arm.lower) and np.all(found.u < arm.upper)
    assert np.all(found.u >= arm.lower + 0.999 * reserve)
    assert np.all(found.u <= arm.upper - 0.999 * reserve)


def test_effort_is_minimal(held):
    """|u|^2 is within a few percent of the minimum that sequential programming finds."""
    arm, points, found = held
    reserve = RANGE_RESERVE * (arm.upper - arm.lower)
    for k in (0, 5):
        q, u = found.q[k], found.u[k]
        best = least_effort(arm, points[k, 0], q, u, arm.lower + reserve, arm.upper - reserve)
        assert u @ u <= 1.05 * best


def least_effort(arm, point, q, u, lower, upper):
    """Least |u|^2 that holds the tip of the arm at a point, by scipy."""
    n, scale = arm.n, 10.0  # of u: [10 N]

    def conditions(z):
        r = unbalanced(arm, z[:n], scale * z[n:])
        tip = sd.forward_kinematics(arm, q=z[:n])[-1, :3, 3]
        return np.concatenate([r, 10.0 * (tip - point)])

    def derivative(z):
        steps = 1e-6 * np.eye(len(z))
        return np.array([(conditions(z + s) - conditions(z - s)) / 2e-6 for s in steps]).T

    result = minimize(
        lambda z: (z[n:] @ z[n:], np.concatenate([np.zeros(n), 2.0 * z[n:]])),
        np.concatenate([q, np.clip(u, lower, upper) / scale]),
        jac=True,
        bounds=[(None, None)] * n + list(zip(lower / scale, upper / scale)),
        constraints={'type': 'eq', 'fun': conditions, 'jac': derivative},
        method='SLSQP',
        options={'maxiter': 300, 'ftol': 1e-12},
    )
    assert np.abs(conditions(result.x)).max() < 1e-6
    return scale**2 * result.fun


@pytest.mark.parametrize('limits', [[0.0, np.inf], [-np.inf, np.inf]], ids=str)
def test_points_are_held_without_upper_limits(limits):
    """Tendons that only pull, or know no limit at all, hold the points too, strictly inside."""
    arm, points = compiled('pcc_arm'), circle(4)
    actuators = tuple(
        replace(a, actuator=replace(a.actuator, limits=tuple(limits)))
        for a in arm.description.actuators
    )
    arm = sd.compile_model(replace(arm.description, actuators=actuators))
    found = hold_points(arm, bodies=['segment3'], times=np.arange(4.0), points=points)
    assert (found.u > limits[0]).all()
    for q, u, point in zip(found.q, found.u, points[:, 0]):
        assert np.abs(sd.forward_kinematics(arm, q=q)[-1, :3, 3] - point).max() < 1e-6
        assert np.abs(unbalanced(arm, q, u)).max() < 1e-6


def test_postures_move_smoothly(held):
    """Neighbouring points have neighbouring postures: no jump from one solution to another."""
    _, _, found = held
    around = np.vstack([found.q, found.q[:1]])
    assert np.abs(np.diff(around, axis=0)).max() < 0.6


def test_points_of_a_rigid_arm_are_held():
    """A robot with a motor per joint holds the tips of several bodies at once."""
    model = compiled('double_pendulum')
    q = np.array([0.5, 0.7])
    points = sd.forward_kinematics(model, q=q)[None, :, :3, 3]
    found = hold_points(
        model, bodies=['upper_bar', 'lower_bar'], times=[0.0], points=points, q0=[0.3, 0.3]
    )
    np.testing.assert_allclose(found.q[0], q, atol=1e-5)
    np.testing.assert_allclose(found.u[0], sd.gravity_force(model, q=found.q[0]), atol=1e-6)


def test_a_point_out_of_reach_names_time_and_actuators():
    """The first point that no admissible u holds is an error with time, place and actuators."""
    arm, times = compiled('pcc_arm'), [0.0, 0.5, 1.0, 1.5]
    points = np.array(
        [[[0.1, 0.0, 0.57]], [[0.14, 0.0, 0.55]], [[0.4, 0.0, 0.5]], [[0.5, 0.0, 0.5]]]
    )
    with pytest.raises(InfeasibleReferenceError) as caught:
        hold_points(arm, bodies=['segment3'], times=times, points=points)
    error = caught.value
    assert error.time == 1.0 and error.point == tuple(points[2, 0])
    assert error.actuators and set(error.actuators) <= set(arm.actuator_names)
    assert 0.05 < error.distance < 0.4
    assert '1 s' in str(error) and error.actuators[0] in str(error)


@pytest.mark.parametrize(
    'changed, argument',
    [
        ({'bodies': ['segment4']}, 'body'),
        ({'points': np.zeros((1, 3))}, 'points'),
        ({'points': np.full((1, 1, 3), np.nan)}, 'points'),
        ({'q0': np.zeros(3)}, 'q0'),
    ],
)
def test_wrong_arguments_are_named(changed, argument):
    """An invalid argument is an ArgumentError that names it."""
    given = {'bodies': ['segment3'], 'times': [0.0], 'points': circle(1), **changed}
    with pytest.raises(ArgumentError) as caught:
        hold_points(compiled('pcc_arm'), **given)
    assert caught.value.argument == argument
