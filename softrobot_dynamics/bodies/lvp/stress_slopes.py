# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Slopes of what a block of points demands for its strain: gradients, and how they change.

With d = f (x1, x2) the deformation gradient is linear in the four values X = (f, df/dx1, df/dx2,
df/ds) of the growth, and in the strains,

    F = [ f + x1 X1    x1 X2        x1 X3 - kz d2 + gx ]
        [ x2 X1        f + x2 X2    x2 X3 + kz d1 + gy ]
        [ 0            0            lambda + kx d2 - ky d1 ].

So its derivatives need those of X, which are traced
(:mod:`softrobot_dynamics.bodies.lvp.emit_slopes`), and the stress works along second derivatives
of F as four numbers do along those of X.
"""

from softrobot_dynamics.bodies.lvp.growth_rows import by_pair, by_strain, RATES, STRAIN_RATE
from softrobot_dynamics.bodies.lvp.section_rows import slot, SLOTS
from softrobot_dynamics.compiling.jit import inlined, kernel, reduction
from softrobot_dynamics.kernels.reductions import BLOCK

B = BLOCK

# rows of work: of the stress along f, X1, X2, X3, kz f, kx f and ky f; along second derivatives by
# pairs of growing strains, and by one and the slope of another; by a growing strain and kz
WORKS, BENT, SLOPED, TWISTED = 0, 7, 7 + SLOTS * SLOTS, 7 + 2 * SLOTS * SLOTS
WORK_ROWS = TWISTED + SLOTS
KAPPA_Z = 2


@kernel
def fill_gradients(places, Z, U, F, rate):
    """F and dF/dt of points (2 rows) with strains Z and growth U, nine rows each."""
    for k in range(B):
        x1, x2 = places[k], places[B + k]
        kx, ky, kz = Z[k], Z[B + k], Z[KAPPA_Z * B + k]
        f, v = U[k], U[RATES * B + k]
        _put_linear(
            F, k, (x1, x2), (f, U[B + k], U[2 * B + k], U[3 * B + k]), kz, kx * x2 - ky * x1
        )
        F[2 * B + k] += Z[3 * B + k]
        F[5 * B + k] += Z[4 * B + k]
        F[8 * B + k] += Z[5 * B + k]
        X = v, U[(RATES + 1) * B + k], U[(RATES + 2) * B + k], U[(RATES + 3) * B + k]
        _put_linear(rate, k, (x1, x2), X, kz, kx * x2 - ky * x1)
        t, y = f * Z[(STRAIN_RATE + 2) * B + k], f * x2 * Z[STRAIN_RATE * B + k]
        rate[2 * B + k] += Z[(STRAIN_RATE + 3) * B + k] - t * x2
        rate[5 * B + k] += Z[(STRAIN_RATE + 4) * B + k] + t * x1
        rate[8 * B + k] += Z[(STRAIN_RATE + 5) * B + k] + y - f * x1 * Z[(STRAIN_RATE + 1) * B + k]


@inlined
def _put_linear(F, k, x, X, kz, bend):
    """Set F by four values, without what is not proportional to them."""
    f, f1, f2, fs = X
    x1, x2 = x
    F[k], F[B + k], F[2 * B + k] = f + x1 * f1, x1 * f2, x1 * fs - kz * x2 * f
    F[3 * B + k], F[4 * B + k], F[5 * B + k] = x2 * f1, f + x2 * f2, x2 * fs + kz * x1 * f
    F[6 * B + k], F[7 * B + k], F[8 * B + k] = 0.0, 0.0, bend * f


@kernel
def fill_columns(n, strains, shapes, slopes, places, rows, G, moved):
    """dF/dq_j of all coordinates into G, and their derivatives by time, nine rows each."""
    Z, U = rows
    for j in range(n):
        strain, z = int(strains[j]), slot(strains[j])
        phi, slope = shapes[j * B : (j + 1) * B], slopes[j * B : (j + 1) * B]
        out, out_rate = G[9 * B * j : 9 * B * (j + 1)], moved[9 * B * j : 9 * B * (j + 1)]
        if z >= 0:
            grown = U[by_strain(z) * B : (by_strain(z) + 9) * B]
            _grow(strain, (phi, slope), places, (Z, U), grown, out, out_rate)
            continue
        out[:] = 0.0
        out_rate[:] = 0.0
        if strain == KAPPA_Z:
            for k in range(B):
                x1, x2, f, v = places[k], places[B + k], phi[k] * U[k], phi[k] * U[RATES * B + k]
                out[2 * B + k], out[5 * B + k] = -x2 * f, x1 * f
                out_rate[2 * B + k], out_rate[5 * B + k] = -x2 * v, x1 * v
        else:
            row = out[(3 * strain - 7) * B :]  # 2 for gamma_x, 5 for gamma_y
            for k in range(B):
                row[k] = phi[k]


@kernel
def _grow(strain, shape, places, rows, grown, out, rate):
    """Column of a strain that grows sections."""
    phi, slope = shape
    Z, U = rows
    by_2 = 1.0 if strain == 0 else 0.0
    by_1 = -1.0 if strain == 1 else 0.0
    stretch = 1.0 if strain == 5 else 0.0
    for k in range(B):
        x1, x2, p = places[k], places[B + k], phi[k]
        kz, bend = Z[KAPPA_Z * B + k], Z[k] * x2 - Z[B + k] * x1
        bent = Z[STRAIN_RATE * B + k] * x2 - Z[(STRAIN_RATE + 1) * B + k] * x1
        turned = Z[(STRAIN_RATE + KAPPA_Z) * B + k]
        f, arm = p * grown[k], by_2 * x2 + by_1 * x1
        fs = p * grown[3 * B + k] + slope[k] * grown[k]
        _put_linear(out, k, (x1, x2), (f, p * grown[B + k], p * grown[2 * B + k], fs), kz, bend)
        out[8 * B + k] += p * (arm * U[k] + stretch)
        v, fs = p * grown[4 * B + k], p * grown[7 * B + k] + slope[k] * grown[4 * B + k]
        X = v, p * grown[5 * B + k], p * grown[6 * B + k], fs
        _put_linear(rate, k, (x1, x2), X, kz, bend)
        rate[2 * B + k] -= turned * x2 * f
        rate[5 * B + k] += turned * x1 * f
        rate[8 * B + k] += bent * f + p * arm * U[RATES * B + k]


@kernel
def add_bent_stress(n, strains, shapes, slopes, places, rows, S, out):
    """
    Add the work of forces along second derivatives of F, and of the growth, to out (n n,).

    ``rows``: strains, growth, stress (9 rows, times the volume), and e and force of the points, 3
    rows each; S is scratch, 43 rows.
    """
    fill_works(strains, places, rows, S)
    for k in range(n):
        y, phi, slope = slot(strains[k]), shapes[k * B : (k + 1) * B], slopes[k * B : (k + 1) * B]
        for j in range(k + 1):
            z, other = slot(strains[j]), shapes[j * B : (j + 1) * B]
            value = 0.0
            if y >= 0 and z >= 0:
                pair = SLOTS * y + z
                bent = S[(BENT + pair) * B : (BENT + pair + 1) * B]
                sloped = S[(SLOPED + pair) * B : (SLOPED + pair + 1) * B]
                value = _bend(phi, slope, other, slopes[j * B : (j + 1) * B], bent, sloped)
            elif y >= 0 and strains[j] == KAPPA_Z:
                value = _twist(phi, other, S[(TWISTED + y) * B : (TWISTED + y + 1) * B])
            elif z >= 0 and strains[k] == KAPPA_Z:
                value = _twist(phi, other, S[(TWISTED + z) * B : (TWISTED + z + 1) * B])
            out[n * k + j] += value
            if j < k:
                out[n * j + k] += value


@kernel
def fill_works(strains, places, rows, S):
    """Rows of work, of the slots that ``strains`` move."""
    Z, U, stress, arm, force = rows
    _work_of_values(places, Z, stress, arm, force, S)
    for j in range(len(strains)):
        z = slot(strains[j])
        if z < 0:
            continue
        grown = U[by_strain(z) * B :]
        twisted, share = S[(TWISTED + z) * B :], S[4 * B : 5 * B]
        for k in range(B):
            twisted[k] = share[k] * grown[k]
        for i in range(len(strains)):
            y = slot(strains[i])
            if y >= 0:
                other, pair = U[by_strain(y) * B :], U[by_pair(y, z) * B :]
                bent, sloped = S[(BENT + SLOTS * y + z) * B :], S[(SLOPED + SLOTS * y + z) * B :]
                _work_of_pair(y, z, (grown, other, pair), S[: 7 * B], bent, sloped)


@kernel
def _work_of_values(places, Z, P, arm, force, S):
    """Work along f, df/dx1, df/dx2, df/ds; along kz f, kx f and ky f; inertia along f."""
    for k in range(B):
        x1, x2 = places[k], places[B + k]
        P2, P5, P8 = P[2 * B + k], P[5 * B + k], P[8 * B + k]
        twist = x1 * P5 - x2 * P2
        inertia = arm[k] * force[k] + arm[B + k] * force[B + k] + arm[2 * B + k] * force[2 * B + k]
        bend = Z[k] * x2 - Z[B + k] * x1
        S[k] = P[k] + P[4 * B + k] + Z[KAPPA_Z * B + k] * twist + bend * P8 + inertia
        S[B + k] = x1 * P[k] + x2 * P[3 * B + k]
        S[2 * B + k] = x1 * P[B + k] + x2 * P[4 * B + k]
        S[3 * B + k] = x1 * P2 + x2 * P5
        S[4 * B + k] = twist
        S[5 * B + k] = x2 * P8
        S[6 * B + k] = -x1 * P8


@kernel
def _work_of_pair(y, z, grown, works, bent, sloped):
    """Work along the second derivatives by two growing strains, and by the slope of one."""
    by_z, by_y, pair = grown
    first = 1.0 if y == 0 else 0.0  # kappa_x and kappa_y bend by themselves as well
    second = 1.0 if y == 1 else 0.0
    third = 1.0 if z == 0 else 0.0
    fourth = 1.0 if z == 1 else 0.0
    for k in range(B):
        own = works[3 * B + k]
        value = (
            works[k] * pair[k] + works[B + k] * pair[B + k] + works[2 * B + k] * pair[2 * B + k]
        )
        p, r = works[5 * B + k], works[6 * B + k]
        value += (first * p + second * r) * by_z[k] + (third * p + fourth * r) * by_y[k]
        bent[k] = value + own * pair[3 * B + k]
        sloped[k] = own * pair[k]


@reduction
def _bend(phi, slope, other, other_slope, bent, sloped):
    """Sum of the work along the second derivative by two coordinates."""
    total = 0.0
    for k in range(len(phi)):
        mixed = phi[k] * other_slope[k] + slope[k] * other[k]
        total += phi[k] * other[k] * bent[k] + mixed * sloped[k]
    return total


@reduction
def _twist(phi, other, work):
    """Sum of the same where one of them moves kappa_z."""
    total = 0.0
    for k in range(len(phi)):
        total += phi[k] * other[k] * work[k]
    return total
