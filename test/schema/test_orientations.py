# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Quaternions of rotations, and rotations of the orientations in messages."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.loops.message_fields import cause_of
from softrobot_dynamics.schema.quaternions import quaternions_of, read_orientation

pytestmark = pytest.mark.quick


def quaternion(values):
    """Return a message of x, y, z and w."""
    return SimpleNamespace(**dict(zip('xyzw', map(float, values), strict=True)))


@pytest.mark.parametrize('length', [1.0, 1.009, 0.991])
def test_an_orientation_is_read_as_the_rotation_of_its_quaternion(length):
    """A quaternion of nearly unit length is normalised, so that rotations are orthonormal."""
    for rotation in Rotation.random(20, random_state=4):
        message = quaternion(length * rotation.as_quat())
        found = read_orientation(message, tolerance=0.01)
        np.testing.assert_allclose(found, rotation.as_matrix(), atol=1e-14)


def test_quaternions_of_rotations_are_those_of_scipy():
    """Random, nearly half and zero turns have scipy's quaternions, with w >= 0; one or many."""
    turns = np.vstack([Rotation.random(50, random_state=5).as_rotvec(), np.zeros(3)])
    turns = np.vstack([turns, (np.pi - 1e-9) * np.eye(3), (1e-9 - np.pi) * np.eye(3)])
    rotations = Rotation.from_rotvec(turns)
    found = quaternions_of(rotations.as_matrix())
    wanted = rotations.as_quat()
    wanted *= np.where(wanted[:, 3:] < 0.0, -1.0, 1.0)
    np.testing.assert_allclose(found, wanted, atol=1e-14)
    assert np.array_equal(quaternions_of(rotations.as_matrix()[3]), found[3])


@pytest.mark.parametrize('values', [
    (0, 0, 0, 0), (0.1, 0, 0, 1), (0, 0, 0, 1.0011), (0, 0, 0, 0.5), (0, np.nan, 0, 1),
    (np.inf, 0, 0, 1), (0, 0, 0, -np.inf),
])  # fmt: skip
def test_an_orientation_that_is_no_unit_quaternion_is_refused_with_its_numbers(values):
    """A quaternion that is not of unit length or not finite is refused with its numbers."""
    with pytest.raises(
        MessageError, match='a quaternion of length .*, expected 1; x, y'
    ) as caught:
        read_orientation(quaternion(values))
    assert cause_of(caught.value) == 'not a number'
