# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Locally volume preserving maps by the book: frames by an ODE solver, the section by its cubic.

Modes are a list of (strain, polynomial in s / L, lowest power first), one for each coordinate.
"""

import numpy as np
from scipy.integrate import solve_ivp

from oracles.jets import Jet, jet, JETS


def tables(L):
    """Return the modes that [P] prints in its Tables 4 and 5, for a length L [m]."""
    four = [('stretch', [0, 1, -1])]  # 1 + s/L (1 - s/L) q1
    for name in ('kappa_x', 'kappa_y'):  # (q2 + s q3) / L
        four += [(name, [1 / L]), (name, [0, 1])]
    four += [(name, [0, 1]) for name in ('kappa_z', 'gamma_x', 'gamma_y')]  # s/L q
    return {'table_4': four, 'table_5': [('stretch', [0, 0, 1]), ('source', [0, 0, 1])]}


def strain(modes, name, sigma, q):
    """Value of one strain at s / L."""
    return sum(a * np.polyval(p[::-1], sigma) for a, (n, p) in zip(q, modes) if n == name)


def position(modes, L, q, x):
    """Position (3,) [m] of the material point x (3,) [m], to about 1e-12."""
    R, origin = frame(modes, L, q, x[2])
    c, theta, sigma = np.hypot(x[0], x[1]), np.arctan2(x[1], x[0]), x[2] / L
    stretch = 1.0 + strain(modes, 'stretch', sigma, q)
    bend = strain(modes, 'kappa_x', sigma, q) * np.sin(theta)
    bend -= strain(modes, 'kappa_y', sigma, q) * np.cos(theta)
    square = (c**2 + strain(modes, 'source', sigma, q)) / stretch
    roots = np.roots([2.0 / 3.0 * bend / stretch, 1.0, 0.0, -square])
    r = min(v.real for v in roots if abs(v.imag) < 1e-9 and v.real > 0.0)
    return origin + R @ [r * np.cos(theta), r * np.sin(theta), 0.0]


def frame(modes, L, q, s):
    """Rotation (3, 3) and origin (3,) [m] of the backbone at s [m]."""

    def derivative(s, state):
        x, y, z = (strain(modes, f'kappa_{c}', s / L, q) for c in 'xyz')
        gamma = [strain(modes, f'gamma_{c}', s / L, q) for c in 'xy']
        gamma.append(1.0 + strain(modes, 'stretch', s / L, q))
        R = state[:9].reshape(3, 3)
        return np.concatenate([(R @ [[0, -z, y], [z, 0, -x], [-y, x, 0]]).ravel(), R @ gamma])

    start = np.append(np.eye(3).ravel(), np.zeros(3))
    end = solve_ivp(derivative, (0.0, s), start, 'DOP853', rtol=1e-12, atol=1e-14).y[:, -1]
    return end[:9].reshape(3, 3), end[9:]


def cavity(body, q, count=24):
    """
    Volume [m^3] inside a hollow body with flat ends: a third of the flux of p out of its surface.

    At one q, or at as many as there are rows (..., n). Derivatives along the surface are jets;
    trapezoids around, Gauss along.
    """
    q, (s, along) = np.asarray(q), np.polynomial.legendre.leggauss(count)
    s, along = 0.5 * body.length * (s + 1.0), 0.5 * body.length * along
    angle, s = np.arange(2 * count)[None] * np.pi / count, s[:, None]
    coordinates = list(np.moveaxis(q, -1, 0)[..., None, None])

    def wall(angle, s, *parts):
        """Parts of the jets of p, each (..., S, A, 3)."""
        x, y = body.inner_radius * JETS.cos(angle), body.inner_radius * JETS.sin(angle)
        place = [jet(c) for c in body.position([x, y, s], coordinates, JETS)]
        shape = (*q.shape[:-1], len(jet(s).value), 2 * count)
        return [
            np.stack([np.broadcast_to(getattr(c, part), shape) for c in place], axis=-1)
            for part in parts
        ]

    p, u = wall(Jet(angle, 1.0), Jet(s), 'value', 'first')
    (v,) = wall(Jet(angle), Jet(s, 1.0), 'first')
    total = np.einsum('...kac,...kac->...k', p, np.cross(u, v)) @ along * np.pi / count
    for end, sign in ((0.0, -1.0), (body.length, 1.0)):  # the flux through a disc, by its rim
        p, u = wall(Jet(angle, 1.0), Jet(np.full((1, 1), end)), 'value', 'first')
        center = p.mean(axis=-2)
        area = np.cross(p - center[..., None, :], u).sum(axis=-2) * np.pi / count / 2.0
        total += sign * np.sum(center * area, axis=(-2, -1))
    return total / 3.0
