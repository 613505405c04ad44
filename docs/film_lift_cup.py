# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Make docs/images/lift_cup.gif, the scene without ROS: `python docs/film_lift_cup.py`."""

from pathlib import Path

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.demo.scenes import goal_of, scene_of
from softrobot_dynamics.viewing.animation import animate, Film

scene = scene_of('lift_cup')
arm = sd.compile_model(sd.load_robot('hybrid_arm'))
around = sd.compile_model(sd.surround(arm.description, scene.surroundings))
law = sd.load_controller(scene.controller, arm)
duration = goal_of(scene.goal).duration
run = sd.closed_loop(
    arm, law.law, law.plan(), duration, start=sd.Start(ramp=law.ramp), plant=around
)  # fmt: skip
late = run.t >= 4.0  # the gripper is above the cup
middle = np.array([-0.6, -0.25, -0.12])
film = Film(around, run.t[late], run.q[late], window=np.array([middle - 0.14, middle + 0.14]))
animate(film, Path(__file__).parent / 'images' / 'lift_cup.gif', title='hybrid_arm')
