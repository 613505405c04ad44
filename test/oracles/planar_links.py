# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Planar linkages by places and angles of all links, pins as constraints: no chain, no recursion.

A link of length l has the place of its centre of mass (x, z), in its middle, and the angle a from
z towards x, so that its ends are at (x, z) -+ l/2 (sin a, cos a).
"""

import numpy as np

GRAVITY = 9.81


def end(angles, lengths, centres, link, side):
    """Return the place (2,) of an end of a link, -1: its start, 1: its tip."""
    a = angles[link]
    return centres[link] + side * 0.5 * lengths[link] * np.array([np.sin(a), np.cos(a)])


def solved(lengths, masses, angles, rates, pins, torques):
    """
    Return angular accelerations (N,) and the force (P, 2) of each pin on its first end.

    ``pins`` are pairs of (link, side), the second maybe None: the ground. ``rates`` (N,) are those
    of angles, and ``torques`` (N,) act between ground and links. The loops are closed.
    """
    N = len(lengths)
    J, bias = np.zeros((2 * len(pins), 3 * N)), np.zeros(2 * len(pins))
    for p, (first, second) in enumerate(pins):
        for each, sign in ((first, 1.0), (second, -1.0)):
            if each is None:
                continue
            link, side = each
            half, a = 0.5 * side * lengths[link], angles[link]
            rows = slice(2 * p, 2 * p + 2)
            J[rows, 3 * link : 3 * link + 2] += sign * np.eye(2)
            J[rows, 3 * link + 2] += sign * half * np.array([np.cos(a), -np.sin(a)])
            bias[rows] += sign * half * rates[link] ** 2 * np.array([-np.sin(a), -np.cos(a)])
    M, force = np.zeros(3 * N), np.zeros(3 * N)
    for i, (mass, length) in enumerate(zip(masses, lengths)):
        M[3 * i : 3 * i + 3] = mass, mass, mass * length**2 / 12.0
        force[3 * i + 1], force[3 * i + 2] = -mass * GRAVITY, torques[i]
    r = len(bias)
    whole = np.block([[np.diag(M), -J.T], [J, np.zeros((r, r))]])
    answer = np.linalg.solve(whole, np.r_[force, -bias])
    return answer[2 : 3 * N : 3], answer[3 * N :].reshape(-1, 2)
