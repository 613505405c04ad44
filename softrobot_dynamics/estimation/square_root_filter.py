# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Square root Kalman filter: predict and update the triangular factor S of P = S S^T.

What is uncertain is x = (q, qd, force, shares), N = 3 n + k numbers: the force is one from
outside, and each of the k shares another along a column of E (n, k), see :mod:`.model_error`.
Rotations from the right make a matrix lower triangular (a QR decomposition of its transpose), and
leave its product with its transpose as it is. So of Phi [S, G] remains the S of what has moved by
Phi with noise G, and of the array of Kailath, Sayed and Hassibi (Linear Estimation, 2000, Sec.
12.3) ::

    [R^1/2  H S]      [R_e^1/2   0 ]
    [  0     S ]  ->  [  K'      S+]

the innovation's factor, the gain K' = K R_e^1/2, and S after a measurement. P cannot lose its
symmetry, nor become indefinite.
"""

import math
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Array, Integers, Matrix, Vector
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.estimation.innovation_gate import ACCEPTED, gate_part
from softrobot_dynamics.kernels.linalg import all_finite, invert, solve_lower
from softrobot_dynamics.kernels.sums import dot
from softrobot_dynamics.recursion.constants import L_STABLE_GAMMA
from softrobot_dynamics.simulation.integrators.exponential_step import (
    ONE_STEP_WEIGHT,
    TWO_STEPS_WEIGHT,
)


class PredictionArrays(NamedTuple):
    """
    Work arrays of :func:`predict`; the first three are those of a Differentiator.

    ``shares`` has the deviation of each of k in the long run, and ``fading`` [s].
    """

    M: Matrix  # (n, n)
    by_state: Matrix  # (n, 2 n)
    stiffness: Matrix  # (n, n)
    E: Matrix  # (n, k)
    inverse: Matrix  # (n, n) of M + g D + g^2 K
    K: Matrix  # (n, n)
    start: Matrix  # (N, N + n)
    once: Matrix  # (N, N + n)
    twice: Matrix  # (N, N + n)
    velocity_row: Vector  # (N + n,) scratch: a row of the factor that belongs to a velocity
    array: Matrix  # (N, N + 2 n + k)
    noise: Matrix  # (n, n) factor of the force's covariance in the long run
    shares: Vector  # (k,)
    fading: float


class UpdateArrays(NamedTuple):
    """Work arrays of :func:`update` for k numbers in G parts; the first two are an Observed's."""

    residual: Vector  # (k,) NaN: not seen
    H: Matrix  # (k, N)
    noise: Vector  # (k,)
    starts: Integers  # (G + 1,)
    gates: Vector  # (G,) largest normalised square of a part that passes
    verdicts: Integers  # (G,) filled: UNSEEN, ACCEPTED or OUTLIER
    squares: Vector  # (G,) filled: normalised squares of the parts, each alone
    total: Vector  # (2,) filled: that of all that is taken, and how many numbers these are
    rows: Integers  # (k,) of what is taken
    T: Matrix  # (k, N) H S
    C: Matrix  # (k, k)
    e: Vector  # (k,)
    array: Matrix  # (k + N, k + N)


def allocate_prediction(
    noise: Matrix, shares: Vector, fading: float, **given: Matrix
) -> PredictionArrays:
    """Return a :class:`PredictionArrays`; ``given`` are its first fields, up to E."""
    n, k = len(noise), len(shares)
    N = 3 * n + k
    return PredictionArrays(
        **given,
        inverse=np.zeros((n, n)),
        K=np.zeros((n, n)),
        start=np.zeros((N, N + n)),
        once=np.zeros((N, N + n)),
        twice=np.zeros((N, N + n)),
        velocity_row=np.zeros(N + n),
        array=np.zeros((N, N + 2 * n + k)),
        noise=noise,
        shares=shares,
        fading=fading,
    )


def allocate_update(
    residual: Vector, H: Matrix, noise: Vector, starts: Integers, gates: Vector
) -> UpdateArrays:
    """Return a :class:`UpdateArrays`."""
    k, N = H.shape
    return UpdateArrays(
        residual=residual,
        H=H,
        noise=noise,
        starts=starts,
        gates=gates,
        verdicts=np.zeros(len(gates), dtype=np.int64),
        squares=np.zeros(len(gates)),
        total=np.zeros(2),
        rows=np.zeros(k, dtype=np.int64),
        T=np.zeros((k, N)),
        C=np.zeros((k, k)),
        e=np.zeros(k),
        array=np.zeros((k + N, k + N)),
    )


@kernel
def predict(w, S, h, keep):
    """
    Move S (N, N) by h [s]: as the robot does near where it was differentiated, with noise.

    The force has kept a share ``keep`` of itself in the end, and its noise makes up for the rest.
    Half of that acts from the beginning, half in the end: so the force and what follows it at
    once, against damping, are neither the same nor strangers. Shares fade, too, more slowly.
    Motions follow M dv' = -K dq - D dv + df + E de by the method of
    :mod:`softrobot_dynamics.simulation.integrators.exponential_step`, which stiff ones cannot
    upset. Returns 0, or 1 if the step cannot be made.
    """
    n, g, N = len(w.M), L_STABLE_GAMMA * h, len(S)
    for i in range(n):
        for j in range(n):
            w.K[i, j] = w.by_state[i, j] - w.stiffness[i, j]
            w.inverse[i, j] = w.M[i, j] + g * (w.by_state[i, n + j] + g * w.K[i, j])
    if invert(w.inverse) != 0:
        return 1
    late = (0.5 * (1.0 - keep * keep)) ** 0.5
    early, lasting = late / keep, math.exp(-h / w.fading)
    for i in range(N):
        for c in range(N):
            w.start[i, c] = S[i, c]
    for i in range(n):
        for c in range(n):
            w.start[2 * n + i, N + c] = early * w.noise[i, c]
    backward_euler_step(w, g, w.start, w.once)
    backward_euler_step(w, g, w.once, w.twice)
    A = w.array
    for i in range(N):
        share = 1.0 if i < 2 * n else keep if i < 3 * n else lasting
        row, once, twice = A[i], w.once[i], w.twice[i]
        for c in range(N + n):
            row[c] = share * (TWO_STEPS_WEIGHT * twice[c] + ONE_STEP_WEIGHT * once[c])
        for c in range(n):
            row[N + n + c] = late * w.noise[i - 2 * n, c] if 2 * n <= i < 3 * n else 0.0
        for c in range(len(w.shares)):
            row[N + 2 * n + c] = 0.0
    for c in range(len(w.shares)):
        A[3 * n + c, N + 2 * n + c] = (1.0 - lasting * lasting) ** 0.5 * w.shares[c]
    triangularise(A, 0, N, A.shape[1])
    for i in range(N):
        for c in range(N):
            S[i, c] = A[i, c] if c <= i else 0.0
    return 0


@inlined
def backward_euler_step(w, g, X, Y):
    """Make a step of g [s] by backward Euler's method, of all columns of X (N, .) to Y."""
    n, N, velocity = len(w.M), X.shape[1], w.velocity_row
    for i in range(n):  # into Y[2 n:] what M v is to become, at first
        row, own = Y[2 * n + i], X[2 * n + i]
        for c in range(N):
            row[c] = g * own[c]
        for k in range(w.E.shape[1]):
            along, share = g * w.E[i, k], X[3 * n + k]
            for c in range(N):
                row[c] += along * share[c]
        for j in range(n):
            of_v, of_q = w.M[i, j], -g * w.K[i, j]
            v, x = X[n + j], X[j]
            for c in range(N):
                row[c] += of_v * v[c] + of_q * x[c]
    for i in range(n):
        row, x, before = Y[n + i], Y[i], X[i]
        for c in range(N):
            velocity[c] = 0.0
        for j in range(n):
            factor, source = w.inverse[i, j], Y[2 * n + j]
            for c in range(N):
                velocity[c] += factor * source[c]
        for c in range(N):
            row[c] = velocity[c]
            x[c] = before[c] + g * velocity[c]
    for i in range(2 * n, len(X)):
        row, own = Y[i], X[i]
        for c in range(N):
            row[c] = own[c]


@kernel
def triangularise(A, count, rows, columns):
    """
    Make so many rows and columns of A lower triangular by rotations from the right, Householder's.

    Of the first ``count`` rows and columns there is only a diagonal at first, and zeros below.
    """
    for row in range(rows):
        own, first = A[row], max(row + 1, count)
        x, pivot = own[first:columns], own[row]
        tail = dot(x, x)
        if tail > 0.0:
            norm = (pivot * pivot + tail) ** 0.5
            head = pivot + norm if pivot > 0.0 else pivot - norm
            scale = 2.0 / (head * head + tail)
            for i in range(row + 1, rows):
                other = A[i]
                y = other[first:columns]
                factor = scale * (head * other[row] + dot(x, y))
                other[row] -= factor * head
                for c in range(len(x)):
                    y[c] -= factor * x[c]
            own[row] = -norm if pivot > 0.0 else norm


@kernel
def update(w, S, x):
    """
    Correct x (N,) and S (N, N) by a measurement, after it was observed at x.

    Parts that are further off than their gate are left out. Returns 0, or 1 if the result would
    be no number; then nothing has changed.
    """
    N, count = len(x), 0
    for g in range(len(w.gates)):
        gate_part(w, S, g)
        if w.verdicts[g] == ACCEPTED:
            for r in range(w.starts[g], w.starts[g + 1]):
                w.rows[count] = r
                count += 1
    w.total[0], w.total[1] = 0.0, count
    if count == 0:
        return 0
    A, e = w.array, w.e
    for a in range(count):
        r = w.rows[a]
        row, T = A[a], w.T[r]
        for c in range(count):
            row[c] = 0.0
        row[a], e[a] = w.noise[r], w.residual[r]
        for c in range(N):
            row[count + c] = T[c]
    for i in range(N):
        row, own = A[count + i], S[i]
        for c in range(count):
            row[c] = 0.0
        for c in range(N):
            row[count + c] = own[c]
    triangularise(A, count, count + N, count + N)
    solve_lower(A, e[:count])
    w.total[0] = dot(e[:count], e[:count])
    if not all_finite(w.total):
        return 1
    for i in range(N):
        row = A[count + i]
        x[i] += dot(row[:count], e[:count])
        for c in range(N):
            S[i, c] = row[count + c] if c <= i else 0.0
    return 0


def covariance_of(S: Matrix) -> Array:
    """Return P = S S^T."""
    return S @ S.T
