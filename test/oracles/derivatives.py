# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Derivatives of bodies and joints (``kernels/layout``), in many digits, by the formulas alone."""

import mpmath
import numpy as np

from oracles.precise import PRECISE

_STEP = mpmath.mpf(10) ** -30  # of nested central differences; errors of its square
DIGITS = 200


def vector(values):
    """Return an array of mpmath numbers."""
    return np.array([mpmath.mpf(v) for v in values], dtype=object)


def along(function, x, direction):
    """Return the derivative of a function of x along a direction."""
    there, back = function(x + _STEP * direction), function(x - _STEP * direction)
    return (there - back) / (2 * _STEP)


def gradient(function, x):
    """Return derivatives by each entry of x, along a first axis."""
    return np.array([along(function, x, vector(e)) for e in np.eye(len(x))])


def second(function, x, rate, push):
    """Second derivative along x + t rate + t^2/2 push."""
    bend = _STEP**2 / 2 * push
    here, there, back = (function(x + k * _STEP * rate + k * k * bend) for k in (0, 1, -1))
    return (there - 2 * here + back) / _STEP**2


def twist_derivatives(frame, q, qd, qdd):
    """dS_j / dq_k, k by k, and d2S_k / dt2 of the twists of ``frame(q)``: nine entries, three."""

    def twists(q):
        R, t = (np.array(list(part), dtype=object) for part in frame(q))
        R, found = R.reshape(3, 3), []
        for e in np.eye(len(q)):
            spin = along(lambda x: np.array(frame(x)[0]), q, vector(e)).reshape(3, 3) @ R.T
            w = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
            found += [*w, *along(lambda x: np.array(frame(x)[1]), q, vector(e)) + cross(t, w)]
        return np.array(found)

    return np.concatenate([gradient(twists, q).ravel(), second(twists, q, qd, qdd)])


def body_derivatives(body, points, q, qd, qdd, motion):
    """Return what the layout says of a body with material ``points``, (position, mass) each."""
    n = len(q)

    def forces(z):
        return accelerating(body, points, z[:n], z[n:], qdd, motion)

    derivatives = gradient(forces, np.concatenate([q, qd])).reshape(2, n, 6 + n)
    spins, spin = np.zeros((n, 3), dtype=object), np.zeros((3, 3), dtype=object)
    for x, mass in points:

        def place(q, x=x):
            return np.array(body.position(x, list(q), PRECISE), dtype=object)

        p, v, J = place(q), along(place, q, qd), gradient(place, q)
        matter = 2 * mass * (cross(motion[:3], p) + v)
        spins += np.array([cross(matter, column) for column in J])
        spin += 2 * mass * np.array([cross(p, cross(e, v)) for e in np.eye(3)]).T
    wrenches = derivatives[:, :, :6].ravel()
    return np.concatenate([wrenches, spins.ravel(), derivatives[:, :, 6:].ravel(), spin.ravel()])


def accelerating(body, points, q, qd, qdd, motion):
    """Moment about S_J, force, and generalized forces that the motion of a body takes."""
    w, dw, a = motion[:3], motion[3:6], motion[6:]
    K, D = (np.array(M, dtype=object) for M in (body.stiffness(), body.damping_matrix()))
    wrench, force = np.zeros(6, dtype=object), K @ q + D @ qd
    for x, mass in points:

        def place(q, x=x):
            return np.array(body.position(x, list(q), PRECISE), dtype=object)

        p, v, J = place(q), along(place, q, qd), gradient(place, q)
        push = a + cross(dw, p) + cross(w, cross(w, p)) + 2 * cross(w, v)
        push = mass * (push + second(place, q, qd, qdd))
        wrench += np.concatenate([cross(p, push), push])
        force = force + J @ push
        if body.energy(np.eye(3).tolist(), PRECISE) is not None:
            force = force + mass / mpmath.mpf(body.density) * stress(body, x, q, qd)
    return np.concatenate([wrench, force])


def stress(body, x, q, qd):
    """Generalized force per volume of strain energy and viscosity at a material point x."""

    def F(q):
        return gradient(lambda x: np.array(body.position(x, list(q), PRECISE), dtype=object), x).T

    def energy(q):
        return np.array(body.energy(F(q).tolist(), PRECISE), dtype=object)

    found = gradient(energy, q)
    if body.viscosity() is None:
        return found
    rate = along(lambda q: F(q).T @ F(q), q, qd)
    by_q = gradient(lambda q: F(q).T @ F(q), q)
    return found + mpmath.mpf(body.viscosity()) / 2 * np.array([(rate * C).sum() for C in by_q])


def cross(a, b):
    """Return a x b."""
    return np.array(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )
