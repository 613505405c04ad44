# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The toy example of [P], by the closed formulas and by the recursion: M over the bend.

    python examples/toy.py

The commented text of the whole comparison is softrobot_dynamics/reproduce/systems/toy.py, which
`softrobot reproduce toy` runs.
"""

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.reproduce.systems.toy import formulas

model = sd.compile_model(sd.load_robot('toy'))
for q in np.arange(0.5, 3.1, 0.5):
    bend = np.array([-q])  # the package bends towards +x, [P] towards -x
    force, M = sd.mass_inverse_dynamics(model, q=bend, qd=0.0 * bend, qdd=0.0 * bend)
    print(f'q = {q:.1f}   M {M[0, 0]:.15f}   by hand {formulas(q, 0.0, 0.0).M:.15f}')
