# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Response of a linear system M, D, K to a force held for a period, to control precision.

From rest, M v' + D v + K q = f, q' = v, gives v(T) = G f and q(T) = R f with n x n matrices G and
R, symmetric as M, D and K are; where D and K are not, their symmetric parts count. So a robot that
is at (q, v) under the force f - h, h containing D v, moves on to::

    v(T) = v + G (f - h) - R K v

A quarter of the time is answered by the method Radau IIA of three stages: it is of fifth order,
and stiff motions settle in it (it is L-stable), which a truncated series would not have. In
partial fractions of its stability function a step is two inverses, a real and a complex one. The
answer is then doubled twice. Hairer and Wanner, Solving Ordinary Differential Equations II, Sec.
IV.5 and IV.8. Against the matrix exponential (``test_held_response``): 2e-5 of a damped motion at
any rate, 2e-3 of one that swings three quarters of a turn within T undamped.

All kernels work on rows or pivots ``first`` to ``last``, so that the work can be spread.
"""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Array, Vector
from softrobot_dynamics.compiling.jit import kernel, reduction

PADE_STEPS = 4  # of the method in T; the powers of two that follow by doubling
_NUMERATOR, _DENOMINATOR = (
    np.poly1d([1 / 20, 2 / 5, 1.0]),
    np.poly1d([-1 / 60, 3 / 20, -3 / 5, 1.0]),
)
_POLES = sorted(_DENOMINATOR.roots, key=lambda pole: (abs(pole.imag), pole.imag))
_REAL, _PAIR = _POLES[0].real, _POLES[2]
_RESIDUES = [_NUMERATOR(pole) / _DENOMINATOR.deriv()(pole) for pole in (_REAL, _PAIR)]
POLE, RESIDUE = float(_REAL), float(_RESIDUES[0].real)  # of the real pole
POLE_RE, POLE_IM = float(_PAIR.real), float(_PAIR.imag)  # of the one above the axis
# both of the pair
RESIDUE_RE, RESIDUE_IM = float(2.0 * _RESIDUES[1].real), float(2.0 * _RESIDUES[1].imag)
RESIDUE_OVER_POLE = complex(RESIDUE_RE, RESIDUE_IM) / complex(POLE_RE, POLE_IM)
# of the same, for R
RESIDUE_OVER_POLE_RE, RESIDUE_OVER_POLE_IM = RESIDUE_OVER_POLE.real, RESIDUE_OVER_POLE.imag


class HeldForceResponse(NamedTuple):
    """A response and the matrices that it is computed from, (n, n) each."""

    M: Array
    D: Array
    K: Array
    G: Vector  # v(T) per held force
    R: Vector  # q(T) per held force
    real: Array  # scratch, as are the others
    re: Array
    im: Array


def allocate_response(n: int) -> HeldForceResponse:
    """Return a :class:`HeldForceResponse` for n coordinates."""
    return HeldForceResponse(**{name: np.zeros((n, n)) for name in HeldForceResponse._fields})


@kernel
def set_up(T, x):
    """Fill the two matrices to be inverted for a held force of T [s], symmetric."""
    h, n = T / PADE_STEPS, len(x.M)
    squared_re, squared_im = POLE_RE * POLE_RE - POLE_IM * POLE_IM, 2.0 * POLE_RE * POLE_IM
    for i in range(n):
        for j in range(n):
            M, D = x.M[i, j], 0.5 * h * (x.D[i, j] + x.D[j, i])
            K = 0.5 * h * h * (x.K[i, j] + x.K[j, i])
            x.real[i, j] = POLE * POLE * M + POLE * D + K
            x.re[i, j] = squared_re * M + POLE_RE * D + K
            x.im[i, j] = squared_im * M + POLE_IM * D


@reduction
def eliminate(x, first, last):
    """Eliminate pivots of both matrices; after all n they are replaced by their inverses."""
    for k in range(first, last):
        _eliminate_real(x.real, k)
        _eliminate_complex(x.re, x.im, k)


@reduction
def _eliminate_real(A, k):
    """Eliminate row k of A, to invert it in place."""
    row = A[k]
    pivot = 1.0 / row[k]
    row[k] = 1.0
    for j in range(len(row)):
        row[j] *= pivot
    for i in range(len(A)):
        if i != k:
            target = A[i]
            factor = target[k]
            target[k] = 0.0
            for j in range(len(row)):
                target[j] -= factor * row[j]


@reduction
def _eliminate_complex(A, B, k):
    """Eliminate row k of A + i B, to invert it in place."""
    a, b = A[k], B[k]
    size = a[k] * a[k] + b[k] * b[k]
    p, q = a[k] / size, -b[k] / size
    a[k], b[k] = 1.0, 0.0
    for j in range(len(a)):
        a[j], b[j] = p * a[j] - q * b[j], p * b[j] + q * a[j]
    for i in range(len(A)):
        if i != k:
            re, im = A[i], B[i]
            p, q = re[k], im[k]
            re[k] = im[k] = 0.0
            for j in range(len(a)):
                re[j] -= p * a[j] - q * b[j]
                im[j] -= p * b[j] + q * a[j]


@kernel
def first_step(T, x):
    """Fill G and R for the first of the PADE_STEPS, from the two inverses."""
    h = T / PADE_STEPS
    for i in range(len(x.G)):
        for j in range(len(x.G)):
            real, re, im = x.real[i, j], x.re[i, j], x.im[i, j]
            x.G[i, j] = -h * (RESIDUE * real + RESIDUE_RE * re - RESIDUE_IM * im)
            x.R[i, j] = (
                -h
                * h
                * (RESIDUE / POLE * real + RESIDUE_OVER_POLE_RE * re - RESIDUE_OVER_POLE_IM * im)
            )


@reduction
def multiply(x, first, last):
    """First half of a doubling: D G + 2 K R, K R and M G."""
    n = len(x.G)
    for i in range(first, last):
        both, stiff, mass = x.real[i], x.re[i], x.im[i]
        for j in range(n):
            both[j] = stiff[j] = mass[j] = 0.0
        for k in range(n):
            M, D, K = x.M[i, k], 0.5 * (x.D[i, k] + x.D[k, i]), 0.5 * (x.K[i, k] + x.K[k, i])
            G, R = x.G[k], x.R[k]
            for j in range(n):
                stiff[j] += K * R[j]
                both[j] += D * G[j]
                mass[j] += M * G[j]
        for j in range(n):
            both[j] += 2.0 * stiff[j]


@reduction
def double(x, G, R, first, last):
    """
    Second half: fill rows of G and R (n, n) for twice the time.

    What has moved to (R f, G f) moves on under f - K R f, with its velocity.
    """
    n = len(x.G)
    for i in range(first, last):
        g, r = G[i], R[i]
        for j in range(n):
            g[j], r[j] = 2.0 * x.G[i, j], 2.0 * x.R[i, j]
        for k in range(n):
            a, b, both, stiff, mass = x.G[i, k], x.R[i, k], x.real[k], x.re[k], x.im[k]
            for j in range(n):
                g[j] -= a * both[j]
                r[j] += a * mass[j] - b * stiff[j]


@kernel
def symmetrise(x, G, R):
    """Take over the symmetric parts of G and R (n, n) into the response."""
    for i in range(len(G)):
        for j in range(i + 1):
            x.G[i, j] = x.G[j, i] = 0.5 * (G[i, j] + G[j, i])
            x.R[i, j] = x.R[j, i] = 0.5 * (R[i, j] + R[j, i])
