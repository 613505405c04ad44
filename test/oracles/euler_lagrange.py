# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Euler and Lagrange: the equations of motion by differentiation of the energies alone.

Derivatives by q are complex steps, those in time jets: exact to rounding. Energies are those of
one state, or of as many as there are rows of q or qd (..., n).
"""

import numpy as np

from oracles.jets import Jet, jet, JETS
from oracles.trees import place, rotors

STEP = 1e-40  # of the complex steps


def kinetic_energy(robot, q, qd):
    """1/2 sum of m |p'|^2, and of rotors, [J] (complex for complex q)."""
    moving = [Jet(a, b) for a, b in zip(_each(q), _each(qd))]
    turning = 0.5 * np.sum(rotors(robot) * np.asarray(qd) ** 2, axis=-1)
    return turning + sum(
        0.5 * np.sum(body.masses * jet(c).first ** 2, axis=-1)
        for body in place(robot, moving, JETS)
        for c in body.points
    )


def potential_energy(robot, q):
    """-sum of m g . p [J]."""
    return -sum(
        g * np.sum(body.masses * jet(c).value, axis=-1)
        for body in place(robot, [Jet(a) for a in _each(q)], JETS)
        for g, c in zip(robot.gravity, body.points)
    )


def momentum(robot, q, qd):
    """dT/dqd (n,), as T is a quadratic form in qd."""
    own, units = kinetic_energy(robot, q, qd), np.eye(len(q))
    return kinetic_energy(robot, q, qd + units) - own - kinetic_energy(robot, q, units)


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
    return np.imag(function(q + 1j * STEP * np.eye(len(q)))) / STEP


def _each(q):
    """Coordinates (n,), each (..., 1), beside which there may be points."""
    return list(np.moveaxis(np.asarray(q), -1, 0)[..., None])
