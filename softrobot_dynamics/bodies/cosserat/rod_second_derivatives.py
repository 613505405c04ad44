# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Derivatives of a rod's columns by the coordinates: dV_j / dq_k.

The formula, and what is in the rows K of a block, is in
:mod:`softrobot_dynamics.bodies.cosserat.step_derivatives`.
"""

from softrobot_dynamics.bodies.cosserat.rod_sums import add_six, over_lanes
from softrobot_dynamics.bodies.cosserat.step_derivatives import (
    HESSIANS,
    inner_product,
    OMEGA,
    scaled,
    STEP_K_ROWS,
    times,
    VARYING_MAP,
)
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.lanes import (
    add6,
    bracket,
    get6,
    LANES,
    load6,
    put6,
    scale6,
    store6,
)
from softrobot_dynamics.kernels.reductions import dot
from softrobot_dynamics.kernels.spatial import cross_motion, cross_wrench

B = LANES
# rows of K behind those of steps: wrench of sections; then six rows of each coordinate each: Y_j,
# V_j half-way, dOmega / dq_j, its factors of the Hessian; and the inner product of Omega and
# dOmega / dq_j (2)
FORCE, COORDINATE_ROWS = STEP_K_ROWS, STEP_K_ROWS + 6 * B


def lasting_rows(n: int) -> int:
    """Rows of K for n coordinates."""
    return STEP_K_ROWS // B + 6 + 26 * n


@kernel
def prepare(n, K, columns):
    """Fill the rows read by pairs of coordinates, from Y_j, dOmega / dq_j and ``columns`` V_j."""
    size = 6 * n * B
    growth, half = (
        K[COORDINATE_ROWS : COORDINATE_ROWS + size],
        K[COORDINATE_ROWS + size : COORDINATE_ROWS + 2 * size],
    )
    for k in range(size):
        half[k] = columns[k] - 0.5 * growth[k]
    logs, hessians = K[COORDINATE_ROWS + 2 * size :], K[COORDINATE_ROWS + 3 * size :]
    for j in range(n):
        _prepare(
            K,
            logs[6 * j * B :],
            hessians[6 * j * B :],
            K[COORDINATE_ROWS + 4 * size + 2 * j * B :],
        )


@inlined
def _prepare(K, log, hessian, along):
    """Fill one coordinate's factors of the Hessian: (d1 + c3 / 2) x + d2 p x x, and p . x."""
    for k in range(B):
        p, x = get6(K, OMEGA, k), get6(log, 0, k)
        a0, a1, b0, b1, _, _ = get6(K, HESSIANS, k)
        along[k], along[B + k] = inner_product(p, x)
        put6(hessian, 0, k, add6(scaled((a0, a1), x), scaled((b0, b1), bracket(p, x))))


@kernel
def add_second_derivatives(rod, C, load, K, T, D):
    """
    Add dV_j/dq_k within a block to the derivatives D; from the last block to the first.

    ``load`` (6,): the wrench of all sections beyond, to which those of the block are added; T:
    scratch, six rows; C: moments A and D of each coordinate, a row each.
    """
    n, strain, varies, varying = rod
    size, own = 6 * n * B, layout.own_derivatives_offset(n)
    growth, half = (
        K[COORDINATE_ROWS : COORDINATE_ROWS + size],
        K[COORDINATE_ROWS + size : COORDINATE_ROWS + 2 * size],
    )
    force = K[FORCE : FORCE + 6 * B]
    _sum_towards_base(force, load)
    for k in range(n):
        _cross(half[6 * k * B :], force, T)
        for j in range(n):
            D[own + n * k + j] -= dot(growth[6 * j * B : 6 * (j + 1) * B], T)
        for j in range(k + 1):
            _fill_hessian(K, n, j, k, T)
            if varying:
                a, b = int(strain[j]), int(strain[k])
                if (varies[a] > 0.0 or varies[b] > 0.0) and a % 3 != b % 3 and (a < 3 or b < 3):
                    _add_second(C, n, j, k, _image(a, b), K, T)
            value = dot(force, T)
            D[own + n * k + j] += value
            if j < k:
                D[own + n * j + k] += value
            x = 6 * n * k + 6 * j
            _add_twist(half[6 * k * B :], growth[6 * j * B :], T, D[x : x + 6])


@kernel
def _sum_towards_base(force, load):
    """Replace each lane's wrench by the sum of its own and of all beyond; ``load`` likewise."""
    x = load6(load)
    for k in range(B - 1, -1, -1):
        x = add6(x, get6(force, 0, k))
        put6(force, 0, k, x)
    store6(x, load)


@inlined
def _cross(half, force, out):
    """Fill six rows with V x* force, of the column V half-way along each step."""
    for k in range(B):
        put6(out, 0, k, cross_wrench(get6(half, 0, k), get6(force, 0, k)))


@kernel
def _fill_hessian(K, n, i, j, out):
    """Set six rows to the symmetric part of the second derivative of exp along two coordinates."""
    size = 6 * n * B
    x, y = K[COORDINATE_ROWS + 2 * size + 6 * i * B :], K[COORDINATE_ROWS + 2 * size + 6 * j * B :]
    u, v = K[COORDINATE_ROWS + 3 * size + 6 * i * B :], K[COORDINATE_ROWS + 3 * size + 6 * j * B :]
    s, t = K[COORDINATE_ROWS + 4 * size + 2 * i * B :], K[COORDINATE_ROWS + 4 * size + 2 * j * B :]
    for k in range(B):
        a, b = (s[k], s[B + k]), (t[k], t[B + k])
        d = K[HESSIANS + 4 * B + k], K[HESSIANS + 5 * B + k]
        c = K[HESSIANS + 6 * B + k], K[HESSIANS + 7 * B + k]
        d0, d1 = times(d, times(a, b))
        c0, c1 = times(c, inner_product(get6(x, 0, k), get6(y, 0, k)))
        both = add6(scaled(b, get6(u, 0, k)), scaled(a, get6(v, 0, k)))
        put6(out, 0, k, add6(both, scaled((c0 + d0, c1 + d1), get6(K, OMEGA, k))))


@inlined
def _image(a, b):
    """Rows of dexp that are the image of the bracket of strains a and b, and its sign."""
    axis = 3 - a % 3 - b % 3
    sign = 1.0 if (b - a) % 3 == 1 else -1.0
    return VARYING_MAP + (9 * axis + (3 if a < 3 and b < 3 else 0)) * B, sign


@kernel
def _add_second(C, n, i, j, image, K, out):
    """Add dexp of the second derivative of Omega = A + [A, D] by two coordinates to six rows."""
    at, sign = image
    A, D, E, F = C[i * B :], C[(n + i) * B :], C[j * B :], C[(n + j) * B :]
    for k in range(B):
        weight = sign * (A[k] * F[k] - D[k] * E[k])
        put6(out, 0, k, add6(get6(out, 0, k), scale6(weight, get6(K, at, k))))


@over_lanes
def _add_twist(half, growth, bend, out):
    """Add the sum of dY_j/dq_k to out (6,)."""
    a = b = c = d = e = f = 0.0
    for k in range(B):
        turned = bracket(get6(half, 0, k), get6(growth, 0, k))
        w0, w1, w2, v0, v1, v2 = add6(turned, get6(bend, 0, k))
        a, b, c, d, e, f = a + w0, b + w1, c + w2, d + v0, e + v1, f + v2
    add_six(out, (a, b, c, d, e, f))


@kernel
def finish_twists(n, motion, tip, D):
    """
    Fill the other half of dS_j/dq_k, and d2S_k/dt2 where S_J is at rest.

    ``tip`` (18 n,): columns at the tip and their derivatives by time where S_J moves.
    """
    U = motion[0], motion[1], motion[2], 0.0, 0.0, 0.0
    A = load6(motion[3:])
    for k in range(n):
        V = load6(tip[6 * k :])
        for j in range(k):  # dS_k/dq_j = dS_j/dq_k - [S_k, S_j]
            turned = cross_motion(V, load6(tip[6 * j :]))
            known = load6(D[6 * n * k + 6 * j :])
            store6(add6(known, scale6(-1.0, turned)), D[6 * n * j + 6 * k :])
        rate = load6(tip[6 * n + 6 * k :])
        both = add6(scale6(2.0, rate), scale6(-1.0, bracket(U, V)))
        rigid = add6(bracket(A, V), bracket(U, both))
        second = add6(load6(tip[12 * n + 6 * k :]), scale6(-1.0, rigid))
        store6(second, D[layout.second_twists_offset(n) + 6 * k :])
