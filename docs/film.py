# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Make docs/images/arm.gif, the demo's loop without ROS: `python docs/film.py`."""

from pathlib import Path

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.references.circle import Circle
from softrobot_dynamics.viewing.animation import animate, Film

arm = sd.compile_model(sd.load_robot('pcc_arm'))
circle = Circle('tip', (0.0, 0.0, 0.57), (0.0, 0.0, 1.0), 0.1, 5.0)
reference = circle.plan(arm, range(arm.m), arm.q0).reference
run = sd.closed_loop(arm, 'pfbl', reference, 7.5, start=sd.Start(ramp=2.0))
late = run.t >= 2.5
path = circle.points(np.linspace(0.0, 2.0 * np.pi, 90))
film = Film(arm, run.t[late], run.q[late], (path,))
animate(film, Path(__file__).parent / 'images' / 'arm.gif', title='pcc_arm')
