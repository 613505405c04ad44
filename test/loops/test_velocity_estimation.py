# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Velocities estimated from positions: exact on smooth motions, with a known delay."""

from math import inf, nan

import numpy as np
import pytest
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.loops.state_reader import StateReader
from softrobot_dynamics.loops.velocity_estimation import delay_of, VelocityEstimator

pytestmark = pytest.mark.quick

MS = 1_000_000  # [ns]
UNKNOWN = np.full(2, nan)


def estimate(states, times, turn=(0.0, 0.0)):
    """Return the last EstimatedState of states (q, qd) at times [ns], all of them believed."""
    estimator = VelocityEstimator(np.ones(2), np.array(turn))
    for (q, qd), time in zip(states, times):
        estimator.propose(np.array(q), np.array(qd), time)
        found = estimator.accept()
    return found


@pytest.mark.parametrize(
    'period, late', [(1.0, 4.0), (2.0, 8.0), (5.0, 10.0), (6.0, 9.0), (8.0, 8.0), (16.0, 16.0)]
)
def test_the_state_is_exact_at_the_stated_delay(period, late):
    """For constant acceleration the velocity is exact at the stated delay, for any period."""
    assert delay_of(round(period * MS)) == late * MS
    times = 1e-3 * period * np.arange(12)
    states = [((0.3 * t + t**2, 1.0), UNKNOWN) for t in times]
    found = estimate(states, (times * 1e9).round().astype(int))
    assert found.late == pytest.approx(late * MS, abs=2)
    there = times[-1] - late * 1e-3
    np.testing.assert_allclose(found.qd, [0.3 + 2.0 * there, 0.0], atol=1e-6)
    assert found.q[0] == pytest.approx(0.3 * there + there**2, abs=(late * 1e-3) ** 2)


def test_irregular_stamps_count():
    """With stamps that are not equally far apart the slope of a straight motion is exact."""
    times = np.array([0, 1, 3, 4, 7]) * MS
    found = estimate([((2e-9 * t, 0.0), UNKNOWN) for t in times], times)
    assert found.late == 4 * MS
    np.testing.assert_allclose(found.qd, [2.0, 0.0], atol=1e-12)
    assert found.q[0] == pytest.approx(2.0 * 3e-3)


def test_measured_velocities_are_kept_beside_missing_ones():
    """A coordinate with measured velocities keeps them, those at the centre of the window."""
    times = np.arange(5) * MS
    states = [((1e-9 * t, 1e-9 * t), (nan, 10.0 + 1e-6 * t)) for t in times]
    np.testing.assert_allclose(estimate(states, times).qd, [1.0, 12.0])


def test_an_outlier_that_is_refused_spoils_nothing():
    """After a position that was refused the velocity is that of the others."""
    estimator = VelocityEstimator(np.ones(2), np.zeros(2))
    for k in range(12):
        wrong = k in (6, 8)
        q = np.array([1e-3 * k + (3.0 if k == 6 else 0.03 if k == 8 else 0.0), 0.0])
        proposed = estimator.propose(q, UNKNOWN, k * MS)
        if wrong:
            estimator.refuse()
        else:
            found = estimator.accept()
            assert k < 2 or proposed[0] == pytest.approx(1.0)
    np.testing.assert_allclose(found.qd, [1.0, 0.0], atol=1e-9)


def test_a_robot_that_was_moved_has_a_window_of_its_own():
    """After a robot was moved, velocity is estimated from the new positions, without the jump."""
    estimator = VelocityEstimator(np.ones(2), np.zeros(2))
    for k in range(6):
        estimator.propose(np.zeros(2), UNKNOWN, k * MS)
        estimator.accept()
    for k in range(6, 12):
        proposed = estimator.propose(np.array([1.0 + 2e-3 * k, 0.0]), UNKNOWN, k * MS)
        assert proposed[0] == pytest.approx(2.0 if k > 6 else 0.0)
        estimator.refuse()
    estimator.propose(np.array([1.024, 0.0]), UNKNOWN, 12 * MS)
    np.testing.assert_allclose(estimator.accept().qd, [2.0, 0.0], atol=1e-9)


def test_an_angle_within_a_turn_has_no_jump_of_its_velocity():
    """Where an angle is reported within a turn its velocity stays, without a gap."""
    times = np.arange(6) * MS
    angles = (np.pi - 2.5e-3 + 1e-3 * np.arange(6) + np.pi) % (2.0 * np.pi) - np.pi
    states = [((angle, 0.0), UNKNOWN) for angle in angles]
    found = estimate(states, times, turn=(2.0 * np.pi, 0.0))
    np.testing.assert_allclose(found.qd, [1.0, 0.0], atol=1e-9)


class Message:
    """A JointState."""

    def __init__(self, name, position, velocity):
        self.name = name
        self.position, self.velocity = np.array(position), np.array(velocity, dtype=float)


@pytest.mark.parametrize('velocity, expected', [
    ([], [nan, nan]), ([nan, 1.0, nan], [1.0, nan]), ([nan, 1.0, 2.0], [1.0, 2.0]),
])  # fmt: skip
def test_missing_velocities_are_nan(velocity, expected):
    """Absent or nan velocities are marked as missing; those of other joints do not count."""
    message = Message(['other', 'a', 'b'], [nan, 0.1, 0.2], velocity)
    q, qd = StateReader(['a', 'b'], 'auto').read(message)
    np.testing.assert_array_equal(q, [0.1, 0.2])
    np.testing.assert_array_equal(qd, expected)


def test_velocities_may_be_required_or_ignored():
    """With `measured` missing velocities are refused, with `differentiated` none is read."""
    message = Message(['a'], [0.1], [nan])
    with pytest.raises(MessageError, match='not a number: velocity'):
        StateReader(['a'], 'measured').read(message)
    assert np.isnan(StateReader(['a'], 'differentiated').read(Message(['a'], [0.1], [1.0]))[1])
    for wrong in ([inf], [1e200], [1.0, 2.0]):
        with pytest.raises(MessageError):
            StateReader(['a'], 'auto').read(Message(['a'], [0.1], wrong))
