# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Momenta and bias forces of the sections of a body, by the moments of each and its frame.

A section lies at o with axes R, its points at p = o + u, u = R d, d = f(x, z) (x1, x2, 0). It is
thus a body that moves with its frame and dilates with its strains z: with eta_j and c_j the
rotation and the translation of the frame by coordinate j, which moves z by phi_j,

    dp/dq_j = c_j + eta_j x u + phi_j R dd/dz

and, with the frame's angular velocity v and its bias, the velocity-product acceleration is

    a = A + alpha x u + s x (s x u + 2 R dd/dt) + R bias(d),    s = w + v,

A and alpha being those of the frame. A section dilates along its radii, d x dd/dz = 0, so that the
integrals of these and of their products need few moments of d. Stations go in groups, see
:mod:`softrobot_dynamics.kernels.lanes`.
"""

from softrobot_dynamics.bodies.lvp.backbone import BIAS, COLUMNS, ORIGIN, RATE, SPIN_BIAS, STRAINS
from softrobot_dynamics.compiling.jit import inlined, kernel, reduction
from softrobot_dynamics.kernels.lanes import LANES

DILATING_STRAINS = 0, 1, 5, 6  # that deform a section: kappa_x, kappa_y, lambda, source
DILATING_COUNT = len(DILATING_STRAINS)

# rows of moments: int dm, int d, int d d^T (11 12 22), int bias(d); of each dilating strain z
# int dd/dz, int d (dd/dz)^T (11 12 22) and int dd/dz . bias(d); of pairs int dd/dz . dd/dz';
# elastic and viscous force on each strain, then on the derivative of each dilating one
MASS, FIRST, SECOND, BETA, DILATION, ROWS_PER_DILATING = 0, 1, 3, 6, 8, 6
PAIRS = DILATION + ROWS_PER_DILATING * DILATING_COUNT
ELASTIC = PAIRS + DILATING_COUNT * DILATING_COUNT
VISCOUS = ELASTIC + STRAINS + DILATING_COUNT
MOMENTS = VISCOUS + STRAINS + DILATING_COUNT

# rows of scratch: int u, int u.u - u u^T (11 12 13 22 23 33), int R dd/dz of each dilating strain,
# bias moment about o and bias force, bias of each dilating strain; then those of each coordinate:
# phi int R dd/dz, eta, c, and the angular and the linear momentum about o
CENTRE, INERTIA, DILATED, MOMENT, FORCE, BIASES, COORDINATES = 0, 3, 9, 21, 24, 27, 31
ETA, ORIGIN_DERIVATIVE, ANGULAR, ROWS_PER_COORDINATE = 3, 6, 9, 15


@inlined
def slot(strain):
    """Place of a strain among those that deform a section, or -1."""
    strain = int(strain)
    return strain if strain < 2 else strain - 3 if strain > 4 else -1


@inlined
def scratch_rows(n):
    """Say how many rows of scratch there are."""
    return COORDINATES + ROWS_PER_COORDINATE * n


@kernel
def turn(G, M, V):
    """Moments of first and second degree in the axes of the joint frame."""
    L = LANES
    for k in range(L):
        r00, r01, r10, r11 = G[k], G[L + k], G[3 * L + k], G[4 * L + k]
        r20, r21 = G[6 * L + k], G[7 * L + k]
        d0, d1 = M[FIRST * L + k], M[(FIRST + 1) * L + k]
        V[CENTRE * L + k] = r00 * d0 + r01 * d1
        V[(CENTRE + 1) * L + k] = r10 * d0 + r11 * d1
        V[(CENTRE + 2) * L + k] = r20 * d0 + r21 * d1
        s00, s01 = M[SECOND * L + k], M[(SECOND + 1) * L + k]
        s11 = M[(SECOND + 2) * L + k]
        a0, b0 = s00 * r00 + s01 * r01, s01 * r00 + s11 * r01
        a1, b1 = s00 * r10 + s01 * r11, s01 * r10 + s11 * r11
        a2, b2 = s00 * r20 + s01 * r21, s01 * r20 + s11 * r21
        trace = s00 + s11
        V[INERTIA * L + k] = trace - (r00 * a0 + r01 * b0)
        V[(INERTIA + 1) * L + k] = -(r00 * a1 + r01 * b1)
        V[(INERTIA + 2) * L + k] = -(r00 * a2 + r01 * b2)
        V[(INERTIA + 3) * L + k] = trace - (r10 * a1 + r11 * b1)
        V[(INERTIA + 4) * L + k] = -(r10 * a2 + r11 * b2)
        V[(INERTIA + 5) * L + k] = trace - (r20 * a2 + r21 * b2)
    for z in range(DILATING_COUNT):
        dilated, moved = V[(DILATED + 3 * z) * L :], M[(DILATION + ROWS_PER_DILATING * z) * L :]
        for k in range(L):
            d0, d1 = moved[k], moved[L + k]
            dilated[k] = G[k] * d0 + G[L + k] * d1
            dilated[L + k] = G[3 * L + k] * d0 + G[4 * L + k] * d1
            dilated[2 * L + k] = G[6 * L + k] * d0 + G[7 * L + k] * d1


@kernel
def momenta(n, strains, shapes, G, M, V, own):
    """Rows of every coordinate: phi int R dd/dz, eta, c, int u x dp/dq_j, int dp/dq_j."""
    L = LANES
    u, inertia = V[CENTRE * L : INERTIA * L], V[INERTIA * L : DILATED * L]
    for j in range(n):
        phi, z = shapes[j * L : (j + 1) * L], slot(strains[j])
        mine = own[ROWS_PER_COORDINATE * L * j : ROWS_PER_COORDINATE * L * (j + 1)]
        dilated = V[(DILATED + 3 * max(z, 0)) * L : (DILATED + 3 * max(z, 0) + 3) * L]
        share = 1.0 if z >= 0 else 0.0
        eta = G[(COLUMNS + 3 * j) * L : (COLUMNS + 3 * j + 3) * L]
        c = G[(COLUMNS + 3 * (n + j)) * L : (COLUMNS + 3 * (n + j) + 3) * L]
        for k in range(L):
            m, u0, u1, u2 = M[k], u[k], u[L + k], u[2 * L + k]
            e0, e1, e2 = eta[k], eta[L + k], eta[2 * L + k]
            c0, c1, c2 = c[k], c[L + k], c[2 * L + k]
            factor = share * phi[k]
            x0, x1, x2 = factor * dilated[k], factor * dilated[L + k], factor * dilated[2 * L + k]
            mine[k], mine[L + k], mine[2 * L + k] = x0, x1, x2
            mine[3 * L + k], mine[4 * L + k], mine[5 * L + k] = e0, e1, e2
            mine[6 * L + k], mine[7 * L + k], mine[8 * L + k] = c0, c1, c2
            xx, xy, xz = inertia[k], inertia[L + k], inertia[2 * L + k]
            yy, yz, zz = inertia[3 * L + k], inertia[4 * L + k], inertia[5 * L + k]
            mine[9 * L + k] = u1 * c2 - u2 * c1 + xx * e0 + xy * e1 + xz * e2
            mine[10 * L + k] = u2 * c0 - u0 * c2 + xy * e0 + yy * e1 + yz * e2
            mine[11 * L + k] = u0 * c1 - u1 * c0 + xz * e0 + yz * e1 + zz * e2
            mine[12 * L + k] = x0 + m * c0 + e1 * u2 - e2 * u1
            mine[13 * L + k] = x1 + m * c1 + e2 * u0 - e0 * u2
            mine[14 * L + k] = x2 + m * c2 + e0 * u1 - e1 * u0


@kernel
def accelerations(n, G, M, rates, qd, w, V):
    """Bias force and moment about o, and the bias of each dilating strain."""
    L = LANES
    w0, w1, w2 = w[0], w[1], w[2]
    speed = V[FORCE * L : (FORCE + 3) * L]  # of o, until its force is known
    speed[:] = 0.0
    for j in range(n):
        c = G[(COLUMNS + 3 * (n + j)) * L : (COLUMNS + 3 * (n + j) + 3) * L]
        for k in range(3 * L):
            speed[k] += qd[j] * c[k]
    for k in range(L):
        o0, o1, o2 = G[ORIGIN * L + k], G[(ORIGIN + 1) * L + k], G[(ORIGIN + 2) * L + k]
        v0, v1, v2 = G[RATE * L + k], G[(RATE + 1) * L + k], G[(RATE + 2) * L + k]
        t0 = w1 * o2 - w2 * o1 + 2.0 * V[FORCE * L + k]
        t1 = w2 * o0 - w0 * o2 + 2.0 * V[(FORCE + 1) * L + k]
        t2 = w0 * o1 - w1 * o0 + 2.0 * V[(FORCE + 2) * L + k]
        A0 = w1 * t2 - w2 * t1 + G[BIAS * L + k]
        A1 = w2 * t0 - w0 * t2 + G[(BIAS + 1) * L + k]
        A2 = w0 * t1 - w1 * t0 + G[(BIAS + 2) * L + k]
        a0 = w1 * v2 - w2 * v1 + G[SPIN_BIAS * L + k]
        a1 = w2 * v0 - w0 * v2 + G[(SPIN_BIAS + 1) * L + k]
        a2 = w0 * v1 - w1 * v0 + G[(SPIN_BIAS + 2) * L + k]
        s0, s1, s2 = w0 + v0, w1 + v1, w2 + v2
        e0 = e1 = e2 = t00 = t01 = t11 = 0.0  # of the dilation: int R dd/dt, int d (dd/dt)^T
        for z in range(DILATING_COUNT):
            row, rate = (DILATION + ROWS_PER_DILATING * z) * L, rates[DILATING_STRAINS[z] * L + k]
            e0 += rate * V[(DILATED + 3 * z) * L + k]
            e1 += rate * V[(DILATED + 3 * z + 1) * L + k]
            e2 += rate * V[(DILATED + 3 * z + 2) * L + k]
            t00 += rate * M[row + 2 * L + k]
            t01 += rate * M[row + 3 * L + k]
            t11 += rate * M[row + 4 * L + k]
        r00, r01, r02 = G[k], G[L + k], G[2 * L + k]
        r10, r11, r12 = G[3 * L + k], G[4 * L + k], G[5 * L + k]
        r20, r21, r22 = G[6 * L + k], G[7 * L + k], G[8 * L + k]
        m, b0, b1 = M[k], M[BETA * L + k], M[(BETA + 1) * L + k]
        u0, u1, u2 = V[CENTRE * L + k], V[(CENTRE + 1) * L + k], V[(CENTRE + 2) * L + k]
        y0 = s1 * u2 - s2 * u1 + 2.0 * e0
        y1 = s2 * u0 - s0 * u2 + 2.0 * e1
        y2 = s0 * u1 - s1 * u0 + 2.0 * e2
        V[FORCE * L + k] = m * A0 + a1 * u2 - a2 * u1 + s1 * y2 - s2 * y1 + r00 * b0 + r01 * b1
        V[(FORCE + 1) * L + k] = (
            m * A1 + a2 * u0 - a0 * u2 + s2 * y0 - s0 * y2 + r10 * b0 + r11 * b1
        )
        V[(FORCE + 2) * L + k] = (
            m * A2 + a0 * u1 - a1 * u0 + s0 * y1 - s1 * y0 + r20 * b0 + r21 * b1
        )
        xx, xy, xz = V[INERTIA * L + k], V[(INERTIA + 1) * L + k], V[(INERTIA + 2) * L + k]
        yy, yz, zz = V[(INERTIA + 3) * L + k], V[(INERTIA + 4) * L + k], V[(INERTIA + 5) * L + k]
        h0 = xx * s0 + xy * s1 + xz * s2
        h1 = xy * s0 + yy * s1 + yz * s2
        h2 = xz * s0 + yz * s1 + zz * s2
        p0 = r00 * s0 + r10 * s1 + r20 * s2  # s in the axes of the section
        p1 = r01 * s0 + r11 * s1 + r21 * s2
        p2 = r02 * s0 + r12 * s1 + r22 * s2
        g0 = 2.0 * (t11 * p0 - t01 * p1)  # what the inertia gains, times s
        g1 = 2.0 * (t00 * p1 - t01 * p0)
        g2 = 2.0 * (t00 + t11) * p2
        V[MOMENT * L + k] = (u1 * A2 - u2 * A1 + xx * a0 + xy * a1 + xz * a2) + (
            s1 * h2 - s2 * h1 + r00 * g0 + r01 * g1 + r02 * g2
        )
        V[(MOMENT + 1) * L + k] = (u2 * A0 - u0 * A2 + xy * a0 + yy * a1 + yz * a2) + (
            s2 * h0 - s0 * h2 + r10 * g0 + r11 * g1 + r12 * g2
        )
        V[(MOMENT + 2) * L + k] = (u0 * A1 - u1 * A0 + xz * a0 + yz * a1 + zz * a2) + (
            s0 * h1 - s1 * h0 + r20 * g0 + r21 * g1 + r22 * g2
        )
        q00, q11, q01 = p1 * p1 + p2 * p2, p0 * p0 + p2 * p2, 2.0 * p0 * p1
        for z in range(DILATING_COUNT):
            row, dilated = (DILATION + ROWS_PER_DILATING * z) * L, (DILATED + 3 * z) * L
            V[(BIASES + z) * L + k] = (
                (V[dilated + k] * A0 + V[dilated + L + k] * A1 + V[dilated + 2 * L + k] * A2)
                + (M[row + 5 * L + k] + M[row + 3 * L + k] * q01)
                - (M[row + 2 * L + k] * q00 + M[row + 4 * L + k] * q11)
            )


@reduction
def weighted_dot(a, b, weights):
    """Sum of the products of three rows, by their length."""
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k] * weights[k]
    return total
