# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Tangents of the weak form: how forces P : dF/dq_j of stresses change with q and qd.

Sums over blocks of points of what changes the stress, P = dW/dF and v F dC/dt with C = F^T F; how
dF/dq_j itself changes is left to who knows it (it does not where F is linear in q). With the
strains E_j = dC/dq_j the work of the viscous stress is v/2 dC/dt : E_j, so that

    d(d_j)/dq_k = v ((dF/dq_k dC/dt) : dF/dq_j + d(dC/dt)/dq_k : E_j / 2),
    d(d_j)/dqd_k = v E_k : E_j / 2.

A block's scratch S holds, BLOCK numbers each, F (9), dF/dt (9), the stress (9) and its moduli
(45) as ``tracing.stress`` fills them, all times the volume of a point; then the viscous stress
(9), dC/dt (6), its change (6), and, of each coordinate, the change of the stress (9) and E_j (6).
Matrices are row-major, symmetric ones xx yy zz xy xz yz.
"""

from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.reductions import BLOCK, dot

B = BLOCK
RATE, STRESS, MODULI, VISCOUS, STRAIN, CHANGE, CHANGES = 9, 18, 27, 72, 81, 87, 93


@inlined
def stress_rows(n):
    """Return the number of rows of a block's scratch."""
    return CHANGES + 15 * n


@kernel
def add_stress_derivatives(n, viscosity, weight, G, moved, S, D):
    """
    Add the sums of a block to dQ/dq and dQ/dqd of a body's derivatives D.

    ``weight`` [m^3]: volumes; ``G``: dF/dq_j, nine rows for each j; ``moved``: their derivatives
    by time, likewise, or empty where there are none. S has F, dF/dt and the changes of stress;
    the viscous stress is left there.
    """
    own = layout.own_derivatives_offset(n)
    first = S[CHANGES * B : (CHANGES + 9 * n) * B]
    if viscosity > 0.0:
        _add_viscous_derivatives(n, viscosity, weight, G, moved, S, D[own : own + 2 * n * n])
    for k in range(n):
        change = first[9 * B * k : 9 * B * (k + 1)]
        for j in range(k + 1):
            value = dot(G[9 * B * j : 9 * B * (j + 1)], change)
            D[own + n * k + j] += value
            if j < k:
                D[own + n * j + k] += value


@kernel
def _add_viscous_derivatives(n, viscosity, weight, G, moved, S, own):
    """Add the viscous share to changes of stress, and the rest of it to ``own``."""
    F, rate, strain = S[: 9 * B], S[RATE * B : STRESS * B], S[STRAIN * B : CHANGE * B]
    change, strains = S[CHANGE * B : CHANGES * B], S[(CHANGES + 9 * n) * B :]
    strain[:] = 0.0
    _add_strain(F, rate, strain)
    S[VISCOUS * B : STRAIN * B] = 0.0
    _add_product(viscosity, weight, F, strain, S[VISCOUS * B : STRAIN * B])
    strains[: 6 * n * B] = 0.0
    for k in range(n):
        along, mine = G[9 * B * k : 9 * B * (k + 1)], strains[6 * B * k : 6 * B * (k + 1)]
        _add_strain(F, along, mine)
        stress = S[(CHANGES + 9 * k) * B : (CHANGES + 9 * (k + 1)) * B]
        _add_product(viscosity, weight, along, strain, stress)
    for k in range(n):
        along = G[9 * B * k : 9 * B * (k + 1)]
        change[:] = 0.0
        _add_strain(along, rate, change)
        if len(moved) > 0:
            _add_strain(F, moved[9 * B * k : 9 * B * (k + 1)], change)
        _weigh(0.5 * viscosity, weight, change)
        for j in range(n):
            own[n * k + j] += dot(strains[6 * B * j : 6 * B * (j + 1)], change)
        for c in range(6 * B):
            change[c] = strains[6 * B * k + c]
        _weigh(0.5 * viscosity, weight, change)
        for j in range(k + 1):
            value = dot(strains[6 * B * j : 6 * B * (j + 1)], change)
            own[n * (n + k) + j] += value
            if j < k:
                own[n * (n + j) + k] += value


@kernel
def add_viscous_stress(S):
    """Add to the stress in S the viscous one, that :func:`add_stress_derivatives` has left."""
    for k in range(9 * B):
        S[STRESS * B + k] += S[VISCOUS * B + k]


@kernel
def _weigh(factor, weight, strain):
    """Weight a symmetric matrix for inner products: entries off the diagonal count twice."""
    for r in range(6):
        row, share = strain[r * B : (r + 1) * B], factor if r < 3 else 2.0 * factor
        for k in range(len(row)):
            row[k] *= share * weight[k]


@kernel
def _add_strain(F, G, out):
    """Add F^T G + G^T F."""
    for k in range(B):
        f0, f1, f2, f3, f4 = F[k], F[B + k], F[2 * B + k], F[3 * B + k], F[4 * B + k]
        f5, f6, f7, f8 = F[5 * B + k], F[6 * B + k], F[7 * B + k], F[8 * B + k]
        g0, g1, g2, g3, g4 = G[k], G[B + k], G[2 * B + k], G[3 * B + k], G[4 * B + k]
        g5, g6, g7, g8 = G[5 * B + k], G[6 * B + k], G[7 * B + k], G[8 * B + k]
        out[k] += 2.0 * (f0 * g0 + f3 * g3 + f6 * g6)
        out[B + k] += 2.0 * (f1 * g1 + f4 * g4 + f7 * g7)
        out[2 * B + k] += 2.0 * (f2 * g2 + f5 * g5 + f8 * g8)
        out[3 * B + k] += f0 * g1 + f3 * g4 + f6 * g7 + g0 * f1 + g3 * f4 + g6 * f7
        out[4 * B + k] += f0 * g2 + f3 * g5 + f6 * g8 + g0 * f2 + g3 * f5 + g6 * f8
        out[5 * B + k] += f1 * g2 + f4 * g5 + f7 * g8 + g1 * f2 + g4 * f5 + g7 * f8


@kernel
def _add_product(viscosity, weight, F, strain, out):
    """Add F times a symmetric matrix, viscosity and volume."""
    for k in range(B):
        v = viscosity * weight[k]
        xx, yy, zz = v * strain[k], v * strain[B + k], v * strain[2 * B + k]
        xy, xz, yz = v * strain[3 * B + k], v * strain[4 * B + k], v * strain[5 * B + k]
        f0, f1, f2, f3, f4 = F[k], F[B + k], F[2 * B + k], F[3 * B + k], F[4 * B + k]
        f5, f6, f7, f8 = F[5 * B + k], F[6 * B + k], F[7 * B + k], F[8 * B + k]
        out[k] += f0 * xx + f1 * xy + f2 * xz
        out[B + k] += f0 * xy + f1 * yy + f2 * yz
        out[2 * B + k] += f0 * xz + f1 * yz + f2 * zz
        out[3 * B + k] += f3 * xx + f4 * xy + f5 * xz
        out[4 * B + k] += f3 * xy + f4 * yy + f5 * yz
        out[5 * B + k] += f3 * xz + f4 * yz + f5 * zz
        out[6 * B + k] += f6 * xx + f7 * xy + f8 * xz
        out[7 * B + k] += f6 * xy + f7 * yy + f8 * yz
        out[8 * B + k] += f6 * xz + f7 * yz + f8 * zz
