# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Derivatives, by time and coordinates, of the increment of a step of a rod to the columns V_j.

A column grows by Y_j = Ad_T X_j, X_j = dexp(Omega) dOmega/dq_j, in a step from a frame T, whose
twist is V. So dY_j/dt = V x Y_j + Ad_T dX_j/dt, and once more so. With S_k the mean of V_k before
and after the step, and Z the symmetric part of the derivative of dexp(Omega) x along y,

    dY_j/dq_k = S_k x Y_j + Ad_T (Z(dOmega/dq_j, dOmega/dq_k) + dexp(Omega) d2Omega/dq_j dq_k)

where all in brackets is symmetric. Ad_T Z is the same of Omega and its derivatives turned by Ad_T.
A twist (w, v) is a vector w + e v of dual numbers (e e = 0), of which exponentials are those of
rotations; a dual number is a pair, and the bracket the cross product.

Besides the rows of :mod:`softrobot_dynamics.bodies.cosserat.rod_steps` these are in the scratch S;
what lasts beyond a block is in its rows K.
"""

import numpy as np
from softrobot_dynamics.bodies.cosserat.rod_steps import (
    axes,
    carried,
    clear,
    exponentials,
    frames,
    LOG,
    logarithms,
    MAP_A,
    maps,
    MAX_SQUARED_ROTATION,
    MOMENTS,
    RATE,
    spread,
    subtract,
    turns,
    TWIST,
)
from softrobot_dynamics.bodies.cosserat.rod_sums import ROWS
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.functions import stumpff_ten
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

B = LANES
# d2A/dt2 and d2D/dt2; V and dV/dt at the start; maps of A and D, 27 rows each: those of Omega in
# the rod's frame, and the first and second derivatives by time of those of Y
MOMENT_ACCELERATIONS, START_MOTION, MAPS = ROWS * B, (ROWS + 12) * B, (ROWS + 24) * B
MAP_RATES, MAP_ACCELERATIONS, MAPS_END = MAPS + 54 * B, MAPS + 108 * B, MAPS + 162 * B
# rows of K: Omega in the rod's frame, dual numbers d1 + c3 / 2, d2, 2 d3, c3 of z = |Omega|^2, see
# rod_steps; and Ad_T dexp, where strains vary
OMEGA, HESSIANS, VARYING_MAP, STEP_K_ROWS = 0, 6 * B, 14 * B, 41 * B


@kernel
def evaluate_derivatives(count, varying, carry, S, K):
    """
    Fill the rows of a block, given moments and MOMENT_ACCELERATIONS, of its first ``count`` steps.

    ``carry`` (24,): frame, twist V and dV/dt at the block's start, which become those at its end.
    """
    logarithms(S)
    _push(S)
    exponentials(S)
    _move_exponentials(S, K)
    frames(count, carry, S)
    spread(S)
    _pass_motion(count, carry[12:], S)
    _carry(S, K)
    if varying:
        _vary(S, K)


@kernel
def _push(S):
    """Add the part of accelerations of the coordinates to d2Omega/dt2."""
    for k in range(B):
        a, d = get6(S, MOMENTS, k), get6(S, MOMENTS + 6 * B, k)
        x, y = get6(S, MOMENT_ACCELERATIONS, k), get6(S, MOMENT_ACCELERATIONS + 6 * B, k)
        more = add6(x, add6(bracket(x, d), bracket(a, y)))
        put6(S, LOG + 12 * B, k, add6(get6(S, LOG + 12 * B, k), more))


@inlined
def times(a, b):
    """Product of two dual numbers."""
    return a[0] * b[0], a[0] * b[1] + a[1] * b[0]


@inlined
def scaled(a, x):
    """Twist x times the dual number a."""
    return (
        a[0] * x[0],
        a[0] * x[1],
        a[0] * x[2],
        a[0] * x[3] + a[1] * x[0],
        a[0] * x[4] + a[1] * x[1],
        a[0] * x[5] + a[1] * x[2],
    )


@inlined
def inner_product(x, y):
    """Inner product of two twists, a dual number."""
    u = x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
    v = x[0] * y[3] + x[1] * y[4] + x[2] * y[5] + x[3] * y[0] + x[4] * y[1] + x[5] * y[2]
    return u, v


@inlined
def _moved(d, e, first, second):
    """First and second derivative by time of a function of z with derivatives d, e by z."""
    change = times(d, first)
    by_rate, by_acceleration = times(e, times(first, first)), times(d, second)
    return change, (by_rate[0] + by_acceleration[0], by_rate[1] + by_acceleration[1])


@kernel
def _move_exponentials(S, K):
    """
    First and second derivative of each step's dexp(Omega) by time, and its Hessian's factors.

    Of p = Omega, a column is c1 e + c2 p x e + c3 (p . e) p; d, e, h are derivatives by z.
    """
    for k in range(B):
        p, v, a = get6(S, LOG, k), get6(S, LOG + 6 * B, k), get6(S, LOG + 12 * B, k)
        z, y = inner_product(p, p)
        _, _, c2, c3, c4, c5, c6, c7, c8, c9 = stumpff_ten(
            z if z <= MAX_SQUARED_ROTATION else np.nan
        )
        d1, d2, d3, d4 = (
            0.5 * (c3 - c2), 0.5 * (2.0 * c4 - c3), 0.5 * (3.0 * c5 - c4), 0.5 * (4.0 * c6 - c5)
        )  # fmt: skip
        d5, d6, d7 = 0.5 * (5.0 * c7 - c6), 0.5 * (6.0 * c8 - c7), 0.5 * (7.0 * c9 - c8)
        e1, e2, e3 = 0.5 * (d3 - d2), 0.5 * (2.0 * d4 - d3), 0.5 * (3.0 * d5 - d4)
        e4, e5 = 0.5 * (4.0 * d6 - d5), 0.5 * (5.0 * d7 - d6)
        h1, h2, h3 = 0.5 * (e3 - e2), 0.5 * (2.0 * e4 - e3), 0.5 * (3.0 * e5 - e4)
        s2, s3 = (c2, d2 * y), (c3, d3 * y)
        put6(K, OMEGA, k, p)
        put6(
            K,
            HESSIANS,
            k,
            (d1 + 0.5 * c3, (e1 + 0.5 * d3) * y, d2, e2 * y, 2.0 * d3, 2.0 * e3 * y),
        )
        K[HESSIANS + 6 * B + k], K[HESSIANS + 7 * B + k] = s3
        first, (z0, z1), (z2, z3) = (
            inner_product(p, v), inner_product(v, v), inner_product(p, a)
        )  # fmt: skip
        first, second = (2.0 * first[0], 2.0 * first[1]), (2.0 * (z0 + z2), 2.0 * (z1 + z3))
        f1, g1 = _moved((d1, e1 * y), (e1, h1 * y), first, second)
        f2, g2 = _moved((d2, e2 * y), (e2, h2 * y), first, second)
        f3, g3 = _moved((d3, e3 * y), (e3, h3 * y), first, second)
        turned = add6(scaled(f2, p), scaled(s2, v))
        bent = add6(add6(scaled(g2, p), scale6(2.0, scaled(f2, v))), scaled(s2, a))
        x0, x1, x2 = axes(turned)
        y0, y1, y2 = axes(bent)
        one, more = (f1[0], 0.0, 0.0, f1[1], 0.0, 0.0), (g1[0], 0.0, 0.0, g1[1], 0.0, 0.0)
        _put_column(S, 3 * B, k, 0, (p, v, a), (s3, f3, g3), add6(x0, one), add6(y0, more))
        one, more = (0.0, f1[0], 0.0, 0.0, f1[1], 0.0), (0.0, g1[0], 0.0, 0.0, g1[1], 0.0)
        _put_column(S, 12 * B, k, 1, (p, v, a), (s3, f3, g3), add6(x1, one), add6(y1, more))
        one, more = (0.0, 0.0, f1[0], 0.0, 0.0, f1[1]), (0.0, 0.0, g1[0], 0.0, 0.0, g1[1])
        _put_column(S, 21 * B, k, 2, (p, v, a), (s3, f3, g3), add6(x2, one), add6(y2, more))


@inlined
def _put_column(S, at, k, c, path, factors, x, y):
    """Add the derivatives of c3 (p . e_c) p to x and y, and store both in the maps' columns."""
    p, v, a = path
    s, f, g = factors
    pc, vc, ac = (p[c], p[c + 3]), (v[c], v[c + 3]), (a[c], a[c + 3])
    s0, s1, s2 = times(s, pc), times(s, vc), times(s, ac)
    f0, f1, g0 = times(f, pc), times(f, vc), times(g, pc)
    one = s1[0] + f0[0], s1[1] + f0[1]
    two = s2[0] + 2.0 * f1[0] + g0[0], s2[1] + 2.0 * f1[1] + g0[1]
    put6(S, MAP_RATES + at, k, add6(x, add6(scaled(one, p), scaled(s0, v))))
    twice = add6(scale6(2.0, scaled(one, v)), scaled(s0, a))
    put6(S, MAP_ACCELERATIONS + at, k, add6(y, add6(scaled(two, p), twice)))


@kernel
def _pass_motion(count, carry, S):
    """Sum TWIST and RATE along the lanes, as ``rod`` does, and keep those before each step."""
    S[START_MOTION:MAPS] = 0.0
    v, a = load6(carry), load6(carry[6:])
    for k in range(count):
        put6(S, START_MOTION, k, v)
        put6(S, START_MOTION + 6 * B, k, a)
        u = get6(S, TWIST, k)
        a = add6(add6(a, bracket(v, u)), get6(S, RATE, k))
        v = add6(v, u)
        put6(S, TWIST, k, v)
        put6(S, RATE, k, a)
    store6(v, carry)
    store6(a, carry[6:])


@kernel
def _carry(S, K):
    """Rotate quantities of steps into the rod's frame, which moves."""
    for k in range(B):
        put6(K, OMEGA, k, carried(S, k, get6(K, OMEGA, k)))
        _carry_column(S, 3 * B, k)
        _carry_column(S, 12 * B, k)
        _carry_column(S, 21 * B, k)
        put6(S, MAPS + 3 * B, k, carried(S, k, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)))
        put6(S, MAPS + 12 * B, k, carried(S, k, (0.0, 1.0, 0.0, 0.0, 0.0, 0.0)))
        put6(S, MAPS + 21 * B, k, carried(S, k, (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)))
        clear(S, MAPS, k)
        clear(S, MAP_RATES, k)
        clear(S, MAP_ACCELERATIONS, k)


@inlined
def _carry_column(S, at, k):
    """Lane k of the derivatives of a column Y of a map, from those of X."""
    V, A, y = get6(S, START_MOTION, k), get6(S, START_MOTION + 6 * B, k), get6(S, MAP_A + at, k)
    x = carried(S, k, get6(S, MAP_RATES + at, k))
    rate = add6(bracket(V, y), x)
    put6(S, MAP_RATES + at, k, rate)
    x = add6(bracket(V, add6(rate, x)), carried(S, k, get6(S, MAP_ACCELERATIONS + at, k)))
    put6(S, MAP_ACCELERATIONS + at, k, add6(bracket(A, y), x))


@kernel
def _vary(S, K):
    """Turn maps of Omega into those of A and D, as dOmega = dA - [D, dA] + [A, dD]."""
    for k in range(27 * B):
        K[VARYING_MAP + k] = S[MAP_A + k]
    for k in range(B):
        x, y, z = _second_turns(S, k, MOMENTS, MOMENT_ACCELERATIONS)
        _put_turns(S, MAP_ACCELERATIONS, k, x, y, z)
        x, y, z = _second_turns(S, k, MOMENTS + 6 * B, MOMENT_ACCELERATIONS + 6 * B)
        _subtract_turns(S, MAP_ACCELERATIONS, k, x, y, z)
    for k in range(B):
        x, y, z = _first_turns(S, k, MOMENTS)
        _put_turns(S, MAP_RATES, k, x, y, z)
        x, y, z = _first_turns(S, k, MOMENTS + 6 * B)
        _subtract_turns(S, MAP_RATES, k, x, y, z)
        x, y, z = axes(get6(S, MOMENTS, k))
        _put_turns(S, MAPS, k, carried(S, k, x), carried(S, k, y), carried(S, k, z))
        x, y, z = axes(get6(S, MOMENTS + 6 * B, k))
        _subtract_turns(S, MAPS, k, carried(S, k, x), carried(S, k, y), carried(S, k, z))
    maps(S)


@inlined
def _second_turns(S, k, at, push):
    """Second derivatives of the images of [a, e_c] by dexp, a in the rows ``at``."""
    a, rate, a2 = get6(S, at, k), scale6(2.0, get6(S, at + 12 * B, k)), get6(S, push, k)
    x, y, z = turns(S, MAP_ACCELERATIONS, k, a)
    x1, y1, z1 = turns(S, MAP_RATES, k, rate)
    x2, y2, z2 = turns(S, MAP_A, k, a2)
    return add6(x, add6(x1, x2)), add6(y, add6(y1, y2)), add6(z, add6(z1, z2))


@inlined
def _first_turns(S, k, at):
    """First derivatives of the images of [a, e_c] by dexp, a in the rows ``at``."""
    x, y, z = turns(S, MAP_RATES, k, get6(S, at, k))
    x1, y1, z1 = turns(S, MAP_A, k, get6(S, at + 12 * B, k))
    return add6(x, x1), add6(y, y1), add6(z, z1)


@inlined
def _put_turns(S, at, k, x, y, z):
    """Set the map of D behind that of A."""
    put6(S, at + 30 * B, k, x)
    put6(S, at + 39 * B, k, y)
    put6(S, at + 48 * B, k, z)
    clear(S, at + 27 * B, k)


@inlined
def _subtract_turns(S, at, k, x, y, z):
    """Take images from the map of A."""
    subtract(S, at + 3 * B, k, x)
    subtract(S, at + 12 * B, k, y)
    subtract(S, at + 21 * B, k, z)
