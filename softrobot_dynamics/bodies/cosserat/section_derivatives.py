# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Sums over the sections of a rod: from columns and their rates to the derivatives of a body.

Each section is a body of its own in the formulas of
:mod:`softrobot_dynamics.recursion.derivative_passes`, with its inertia I, the matrix B of its
velocities and the wrench f that accelerates it. Twists and accelerations contain those of S_J, and
are expressed in it.
"""

from softrobot_dynamics.bodies.cosserat.rod_steps import RATE, TWIST
from softrobot_dynamics.bodies.cosserat.rod_sums import (
    add_six,
    INERTIA,
    inertia_times,
    moving,
    over_lanes,
    section_inertia,
)
from softrobot_dynamics.bodies.cosserat.step_derivatives import MAPS_END
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.lanes import add6, get3, get6, LANES, put3, put6, scale6
from softrobot_dynamics.kernels.reductions import dot
from softrobot_dynamics.kernels.spatial import cross_wrench, spin_matrix

B = LANES
# rows of S after those of the maps: B to the moment (9), twice the momentum (3); C_k by q, by qd
_SPIN, _BY_Q = MAPS_END, MAPS_END + 12 * B
_BY_RATE, ROWS_END = MAPS_END + 18 * B, MAPS_END + 24 * B


@kernel
def add_section_derivatives(n, C, columns, force, total, S, D):
    """
    Add a block of sections to D, but for dV_j/dq_k; ``total`` (10,) is their inertia.

    ``columns`` (18 n rows): V_j, then its first and second derivatives by time, at the sections;
    ``force`` (6 rows) becomes what accelerates each.
    """
    section_inertia(C, S, total)
    spin = layout.spin_offset(n)
    _forces(S, force, D[spin : spin + 9])
    f, own = layout.force_derivatives_offset(n), layout.own_derivatives_offset(n)
    spins = layout.spins_offset(n)
    by_q, by_rate = S[_BY_Q : _BY_Q + 6 * B], S[_BY_RATE : _BY_RATE + 6 * B]
    first, second = columns[6 * n * B :], columns[12 * n * B :]
    for k in range(n):
        x = f + 6 * k
        V, d = columns[6 * k * B : 6 * (k + 1) * B], spins + 3 * k
        _change(V, first[6 * k * B :], second[6 * k * B :], force, S, D[d : d + 3])
        _add_up(by_q, D[x : x + 6])
        x += 6 * n
        _add_up(by_rate, D[x : x + 6])
        for j in range(n):
            V = columns[6 * j * B : 6 * (j + 1) * B]
            D[own + n * k + j] += dot(V, by_q)
            D[own + n * n + n * k + j] += dot(V, by_rate)


@over_lanes
def _forces(S, force, spin):
    """Wrench that accelerates each section, and its B, whose moments are added to spin (9,)."""
    a = b = c = d = e = f = g = h = i = 0.0
    for k in range(B):
        twist = get6(S, TWIST, k)
        put6(force, 0, k, add6(inertia_times(S, k, get6(S, RATE, k)), moving(S, k, twist)))
        ten = get6(S, INERTIA, k)[:4] + get6(S, INERTIA + 4 * B, k)
        rows, momentum = spin_matrix(ten, twist)
        put6(S, _SPIN, k, rows[:6])
        put3(S, _SPIN + 6 * B, k, rows[6:])
        put3(S, _SPIN + 9 * B, k, momentum)
        a, b, c, d, e = a + rows[0], b + rows[1], c + rows[2], d + rows[3], e + rows[4]
        f, g, h, i = f + rows[5], g + rows[6], h + rows[7], i + rows[8]
    add_six(spin, (a, b, c, d, e, f))
    spin[6] += g
    spin[7] += h
    spin[8] += i


@over_lanes
def _change(V, first, second, force, S, turning):
    """C_k of each section by q and by qd, for one coordinate; adds B^T V_k to turning (3,)."""
    a = b = c = 0.0
    for k in range(B):
        x, rate = get6(V, 0, k), get6(first, 0, k)
        w0, w1, w2, v0, v1, v2 = x
        d0, d1, d2 = rate[:3]
        s0, s1, s2 = get3(S, _SPIN, k)
        s3, s4, s5 = get3(S, _SPIN + 3 * B, k)
        s6, s7, s8 = get3(S, _SPIN + 6 * B, k)
        p0, p1, p2 = get3(S, _SPIN + 9 * B, k)
        moved = (
            s0 * d0 + s1 * d1 + s2 * d2,
            s3 * d0 + s4 * d1 + s5 * d2,
            s6 * d0 + s7 * d1 + s8 * d2,
            d1 * p2 - d2 * p1,
            d2 * p0 - d0 * p2,
            d0 * p1 - d1 * p0,
        )
        turned = (
            s0 * w0 + s1 * w1 + s2 * w2,
            s3 * w0 + s4 * w1 + s5 * w2,
            s6 * w0 + s7 * w1 + s8 * w2,
            w1 * p2 - w2 * p1,
            w2 * p0 - w0 * p2,
            w0 * p1 - w1 * p0,
        )
        pushed = add6(inertia_times(S, k, get6(second, 0, k)), moved)
        put6(S, _BY_Q, k, add6(pushed, cross_wrench(x, get6(force, 0, k))))
        put6(S, _BY_RATE, k, add6(turned, scale6(2.0, inertia_times(S, k, rate))))
        a += s0 * w0 + s3 * w1 + s6 * w2 + p1 * v2 - p2 * v1
        b += s1 * w0 + s4 * w1 + s7 * w2 + p2 * v0 - p0 * v2
        c += s2 * w0 + s5 * w1 + s8 * w2 + p0 * v1 - p1 * v0
    turning[0] += a
    turning[1] += b
    turning[2] += c


@over_lanes
def _add_up(rows, out):
    """Add the sums of six rows to out (6,)."""
    a = b = c = d = e = f = 0.0
    for k in range(B):
        m0, m1, m2, f0, f1, f2 = get6(rows, 0, k)
        a, b, c, d, e, f = a + m0, b + m1, c + m2, d + f0, e + f1, f + f2
    add_six(out, (a, b, c, d, e, f))


@kernel
def subtract_turning(total, w, spin):
    """Subtract the share of S_J's rotation w (3,) from the sum of B; ``total``: inertia (10,)."""
    ten = (
        total[0], total[1], total[2], total[3], total[4],
        total[5], total[6], total[7], total[8], total[9],
    )  # fmt: skip
    rows, _ = spin_matrix(ten, (w[0], w[1], w[2], 0.0, 0.0, 0.0))
    for c in range(9):
        spin[c] -= rows[c]
