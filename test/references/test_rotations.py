# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Rotations as vectors, against scipy."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from softrobot_dynamics.references.rotations import between, turned
from softrobot_dynamics.schema.quaternions import rotation_of


@pytest.mark.quick
@pytest.mark.parametrize('angle', [0.0, 1e-9, 1e-3, 2.0, np.pi - 1e-7, np.pi])
def test_turns_between_rotations_lead_from_one_to_the_other(angle):
    """The turn between two rotations leads from one to the other, tiny and half turns too."""
    starts = Rotation.random(20, random_state=1)
    axes = [*np.eye(3), *np.random.default_rng(2).normal(size=(17, 3))]
    for start, axis in zip(starts, axes):
        turn = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis))
        end = turn * start
        np.testing.assert_allclose(rotation_of(end.as_quat()), end.as_matrix(), atol=1e-14)
        found = between(start.as_matrix(), end.as_matrix())
        assert np.linalg.norm(found) == pytest.approx(angle, abs=1e-12)
        again = turned(start.as_matrix(), found)
        np.testing.assert_allclose(again, end.as_matrix(), atol=1e-12)
