# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Derivatives of frames along a backbone and of their columns at its nodes, both ways.

With the angular velocity w of a frame, its derivative a, and an axis r of it, dr/dt = w x r and
d2r/dt2 = a x r + w x dr/dt. So the columns of :mod:`softrobot_dynamics.bodies.lvp.backbone` are
differentiated by time as integrals. All of it includes the motion of the joint frame S_J, but for
the velocity of its origin.

A coordinate k displaces what is beyond a node along a twist S_k, so the twist of j changes by

    dS_j/dq_k = int S_k x sigma_j ds,    dS_j/ds = sigma_j = phi_j (r, o x r) or phi_j (0, r).

The work of all loads along these is a single integral: that of S_k x sigma_j by the load of all
that is beyond a node.
"""

from collections.abc import Sequence
from itertools import pairwise

from softrobot_dynamics.annotations import Value
from softrobot_dynamics.bodies.lvp.backbone import (
    backbone,
    COLUMNS,
    integrate,
    ORIGIN,
    RATE,
    strain_rows,
    STRAINS,
)
from softrobot_dynamics.bodies.lvp.backbone_tables import NODES, read_numbers
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.lanes import add_cross, cross, get3, put3
from softrobot_dynamics.kernels.reductions import dot
from softrobot_dynamics.tracing import loops
from softrobot_dynamics.tracing.differentiate import derivatives_along, direction, tangent
from softrobot_dynamics.tracing.graph import Node, Symbol
from softrobot_dynamics.tracing.loops import LaneRows, traced_loop

# rows of frames in motion: the axes x and y of R, origin, angular velocity and acceleration,
# velocity and acceleration of the origin; then of each coordinate eta and dp/dq_j, each with its
# first and its second derivative by time
(
    AXES,
    ORIGIN_ROW,
    ANGULAR_VELOCITY,
    ANGULAR_ACCELERATION,
    LINEAR_VELOCITY,
    LINEAR_ACCELERATION,
    COORDINATES_ROW,
    ROWS_PER_COORDINATE,
) = 0, 6, 9, 12, 15, 18, 21, 18
ETA, ORIGIN_DERIVATIVE = 0, 9  # in the rows of a coordinate

N = NODES
# strains; R gamma and the three axes, each with two derivatives by time; what is integrated
_SCRATCH_ROWS = 2 * 2 * STRAINS + 36 + 6
DERIVATIVES_SCRATCH = _SCRATCH_ROWS * N
"""Length of the scratch of :func:`move_nodes`, besides that of ``backbone``."""


@kernel
def move_nodes(n, numbers, states, motion, F, H, V):
    """
    Fill frames F as ``backbone``, and H, (21 + 18 n) rows; False where it cannot be so deformed.

    ``states``: (q, qd, qdd); ``motion`` (9,): (w, dw/dt, a) of the joint frame. V is scratch.
    """
    q, qd, qdd = states
    if not backbone(n, numbers, q, qd, F, V[_SCRATCH_ROWS * N :]):
        return False
    b = read_numbers(n, numbers)
    Z, A = V[: 2 * STRAINS * N], V[2 * STRAINS * N : 4 * STRAINS * N]
    X = V[4 * STRAINS * N : (4 * STRAINS + 36) * N]
    T = V[(4 * STRAINS + 36) * N : _SCRATCH_ROWS * N]
    strain_rows(n, b.strains, b.shapes, 1.0, q, qd, Z)
    strain_rows(n, b.strains, b.shapes, 0.0, qdd, qdd, A)
    _move_frames(b.integrals, motion, F, Z, A, X, T, H)
    _move_columns(n, b, F, X, T, H)
    return True


@kernel
def _move_frames(integrals, motion, F, Z, A, X, T, H):
    """Velocities and accelerations of the frames; R gamma and the axes in motion into X."""
    _turn(motion, F, Z, A, T, H)
    integrate(integrals, T, H[ANGULAR_ACCELERATION * N : LINEAR_VELOCITY * N])
    for i in range(3):
        for k in range(N):
            H[(ANGULAR_ACCELERATION + i) * N + k] += motion[3 + i]
    _move_vectors(F, Z, A, H, X)
    integrate(integrals, X[3 * N : 6 * N], H[LINEAR_VELOCITY * N : LINEAR_ACCELERATION * N])
    integrate(integrals, X[6 * N : 9 * N], H[LINEAR_ACCELERATION * N : COORDINATES_ROW * N])
    for i in range(3):
        for k in range(N):
            H[(LINEAR_ACCELERATION + i) * N + k] += motion[6 + i]


@traced_loop(N)
def _turn(motion, F, Z, A, T, H):
    """Fill frames up to their angular velocity, and T with the derivative by s of its rate."""
    spin = [F[RATE + i] + motion.number(i) for i in range(3)]
    axes, by_time = _axes(F, spin, (Z.rows(STRAINS), A.rows(0)))
    H.write(AXES, *axes[:2], F.rows(ORIGIN), spin)
    T.write(0, tangent(_along(axes, Z.rows(STRAINS)), by_time))


@traced_loop(N)
def _move_vectors(F, Z, A, H, X):
    """R gamma, then the three axes, each with its first and second derivative by time."""
    spin, gamma = H.vectors(ANGULAR_VELOCITY, 2), (Z.rows(3), Z.rows(STRAINS + 3), A.rows(3))
    axes, by_time = _axes(F, spin[0], spin, gamma)
    for i, vector in enumerate((_along(axes, gamma[0]), *axes)):
        X.write(9 * i, *derivatives_along(vector, by_time, 2))


def _axes(
    F: LaneRows, spin: list[Node], *chains: Sequence[list[Node]]
) -> tuple[list[list[Node]], dict[Symbol, Value]]:
    """Return the axes of frames F, and the direction in which they and vectors change by time."""
    axes = [[F[a], F[3 + a], F[6 + a]] for a in range(3)]
    return axes, direction(*((axis, loops.cross(spin, axis)) for axis in axes), *chains)


def _along(axes: list[list[Node]], values: list[Node]) -> list[Node]:
    """Return the sum of axes times values: R v."""
    return [sum(value * x for value, x in zip(values, row)) for row in zip(*axes)]


@kernel
def _move_columns(n, b, F, X, T, H):
    """Columns of all coordinates and their derivatives by time."""
    A = b.integrals
    for j in range(n):
        row, phi = int(b.strains[j]), b.shapes[j * N : (j + 1) * N]
        first = (COORDINATES_ROW + ROWS_PER_COORDINATE * j) * N
        own = H[first : first + ROWS_PER_COORDINATE * N]
        own[:] = 0.0
        axis = X[(9 * (1 + row % 3) + 3) * N :]  # its derivatives by time
        linear = F[(COLUMNS + 3 * (n + j)) * N : (COLUMNS + 3 * (n + j) + 3) * N]
        for k in range(3 * N):
            own[ORIGIN_DERIVATIVE * N + k] = linear[k]
        for i in range(6):
            for k in range(N):
                T[i * N + k] = phi[k] * axis[i * N + k]
        if row < 3:
            eta = F[(COLUMNS + 3 * j) * N : (COLUMNS + 3 * j + 3) * N]
            for k in range(3 * N):
                own[k] = eta[k]
            for d in range(1, 3):
                integrate(A, T[3 * (d - 1) * N :], own[3 * d * N : 3 * (d + 1) * N])
            _sweep(own, X, T)
        for d in range(1, 3 if row < 6 else 0):
            linear = own[(ORIGIN_DERIVATIVE + 3 * d) * N : (ORIGIN_DERIVATIVE + 3 * d + 3) * N]
            integrate(A, T[3 * (d - 1) * N :], linear)


@traced_loop(N)
def _sweep(own, X, T):
    """Fill T with the first and second derivative by time of eta x R gamma."""
    eta, along = own.vectors(ETA), X.vectors(0)
    swept = derivatives_along(loops.cross(eta[0], along[0]), direction(eta, along), 2)
    T.write(0, *swept[1:])


@kernel
def add_second_derivatives(n, numbers, loads, F, D, V):
    """
    Fill the twists' derivatives, and add to dQ/dq the work of loads along dS_j/dq_k.

    ``loads``: moment about S_J and force of what each node stands for, six rows; frames F of
    :func:`move_nodes`. V is scratch.
    """
    b = read_numbers(n, numbers)
    beyond, X, own = V[: 6 * N], V[6 * N : 24 * N], layout.own_derivatives_offset(n)
    A = b.integrals
    beyond[:] = 0.0
    for r in range(6):
        row = loads[r * N : (r + 1) * N]
        for i in range(N - 1):
            beyond[r * N + i] = dot(A[i * N : (i + 1) * N], row)
    for k in range(N):  # about the origin of each node
        o, f = get3(F, ORIGIN * N, k), get3(beyond, 3 * N, k)
        put3(beyond, 0, k, add_cross(get3(beyond, 0, k), f, o))
    for k in range(n):
        column = F[(COLUMNS + 3 * k) * N :], F[(COLUMNS + 3 * (n + k)) * N :]
        _load_axes(column, beyond, F, X)
        for j in range(n):
            a, phi = int(b.strains[j]), b.shapes[j * N : (j + 1) * N]
            if a < 6:
                D[own + n * k + j] += dot(phi, X[a * N : (a + 1) * N])
        _turn_axes(A, column, F, X)
        for j in range(n):
            a, phi, place = int(b.strains[j]), b.shapes[j * N : (j + 1) * N], 6 * n * k + 6 * j
            axis = X[6 * (a % 3) * N : 6 * (a % 3 + 1) * N]
            for r in range(6 if a < 3 else 3 if a < 6 else 0):
                last = r if a < 3 else r + 3  # a shear moves along its axis, it does not turn
                D[place + last] = dot(phi, axis[r * N : (r + 1) * N])


@kernel
def _load_axes(column, beyond, F, X):
    """Work of loads along S_k x (axis of a strain), for six strains."""
    eta, moving = column
    for k in range(N):
        e, f = get3(eta, 0, k), get3(beyond, 3 * N, k)
        y = cross(f, e)
        x = add_cross(cross(get3(beyond, 0, k), e), f, get3(moving, 0, k))
        for a in range(3):
            r0, r1, r2 = F[a * N + k], F[(3 + a) * N + k], F[(6 + a) * N + k]
            X[a * N + k] = r0 * x[0] + r1 * x[1] + r2 * x[2]
            X[(3 + a) * N + k] = r0 * y[0] + r1 * y[1] + r2 * y[2]


@kernel
def _turn_axes(A, column, F, X):
    """S_k x (axis of a strain), six rows for each axis, times the weights of all up to the tip."""
    eta, moving = column
    for a in range(3):
        out = X[6 * a * N : 6 * (a + 1) * N]
        out[:] = 0.0
        for k in range(N - 1):
            w = A[k * N + N - 1]
            r = F[a * N + k], F[(3 + a) * N + k], F[(6 + a) * N + k]
            x = cross(get3(eta, 0, k), r)
            y = add_cross(cross(get3(F, ORIGIN * N, k), x), get3(moving, 0, k), r)
            put3(out, 0, k, (w * x[0], w * x[1], w * x[2]))
            put3(out, 3 * N, k, (w * y[0], w * y[1], w * y[2]))


@kernel
def tip_twists(n, motion, H, T, D):
    """Second derivatives by time of the tip's twists, relative to the joint frame; T: scratch."""
    for k in range(n):
        place = layout.second_twists_offset(n) + 6 * k
        _fill_twists(motion, H, H[(COORDINATES_ROW + ROWS_PER_COORDINATE * k) * N :], T)
        for i in range(6):
            D[place + i] = T[i * N + N - 1]


@traced_loop(N)
def _fill_twists(motion, H, own, T):
    """Fill T with the second derivatives of eta and c + o x eta, in a frame that turns at w."""
    w, turning, push = ([motion.number(3 * i + j) for j in range(3)] for i in range(3))
    o, v, a = (H.rows(row) for row in (ORIGIN_ROW, LINEAR_VELOCITY, LINEAR_ACCELERATION))
    eta, c = own.vectors(ETA), own.vectors(ORIGIN_DERIVATIVE)
    by_time = direction((w, turning))
    for x in (eta, c, (o, v, [b - e for b, e in zip(a, push)])):
        for given, rate in pairwise(x):
            relative = [b + e for b, e in zip(rate, loops.cross(given, w))]
            by_time |= direction((given, relative))
    linear = [b + e for b, e in zip(c[0], loops.cross(o, eta[0]))]
    T.write(0, derivatives_along([*eta[0], *linear], by_time, 2)[2])
