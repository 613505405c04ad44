# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Trajectory messages become references or are refused."""

import numpy as np
import pytest

pytest.importorskip('rclpy')

from softrobot_dynamics.errors import MessageError  # noqa: E402
from softrobot_dynamics.loops.latched_orders import LATCHED, LatchedOrders  # noqa: E402
from softrobot_dynamics.loops.message_fields import SECOND  # noqa: E402
from softrobot_dynamics.loops.trajectories import TrajectoryReader  # noqa: E402
from softrobot_dynamics.references.piecewise import braking, hermite  # noqa: E402
from support.references import at
from support.trajectory_messages import trajectory  # noqa: E402

pytestmark = pytest.mark.quick

NAMES = ('left', 'right')
READER = TrajectoryReader(NAMES)


def message(*points, names=NAMES, **given):
    """Return a trajectory of both actuators."""
    return trajectory(names, *points, **given)


def check_smooth(reference, orders):
    """Neighbouring pieces have the same derivatives; so have rest and the first and last ones."""
    rows = reference.coefficients.transpose(1, 2, 0)
    pieces = [[np.polynomial.Polynomial(c) for c in piece] for piece in rows]
    lengths = np.diff(reference.breaks)
    for order in range(orders):
        ends = [[p.deriv(order)(h) for p in piece] for piece, h in zip(pieces, lengths)]
        begins = [[p.deriv(order)(0.0) for p in piece] for piece in pieces]
        np.testing.assert_allclose(ends[:-1], begins[1:], atol=1e-9)
        if order:
            np.testing.assert_allclose([begins[0], ends[-1]], 0.0, atol=1e-9)


def test_names_may_stand_in_any_order():
    """Positions alone are passed by a cubic spline, from rest to rest."""
    given = message((0.0, [1.0, 2.0]), (1.0, [3.0, 5.0]), (3.0, [0.0, 4.0]), names=NAMES[::-1])
    reference = READER.read(given).reference(0.0)
    assert at(reference, 1.0)[0] == pytest.approx([5.0, 3.0])
    assert at(reference, 9.0)[0] == pytest.approx([4.0, 0.0])
    check_smooth(reference, 2)


def test_velocities_and_accelerations_are_as_given():
    """Cubic pieces with velocities, quintic ones with accelerations, too."""
    first = 1.0, [0.5, 0.1], [0.3, -0.2], [1.0, 2.0]
    last = 2.5, [1.0, 0.0], [0.0, 0.0], [0.0, 0.0]
    still = 0.0, [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]
    cubic = READER.read(message(still[:3], first[:3], last[:3])).reference(0.0)
    assert at(cubic, 1.0)[:2] == pytest.approx(np.array(first[1:3]))
    assert not cubic.coefficients[4:].any()
    check_smooth(cubic, 2)
    quintic = READER.read(message(still, first, last)).reference(0.0)
    assert at(quintic, 1.0) == pytest.approx(np.array(first[1:]))
    check_smooth(quintic, 3)


def test_hermite_pieces_of_a_polynomial_are_that_polynomial():
    """Hermite pieces reproduce polynomials of degree five, or three without accelerations."""
    for degree in (5, 3):
        polynomial = np.polynomial.Polynomial(
            np.random.default_rng(degree).normal(size=degree + 1)
        )
        times = np.array([0.3, 0.9, 2.0])
        rows = [polynomial.deriv(k)(times)[:, None] for k in range(3)]
        reference = hermite(times, *rows[: 3 if degree == 5 else 2])
        for t in (0.4, 0.9, 1.7, 1.999):
            wanted = [polynomial.deriv(k)(t) for k in range(3)]
            np.testing.assert_allclose(at(reference, t)[:, 0], wanted, rtol=1e-9, atol=1e-9)


def test_braking_continues_a_state_and_ends_at_rest():
    """Braking continues position, rate and acceleration and ends at rest at any time."""
    state = np.random.default_rng(2).normal(size=(3, 2))
    reference = braking(state, 4.0, 0.7)
    np.testing.assert_allclose(at(reference, 4.0), state, atol=1e-12)
    np.testing.assert_allclose(at(reference, 4.7 - 1e-9)[1:], 0.0, atol=1e-6)


def test_a_later_start_at_a_rate_is_approached_smoothly():
    """A trajectory that starts later at a rate is approached smoothly from rest."""
    first = 0.4, [0.5, 0.1], [0.3, -0.2], [1.0, 2.0]
    last = 2.5, [1.0, 0.0], [0.0, 0.0], [0.0, 0.0]
    course = READER.read(message(first, last))
    assert course.ahead(now=17) == pytest.approx(0.4)
    reference = course.reference(0.4)
    assert reference.breaks == pytest.approx([0.0, 0.4, 2.5])
    assert at(reference, 0.4) == pytest.approx(np.array(first[1:]))
    check_smooth(reference, 3)
    check_smooth(READER.read(message(first[:3], last[:3])).reference(0.4), 2)


def test_stamps_say_when_it_starts():
    """A trajectory starts at its stamp, is joined if it has begun, and refused if it is over."""
    now = 1_700_000_000 * SECOND
    points = (1.0, [0.0, 0.0]), (2.0, [1.0, 1.0])
    later = READER.read(message(*points, stamp=now + SECOND // 2))
    assert later.ahead(now) == pytest.approx(1.5)
    before = READER.read(message(*points, stamp=now - 3 * SECOND // 2))
    assert before.ahead(now) == pytest.approx(-0.5)
    assert at(before.reference(-0.5), 0.0)[0] == pytest.approx([0.5, 0.5])
    over = READER.read(message(*points, stamp=now - 4 * SECOND))
    with pytest.raises(MessageError, match='stale: its last point was 2 s ago'):
        over.reference(over.ahead(now))


def test_one_point_is_a_set_point():
    """A trajectory of one point is a set-point, approached in the given time."""
    course = READER.read(message((0.7, [0.3, 0.2])))
    assert course.ahead(0) == pytest.approx(0.7)
    assert at(course.reference(0.7), 0.0) == pytest.approx(np.array([[0.3, 0.2], [0, 0], [0, 0]]))


POINTS = (0.0, [0.0, 0.0]), (1.0, [1.0, 1.0])


@pytest.mark.parametrize(
    'given, words',
    [
        (message(*POINTS, names=('left', 'rihgt')), "'rihgt' is unknown"),
        (message(*POINTS, names=('left',)), 'right missing'),
        (message(), 'there are no points'),
        (message((0.0, [0.0])), 'point 0 has 1 positions, expected 2'),
        (message(POINTS[0], (1.0, [1.0, np.nan])), 'positions of point 1 contain NaN, inf'),
        (message(POINTS[1], POINTS[0]), 'point 1 is not after the one before it'),
        (message((-1.0, [0.0, 0.0])), 'point 0 is 1 s before the start'),
        (message(POINTS[0], (1.0, [1.0, 1.0], [0.0, 0.0])), 'point 0 has 0 velocities'),
        (message((0.0, [0.0, 0.0], [], [0.0, 0.0])), 'accelerations, but no velocities'),
        (message((0.0, [0.0, 0.0], [0.0, 0.1])), 'velocities of the last point are [0.0, 0.1]'),
    ],
    ids=str,
)  # fmt: skip
def test_an_invalid_trajectory_is_refused(given, words):
    """An invalid trajectory is refused with name, point and field."""
    with pytest.raises(MessageError) as caught:
        READER.read(given)
    assert words in caught.value.reason


def test_velocities_that_are_rounding_are_rest():
    """A planner's last velocities may be 1e-17."""
    course = READER.read(message((0.0, [0.0, 0.0], [0.0, 0.0]), (0.5, [1.0, 1.0], [1.0, 1.0]),
                                 (1.0, [2.0, 2.0], [1e-17, -1e-9])))  # fmt: skip
    assert not course.rates[-1].any()


def test_no_trajectory_is_taken_while_inactive_or_stopped():
    """While inactive or stopped, a trajectory is refused as a hold is."""
    orders = LatchedOrders()
    assert orders.refusal() == orders.hold() == 'not active'
    orders.stop(True)
    assert orders.refusal() == orders.hold() == LATCHED
