# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The fate of objects in a run: displacement, holders, slip."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.evaluation.objects import object_outcome, object_outcomes

RIGID = {'type': 'rigid', 'mass': 1.0, 'tip': {'xyz': [0.0, 0.0, 0.0]}}
CUP = {
    'name': 'cup',
    'gravity': [0.0, 0.0, -9.81],
    'bodies': [
        {
            'name': 'cup',
            'joint': {'name': 'lift', 'type': 'prismatic', 'axis': [0.0, 0.0, 1.0]},
            'body': RIGID,
            'collision': {'type': 'sphere', 'radius': 0.1},
        }
    ],
    'environment': [{'name': 'floor', 'type': 'plane', 'point': [0.0, 0.0, 0.1]}],
    'objects': [
        {
            'name': 'ball',
            'mass': 0.1,
            'shape': {'type': 'sphere', 'radius': 0.05},
            'pose': {'xyz': [0.3, 0.0, 0.1501]},
        }
    ],
}


def test_rise_shift_holders_and_slip_of_an_object_are_those_of_its_postures():
    """A ball that leaves the floor for a cup has its rise, shift, holder and slip of 1 mm."""
    model = sd.compile_model(sd.load_robot(CUP))
    rows = np.zeros((3, model.n))
    for row, (lift, x, z) in zip(
        rows, [(-0.2, 0.3, 0.1499), (0.2, 0.0, 0.3499), (0.25, 0.001, 0.3999)]
    ):
        row[[0, 1, 3]] = lift, x, z
    found = object_outcome(model, 1, rows, np.zeros(3))
    assert found.holders == ('cup',) and found.lies_on == ()
    assert found.rise == pytest.approx(0.25) and found.shift == pytest.approx(0.299)
    assert found.slip == pytest.approx(1e-3, abs=1e-5)
    assert list(object_outcomes(model, rows[:1], np.zeros(1))) == [
        'ball: moved 0.0 mm across and +0.0 mm up; not held, on floor'
    ]


def test_an_object_lies_on_what_is_below_it_at_the_time():
    """A ball at rest in the air is on a floor that has risen, and not before."""
    motion = {'velocity': [0.0, 0.0, 0.1]}
    floor = {**CUP['environment'][0], 'point': [0.0, 0.0, 0.0], 'motion': motion}
    model = sd.compile_model(sd.load_robot({**CUP, 'environment': [floor]}))
    rows = np.tile(model.q0, (2, 1))
    rows[:, 0] = 1.0  # the cup is elsewhere
    for last, on in ((0.9, ()), (1.002, ('floor',))):
        assert object_outcome(model, 1, rows, np.array([0.0, last])).lies_on == on
