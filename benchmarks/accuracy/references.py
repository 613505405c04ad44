# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Reference solutions of rods: closed forms, and two-point problems solved to rounding.

Nothing here uses softrobot_dynamics. A rod has length L, is clamped at its base, begins there
along +z and bends towards +x.
"""

import numpy as np
from numpy.polynomial.legendre import legder, leggauss, legroots, legval
from scipy.integrate import solve_bvp, solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc

SPIN_UP = 10.0, 2.8e7, 1e7, 1.4e4, 1.2, 6e-4  # L, E A, G A, E I, rho A, rho I
TIGHT = {'xtol': 1e-15, 'rtol': 1e-14}  # of brentq


def elastica(k):
    """
    Tip angle [rad], shortening u/L and deflection w/L under a transverse dead load at the tip.

    Inextensible, k = P L^2 / (E I). Elliptic integrals of parameter m = (1 + sin angle) / 2
    [Bisshopp and Drucker 1945].
    """

    def start(angle):
        m = 0.5 * (1.0 + np.sin(angle))
        return m, np.arcsin(np.sqrt(0.5 / m))

    def excess(angle):
        m, phi = start(angle)
        return ellipk(m) - ellipkinc(phi, m) - np.sqrt(k)

    angle = brentq(excess, 1e-9, 0.5 * np.pi - 1e-9, **TIGHT)
    m, phi = start(angle)
    sag = 1.0 - 2.0 / np.sqrt(k) * (ellipe(m) - ellipeinc(phi, m))
    return np.array([angle, 1.0 - np.sqrt(2.0 * np.sin(angle) / k), sag])


def stretching_elastica(k, compliance):
    """
    Tip angle [rad], shortening and deflection as :func:`elastica`, of a rod that stretches.

    ``compliance`` = E I / (E A L^2): of fibres along the backbone the strain e, there is no
    shear. angle'' = -k (1 + e) cos angle with e = k compliance sin angle; by shooting.
    """

    def derivative(s, y):
        longer = 1.0 + k * compliance * np.sin(y[0])
        across, along = longer * np.sin(y[0]), longer * np.cos(y[0])
        return [y[1], -k * along, along, across]

    angle, _, z, x = _shoot(derivative, k)
    return np.array([angle, 1.0 - z, x])


def self_weight(k):
    """
    Tip x/L (along the clamped axis), z/L (up) and angle [rad] of a rod clamped horizontally.

    Inextensible, k = w L^3 / (E I) of the weight w per unit of length: angle'' = k (1 - s) cos
    angle, no moment at the tip; by shooting.
    """

    def derivative(s, y):
        return [y[1], k * (1.0 - s) * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])]

    angle, _, x, z = _shoot(derivative, -k)
    return np.array([x, z, angle])


def _shoot(derivative, most):
    """Tip state (4,), its second entry zero, where the second begins between 0 and ``most``."""

    def tip(curvature):
        start = [0.0, curvature, 0.0, 0.0]
        return solve_ivp(derivative, (0.0, 1.0), start, 'DOP853', rtol=1e-13, atol=1e-14).y[:, -1]

    return tip(brentq(lambda curvature: tip(curvature)[1], 0.0, most, **TIGHT))


def tip_moment(t):
    """Tip displacement along and across the axis, over L, under a moment t = M L / (E I)."""
    return np.array([np.sin(t) / t - 1.0, (1.0 - np.cos(t)) / t])


def straight_tendon(tension, offset, length, radius, young_modulus):
    """Curvature [1/m] and tip (axial, lateral) [m] under a tendon parallel to a round rod."""
    area = np.pi * radius**2
    kappa = tension * offset / (young_modulus * area * radius**2 / 4.0)
    arc = length * (1.0 - tension / (young_modulus * area))
    t = kappa * length
    return np.array([kappa, arc * np.sin(t) / t, arc * (1.0 - np.cos(t)) / t])


def beam_roots(count):
    """Return the first roots x of cos x cosh x = -1: bending modes of a clamped-free rod."""
    guesses = np.pi * (np.arange(count) + 0.5)

    def excess(x):
        return np.cos(x) + 1.0 / np.cosh(x)

    return np.array([brentq(excess, g - 0.4, g + 0.4, **TIGHT) for g in guesses])


def euler_bernoulli(count, bending, line_density, length):
    """Bending frequencies [rad/s] of a thin, shear-locked, clamped-free rod."""
    return (beam_roots(count) / length) ** 2 * np.sqrt(bending / line_density)


def waves(count, speed, length):
    """Axial or torsional frequencies [rad/s] of a clamped-free rod with a wave speed [m/s]."""
    return (2.0 * np.arange(1, count + 1) - 1.0) * np.pi / (2.0 * length) * speed


def timoshenko(count, bending, line_density, length, rotary, shear_compliance):
    """
    Bending frequencies [rad/s] with rotary inertia rho I and 1 / (k G A) (0: shear-locked).

    Roots of the determinant of the free end's conditions, the state (deflection, angle, shear
    force, moment) being carried from the clamped end by a matrix exponential.
    """

    def determinant(w):
        A = np.zeros((4, 4))
        A[0, 1], A[0, 2], A[1, 3] = 1.0, shear_compliance, 1.0 / bending
        A[2, 0], A[3, 1], A[3, 2] = -line_density * w * w, -rotary * w * w, -1.0
        return np.linalg.det(expm(A * length)[2:, 2:])

    thin = euler_bernoulli(count, bending, line_density, length)
    grid = np.linspace(1e-3 * thin[0], 1.001 * thin[-1], 300)
    values = np.array([determinant(w) for w in grid])
    changes = np.flatnonzero(values[:-1] * values[1:] < 0.0)[:count]
    return np.array([brentq(determinant, grid[i], grid[i + 1], rtol=1e-13) for i in changes])


def spinning_tip(rate, axial, line_density, length):
    """Steady extension [m] of a rod that turns at a rate [rad/s]: L (tan a / a - 1)."""
    a = rate * length * np.sqrt(line_density / axial)
    return length * (np.tan(a) / a - 1.0)


def spin_up_angle(t):
    """Return base angle [rad], rate, acceleration of the spin-up [Simo and Vu-Quoc 1986]."""
    if t > 15.0:
        return 6.0 * t - 45.0, 6.0, 0.0
    w = 2.0 * np.pi / 15.0
    return (
        0.4 * (0.5 * t * t + (np.cos(w * t) - 1.0) / w**2),
        0.4 * (t - np.sin(w * t) / w),
        0.4 * (1.0 - np.cos(w * t)),
    )


def spin_up_tip(times, degree=14, rtol=1e-10):
    """
    Tip (x, z - L) [m], in the turning frame, of the rod of Simo and Vu-Quoc's spin-up, (., 2).

    A Simo-Reissner beam that shears and stretches, by one spectral element for the positions and
    angles of the sections in the turning frame: other unknowns than the strains of our bodies.
    """
    L, axial, shear, bending, line, rotary = SPIN_UP
    x, w = leggauss(degree + 6)
    unit, w = np.eye(degree + 1), 0.5 * L * w
    nodes = np.concatenate([[-1.0], legroots(legder(unit[-1])), [1.0]])
    to_nodes = np.linalg.inv(legval(nodes, unit).T)
    N = (legval(x, unit).T @ to_nodes)[
        :, 1:
    ]  # values, derivatives at Gauss points; the base is fixed
    D = (2.0 / L * legval(x, legder(unit)).T @ to_nodes)[:, 1:]
    none, weights = np.zeros_like(D), np.kron([shear, axial, bending], w)
    inverse = np.linalg.inv(N.T @ (w[:, None] * N))
    mass = np.array([line, line, rotary])[:, None]

    def strains(y):
        (dx, dz, curvature), angle = y @ D.T, y[2] @ N.T
        c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
        across, along = c[:, 0] * dx - s[:, 0] * dz, s[:, 0] * dx + c[:, 0] * dz
        by_y = [[c * D, -s * D, -along[:, None] * N], [s * D, c * D, across[:, None] * N]]
        strain = np.concatenate([across, along - 1.0, curvature])
        return strain, np.block([*by_y, [none, none, D]])

    def derivative(t, state):
        (y, v), (_, rate, turn) = state.reshape(2, 3, degree), spin_up_angle(t)
        strain, by_y = strains(y)
        a = -((weights * strain) @ by_y).reshape(3, degree) @ inverse / mass
        a[0] += -2.0 * rate * v[1] - turn * y[1] + rate**2 * y[0]
        a[1] += 2.0 * rate * v[0] + turn * y[0] + rate**2 * y[1]
        a[2] -= turn * inverse @ (w @ N)
        return np.concatenate([v.ravel(), a.ravel()])

    def tangent(t, state):
        by_y = strains(state.reshape(2, 3, degree)[0])[1]
        stiff = (by_y.T @ (weights[:, None] * by_y)).reshape(3, degree, -1)
        stiff = (inverse @ stiff / mass[:, :, None]).reshape(3 * degree, -1)
        zero = np.zeros_like(stiff)
        return np.block([[zero, np.eye(len(stiff))], [-stiff, zero]])

    start = np.zeros((2, 3, degree))
    start[0, 1] = 0.5 * L * (nodes[1:] + 1.0)
    atol = np.repeat([1e-1 * rtol, 1e2 * rtol], 3 * degree)
    options = {'t_eval': times, 'rtol': rtol, 'atol': atol, 'jac': tangent}
    path = solve_ivp(derivative, (0.0, times[-1]), start.ravel(), 'Radau', **options)
    return np.array([[state[degree - 1], state[2 * degree - 1] - L] for state in path.y.T])


def rubbing_tendon(way, offset, friction, tension, load, length, bending):
    """
    Tip (x, z) over the length of a clamped rod, bent by a tendon that rubs and by a dead load.

    The load [N] is along x and z, z along the rod at rest; ``way`` is 1 of a tendon that is drawn
    in, -1 of one that is paid out. By collocation.
    """

    def derivatives(s, y, end):
        angle, x, z, T = y
        kappa = (offset * T + (end[1] - z) * load[0] - (end[0] - x) * load[1]) / bending
        return np.stack([kappa, np.sin(angle), np.cos(angle), -way * friction * np.abs(kappa) * T])

    def ends(a, b, end):
        return np.array([*a[:3], a[3] - tension, b[1] - end[0], b[2] - end[1]])

    s = np.linspace(0.0, length, 81)
    guess = np.stack([3.0 * s, s * s, s, np.full_like(s, tension)])
    found = solve_bvp(
        derivatives, ends, s, guess, [0.1 * length, length], tol=1e-11, max_nodes=100_000
    )
    return found.p / length
