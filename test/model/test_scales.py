# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Characteristic sizes of robots, by which tolerances become relative."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from support.robots import compiled, link
from support.scaled import model_of, rigid_arm, rod, Scale, SIZES


@pytest.mark.parametrize('scale', SIZES[1:], ids=str)
def test_sizes_scale_with_the_robot(scale):
    """Lengths, energies, rates and forces of a rod and an arm are those of the 1 m robot."""
    for robot in (rod(), rigid_arm()):
        one, other = (model_of(robot, s).scales for s in (Scale(), scale))
        energy = scale.moment
        assert other.length == pytest.approx(one.length * scale.length)
        assert other.reach == pytest.approx(one.reach * scale.length)
        assert other.carried == pytest.approx(one.carried * scale.mass)
        assert other.weight == pytest.approx(one.weight * energy)
        assert other.stiff == pytest.approx(one.stiff * energy)
        assert other.rate == pytest.approx(one.rate / scale.time)


def test_units_of_coordinates_are_a_radian_or_a_length():
    """A turn counts by its angle, a slide by the robot's length, a curvature by the body's."""
    arm = compiled('pcc_arm').scales
    assert arm.length == pytest.approx(0.6)
    assert arm.units == pytest.approx([1.0, 1.0, 0.2] * 3)
    assert arm.reach == pytest.approx(np.repeat([0.6, 0.4, 0.2], 3))
    fibre = model_of(rod(), Scale(length=1e-2)).scales
    assert fibre.units[[0, 5]] == pytest.approx(100.0)  # [1/m]: the mean curvatures
    assert (fibre.units > 10.0).all() and (fibre.units < 1e5).all()


def test_a_coordinate_moves_the_bodies_beyond_it():
    """A coordinate moves the mass and length of the bodies beyond it, not other branches."""
    turn = {'type': 'revolute'}
    far = {'xyz': [0.0, 0.0, 10.0], 'rpy': [0.0, 0.0, 0.0]}
    bodies = [
        {'name': 'stem', 'joint': {**turn, 'name': 'a'}, 'body': link(2.0, (0.0, 0.0, 1.0))},
        {'name': 'long', 'parent': 'stem', 'joint': {**turn, 'name': 'b', 'origin': far},
         'body': link(50.0, (0.0, 0.0, 5.0))},
        {'name': 'short', 'parent': 'stem', 'joint': {**turn, 'name': 'c'},
         'body': link(0.1, (0.0, 0.0, 0.3))},
    ]  # fmt: skip
    scales = sd.compile_model(sd.load_robot({'name': 'tree', 'bodies': bodies})).scales
    assert scales.carried == pytest.approx([52.1, 50.0, 0.1])
    assert scales.reach[0] == pytest.approx(1.0 + np.linalg.norm([0, 0, 15.0]), rel=0.05)
    assert scales.reach[2] < 0.5
    assert scales.moves.tolist() == [[1, 0, 0], [1, 1, 0], [1, 0, 1]]


def test_effort_scales_are_near_the_limits():
    """Effort scales of shipped robots are within a factor of 5 of half the range of limits."""
    for name in ('pcc_arm', 'pneumatic_arm', 'soft_hand'):
        model = compiled(name)
        half = 0.5 * (model.effort_upper - model.effort_lower)
        assert (0.2 < model.scales.efforts / half).all()
        assert (model.scales.efforts / half < 5.0).all()
