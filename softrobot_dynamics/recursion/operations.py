# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The operations of [P] on a robot: IID, ID, MIID and MID."""

from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.recursion.mass_matrix import mass_matrix
from softrobot_dynamics.recursion.passes import backward, forward


@kernel
def inverse_dynamics(robot, mode, with_mass, Q, M, q, qd, qdd):
    """IID or ID by ``mode``: forces Q (n,); with the mass matrix M (n, n): MIID or MID."""
    forward(robot, q, qd, qdd, mode)
    backward(robot, q, qd, qdd, mode, Q)
    if with_mass:
        mass_matrix(robot, M)
