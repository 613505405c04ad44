# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Euler and Lagrange: the equations of motion by differentiation of the energies alone.

Derivatives by q are complex steps, those in time jets: exact to rounding.
"""

import numpy as np

from oracles.jets import Jet, jet, JETS
from oracles.trees import place

STEP = 1e-40  # of the complex steps


def kinetic_energy(robot, q, qd):
    """1/2 sum of m |p'|^2 [J] (complex for complex q)."""
    moving = [Jet(a, b) for a, b in zip(q, qd)]
    return sum(
        0.5 * np.sum(body.masses * jet(c).first ** 2)
        for body in place(robot, moving, JETS)
        for c in body.points
    )


def potential_energy(robot, q):
    """-sum of m g . p [J]."""
    return -sum(
        g * np.sum(body.masses * jet(c).value)
        for body in place(robot, [Jet(a) for a in q], JETS)
        for g, c in zip(robot.gravity, body.points)
    )


def momentum(robot, q, qd):
    """dT/dqd (n,), as T is a quadratic form in qd."""
    own = kinetic_energy(robot, q, qd)
    return np.array(
        [
            kinetic_energy(robot, q, qd + e) - own - kinetic_energy(robot, q, e)
            for e in np.eye(len(q))
        ]
    )


def gravity_force(robot, q):
    """dV/dq (n,)."""
    return _gradient(lambda z: potential_energy(robot, z), q)


def inverse_dynamics(robot, q, qd, qdd):
    """M qdd + c (n,): d/dt (dT/dqd) - dT/dq."""
    return (
        momentum(robot, q, qdd)
        + momentum(robot, q + 1j * STEP * qd, qd).imag / STEP
        - _gradient(lambda z: kinetic_energy(robot, z, qd), q)
    )


def _gradient(function, q):
    return np.array([np.imag(function(q + 1j * STEP * e)) / STEP for e in np.eye(len(q))])
