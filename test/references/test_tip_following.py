# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Tips follow single points with the least effort, or approach unreachable ones."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.references.inverse_statics import hold_points
from softrobot_dynamics.references.piecewise import reaching, sample, turn
from softrobot_dynamics.references.tip_following import LEVER, TipFollower
from support.robots import compiled

CENTER = np.array([0.0, 0.0, 0.57])


def circle(radius=0.1, count=50):
    """Return points (count + 1, 3) around pcc_arm's axis."""
    angles = np.linspace(0.0, 2.0 * np.pi, count + 1)
    return CENTER + radius * np.array([np.cos(angles), np.sin(angles), 0.0 * angles]).T


@pytest.fixture
def follower():
    """Return a follower for the tip of pcc_arm."""
    model = compiled('pcc_arm')
    return TipFollower(model, model.body_names[-1], model.q0)


def test_points_are_reached_with_the_least_effort(follower):
    """The outputs are those that planning finds for the whole path."""
    model, points = compiled('pcc_arm'), circle()
    places = [follower.follow(point) for point in points]
    assert max(place.position_error for place in places) < 1e-9
    assert np.allclose([place.point for place in places], points)
    planned = hold_points(
        model, bodies=model.body_names[-1:], times=np.arange(51.0), points=points[:, None]
    )
    np.testing.assert_allclose([place.y for place in places], planned.y, atol=2e-5)
    for point, q in zip(points[::10], planned.q[::10]):
        assert follower.tip(q) == pytest.approx(point, abs=1e-5)


def test_a_point_out_of_reach_is_approached_and_left(follower):
    """The tip comes nearer than the last reachable point, rests, and leaves without a jump."""
    model = compiled('pcc_arm')
    outward = [CENTER + [0.1 + 0.01 * k, 0.0, 0.0] for k in range(16)]
    places = [follower.follow(point) for point in outward]
    assert places[0].position_error < 1e-9 and places[-1].position_error > 0.02
    last = max(k for k, place in enumerate(places) if place.position_error < 1e-9)
    assert places[-1].position_error < np.linalg.norm(outward[-1] - outward[last])
    for place, point in zip(places, outward):
        assert place.position_error == pytest.approx(np.linalg.norm(place.point - point))
        found = hold_points(
            model, bodies=model.body_names[-1:], times=[0.0], points=place.point[None, None]
        )
        assert follower.tip(found.q[0]) == pytest.approx(place.point, abs=2e-4)
    back = [follower.follow(point) for point in outward[::-1]]
    assert back[-1].position_error < 1e-9
    steps = np.abs(np.diff([place.y for place in [*places, *back]], axis=0)).max(axis=1)
    assert steps.max() < 0.03


def test_a_far_point_is_reached_in_one_call(follower):
    """A point on the other side is reached in one call."""
    for point in (CENTER + [0.1, 0.0, 0.0], CENTER - [0.1, 0.0, 0.0]):
        assert follower.follow(point).position_error < 1e-9


def test_an_arm_of_joints_stays_near_its_posture():
    """The posture nearest to the start is found among the many of six joints."""
    model = compiled('ur10e')
    q = np.array([0.0, -1.0, 1.5, -0.5, 1.5, 0.0])
    follower = TipFollower(model, model.body_names[-1], q)
    start = follower.tip(q)
    places = [follower.follow(start + [0.0, 0.0, 0.01 * k]) for k in range(11)]
    assert max(place.position_error for place in places) < 1e-9
    y = np.array([place.y for place in places])
    assert np.abs(y - q).max() < 0.5 and np.abs(np.diff(y, axis=0)).max() < 0.05
    assert sd.forward_kinematics(model, q=y[-1])[-1][:3, 3] == pytest.approx(
        start + [0.0, 0.0, 0.1], abs=1e-3
    )


def test_an_invalid_target_is_refused(follower):
    """An invalid target is refused by name."""
    with pytest.raises(ArgumentError, match='point'):
        follower.follow([0.0, np.nan, 0.5])


def test_a_reference_that_reaches_a_place_goes_on_from_where_it_is():
    """A new target is approached with continuous value, rate and acceleration, then rest."""
    state = np.array([[0.1, -0.2], [0.5, 0.0], [-1.0, 2.0]])
    reference = reaching(state, np.array([0.9, -0.4]), 0.2)
    out, before = np.empty((3, 2)), np.empty((3, 2))
    sample(reference, 0.0, out)
    np.testing.assert_allclose(out, state, atol=1e-12)
    sample(reference, 0.05, before)
    turn(reference, 0.05, before, np.array([0.3, 0.4]), 0.15)
    sample(reference, 0.05, out)
    np.testing.assert_allclose(out, before, atol=1e-12)
    for t in (0.2, 1.0):
        sample(reference, t, out)
        np.testing.assert_allclose(out, [[0.3, 0.4], [0.0, 0.0], [0.0, 0.0]], atol=1e-9)


def pose_of(model, q):
    """Return (point (3,), rotation (3, 3)) of the last tip."""
    T = sd.forward_kinematics(model, q=q)[-1]
    return T[:3, 3], T[:3, :3]


def test_the_pose_of_a_posture_brings_an_arm_of_joints_to_it():
    """An arm of six joints finds the posture from which a pose was taken."""
    model = compiled('ur10e')
    q = np.array([0.0, -1.0, 1.5, -0.5, 1.5, 0.0])
    follower, goal = (
        TipFollower(model, model.body_names[-1], q),
        q + [0.2, -0.1, 0.3, 0.2, -0.3, 0.6],
    )
    place = follower.follow(*pose_of(model, goal))
    np.testing.assert_allclose(place.y, goal, atol=2e-4)
    assert place.position_error < 1e-9 and place.rotation_error < 1e-9


def test_a_soft_tip_takes_poses_points_and_poses_again(follower):
    """A soft tip takes poses and points in turn, to the offsets that its search allows."""
    model = compiled('pcc_arm')
    share = np.array([0.5, 0.1, 0.2, 0.4, 0.2, 0.1, 0.1, 0.3, 0.2])
    for u in (20.0 * share, 20.0 * share[::-1]):
        goal = sd.equilibrium(model, u=u).q
        point, rotation = pose_of(model, goal)
        place = follower.follow(point, rotation)
        assert place.position_error < 1e-3 and place.rotation_error < 0.01
        assert follower.distance_from(goal) == pytest.approx(
            np.hypot(place.position_error, LEVER * place.rotation_error), abs=1e-12
        )
        place = follower.follow(CENTER)
        assert place.position_error < 1e-9 and place.rotation is None


def test_a_pose_out_of_reach_is_approached_and_left(follower):
    """The tip approaches an unreachable pose in place and orientation, and comes back."""
    model = compiled('pcc_arm')
    point, rotation = pose_of(model, sd.equilibrium(model, u=np.full(model.m, 4.0)).q)
    first = follower.follow(point, rotation)
    assert first.position_error < 1e-9 and first.rotation_error < 1e-9
    place = follower.follow(point, np.diag([1.0, -1.0, -1.0]) @ rotation)
    assert 0.1 < place.rotation_error < np.pi - 0.1
    assert np.hypot(place.position_error, LEVER * place.rotation_error) < LEVER * np.pi
    back = follower.follow(point, rotation)
    assert back.position_error < 1e-4 and back.rotation_error < 1e-3
    np.testing.assert_allclose(back.y, first.y, atol=1e-5)
