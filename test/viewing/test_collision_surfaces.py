# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Surfaces of collision shapes, as pictures and views draw them."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.viewing.collision_surfaces import of_environment
from softrobot_dynamics.viewing.shapes import RobotShape
from support.robots import compiled

TURN = [0.3, -0.5, 1.1]
CUBE = [[x, y, z] for x in (0.0, 0.1) for y in (0.0, 0.2) for z in (0.0, 0.3)]
SHAPES = {
    'box': ({'type': 'box', 'edges': [0.1, 0.2, 0.3]}, 0.006),
    'cylinder': (
        {'type': 'cylinder', 'radius': 0.05, 'start': [0.1, 0.0, 0.2], 'end': [0.1, 0.2, 0.2]},
        np.pi * 0.05**2 * 0.2,
    ),
    'mesh': ({'type': 'mesh', 'vertices': CUBE}, 0.006),
}


@pytest.mark.parametrize(('shape', 'volume'), SHAPES.values(), ids=SHAPES)
def test_a_drawn_solid_is_closed_and_has_its_volume(shape, volume):
    """The surface of a solid that is turned somewhere bounds its volume, normals outwards."""
    pose = {'xyz': [0.4, -0.1, 0.2], 'rpy': TURN}
    place = {} if shape['type'] == 'cylinder' else {'pose': pose}
    given = {'environment': [{'name': 'solid', **shape, **place}]}
    description = sd.surround(compiled('double_pendulum').description, given)
    (surface,) = of_environment(description, np.zeros((1, 3)))
    a, b, c = (surface.points[surface.triangles[:, k]] for k in range(3))
    middle = surface.points.mean(axis=0)
    found = np.einsum('ij,ij->', a - middle, np.cross(b - middle, c - middle)) / 6.0
    assert found == pytest.approx(volume, rel=0.05 if shape['type'] == 'cylinder' else 1e-9)
    assert np.cross(b - a, c - a).sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)


def test_a_plane_is_a_square_about_what_is_seen():
    """In a film of a part of the scene a floor reaches a little beyond it, not to the robot."""
    given = {'environment': [{'name': 'floor', 'type': 'plane', 'point': [0.0, 0.0, -0.3]}]}
    description = sd.surround(compiled('double_pendulum').description, given)
    window = np.array([[4.0, 5.0, 6.0], [4.2, 5.2, 6.2]])
    (floor,) = RobotShape(sd.compile_model(description), window).environment
    base = description.base.matrix()
    seen = (window - base[:3, 3]) @ base[:3, :3]
    points = (floor.points - base[:3, 3]) @ base[:3, :3]
    assert points[:, 2] == pytest.approx(-0.3)
    low, high = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
    assert (low <= seen[:, :2].min(axis=0)).all() and (high >= seen[:, :2].max(axis=0)).all()
    assert high - low == pytest.approx([1.3 * np.ptp(seen[:, :2], axis=0).max()] * 2)
