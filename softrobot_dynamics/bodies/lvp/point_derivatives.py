# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Derivatives of the inertial forces of a block of points.

A point is p = o + f e, e = R (x1, x2, 0), with the dilation f of its section. With u = f e, the
columns eta, c of its frame and phi df/dz, what its section dilates by,

    dp/dq_k = J_k = c_k + eta_k x u + phi_k df/dz e,

the acceleration of the point changes by d2J_k/dt2 with q_k and by 2 dJ_k/dt with qd_k. J_j itself
changes with q_k as the point moves, by eta_j x J_k, and as its section turns, by eta_k x phi_j
df/dz e; as the twist of the frame changes, which is left to ``add_second_derivatives`` of
:mod:`softrobot_dynamics.bodies.lvp.backbone_derivatives`; and by second derivatives of f, left to
:mod:`softrobot_dynamics.bodies.lvp.stress_derivatives`.
"""

from softrobot_dynamics.bodies.lvp.backbone_derivatives import (
    ANGULAR_ACCELERATION,
    ANGULAR_VELOCITY,
    AXES,
    COORDINATES_ROW,
    LINEAR_ACCELERATION,
    LINEAR_VELOCITY,
    ORIGIN_DERIVATIVE,
    ORIGIN_ROW,
    ROWS_PER_COORDINATE,
)
from softrobot_dynamics.bodies.lvp.backbone_points import interpolate
from softrobot_dynamics.bodies.lvp.backbone_tables import NODES
from softrobot_dynamics.bodies.lvp.dilation_rows import ACCELERATION, by_strain, RATES
from softrobot_dynamics.bodies.lvp.section_rows import slot
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.derivative_sums import add_force, add_moment
from softrobot_dynamics.kernels.lanes import add_cross, cross
from softrobot_dynamics.kernels.reductions import BLOCK, dot

B = BLOCK

# rows of points: e and u, each with two derivatives by time, position, twice the velocity in
# S_J times dm, the same with that of S_J, moment about S_J and force of the acceleration
ARM, LEVER, POSITION, VELOCITY, TWICE_VELOCITY, MOMENT, FORCE, WRENCH_DERIVATIVES = (
    0,
    9,
    18,
    21,
    24,
    27,
    30,
    33,
)
# after d2J/dt2 dm, J x force, e . (force x eta), 2 dJ/dt dm of a coordinate
COLUMNS = WRENCH_DERIVATIVES + 10
COLUMN = 7  # rows of each coordinate: J, eta and phi df/dz


@inlined
def get(S, at, k):
    """Vector in lane k of three rows from ``at``."""
    return S[at + k], S[at + B + k], S[at + 2 * B + k]


@inlined
def put(S, at, k, x):
    """Set a vector in lane k of three rows from ``at``."""
    S[at + k], S[at + B + k], S[at + 2 * B + k] = x


@inlined
def combine(a, x, b, y):
    """Sum a x + b y of two vectors."""
    return a * x[0] + b * y[0], a * x[1] + b * y[1], a * x[2] + b * y[2]


@inlined
def add_scaled(x, b, y):
    """Sum x + b y of two vectors."""
    return x[0] + b * y[0], x[1] + b * y[1], x[2] + b * y[2]


@kernel
def frames_in_motion(n, strains, H, L, G):
    """Frames at the points of a block, G, from those at the nodes, H, by L (16, B)."""
    # of the frames themselves, then of what moves in each coordinate
    first, last = 0, COORDINATES_ROW
    for j in range(n + 1):
        interpolate(first, last, B, H, L, G)
        if j < n:
            last = COORDINATES_ROW + ROWS_PER_COORDINATE * (j + 1)
            first = (
                last - ROWS_PER_COORDINATE
                if strains[j] < 3
                else last - ORIGIN_DERIVATIVE
                if strains[j] < 6
                else last
            )


@kernel
def add_point_derivatives(n, strains, shapes, tables, motion, rows, loads, D):
    """
    Add the points of a block to D, but for twists, and to ``loads`` of nodes (6, 16).

    ``tables``: masses [kg], points (2 rows) and L (16, B); ``rows``: dilation, frames in motion,
    and room for (43 + 7 n) rows, in which the force of each point is left.
    """
    mass, places, L = tables
    U, G, S = rows
    _move_points(mass, places, motion, U, G, S)
    spin = layout.spin_offset(n)
    _add_spin(S[POSITION * B : TWICE_VELOCITY * B], D[spin : spin + 9])
    for r in range(6):
        load = S[(MOMENT + r) * B : (MOMENT + r + 1) * B]
        for m in range(NODES):
            loads[NODES * r + m] += dot(load, L[m * B : (m + 1) * B])
    columns = S[COLUMNS * B :]
    for k in range(n):
        z, own = (
            slot(strains[k]),
            G[
                (COORDINATES_ROW + ROWS_PER_COORDINATE * k) * B : (
                    COORDINATES_ROW + ROWS_PER_COORDINATE * (k + 1)
                )
                * B
            ],
        )
        dilated = U[by_strain(max(z, 0)) * B :]
        column = columns[COLUMN * k * B : COLUMN * (k + 1) * B]
        _place_column(z >= 0, shapes[k * B : (k + 1) * B], dilated, own, S, column)
    for k in range(n):
        z, own = (
            slot(strains[k]),
            G[
                (COORDINATES_ROW + ROWS_PER_COORDINATE * k) * B : (
                    COORDINATES_ROW + ROWS_PER_COORDINATE * (k + 1)
                )
                * B
            ],
        )
        dilated = U[by_strain(max(z, 0)) * B :]
        column = columns[COLUMN * k * B : COLUMN * (k + 1) * B]
        _move_column(z >= 0, (mass, shapes[k * B : (k + 1) * B]), dilated, own, column, S)
        _add_column(n, k, S, D)


@kernel
def _move_points(mass, places, motion, U, G, S):
    """Fill rows of points, up to their force."""
    w0, w1, w2 = motion[0], motion[1], motion[2]
    for k in range(B):
        x1, x2 = places[k], places[B + k]
        e = combine(x1, get(G, AXES * B, k), x2, get(G, (AXES + 3) * B, k))
        s, o = get(G, ANGULAR_VELOCITY * B, k), get(G, ORIGIN_ROW * B, k)
        e1 = cross(s, e)
        e2 = add_cross(cross(s, e1), get(G, ANGULAR_ACCELERATION * B, k), e)
        f, f1, f2 = U[k], U[RATES * B + k], U[ACCELERATION * B + k]
        u1 = combine(f, e1, f1, e)
        u2 = add_scaled(combine(f2, e, 2.0 * f1, e1), f, e2)
        p = add_scaled(o, f, e)
        v = add_scaled(get(G, LINEAR_VELOCITY * B, k), 1.0, u1)
        m = mass[k]
        a = add_scaled(get(G, LINEAR_ACCELERATION * B, k), 1.0, u2)
        force = m * a[0], m * a[1], m * a[2]
        put(S, ARM * B, k, e)
        put(S, (ARM + 3) * B, k, e1)
        put(S, (ARM + 6) * B, k, e2)
        put(S, LEVER * B, k, (f * e[0], f * e[1], f * e[2]))
        put(S, (LEVER + 3) * B, k, u1)
        put(S, (LEVER + 6) * B, k, u2)
        put(S, POSITION * B, k, p)
        r = add_cross(v, p, (w0, w1, w2))
        put(S, VELOCITY * B, k, (2.0 * m * r[0], 2.0 * m * r[1], 2.0 * m * r[2]))
        put(S, TWICE_VELOCITY * B, k, (2.0 * m * v[0], 2.0 * m * v[1], 2.0 * m * v[2]))
        put(S, MOMENT * B, k, cross(p, force))
        put(S, FORCE * B, k, force)


@kernel
def _add_spin(points, out):
    """Add the matrix of e -> int p x (e x v) dm, row-major, of rows of p and of v dm."""
    for a in range(3):
        for c in range(3):
            p, v = points[c * B : (c + 1) * B], points[(3 + a) * B : (4 + a) * B]
            value = dot(p, v)
            out[3 * a + c] -= value
            if a == c:
                out[0] += value
                out[4] += value
                out[8] += value


@kernel
def _place_column(dilates, phi, dilated, own, S, column):
    """J, eta and phi df/dz of a coordinate."""
    share = 1.0 if dilates else 0.0
    for k in range(B):
        eta, g = get(own, 0, k), share * phi[k] * dilated[k]
        J = add_scaled(get(own, ORIGIN_DERIVATIVE * B, k), g, get(S, ARM * B, k))
        put(column, 0, k, add_cross(J, eta, get(S, LEVER * B, k)))
        put(column, 3 * B, k, eta)
        column[6 * B + k] = g


@kernel
def _move_column(dilates, weights, dilated, own, column, S):
    """Fill rows WRENCH_DERIVATIVES: changes of forces on points with a coordinate and its rate."""
    mass, phi = weights
    share = 1.0 if dilates else 0.0
    for k in range(B):
        x, m = share * phi[k], mass[k]
        g, g1, g2 = x * dilated[k], x * dilated[RATES * B + k], x * dilated[ACCELERATION * B + k]
        e, e1 = get(S, ARM * B, k), get(S, (ARM + 3) * B, k)
        u, u1 = get(S, LEVER * B, k), get(S, (LEVER + 3) * B, k)
        h, h1, force = get(own, 0, k), get(own, 3 * B, k), get(S, FORCE * B, k)
        J = add_scaled(get(own, (ORIGIN_DERIVATIVE + 3) * B, k), g1, e)
        J = add_cross(add_cross(add_scaled(J, g, e1), h1, u), h, u1)
        A = add_scaled(get(own, (ORIGIN_DERIVATIVE + 6) * B, k), g2, e)
        A = add_scaled(add_scaled(A, 2.0 * g1, e1), g, get(S, (ARM + 6) * B, k))
        A = add_cross(add_cross(A, get(own, 6 * B, k), u), h, get(S, (LEVER + 6) * B, k))
        A = add_cross(add_cross(A, h1, u1), h1, u1)
        t = cross(force, h)
        put(S, WRENCH_DERIVATIVES * B, k, (m * A[0], m * A[1], m * A[2]))
        put(S, (WRENCH_DERIVATIVES + 3) * B, k, cross(get(column, 0, k), force))
        S[(WRENCH_DERIVATIVES + 6) * B + k] = e[0] * t[0] + e[1] * t[1] + e[2] * t[2]
        put(S, (WRENCH_DERIVATIVES + 7) * B, k, (2.0 * m * J[0], 2.0 * m * J[1], 2.0 * m * J[2]))


@kernel
def _add_column(n, k, S, D):
    """Add the changes with a coordinate: of wrench, spin and the forces along all coordinates."""
    forces, own = (
        layout.force_derivatives_offset(n) + 6 * k,
        layout.own_derivatives_offset(n) + n * k,
    )
    spins = layout.spins_offset(n) + 3 * k
    rates, own_rates = forces + 6 * n, own + n * n
    p, change = S[POSITION * B : VELOCITY * B], S[WRENCH_DERIVATIVES * B : COLUMNS * B]
    columns = S[COLUMNS * B :]
    J = columns[COLUMN * k * B : (COLUMN * k + 3) * B]
    add_moment(J, S[FORCE * B : WRENCH_DERIVATIVES * B], D[forces : forces + 3])
    add_moment(p, change, D[forces : forces + 3])
    add_force(change, D[forces + 3 : forces + 6])
    add_moment(p, change[7 * B :], D[rates : rates + 3])
    add_force(change[7 * B :], D[rates + 3 : rates + 6])
    add_moment(S[TWICE_VELOCITY * B : MOMENT * B], J, D[spins : spins + 3])
    for j in range(n):
        column = columns[COLUMN * j * B : COLUMN * (j + 1) * B]
        D[own + j] += dot(column, change)
        D[own_rates + j] += dot(column[: 3 * B], change[7 * B :])
