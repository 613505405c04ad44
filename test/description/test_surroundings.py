# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Objects of several shapes."""

import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import DescriptionError

SLIDE = {
    'name': 'slide',
    'bodies': [
        {'name': 'slide', 'joint': {'type': 'prismatic', 'axis': [1, 0, 0]},
         'body': {'type': 'rigid', 'mass': 1.0}}
    ],
}  # fmt: skip
PLANE = {'type': 'plane'}
PLATES = [
    {'type': 'box', 'edges': [0.1, 0.1, 0.01], 'pose': {'xyz': [0.0, 0.0, z]}} for z in (-0.1, 0.1)
]
INERTIA = {'ixx': 1e-3, 'iyy': 1e-3, 'izz': 1e-3}


def around(**more):
    """Return surroundings with an object of two plates."""
    return {'objects': [{'name': 'plates', 'mass': 0.2, 'shape': PLATES, **more}]}


def test_an_object_of_several_shapes_has_them_all_and_the_inertia_that_is_given():
    """Two plates are shapes of one object, whose inertia is not that of a solid."""
    found = sd.surround(sd.load_robot(SLIDE), around(inertia=INERTIA)).modules[-1]
    assert [shape.pose.xyz[2] for shape in found.shapes] == [-0.1, 0.1]
    assert found.body.inertia.matrix()[0, 0] == pytest.approx(1e-3)


@pytest.mark.parametrize(
    ('given', 'path'),
    [
        (around(), 'objects[0].inertia'),
        (around(shape=[], inertia=INERTIA), 'objects[0].shape'),
        (around(shape=[PLATES[0], PLANE], inertia=INERTIA), 'objects[0].shape[1].type'),
        (around(shape=PLANE), 'objects[0].shape.type'),
    ],
    ids=['no inertia', 'no shape', 'a wrong one of several', 'a wrong one'],
)  # fmt: skip
def test_wrong_shapes_of_an_object_are_named_by_their_place(given, path):
    """An object of several shapes needs an inertia, and each shape must be one of objects."""
    with pytest.raises(DescriptionError) as raised:
        sd.surround(sd.load_robot(SLIDE), given)
    assert path in [problem.path for problem in raised.value.problems]
