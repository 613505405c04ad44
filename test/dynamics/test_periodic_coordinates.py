# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Coordinates that whole turns do not change, and how they are unwrapped."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
import softrobot_dynamics as sd
from softrobot_dynamics.dynamics.periodic_coordinates import (
    distance,
    FULL_TURN,
    nearest_vector,
    periodic_coordinates,
    unwrapped,
    whole_turns,
)

pytestmark = pytest.mark.quick

RIGID = {'type': 'rigid', 'mass': 1.0, 'inertia': {'ixx': 0.1, 'iyy': 0.1, 'izz': 0.1}}


def robot(*joints, **more):
    """Return the description of a chain of rigid bodies on these joints, named a, b, ..."""
    bodies = [
        {'name': name, 'joint': {'name': f'{name}j', **joint}, 'body': RIGID}
        for name, joint in zip('abcdefgh', joints)
    ]
    return sd.load_robot({'name': 'chain', 'bodies': bodies, **more})


def test_angles_that_may_go_round_are_found_by_their_limits():
    """Angles that go round are of joints with limits wider than a turn; no lengths, no screws."""
    found = periodic_coordinates(
        robot(
            {'type': 'revolute'},
            {'type': 'revolute', 'limits': {'position': [-3.14159265359, 3.14159265359]}},
            {'type': 'revolute', 'limits': {'position': [-6.28, 6.28]}},
            {'type': 'prismatic'},
            {'type': 'cylindrical'},
            {'type': 'planar', 'limits': {'position': {'angle': [-1.0, 1.0]}}},
            {'type': 'universal'},
            {'type': 'helical', 'pitch': 0.01},
        )
    )
    rounds = [1, 0, 1, 0, 1, 0, 0, 0, 0, 1, 1, 0]
    assert found.period == pytest.approx(FULL_TURN * np.array(rounds)) and not found.vectors


def test_only_free_rotation_vectors_are_replaced():
    """A free rotation vector is replaced beyond 1.5 pi, a driven or sprung one never."""
    driven = [
        {'name': f'm{c}', 'type': 'joint', 'joint': 'cj', 'coordinate': f'r{c}'} for c in 'xyz'
    ]
    found = periodic_coordinates(
        robot(
            {'type': 'free'},
            {'type': 'spherical', 'stiffness': 1.0},
            {'type': 'spherical'},
            {'type': 'spherical', 'parameters': 'roll_pitch_yaw'},
            actuators=driven,
        )
    )
    starts = [(part.start, part.stop, longest) for part, longest in found.vectors]
    assert starts == [(3, 6, 1.5 * np.pi), (6, 9, np.inf), (9, 12, np.inf)]
    assert found.period == pytest.approx([0.0] * 12 + [FULL_TURN] * 3)


@pytest.mark.parametrize('turns', [-2, -1, 1, 2])
def test_another_rotation_vector_is_the_same_rotation_at_the_same_angular_velocity(turns):
    """Found from any of them, by the one it shall be near to; against scipy and differences."""
    r, rate, h = np.array([0.7, -1.1, 1.9]), np.array([2.0, 0.3, -0.8]), 1e-6
    axis = r / np.linalg.norm(r)
    to = r + FULL_TURN * turns * axis + 0.2
    found, then = nearest_vector(r, rate, to)
    assert np.linalg.norm(found - to) < np.pi
    R = Rotation.from_rotvec(r)
    assert (R.inv() * Rotation.from_rotvec(found)).magnitude() < 1e-12

    def velocity(vector, derivative):
        ends = [Rotation.from_rotvec(vector + side * h * derivative) for side in (-0.5, 0.5)]
        return (ends[1] * ends[0].inv()).as_rotvec() / h

    np.testing.assert_allclose(velocity(found, then), velocity(r, rate), atol=1e-8)


def test_the_zero_rotation_vector_is_kept():
    """A zero rotation vector is kept, as it has no direction for a whole turn."""
    r, rate = nearest_vector(np.zeros(3), np.ones(3), np.array([6.0, 0.0, 0.0]))
    assert (r.tolist(), rate.tolist()) == ([0.0] * 3, [1.0] * 3)


def test_whole_turns_are_those_of_angles():
    """Whole turns are counted for angles only, however large other coordinates are."""
    found = whole_turns(
        np.array([7.0, -3.0, -10.0, 7.0]), np.array([FULL_TURN, FULL_TURN, FULL_TURN, 0.0])
    )
    assert found == pytest.approx([FULL_TURN, 0.0, -2.0 * FULL_TURN, 0.0])


def test_the_distance_of_two_poses_ignores_whole_turns():
    """The distance of two poses ignores whole turns of angles and of rotation vectors."""
    turns = periodic_coordinates(robot({'type': 'spherical'}, {'type': 'revolute'}))
    r = np.array([1.0, 2.0, 0.5])
    short = r * (1.0 - FULL_TURN / np.linalg.norm(r))
    gap = distance(turns, np.r_[r, 3.1], np.r_[short, -3.1])
    assert gap == pytest.approx([0.0, 0.0, 0.0, 6.2 - FULL_TURN], abs=1e-12)


def test_values_in_time_go_on_over_gaps():
    """Columns without a period, and NaN, stay; the given array is not changed."""
    angle = np.linspace(0.0, 20.0, 41)
    values = np.c_[(angle + np.pi) % FULL_TURN - np.pi, (angle + np.pi) % FULL_TURN]
    values[5:7, 0] = np.nan
    found = unwrapped(values, [FULL_TURN, 0.0])
    known = np.isfinite(values[:, 0])
    np.testing.assert_allclose(found[known, 0], angle[known], atol=1e-12)
    assert np.isnan(found[~known, 0]).all() and np.array_equal(found[:, 1], values[:, 1])
    assert np.nanmax(values[:, 0]) < 3.2
