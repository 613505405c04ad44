# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Closures in a robot file: what is read, and what is refused."""

from dataclasses import replace

import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import DescriptionError
from support.closures import four_bar

FRAMES = [{'body': 'rocker'}, {'body': 'base', 'pose': {'xyz': [1.0, 0.0, 0.0]}}]


def with_closure(**closure):
    """Return a four-bar with another closure."""
    return {**four_bar(), 'closures': [{'name': 'loop', 'frames': FRAMES, **closure}]}


@pytest.mark.parametrize('given, closed', [
    ({'type': 'weld'}, ('rx', 'ry', 'rz', 'x', 'y', 'z')),
    ({'type': 'pin'}, ('rx', 'ry', 'x', 'y', 'z')),
    ({'type': 'ball'}, ('x', 'y', 'z')),
    ({'type': 'slider', 'axis': [0, 2, 0]}, ('rx', 'ry', 'rz', 'x', 'y')),
    ({'directions': ['z', 'rx']}, ('rx', 'z')),
])  # fmt: skip
def test_types_close_their_directions(given, closed):
    """Each type closes the directions that it stands for; rotations are first."""
    robot = sd.load_robot(with_closure(**given))
    assert robot.closures[0].closed == closed
    assert robot.digest != replace(robot, closures=()).digest


@pytest.mark.parametrize('given, words', [
    ({}, 'either a type'),
    ({'type': 'pin', 'directions': ['x']}, 'either a type'),
    ({'type': 'hinge'}, 'one of weld, pin, ball, slider'),
    ({'type': 'ball', 'axis': [0, 0, 1]}, 'no axis: only a pin or a slider'),
    ({'directions': ['x', 'x']}, 'each direction once'),
    ({'directions': ['u']}, 'one of rx, ry, rz, x, y, z'),
    ({'type': 'weld', 'frames': FRAMES[:1]}, 'a list of two frames'),
    ({'type': 'weld', 'frames': [{'body': 'roker'}, FRAMES[1]]}, 'did you mean rocker'),
    ({'type': 'weld', 'frames': [FRAMES[0], {'body': 'base', 'point': [1, 0, 0]}]}, 'by its pose'),
    ({'type': 'weld', 'frames': [FRAMES[0], FRAMES[0]]}, 'another body or point'),
    ({'type': 'weld', 'frames': [FRAMES[1], FRAMES[1]]}, 'another body or point'),
    ({'type': 'weld', 'frame': FRAMES}, 'one of the fields'),
])  # fmt: skip
def test_wrong_closures_are_refused_by_their_place(given, words):
    """A wrong closure is a problem that names its entry and what would be right."""
    with pytest.raises(DescriptionError, match=r'closures\[0\]') as caught:
        sd.load_robot(with_closure(**given))
    assert words in str(caught.value)


def test_closures_have_names_of_their_own():
    """Two closures of one name, and closures that are no list, are refused."""
    twice = with_closure(type='weld')
    twice['closures'] *= 2
    with pytest.raises(DescriptionError, match='a name that no other closure has'):
        sd.load_robot(twice)
    with pytest.raises(DescriptionError, match='a list of closures'):
        sd.load_robot({**four_bar(), 'closures': {'loop': 1}})


def test_variations_and_surroundings_keep_closures():
    """A robot that is varied, or gets surroundings, has the closures that it had."""
    robot = sd.load_robot(four_bar())
    assert sd.vary(robot, {'mass': 1.1}).closures == robot.closures
    table = {'environment': [{'name': 'table', 'type': 'plane'}]}
    assert sd.surround(robot, table).closures == robot.closures
