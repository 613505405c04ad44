# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A compiled model has its description's values in the order of coordinates."""

import copy
import pickle

import numpy as np
import pytest
import softrobot_dynamics as sd
from support.robots import compiled, link

pytestmark = pytest.mark.quick


def test_named_values_are_at_their_coordinates():
    """Initial values and joint limits are at their coordinates, whatever their order."""
    bodies = [
        {
            'name': f'link{i}',
            'joint': {'type': 'revolute', 'name': name, 'limits': {'position': limits}},
            'body': link(),
        }
        for i, (name, limits) in enumerate([('wrist', [-1.0, 2.0]), ('elbow', [-3.0, 0.5])])
    ]
    initial = {'elbow': -0.2, 'wrist': 0.3}
    model = sd.compile_model(sd.load_robot({'name': 'r', 'bodies': bodies, 'initial': initial}))
    assert model.coordinate_names == ('wrist', 'elbow')
    np.testing.assert_array_equal(model.q0, [0.3, -0.2])
    np.testing.assert_array_equal(model.q_lower, [-1.0, -3.0])
    np.testing.assert_array_equal(model.q_upper, [2.0, 0.5])


@pytest.mark.parametrize('copied', [
    copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model)),
], ids=['copy', 'deepcopy', 'pickle'])  # fmt: skip
def test_a_model_that_was_copied_or_pickled_is_another_of_the_same_robot(copied):
    """A copied or pickled model is compiled anew from its description, by the cache."""
    model = compiled('double_pendulum')
    other = copied(model)
    assert other is not model and other.description == model.description
    state = {'q': [0.3, -0.2], 'qd': [1.0, 2.0], 'qdd': [0.5, 0.1]}
    np.testing.assert_array_equal(
        sd.inverse_dynamics(other, **state), sd.inverse_dynamics(model, **state)
    )
