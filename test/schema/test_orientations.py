# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Orientations in messages become rotations, or a MessageError says what is wrong with them."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.loops.message_fields import cause_of
from softrobot_dynamics.schema.quaternions import read_orientation

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
