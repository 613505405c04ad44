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
    ETA,
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
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.derivative_sums import add_force, add_moment
from softrobot_dynamics.kernels.reductions import BLOCK, dot
from softrobot_dynamics.tracing import programs
from softrobot_dynamics.tracing.differentiate import derivatives_along, direction, tangent
from softrobot_dynamics.tracing.loops import cross, traced_loop

B = BLOCK

# rows of points: e and u, each with two derivatives by time, position, twice the velocity in
# S_J times dm, the same with that of S_J, moment about S_J and force of the acceleration
ARM, LEVER, POSITION, VELOCITY, TWICE_VELOCITY, MOMENT, FORCE, COLUMNS = (
    0,
    9,
    18,
    21,
    24,
    27,
    30,
    33,
)
# rows of each coordinate: J, eta and phi df/dz; then d2J/dt2 dm, J x force, e . (force x eta) and
# 2 dJ/dt dm
CHANGE, RATE_CHANGE, COLUMN = 7, 14, 17


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
    and room for (33 + 17 n) rows, in which the force of each point is left.
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
        z, first = slot(strains[k]), (COORDINATES_ROW + ROWS_PER_COORDINATE * k) * B
        own, dilated = G[first : first + ROWS_PER_COORDINATE * B], U[by_strain(max(z, 0)) * B :]
        share, phi = (1.0 if z >= 0 else 0.0,), shapes[k * B : (k + 1) * B]
        column = columns[COLUMN * k * B : COLUMN * (k + 1) * B]
        _fill_column(share, mass, phi, dilated, own, S, column)
    for k in range(n):
        _add_column(n, k, S, D)


@traced_loop(B)
def _move_points(mass, places, motion, U, G, S):
    """Fill rows of points, up to their force."""
    x, y, spin = G.rows(AXES), G.rows(AXES + 3), G.rows(ANGULAR_VELOCITY)
    origin = G.rows(ORIGIN_ROW)
    by_time = direction(
        (x, cross(spin, x)),
        (y, cross(spin, y)),
        (spin, G.rows(ANGULAR_ACCELERATION)),
        (origin, G.rows(LINEAR_VELOCITY), G.rows(LINEAR_ACCELERATION)),
        ([U[0]], [U[RATES]], [U[ACCELERATION]]),
    )
    e = [places[0] * a + places[1] * b for a, b in zip(x, y)]
    u = [U[0] * a for a in e]
    S.write(ARM, *derivatives_along(e, by_time, 2))
    S.write(LEVER, *derivatives_along(u, by_time, 2))
    p, v, a = derivatives_along([b + c for b, c in zip(origin, u)], by_time, 2)
    turned, twice = cross(p, [motion.number(i) for i in range(3)]), 2.0 * mass[0]
    force = [mass[0] * b for b in a]
    S.write(POSITION, p, [twice * (b + c) for b, c in zip(v, turned)], [twice * b for b in v])
    S.write(MOMENT, cross(p, force), force)


@traced_loop(B)
def _fill_column(share, mass, phi, dilated, own, S, column):
    """Fill the rows of a coordinate; ``share`` is 1 where it dilates sections, else 0."""
    arm, lever, force = S.vectors(ARM), S.vectors(LEVER), S.rows(FORCE)
    eta, linear = own.vectors(ETA), own.vectors(ORIGIN_DERIVATIVE)
    dilation = [[dilated[row]] for row in (0, RATES, ACCELERATION)]
    g, (e, *_), (h, *_) = share.number(0) * phi[0] * dilated[0], arm, eta
    by_time = direction(arm, lever, eta, linear, dilation)
    J = [a + b + g * c for a, b, c in zip(linear[0], cross(h, lever[0]), e)]
    _, rate, second = derivatives_along(J, by_time, 2)
    along = tangent([programs.dot(e, force)], direction((e, cross(h, e))))
    column.write(0, J, h, [g])
    column.write(CHANGE, [mass[0] * x for x in second], cross(J, force), along)
    column.write(RATE_CHANGE, [2.0 * mass[0] * x for x in rate])


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
def _add_column(n, k, S, D):
    """Add the changes with a coordinate: of wrench, spin and the forces along all coordinates."""
    forces, own = (
        layout.force_derivatives_offset(n) + 6 * k,
        layout.own_derivatives_offset(n) + n * k,
    )
    spins = layout.spins_offset(n) + 3 * k
    rates, own_rates = forces + 6 * n, own + n * n
    p, columns = S[POSITION * B : VELOCITY * B], S[COLUMNS * B :]
    column = columns[COLUMN * k * B : COLUMN * (k + 1) * B]
    J, change, rate = column[: 3 * B], column[CHANGE * B :], column[RATE_CHANGE * B :]
    add_moment(J, S[FORCE * B : COLUMNS * B], D[forces : forces + 3])
    add_moment(p, change, D[forces : forces + 3])
    add_force(change, D[forces + 3 : forces + 6])
    add_moment(p, rate, D[rates : rates + 3])
    add_force(rate, D[rates + 3 : rates + 6])
    add_moment(S[TWICE_VELOCITY * B : MOMENT * B], J, D[spins : spins + 3])
    for j in range(n):
        other = columns[COLUMN * j * B : COLUMN * (j + 1) * B]
        D[own + j] += dot(other[: CHANGE * B], change)
        D[own_rates + j] += dot(other[: 3 * B], rate)
