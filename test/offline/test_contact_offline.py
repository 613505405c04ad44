# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Closed loops without ROS, of robots that touch something their law does not know."""

import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.description.plant_changes import plant_of
from softrobot_dynamics.references.piecewise import constant
from support.touching import write_press


@pytest.mark.parametrize('size', [1.0, 0.5])
def test_the_plant_of_a_closed_loop_may_touch_varied_surroundings(size, tmp_path):
    """A law of the robot alone moves a plant with a ball, which lies as high as its radius."""
    robot, around = write_press(tmp_path)
    model = sd.compile_model(sd.load_robot(robot))
    texts = [f'surroundings={around}', f'ball.shape.radius=×{size}', 'ball.xyz.2=+=0.01']
    plant = sd.compile_model(plant_of(model.description, texts))
    run = sd.closed_loop(model, 'pfbl', constant([0.0]), 0.5, plant=plant)
    height = run.q[-1, plant.coordinate_names.index('ball/z')]
    assert height == pytest.approx(-0.05 + 0.04 * size, abs=1e-3)
