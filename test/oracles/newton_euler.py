# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Newton and Euler, point by point: sum over material points of m J' (p'' - g), and rotors.

All derivatives are exact to rounding, by Taylor arithmetic along motions, all of them at once. For
n coordinates: q, qd, qdd (n,); results in SI units.
"""

import numpy as np

from oracles.jets import Jet, jet, JETS
from oracles.trees import place, rotors


def inverse_dynamics(robot, q, qd, qdd, gravity=(0.0, 0.0, 0.0)):
    """Generalized force (n,) of inertia and of ``gravity`` (3,) [m/s^2]: sum of m J' (p'' - g)."""
    return mass_inverse_dynamics(robot, q, qd, qdd, gravity)[0]


def mass_inverse_dynamics(robot, q, qd, qdd, gravity=(0.0, 0.0, 0.0)):
    """Return the same and the mass matrix (n, n), the sum of m J' J."""
    J, masses, acceleration = cloud(robot, q, qd, qdd)
    points = np.einsum('ikc,k,kc->i', J, masses, acceleration - np.array(gravity))
    mass = np.tensordot(J * masses[:, None], J, ((1, 2), (1, 2))) + np.diag(rotors(robot))
    return points + rotors(robot) * qdd, mass


def cloud(robot, q, qd, qdd):
    """Jacobians (n, K, 3), masses (K,) and accelerations (K, 3) of all points of a robot."""
    placed = place(robot, _all_ways(q, qd, qdd), JETS)
    first, second = (
        np.concatenate(
            [_columns([jet(c) for c in b.points], order, b.masses, len(q) + 1) for b in placed], 1
        )
        for order in ('first', 'second')
    )
    return first[:-1], np.concatenate([b.masses for b in placed]), second[-1]


def body_sums(body, q, qd, w):
    """
    Return what a body reduces to in its joint frame, turning with w (3,) [rad/s].

    Returns (inertia (10,), bias wrench (6,), coupling (n, 6), mass (n, n), bias (n,)), by the
    direct point form a = w x (w x p) + 2 w x (J qd) + (dJ/dt) qd.
    """
    points, masses = body.material_points()
    x, n = list(np.asarray(points, dtype=float).T), len(q)
    position = [jet(c) for c in body.position(x, _all_ways(q, qd, np.zeros(n)), JETS)]
    p, (*J, velocity), second = (
        _columns(position, order, masses, n + 1) for order in ('value', 'first', 'second')
    )
    p, J, second = p[-1], np.reshape(J, (n, len(masses), 3)), second[-1]
    a = np.cross(w, np.cross(w, p) + 2 * velocity) + second
    inertia = masses @ (p**2).sum(axis=1) * np.eye(3) - np.einsum('k,ki,kj->ij', masses, p, p)
    numbers = [masses.sum(), *(masses @ p), *inertia.diagonal(), *inertia[[0, 0, 1], [1, 2, 2]]]
    wrench = np.concatenate([masses @ np.cross(p, a), masses @ a])
    coupling = np.array([[*(masses @ np.cross(p, j)), *(masses @ j)] for j in J]).reshape(n, 6)
    mass = np.einsum('ikc,k,jkc->ij', J, masses, J)
    return np.array(numbers), wrench, coupling, mass, np.einsum('ikc,k,kc->i', J, masses, a)


def _all_ways(q, qd, qdd):
    """Jets (n,), each of n + 1 rows: along each coordinate in turn, then along the motion."""
    n = len(q)
    rates, pushes = np.vstack([np.eye(n), qd]), np.vstack([np.zeros((n, n)), qdd])
    return [Jet(a, b[:, None], c[:, None]) for a, b, c in zip(q, rates.T, pushes.T)]


def _columns(p, order, masses, ways):
    """Values or derivatives (ways, K, 3) of the jets of three coordinates."""
    shape = ways, len(masses)
    return np.stack([np.broadcast_to(getattr(c, order), shape) for c in p], axis=-1)
