# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Shapes whose fields are right each, but that stand for something else than is meant."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import DescriptionError

pytestmark = pytest.mark.quick

SOFT = {'type': 'pcc', 'length': 0.2, 'radius': 0.02, 'density': 1e3, 'young_modulus': 1e6}
RIGID = {'type': 'rigid', 'mass': 1.0}
CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
SIDES = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]


def robot(collision, body):
    """Return the description of a body on a slide, with a shape."""
    module = {'name': 'b', 'joint': {'type': 'prismatic', 'axis': [0, 0, 1]}, 'body': body}
    return sd.load_robot({'name': 'r', 'bodies': [{**module, 'collision': collision}]})


def refused(collision, body):
    """Return path, value and words of the one problem of a body's shape."""
    with pytest.raises(DescriptionError) as raised:
        robot(collision, body)
    (problem,) = raised.value.problems
    return problem


@pytest.mark.parametrize(
    ('shape', 'field', 'words'),
    [
        ({'type': 'skin', 'radius': 0.021}, 'radius', 'at most 0.02 m'),
        ({'type': 'rod', 'tolerance': 1e-9}, 'tolerance', 'at least 7.85e-08 m: 8863 capsules'),
        ({'type': 'rod', 'radius': 1e-9}, 'tolerance', 'at least 7.85e-08 m'),
        ({'type': 'rod', 'damping': 1.0, 'restitution': 0.5}, 'restitution', 'none beside'),
    ],
)
def test_numbers_that_no_body_can_mean_are_refused(shape, field, words):
    """Skins thicker than a body, too many capsules, and damping beside restitution are refused."""
    problem = refused(shape, SOFT)
    assert problem.path == f'bodies[0].collision.{field}'
    assert problem.value == shape.get(field)
    assert words in problem.expected


def written(path, sides):
    """Write a cube of 1 m of which these sides are there, each by two triangles."""
    meshio = pytest.importorskip('meshio')
    corners = np.array([SIDES[i] for i in sides], dtype=np.int32)
    triangles = np.concatenate([corners[:, [0, 1, 2]], corners[:, [0, 2, 3]]])
    meshio.Mesh(CUBE, [('triangle', triangles)]).write(path)
    return {'type': 'mesh', 'file': str(path)}


@pytest.mark.parametrize('sides', [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4] * 2])
def test_an_open_mesh_is_refused_by_how_much_it_covers(tmp_path, sides):
    """A cup, also one with triangles for both of its sides, would be solid by its convex hull."""
    problem = refused(written(tmp_path / 'cup.ply', sides), RIGID)
    assert problem.path == 'bodies[0].collision.file'
    assert problem.value.endswith('cup.ply')
    assert 'closed mesh: its triangles cover 83.3%' in problem.expected
    whole = robot(written(tmp_path / 'cube.ply', range(6)), RIGID).modules[0].shapes[0]
    assert whole.hull.solid().volume == pytest.approx(1.0)
