# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Newton and Euler, point by point: nothing but sum over material points of m J' (p'' - g).

All derivatives are exact to rounding, by Taylor arithmetic along motions. For n coordinates:
q, qd, qdd (n,); results in SI units.
"""

import numpy as np

from oracles.jets import Jet, jet, JETS
from oracles.trees import place


def mass_matrix(robot, q):
    """Mass matrix (n, n): sum of m J' J."""
    J, masses, _ = cloud(robot, q, np.zeros(len(q)), np.zeros(len(q)))
    return np.einsum('kci,k,kcj->ij', J, masses, J)


def inverse_dynamics(robot, q, qd, qdd, gravity=(0.0, 0.0, 0.0)):
    """Generalized force (n,) of inertia and of ``gravity`` (3,) [m/s^2]: sum of m J' (p'' - g)."""
    J, masses, acceleration = cloud(robot, q, qd, qdd)
    return np.einsum('kci,k,kc->i', J, masses, acceleration - np.array(gravity))


def cloud(robot, q, qd, qdd):
    """Jacobians (K, 3, n), masses (K,) and accelerations (K, 3) of all points of a robot."""
    zero = np.zeros(len(q))
    columns = [_motion(robot, q, unit, zero, 'first') for unit in np.eye(len(q))]
    masses = np.concatenate([body.masses for body in place(robot, list(q), JETS)])
    return np.stack(columns, axis=-1), masses, _motion(robot, q, qd, qdd, 'second')


def body_sums(body, q, qd, w):
    """
    Return what a body reduces to in its joint frame, turning with w (3,) [rad/s].

    Returns (inertia (10,), bias wrench (6,), coupling (n, 6), mass (n, n), bias (n,)), by the
    direct point form a = w x (w x p) + 2 w x (J qd) + (dJ/dt) qd.
    """
    points, masses = body.material_points()
    x, n = list(np.asarray(points, dtype=float).T), len(q)

    def along(direction):
        moving = [Jet(a, b) for a, b in zip(q, direction)]
        p = [jet(c) for c in body.position(x, moving, JETS)]
        return [_columns(p, order, len(masses)) for order in ('value', 'first', 'second')]

    p, velocity, second = along(qd)
    J = np.array([along(unit)[1] for unit in np.eye(n)]).reshape(n, len(masses), 3)
    a = np.cross(w, np.cross(w, p) + 2 * velocity) + second
    inertia = masses @ (p**2).sum(axis=1) * np.eye(3) - np.einsum('k,ki,kj->ij', masses, p, p)
    numbers = [masses.sum(), *(masses @ p), *inertia.diagonal(), *inertia[[0, 0, 1], [1, 2, 2]]]
    wrench = np.concatenate([masses @ np.cross(p, a), masses @ a])
    coupling = np.array([[*(masses @ np.cross(p, j)), *(masses @ j)] for j in J]).reshape(n, 6)
    mass = np.einsum('ikc,k,jkc->ij', J, masses, J)
    return np.array(numbers), wrench, coupling, mass, np.einsum('ikc,k,kc->i', J, masses, a)


def _motion(robot, q, qd, qdd, order):
    """First or second derivative of all points (K, 3) along a motion."""
    moving = [Jet(*each) for each in zip(q, qd, qdd)]
    parts = [
        _columns([jet(c) for c in body.points], order, len(body.masses))
        for body in place(robot, moving, JETS)
    ]
    return np.concatenate(parts)


def _columns(p, order, count):
    return np.column_stack([np.broadcast_to(getattr(c, order), count) for c in p])
