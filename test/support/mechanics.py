# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Forces and energies of a robot that tests check."""

import numpy as np
import softrobot_dynamics as sd


def unbalanced(model, q, u):
    """Return the static residual ID(q, 0, 0) - A u (n,)."""
    zero = np.zeros(model.n)
    A = sd.actuation(model, q=q, qd=zero).matrix
    return sd.inverse_dynamics(model, q=q, qd=zero, qdd=zero) - A @ u


def energy(model, q, qd):
    """Return the sum of all energies [J] of a robot."""
    return (
        sd.kinetic_energy(model, q=q, qd=qd)
        + sd.potential_energy(model, q=q)
        + sd.elastic_energy(model, q=q)
    )
