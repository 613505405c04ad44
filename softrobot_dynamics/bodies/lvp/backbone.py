# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Frames along a backbone whose strains are polynomials, with their derivatives, at fixed nodes.

The backbone starts at the identity and follows its strains, dR/ds = R hat(kappa) and
dp/ds = R gamma. The rotation is a power series in s of a quaternion, which converges for any
strain. All else is an integral of what is known at the nodes: with the spatial rotation Jacobian
eta_j of coordinate j, which moves strain by phi_j,

    d eta_j / ds = R phi_j                            (phi_j in kappa)
    d (dp/dq_j) / ds = eta_j x R gamma + R phi_j      (phi_j in gamma)

and likewise for the second derivative along qd. The nodes are 15 Gauss
points and the tip; polynomials of degree 15 interpolate between them.
"""

import numpy as np
from softrobot_dynamics.bodies.lvp.backbone_tables import NODES, read_numbers
from softrobot_dynamics.compiling.jit import kernel

MAX_SHAPE_DEGREE = 6  # degree in s of a shape
MAX_SERIES_TERMS = 36  # of the power series, per power of s in the strains
STRAINS = 7  # kappa_x kappa_y kappa_z gamma_x gamma_y lambda, and the source
MAX_FOLD_FRACTION = 0.99  # of the curvature at which the inner side of a bend folds
MAX_TURN = 6.5  # [rad] in all along the backbone; more is not resolved by the nodes
MAX_WINDING = 13.0  # [rad] sum over the powers of s of L |kappa|: the series loses no digits

SCRATCH = (2 * STRAINS + 9) * NODES + (4 * MAX_SERIES_TERMS + 3) * (MAX_SHAPE_DEGREE + 1)
"""Length of the scratch of :func:`backbone`."""

ROTATION, ORIGIN, RATE, SPIN_BIAS, BIAS, COLUMNS = 0, 9, 12, 15, 18, 21


@kernel
def backbone(n, B, q, qd, F, V):
    """
    Fill the frames F, (21 + 6 n) rows of 16 nodes; False where the body cannot be so deformed.

    Rows: rotation (9), origin (3), angular velocity (3), its bias (3), bias of the origin (3),
    then eta_j (3 n) and dp/dq_j (3 n): all in S_J. B is of
    ``backbone_tables.numbers``; V is scratch, SCRATCH numbers.
    """
    N = NODES
    b = read_numbers(n, B)
    Z = V[: 2 * STRAINS * N]  # strains and their rates
    strain_rows(n, b.strains, b.shapes, 1.0, q, qd, Z)
    if not _possible(b, Z):
        return False
    if not _rotations(n, b, q, F, V[2 * STRAINS * N :]):
        return False
    R, G, T = F[: 9 * N], V[2 * STRAINS * N :][: 6 * N], V[2 * STRAINS * N :][6 * N : 9 * N]
    turn_rows(R, Z[3 * N : 6 * N], G[: 3 * N])  # R gamma
    turn_rows(R, Z[(STRAINS + 3) * N : (STRAINS + 6) * N], G[3 * N :])  # R dgamma/dt
    integrate(b.integrals, G, F[ORIGIN * N : RATE * N])
    _columns(n, b, G, F, T)
    _biases(n, b.integrals, qd, Z[STRAINS * N : (STRAINS + 3) * N], G, F, T)
    return True


@kernel
def tip_frame(n, F, W):
    """Write the tip's frame slab (see :mod:`softrobot_dynamics.kernels.layout`) from frames F."""
    N = NODES
    tip = N - 1
    for i in range(9):
        W[i] = F[i * N + tip]
    for i in range(3):
        W[9 + i] = F[(ORIGIN + i) * N + tip]
        W[15 + i] = F[(BIAS + i) * N + tip]
        W[12 + i] = _back(F, SPIN_BIAS, i)
        for j in range(n):
            W[18 + 3 * j + i] = _back(F, COLUMNS + 3 * j, i)
            W[18 + 3 * n + 3 * j + i] = F[(COLUMNS + 3 * n + 3 * j + i) * N + tip]


@kernel
def _back(F, row, i):
    """Entry i of R^T v at the tip, of the vector v in three rows of F."""
    N, tip = NODES, NODES - 1
    return (
        F[i * N + tip] * F[row * N + tip]
        + F[(3 + i) * N + tip] * F[(row + 1) * N + tip]
        + F[(6 + i) * N + tip] * F[(row + 2) * N + tip]
    )


@kernel
def strain_rows(n, strains, shapes, rest, q, qd, Z):
    """Strains (7 rows) and their rates (7 rows) at 16 places; lambda is ``rest`` at q = 0."""
    N = NODES
    Z[:] = 0.0
    for i in range(N):
        Z[5 * N + i] = rest
    for j in range(n):
        row, phi = int(strains[j]), shapes[j * N : (j + 1) * N]
        z = Z[row * N : (row + 1) * N]
        dz = Z[(STRAINS + row) * N : (STRAINS + row + 1) * N]
        for i in range(len(phi)):  # were it a literal, this would be unrolled, not vectorised
            z[i] += q[j] * phi[i]
            dz[i] += qd[j] * phi[i]


@kernel
def _possible(b, Z):
    """Tell whether no section folds, vanishes or closes, and the backbone is not wound up."""
    N = NODES
    turn = 0.0
    for i in range(N):
        x, y, z, stretch, source = Z[i], Z[N + i], Z[2 * N + i], Z[5 * N + i], Z[6 * N + i]
        bend = x * x + y * y
        if not (stretch > 0.0 and b.inner2 + source >= 0.0):
            return False
        if (
            not 3.0 * bend * (b.outer2 + source)
            < MAX_FOLD_FRACTION * MAX_FOLD_FRACTION * stretch * stretch * stretch
        ):
            return False
        if i < N - 1:
            turn += b.integrals[i * N + N - 1] * np.sqrt(bend + z * z)
    return turn < MAX_TURN


@kernel
def _rotations(n, b, q, F, V):
    """Rotations at the nodes, by a series of quaternions; False if wound up too far."""
    N, degree = NODES, b.degree
    last = MAX_SERIES_TERMS * degree
    K, Q = V[: 3 * degree], V[3 * degree : 3 * degree + 4 * last]
    K[:] = 0.0
    for j in range(n):
        row = int(b.strains[j])
        if row < 3:
            for d in range(degree):
                K[3 * d + row] += 0.5 * b.length * q[j] * b.table[j * degree + d]
    winding = 0.0
    for d in range(degree):
        x, y, z = K[3 * d], K[3 * d + 1], K[3 * d + 2]
        winding += 2.0 * np.sqrt(x * x + y * y + z * z)
    if not winding < MAX_WINDING:
        return False
    Q[0], Q[1], Q[2], Q[3] = 1.0, 0.0, 0.0, 0.0
    count, small = 1, 0
    while count < last and small < degree:
        w0 = w1 = w2 = w3 = 0.0
        for m in range(min(degree, count)):
            k, p = 3 * m, 4 * (count - 1 - m)
            x, y, z = K[k], K[k + 1], K[k + 2]
            w0 -= Q[p + 1] * x + Q[p + 2] * y + Q[p + 3] * z
            w1 += Q[p] * x + Q[p + 2] * z - Q[p + 3] * y
            w2 += Q[p] * y + Q[p + 3] * x - Q[p + 1] * z
            w3 += Q[p] * z + Q[p + 1] * y - Q[p + 2] * x
        p = 4 * count
        Q[p], Q[p + 1], Q[p + 2], Q[p + 3] = w0 / count, w1 / count, w2 / count, w3 / count
        size = abs(Q[p]) + abs(Q[p + 1]) + abs(Q[p + 2]) + abs(Q[p + 3])
        small = small + 1 if size < 1e-17 else 0
        count += 1
    _evaluate(count, Q, b.nodes, F[9 * N : 13 * N])
    _matrices(F[9 * N : 13 * N], F[: 9 * N])
    return True


@kernel
def _evaluate(count, Q, nodes, out):
    """Four polynomials with interleaved coefficients Q at the nodes, rows of out."""
    N = NODES
    a, b, c, d = out[:N], out[N : 2 * N], out[2 * N : 3 * N], out[3 * N : 4 * N]
    out[:] = 0.0
    for m in range(count - 1, -1, -1):
        A, B, C, D = Q[4 * m], Q[4 * m + 1], Q[4 * m + 2], Q[4 * m + 3]
        for i in range(N):
            a[i] = a[i] * nodes[i] + A
            b[i] = b[i] * nodes[i] + B
            c[i] = c[i] * nodes[i] + C
            d[i] = d[i] * nodes[i] + D


@kernel
def _matrices(Q, R):
    """Rotation matrices, nine rows, of unit quaternions, four rows."""
    N = NODES
    for i in range(N):
        a, b, c, d = Q[i], Q[N + i], Q[2 * N + i], Q[3 * N + i]
        R[i] = 1.0 - 2.0 * (c * c + d * d)
        R[N + i] = 2.0 * (b * c - a * d)
        R[2 * N + i] = 2.0 * (b * d + a * c)
        R[3 * N + i] = 2.0 * (b * c + a * d)
        R[4 * N + i] = 1.0 - 2.0 * (b * b + d * d)
        R[5 * N + i] = 2.0 * (c * d - a * b)
        R[6 * N + i] = 2.0 * (b * d - a * c)
        R[7 * N + i] = 2.0 * (c * d + a * b)
        R[8 * N + i] = 1.0 - 2.0 * (b * b + c * c)


@kernel
def turn_rows(R, v, out):
    """Out = R v, rows of nodes."""
    N = NODES
    for c in range(3):
        a, b, d, o = R[3 * c * N :], R[(3 * c + 1) * N :], R[(3 * c + 2) * N :], out[c * N :]
        for i in range(N):
            o[i] = a[i] * v[i] + b[i] * v[N + i] + d[i] * v[2 * N + i]


@kernel
def integrate(A, f, out):
    """Integrals of three rows from 0 to each node; written out to stay in registers."""
    N = NODES
    A = A[: N * (N - 1)]
    for c in range(3):
        o, r = out[c * N : (c + 1) * N], f[c * N : (c + 1) * N]
        r0, r1, r2, r3, r4, r5, r6, r7 = r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7]
        r8, r9, ra, rb, rc, rd, re = r[8], r[9], r[10], r[11], r[12], r[13], r[14]
        for i in range(N):
            first = r0 * A[i] + r1 * A[N + i] + r2 * A[2 * N + i] + r3 * A[3 * N + i]
            second = r4 * A[4 * N + i] + r5 * A[5 * N + i] + r6 * A[6 * N + i] + r7 * A[7 * N + i]
            third = r8 * A[8 * N + i] + r9 * A[9 * N + i] + ra * A[10 * N + i] + rb * A[11 * N + i]
            fourth = rc * A[12 * N + i] + rd * A[13 * N + i] + re * A[14 * N + i]
            o[i] = (first + second) + (third + fourth)


@kernel
def _columns(n, b, G, F, T):
    """Eta_j and dp/dq_j of all coordinates."""
    N, A = NODES, b.integrals
    for j in range(n):
        row, phi = int(b.strains[j]), b.shapes[j * N : (j + 1) * N]
        eta = F[(COLUMNS + 3 * j) * N : (COLUMNS + 3 * j + 3) * N]
        linear = F[(COLUMNS + 3 * (n + j)) * N : (COLUMNS + 3 * (n + j) + 3) * N]
        if row < 3:
            for c in range(3):
                axis, t = F[(3 * c + row) * N :], T[c * N :]
                for i in range(N):
                    t[i] = axis[i] * phi[i]
            integrate(A, T, eta)
            for i in range(N):
                x, y, z = eta[i], eta[N + i], eta[2 * N + i]
                T[i] = y * G[2 * N + i] - z * G[N + i]
                T[N + i] = z * G[i] - x * G[2 * N + i]
                T[2 * N + i] = x * G[N + i] - y * G[i]
        else:
            eta[:] = 0.0
            for c in range(3):
                axis, t = F[(3 * c + row - 3) * N :], T[c * N :]
                for i in range(N):
                    t[i] = axis[i] * phi[i] if row < 6 else 0.0
        integrate(A, T, linear)


@kernel
def _biases(n, A, qd, rates, G, F, T):
    """Angular velocity w, its bias a, and the bias of the origin: second derivatives along qd."""
    N = NODES
    w = F[RATE * N : (RATE + 3) * N]
    w[:] = 0.0
    for j in range(n):
        eta = F[(COLUMNS + 3 * j) * N : (COLUMNS + 3 * j + 3) * N]
        for i in range(3 * N):
            w[i] += eta[i] * qd[j]
    bias, origin = F[SPIN_BIAS * N : BIAS * N], F[BIAS * N : COLUMNS * N]
    turn_rows(F[: 9 * N], rates, T)
    for i in range(N):  # da/ds = w x R dkappa/dt
        x, y, z = T[i], T[N + i], T[2 * N + i]
        T[i] = w[N + i] * z - w[2 * N + i] * y
        T[N + i] = w[2 * N + i] * x - w[i] * z
        T[2 * N + i] = w[i] * y - w[N + i] * x
    integrate(A, T, bias)
    for i in range(N):  # a x g + w x (w x g + 2 R dgamma/dt), g = R gamma
        g0, g1, g2 = G[i], G[N + i], G[2 * N + i]
        w0, w1, w2 = w[i], w[N + i], w[2 * N + i]
        a0, a1, a2 = bias[i], bias[N + i], bias[2 * N + i]
        u0 = w1 * g2 - w2 * g1 + 2.0 * G[3 * N + i]
        u1 = w2 * g0 - w0 * g2 + 2.0 * G[4 * N + i]
        u2 = w0 * g1 - w1 * g0 + 2.0 * G[5 * N + i]
        T[i] = a1 * g2 - a2 * g1 + w1 * u2 - w2 * u1
        T[N + i] = a2 * g0 - a0 * g2 + w2 * u0 - w0 * u2
        T[2 * N + i] = a0 * g1 - a1 * g0 + w0 * u1 - w1 * u0
    integrate(A, T, origin)
