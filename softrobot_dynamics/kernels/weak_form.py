# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Forces of stresses in bodies of linear basis: sums of volume P : G_j over blocks of points.

P is a first Piola-Kirchhoff stress and G_j = d Phi_j / dx = dF/dq_j a constant of each point. A
block's scratch S holds, BLOCK numbers each, F (9), dF/dt or the viscous stress (9), the elastic
stress (9); matrices row-major.
"""

from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.reductions import BLOCK, dot


@kernel
def deformation(n, G, q, qd, S):
    """
    Deformation gradient F = 1 + sum_j G_j q_j of a block of points and its rate, S[0:18 BLOCK].

    ``G``: dPhi_j,a/dx_b of the block, BLOCK numbers at row 9 j + 3 a + b; F and dF/dt likewise.
    """
    B = BLOCK
    F, rate = S[0 : 9 * B], S[9 * B : 18 * B]
    for k in range(9 * B):
        F[k] = rate[k] = 0.0
    for k in range(B):
        F[k] = F[4 * B + k] = F[8 * B + k] = 1.0
    for j in range(n):
        row = G[9 * B * j : 9 * B * (j + 1)]
        x, v = q[j], qd[j]
        for k in range(9 * B):
            F[k] += x * row[k]
            rate[k] += v * row[k]


@kernel
def viscous_stress(viscosity, weight, S):
    """
    Replace dF/dt by the viscous stress times the point's volume: ``weight`` [m^3] v F dC/dt.

    Its work is v/2 tr(dC/dt dC/dq_j) with C = F^T F: none in a rigid motion.
    """
    B = BLOCK
    F, D = S[0 : 9 * B], S[9 * B : 18 * B]
    for k in range(B):
        f0, f1, f2 = F[k], F[B + k], F[2 * B + k]
        f3, f4, f5 = F[3 * B + k], F[4 * B + k], F[5 * B + k]
        f6, f7, f8 = F[6 * B + k], F[7 * B + k], F[8 * B + k]
        d0, d1, d2 = D[k], D[B + k], D[2 * B + k]
        d3, d4, d5 = D[3 * B + k], D[4 * B + k], D[5 * B + k]
        d6, d7, d8 = D[6 * B + k], D[7 * B + k], D[8 * B + k]
        v = viscosity * weight[k]
        xx = v * 2.0 * (f0 * d0 + f3 * d3 + f6 * d6)
        yy = v * 2.0 * (f1 * d1 + f4 * d4 + f7 * d7)
        zz = v * 2.0 * (f2 * d2 + f5 * d5 + f8 * d8)
        xy = v * (f0 * d1 + f3 * d4 + f6 * d7 + f1 * d0 + f4 * d3 + f7 * d6)
        xz = v * (f0 * d2 + f3 * d5 + f6 * d8 + f2 * d0 + f5 * d3 + f8 * d6)
        yz = v * (f1 * d2 + f4 * d5 + f7 * d8 + f2 * d1 + f5 * d4 + f8 * d7)
        D[k] = f0 * xx + f1 * xy + f2 * xz
        D[B + k] = f0 * xy + f1 * yy + f2 * yz
        D[2 * B + k] = f0 * xz + f1 * yz + f2 * zz
        D[3 * B + k] = f3 * xx + f4 * xy + f5 * xz
        D[4 * B + k] = f3 * xy + f4 * yy + f5 * yz
        D[5 * B + k] = f3 * xz + f4 * yz + f5 * zz
        D[6 * B + k] = f6 * xx + f7 * xy + f8 * xz
        D[7 * B + k] = f6 * xy + f7 * yy + f8 * yz
        D[8 * B + k] = f6 * xz + f7 * yz + f8 * zz


@kernel
def add_forces(n, G, S, elastic, damping):
    """
    Add sum of P : G_j over a block to the elastic and to the damping force, (n,) each.

    Elastic stress times volume in rows 18 to 26 of S, viscous in rows 9 to 17.
    """
    B = BLOCK
    viscous, stress = S[9 * B : 18 * B], S[18 * B : 27 * B]
    for j in range(n):
        row = G[9 * B * j : 9 * B * (j + 1)]
        elastic[j] += dot(row, stress)
        damping[j] += dot(row, viscous)
