# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Derivatives of the stress forces of a block of points, by deformation gradients.

With d = f (x1, x2) the deformation gradient is linear in the four values X = (f, df/dx1, df/dx2,
df/ds) of the dilation, and in the strains,

    F = [ f + x1 X1    x1 X2        x1 X3 - kz d2 + gx ]
        [ x2 X1        f + x2 X2    x2 X3 + kz d1 + gy ]
        [ 0            0            lambda + kx d2 - ky d1 ].

So its derivatives need those of X, which are traced
(:mod:`softrobot_dynamics.bodies.lvp.emit_derivatives`), and the stress works along second
derivatives of F as four numbers do along those of X.
"""

from softrobot_dynamics.bodies.lvp.dilation_rows import by_pair, by_strain, RATES, STRAIN_RATE
from softrobot_dynamics.bodies.lvp.section_rows import DILATING_COUNT, slot, weighted_dot
from softrobot_dynamics.compiling.jit import kernel, reduction
from softrobot_dynamics.kernels.reductions import BLOCK

B = BLOCK

# rows of work: of the stress along f, X1, X2, X3, kz f, kx f and ky f; along second derivatives by
# pairs of dilating strains, and by one and the derivative of another; by a dilating strain and kz
STRESS_WORK, SECOND_WORK, MIXED_WORK, TWIST_WORK = (
    0,
    7,
    7 + DILATING_COUNT * DILATING_COUNT,
    7 + 2 * DILATING_COUNT * DILATING_COUNT,
)
WORK_ROWS = TWIST_WORK + DILATING_COUNT
KAPPA_Z, STRETCH = 2, 5


@kernel
def fill_gradients(places, Z, U, F, rate, room):
    """F and dF/dt of points (2 rows) with strains Z, dilation U, nine rows each; room for two."""
    one, none = room[:B], room[B : 2 * B]
    for k in range(B):
        one[k], none[k] = 1.0, 0.0
    _fill_linear((one, none), places, Z, U, F)
    _fill_linear((one, none), places, Z, U[RATES * B :], rate)
    _add_moved(one, places, Z, U, rate)
    for i in range(3):
        row, by_time = Z[(3 + i) * B :], Z[(STRAIN_RATE + 3 + i) * B :]
        out, out_rate = F[(2 + 3 * i) * B :], rate[(2 + 3 * i) * B :]
        for k in range(B):
            out[k] += row[k]
            out_rate[k] += by_time[k]


@kernel
def _fill_linear(shape, places, Z, X, out):
    """Nine rows that are linear in the four of X, times a shape with its derivative."""
    phi, derivative = shape
    for k in range(B):
        x1, x2, p = places[k], places[B + k], phi[k]
        f, f1, f2 = p * X[k], p * X[B + k], p * X[2 * B + k]
        fs, twist = p * X[3 * B + k] + derivative[k] * X[k], Z[KAPPA_Z * B + k] * f
        out[k] = f + x1 * f1
        out[B + k] = x1 * f2
        out[2 * B + k] = x1 * fs - x2 * twist
        out[3 * B + k] = x2 * f1
        out[4 * B + k] = f + x2 * f2
        out[5 * B + k] = x2 * fs + x1 * twist
        out[6 * B + k] = 0.0
        out[7 * B + k] = 0.0
        out[8 * B + k] = (Z[k] * x2 - Z[B + k] * x1) * f


@kernel
def _add_moved(phi, places, Z, f, rate):
    """Add the terms of the rates of kz, kx and ky, times f and a shape, to a time derivative."""
    rates = Z[STRAIN_RATE * B : (STRAIN_RATE + 3) * B]
    for k in range(B):
        x1, x2, p = places[k], places[B + k], phi[k] * f[k]
        twist = rates[KAPPA_Z * B + k] * p
        rate[2 * B + k] -= x2 * twist
        rate[5 * B + k] += x1 * twist
        rate[8 * B + k] += (rates[k] * x2 - rates[B + k] * x1) * p


@kernel
def fill_columns(n, strains, shapes, derivatives, places, rows, G, moved):
    """dF/dq_j of all coordinates into G, and their derivatives by time, nine rows each."""
    Z, U = rows
    for j in range(n):
        strain, z = int(strains[j]), slot(strains[j])
        phi, derivative = shapes[j * B : (j + 1) * B], derivatives[j * B : (j + 1) * B]
        out, out_rate = G[9 * B * j : 9 * B * (j + 1)], moved[9 * B * j : 9 * B * (j + 1)]
        if z >= 0:
            dilated = U[by_strain(z) * B : (by_strain(z) + 9) * B]
            _dilate(strain, (phi, derivative), places, (Z, U), dilated, out, out_rate)
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
def _dilate(strain, shape, places, rows, dilated, out, rate):
    """Column of a strain that dilates sections."""
    phi, _ = shape
    Z, U = rows
    _fill_linear(shape, places, Z, dilated, out)
    _fill_linear(shape, places, Z, dilated[4 * B :], rate)
    _add_moved(phi, places, Z, dilated, rate)
    last, last_rate = out[8 * B :], rate[8 * B :]
    if strain < 2:  # kappa_x along x2, kappa_y against x1
        arm, sign = places[(1 - strain) * B :], 1.0 - 2.0 * strain
        for k in range(B):
            x = sign * arm[k] * phi[k]
            last[k] += x * U[k]
            last_rate[k] += x * U[RATES * B + k]
    elif strain == STRETCH:
        for k in range(B):
            last[k] += phi[k]


@kernel
def add_bent_stress(n, strains, shapes, derivatives, places, rows, S, out):
    """
    Add the work of forces along second derivatives of F, and of the dilation, to out (n n,).

    ``rows``: strains, dilation, stress (9 rows, times the volume), and e and force of the points,
    3 rows each; S is scratch, 43 rows.
    """
    fill_works(strains, places, rows, S)
    for k in range(n):
        y, phi, derivative = (
            slot(strains[k]),
            shapes[k * B : (k + 1) * B],
            derivatives[k * B : (k + 1) * B],
        )
        for j in range(k + 1):
            z, other = slot(strains[j]), shapes[j * B : (j + 1) * B]
            value = 0.0
            if y >= 0 and z >= 0:
                pair = DILATING_COUNT * y + z
                bent = S[(SECOND_WORK + pair) * B : (SECOND_WORK + pair + 1) * B]
                differentiated = S[(MIXED_WORK + pair) * B : (MIXED_WORK + pair + 1) * B]
                value = _bend(
                    phi, derivative, other, derivatives[j * B : (j + 1) * B], bent, differentiated
                )
            elif y >= 0 and strains[j] == KAPPA_Z:
                value = weighted_dot(
                    phi, other, S[(TWIST_WORK + y) * B : (TWIST_WORK + y + 1) * B]
                )
            elif z >= 0 and strains[k] == KAPPA_Z:
                value = weighted_dot(
                    phi, other, S[(TWIST_WORK + z) * B : (TWIST_WORK + z + 1) * B]
                )
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
        dilated = U[by_strain(z) * B :]
        twisted, share = S[(TWIST_WORK + z) * B :], S[4 * B : 5 * B]
        for k in range(B):
            twisted[k] = share[k] * dilated[k]
        for i in range(len(strains)):
            y = slot(strains[i])
            if y >= 0:
                other, pair = U[by_strain(y) * B :], U[by_pair(y, z) * B :]
                bent, differentiated = (
                    S[(SECOND_WORK + DILATING_COUNT * y + z) * B :],
                    S[(MIXED_WORK + DILATING_COUNT * y + z) * B :],
                )
                _work_of_pair(y, z, (dilated, other, pair), S[: 7 * B], bent, differentiated)


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
def _work_of_pair(y, z, dilated, works, bent, differentiated):
    """Work along the second derivatives by two dilating strains, and by the derivative of one."""
    by_z, by_y, pair = dilated
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
        differentiated[k] = own * pair[k]


@reduction
def _bend(phi, derivative, other, other_derivative, bent, differentiated):
    """Sum of the work along the second derivative by two coordinates."""
    total = 0.0
    for k in range(len(phi)):
        mixed = phi[k] * other_derivative[k] + derivative[k] * other[k]
        total += phi[k] * other[k] * bent[k] + mixed * differentiated[k]
    return total
