# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Compare the mass matrix of a planar soft body with its closed formula, over the bend q.

    python examples/toy.py
"""

import numpy as np
import softrobot_dynamics as sd


def mass(q):
    """Return the inertia [kg m^2] along the bend q [rad], integrated by hand."""
    top = q**5 + 4 * q**3 + 24 * q * (np.cos(q) + 1) - 48 * np.sin(q)
    return np.pi * top / (12 * q**5)


model = sd.compile_model(sd.load_robot('toy'))
for q in np.arange(0.5, 3.1, 0.5):
    bend = np.array([q])
    _, M = sd.mass_inverse_dynamics(model, q=bend, qd=0.0 * bend, qdd=0.0 * bend)
    print(f'q = {q:.1f} rad  M = {M[0, 0]:.12f} kg m^2  by hand {mass(q):.12f} kg m^2')
