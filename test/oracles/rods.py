# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Cosserat rods as what they are: dT/ds = T hat(xi), integrated by a general-purpose solver.

Derivatives by time ride along exactly: T + T' e + T'' e^2 / 2 with e^3 = 0 is a block triangular
matrix, and products of such matrices are products of series.
"""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import expm


def hat(xi):
    """Matrix (4, 4) of a strain or twist (6,), angular first."""
    x, y, z = xi[:3]
    return np.array([[0.0, -z, y, xi[3]], [z, 0.0, -x, xi[4]], [-y, x, 0.0, xi[5]], [0.0] * 4])


def series(value, first):
    """Matrix (12, 12) of the series value + first e."""
    return np.kron(np.eye(3), value) + np.kron(np.eye(3, k=1), first)


def constant(s, xi, rate):
    """Series (12, 12) of the frame at s [m] of a constant strain xi (6,) with this rate."""
    return expm(s * series(hat(xi), hat(rate)))


def varying(stations, strain, rate):
    """
    Series (K, 12, 12) of the frames at ``stations`` (K,) [m], increasing.

    ``strain(s)`` and ``rate(s)`` (6,) are smooth.
    """

    def derivative(s, T):
        return (T.reshape(12, 12) @ series(hat(strain(s)), hat(rate(s)))).ravel()

    solution = solve_ivp(derivative, (0.0, stations[-1]), np.eye(12).ravel(), method='DOP853',
                         t_eval=stations, rtol=1e-13, atol=1e-14)  # fmt: skip
    return solution.y.T.reshape(-1, 12, 12)


def pose(T):
    """Frame (12,), rotation row-major and origin, its velocity and its acceleration."""
    parts = T[:4, :4], T[:4, 4:8], 2.0 * T[:4, 8:]
    return [np.concatenate([part[:3, :3].ravel(), part[:3, 3]]) for part in parts]


def sums(points, masses, motions, w):
    """
    Return what a body reduces to in its joint frame, turning with w (3,) [rad/s].

    ``points`` (K, 3) and ``motions``, K lists of series (12, 12): along each coordinate in turn,
    then along the actual motion. Returns inertia (10,), bias wrench (6,), coupling (n, 6), mass
    (n, n) and bias (n,), all sums over points of m p x J, m J.J, ...
    """
    local = np.column_stack([points[:, :2], 0.0 * masses, 1.0 + 0.0 * masses])
    moved = np.array([[T @ np.kron(np.eye(3), x[:, None]) for T in each]
                      for x, each in zip(local, motions)])  # fmt: skip
    p, first, second = moved[:, -1, :3, 0], moved[:, :, :3, 1], 2.0 * moved[:, -1, :3, 2]
    J, velocity = first[:, :-1].transpose(1, 0, 2), first[:, -1]
    a = np.cross(w, np.cross(w, p) + 2.0 * velocity) + second
    inertia = masses @ (p**2).sum(axis=1) * np.eye(3) - np.einsum('k,ki,kj->ij', masses, p, p)
    ten = [masses.sum(), *(masses @ p), *inertia.diagonal(), *inertia[[0, 0, 1], [1, 2, 2]]]
    wrench = np.concatenate([masses @ np.cross(p, a), masses @ a])
    coupling = np.array([[*(masses @ np.cross(p, j)), *(masses @ j)] for j in J])
    mass = np.einsum('ikc,k,jkc->ij', J, masses, J)
    return np.array(ten), wrench, coupling, mass, np.einsum('ikc,k,kc->i', J, masses, a)
