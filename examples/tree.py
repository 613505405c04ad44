# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Compute forces, velocities and power of a tree of rigid links, and check them against each other.

    python examples/tree.py

The joints have 2, 3, 1 and 1 coordinates. Forward dynamics inverts inverse dynamics, Jacobians map
coordinates' rates to links' velocities and back, and the drives' power changes the energy.
"""

import numpy as np
import softrobot_dynamics as sd

model = sd.compile_model(sd.load_robot('tree'))
rng = np.random.default_rng(0)
q, qd, qdd = rng.uniform(-1.0, 1.0, (3, model.n)) * [[1.0], [3.0], [20.0]]

forces = sd.inverse_dynamics(model, q=q, qd=qd, qdd=qdd)
u = np.linalg.solve(sd.actuation(model, q=q, qd=qd).matrix, forces)
found = sd.forward_dynamics(model, q=q, qd=qd, u=u)
print(f'forward of inverse dynamics: off by {np.abs(found - qdd).max():.1e} rad/s^2')

twists = {name: sd.jacobian(model, q=q, body=name) @ qd for name in model.body_names}
rates = sd.generalized_velocities(model, q=q, twists=twists).qd
print(f'rates from the velocities of links: off by {np.abs(rates - qd).max():.1e} rad/s')


def energy(t):
    """Return kinetic and potential energy [J] at time t [s] of the motion."""
    now, rate = q + qd * t + 0.5 * qdd * t**2, qd + qdd * t
    return sd.kinetic_energy(model, q=now, qd=rate) + sd.potential_energy(model, q=now)


change = (energy(1e-5) - energy(-1e-5)) / 2e-5
print(f'power of all forces {forces @ qd:.4f} W, change of the energy {change:.4f} W')
