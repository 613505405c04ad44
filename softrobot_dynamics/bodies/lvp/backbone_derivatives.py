# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Derivatives by time and by coordinates of frames along a backbone and of their columns.

With the angular velocity w of a frame, its derivative a, and an axis r of it, dr/dt = w x r and
d2r/dt2 = a x r + w x dr/dt. So the columns of :mod:`softrobot_dynamics.bodies.lvp.backbone` are
differentiated by time as integrals. All include the motion of the joint frame S_J, except the
velocity of its origin.

A coordinate k displaces what is beyond a node along a twist S_k, so the twist of j changes by

    dS_j/dq_k = int S_k x sigma_j ds,    dS_j/ds = sigma_j = phi_j (r, o x r) or phi_j (0, r).

Their work with all loads is one integral: of S_k x sigma_j times the sum of the loads beyond a
node.
"""

from softrobot_dynamics.bodies.lvp.backbone import (
    backbone,
    COLUMNS,
    integrate,
    ORIGIN,
    RATE,
    strain_rows,
    STRAINS,
    turn_rows,
)
from softrobot_dynamics.bodies.lvp.backbone_tables import NODES, read_numbers
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.lanes import add_cross, cross, get3, put3
from softrobot_dynamics.kernels.reductions import dot

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
# strains, vectors along the backbone, axes, one more
_SCRATCH_ROWS = 2 * 2 * STRAINS + 15 + 27 + 3
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
    G = V[4 * STRAINS * N : (4 * STRAINS + 15) * N]
    X = V[(4 * STRAINS + 15) * N : (4 * STRAINS + 42) * N]
    T = V[(4 * STRAINS + 42) * N : _SCRATCH_ROWS * N]
    strain_rows(n, b.strains, b.shapes, 1.0, q, qd, Z)
    strain_rows(n, b.strains, b.shapes, 0.0, qdd, qdd, A)
    R, rates = F[: 9 * N], Z[STRAINS * N :]
    turn_rows(R, Z[3 * N : 6 * N], G)
    turn_rows(R, rates[3 * N : 6 * N], G[3 * N :])
    turn_rows(R, A[3 * N : 6 * N], G[6 * N :])
    turn_rows(R, rates[: 3 * N], G[9 * N :])
    turn_rows(R, A[: 3 * N], G[12 * N :])
    _move_frames(b.integrals, motion, F, G, T, H)
    _move_axes(R, H, X)
    _move_columns(n, b, F, G, X, T, H)
    return True


@kernel
def _move_frames(integrals, motion, F, G, T, H):
    """Velocities and accelerations of the frames; R gamma in G gets its derivatives by time."""
    for i in range(3):
        for k in range(N):
            H[(AXES + i) * N + k] = F[3 * i * N + k]
            H[(AXES + 3 + i) * N + k] = F[(3 * i + 1) * N + k]
            H[(ORIGIN_ROW + i) * N + k] = F[(ORIGIN + i) * N + k]
            H[(ANGULAR_VELOCITY + i) * N + k] = F[(RATE + i) * N + k] + motion[i]
    for k in range(N):
        put3(
            T,
            0,
            k,
            add_cross(get3(G, 12 * N, k), get3(H, ANGULAR_VELOCITY * N, k), get3(G, 9 * N, k)),
        )
    integrate(integrals, T, H[ANGULAR_ACCELERATION * N : LINEAR_VELOCITY * N])
    for i in range(3):
        for k in range(N):
            H[(ANGULAR_ACCELERATION + i) * N + k] += motion[3 + i]
    for k in range(N):
        s, g, v = get3(H, ANGULAR_VELOCITY * N, k), get3(G, 0, k), get3(G, 3 * N, k)
        moved = add_cross(v, s, g)
        pushed = add_cross(get3(G, 6 * N, k), get3(H, ANGULAR_ACCELERATION * N, k), g)
        pushed = add_cross(add_cross(pushed, s, moved), s, v)
        put3(G, 3 * N, k, moved)
        put3(G, 6 * N, k, pushed)
    integrate(integrals, G[3 * N : 6 * N], H[LINEAR_VELOCITY * N : LINEAR_ACCELERATION * N])
    integrate(integrals, G[6 * N : 9 * N], H[LINEAR_ACCELERATION * N : COORDINATES_ROW * N])
    for i in range(3):
        for k in range(N):
            H[(LINEAR_ACCELERATION + i) * N + k] += motion[6 + i]


@kernel
def _move_axes(R, H, X):
    """Three axes in turn: r, dr/dt and d2r/dt2, nine rows each."""
    for a in range(3):
        own, x, y, z = (
            X[9 * a * N : 9 * (a + 1) * N],
            R[a * N :],
            R[(3 + a) * N :],
            R[(6 + a) * N :],
        )
        for k in range(N):
            s, r = get3(H, ANGULAR_VELOCITY * N, k), (x[k], y[k], z[k])
            moved = cross(s, r)
            put3(own, 0, k, r)
            put3(own, 3 * N, k, moved)
            put3(
                own, 6 * N, k, add_cross(cross(s, moved), get3(H, ANGULAR_ACCELERATION * N, k), r)
            )


@kernel
def _move_columns(n, b, F, G, X, T, H):
    """Columns of all coordinates and their derivatives by time."""
    A = b.integrals
    for j in range(n):
        row, phi = int(b.strains[j]), b.shapes[j * N : (j + 1) * N]
        own = H[
            (COORDINATES_ROW + ROWS_PER_COORDINATE * j) * N : (
                COORDINATES_ROW + ROWS_PER_COORDINATE * (j + 1)
            )
            * N
        ]
        own[:] = 0.0
        axis = X[9 * (row % 3) * N : 9 * (row % 3 + 1) * N]
        linear = F[(COLUMNS + 3 * (n + j)) * N : (COLUMNS + 3 * (n + j) + 3) * N]
        for k in range(3 * N):
            own[ORIGIN_DERIVATIVE * N + k] = linear[k]
        if row < 3:
            eta = F[(COLUMNS + 3 * j) * N : (COLUMNS + 3 * j + 3) * N]
            for k in range(3 * N):
                own[k] = eta[k]
        for d in range(1, 3):
            _shaped(phi, axis[3 * d * N : 3 * (d + 1) * N], T)
            if row < 3:
                integrate(A, T, own[3 * d * N : 3 * (d + 1) * N])
                _swept(d, own, G, T)
            if row < 6:
                integrate(
                    A,
                    T,
                    own[(ORIGIN_DERIVATIVE + 3 * d) * N : (ORIGIN_DERIVATIVE + 3 * d + 3) * N],
                )


@kernel
def _shaped(phi, axis, T):
    """Axis times phi, rows."""
    for k in range(N):
        a = get3(axis, 0, k)
        put3(T, 0, k, (phi[k] * a[0], phi[k] * a[1], phi[k] * a[2]))


@kernel
def _swept(d, own, G, T):
    """Fill T with the derivative by time, once or twice, of eta x R gamma."""
    if d == 1:
        for k in range(N):
            x = cross(get3(own, 3 * N, k), get3(G, 0, k))
            put3(T, 0, k, add_cross(x, get3(own, 0, k), get3(G, 3 * N, k)))
    else:
        for k in range(N):
            a, b = get3(own, 3 * N, k), get3(G, 3 * N, k)
            x = cross(get3(own, 6 * N, k), get3(G, 0, k))
            x = add_cross(x, get3(own, 0, k), get3(G, 6 * N, k))
            put3(T, 0, k, add_cross(add_cross(x, a, b), a, b))


@kernel
def add_second_derivatives(n, numbers, loads, F, D, V):
    """
    Fill the twists' derivatives, and add to dQ/dq the work of loads along dS_j/dq_k.

    ``loads``: moment about S_J and force at each node, six rows; frames F of
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
def tip_twists(n, motion, H, D):
    """Second derivatives by time of the tip's twists, relative to the joint frame."""
    tip, w, d = N - 1, (motion[0], motion[1], motion[2]), (motion[3], motion[4], motion[5])
    o = get3(H, ORIGIN_ROW * N, tip)
    v, a = _relative(
        o, get3(H, LINEAR_VELOCITY * N, tip), get3(H, LINEAR_ACCELERATION * N, tip), w, d
    )
    a = a[0] - motion[6], a[1] - motion[7], a[2] - motion[8]
    for k in range(n):
        own, place = (
            H[(COORDINATES_ROW + ROWS_PER_COORDINATE * k) * N :],
            layout.second_twists_offset(n) + 6 * k,
        )
        eta, c = get3(own, 0, tip), get3(own, ORIGIN_DERIVATIVE * N, tip)
        e1, e2 = _relative(eta, get3(own, 3 * N, tip), get3(own, 6 * N, tip), w, d)
        x = (
            get3(own, (ORIGIN_DERIVATIVE + 3) * N, tip),
            get3(own, (ORIGIN_DERIVATIVE + 6) * N, tip),
        )
        _, c2 = _relative(c, x[0], x[1], w, d)
        # of c + o x eta
        c2 = add_cross(add_cross(c2, a, eta), o, e2)
        c2 = add_cross(add_cross(c2, v, e1), v, e1)
        D[place], D[place + 1], D[place + 2] = e2
        D[place + 3], D[place + 4], D[place + 5] = c2


@kernel
def _relative(x, v, a, w, d):
    """First and second derivative of a vector x in a frame that turns at w, dw/dt = d."""
    own = add_cross(v, x, w)
    return own, add_cross(add_cross(add_cross(add_cross(a, own, w), own, w), x, d), cross(w, x), w)
