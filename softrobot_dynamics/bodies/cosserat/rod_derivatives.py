# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Derivatives of a Cosserat rod (:mod:`softrobot_dynamics.kernels.layout`); compiled once for all.

Forward, from base to tip: columns and their derivatives by time, as in
:mod:`softrobot_dynamics.bodies.cosserat.rod`, and the wrenches of the sections
(:mod:`softrobot_dynamics.bodies.cosserat.section_derivatives`). Backward: the work of the wrench
of all sections beyond a step along dY_j/dq_k
(:mod:`softrobot_dynamics.bodies.cosserat.rod_second_derivatives`).

The parameters are those of ``rod_terms``.
"""

from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.bodies.cosserat.rod import accumulate, increments, strain_moments
from softrobot_dynamics.bodies.cosserat.rod_second_derivatives import (
    add_second_derivatives,
    COORDINATE_ROWS,
    finish_twists,
    FORCE,
    lasting_rows,
    prepare,
)
from softrobot_dynamics.bodies.cosserat.rod_steps import MAP_A
from softrobot_dynamics.bodies.cosserat.section_derivatives import (
    add_section_derivatives,
    ROWS_END,
    subtract_turning,
)
from softrobot_dynamics.bodies.cosserat.step_derivatives import (
    evaluate_derivatives,
    MAP_ACCELERATIONS,
    MAP_RATES,
    MAPS,
    MOMENT_ACCELERATIONS,
)
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.derivative_sums import initialise_derivatives
from softrobot_dynamics.kernels.lanes import LANES
from softrobot_dynamics.kernels.linalg import copy

B = LANES
_BASE, _INERTIA, _LOAD, _TIP = 0, 24, 34, 40  # in what is carried from block to block


def scratch_size(P: Vector) -> int:
    """Numbers of scratch that ``rod_derivatives`` needs with these parameters."""
    n, blocks = int(P[0]), -(-int(P[1]) // LANES)
    return ROWS_END + (18 * n + blocks * lasting_rows(n)) * LANES + _TIP + 18 * n


@kernel
def rod_derivatives(P, q, qd, qdd, motion, D, S):
    """Fill the derivatives D of a rod, given the motion (w, dw/dt, a) of its joint frame."""
    n, steps, varying, P = int(P[0]), int(P[1]), P[2] > 0.0, P[3:]
    strain, varies, matrices = P[:n], P[n : n + 6], P[n + 6 : n + 6 + 2 * n * n]
    blocks, size, last = (steps + B - 1) // B, (15 + 2 * n) * B, (47 + 26 * n) * B
    table = P[n + 6 + 2 * n * n :][: blocks * size]
    S, room = S[:ROWS_END], S[ROWS_END:]
    columns, room = room[: 18 * n * B], room[18 * n * B :]
    carry, kept = room[: _TIP + 18 * n], room[_TIP + 18 * n :][: blocks * last]
    D[: layout.force_derivatives_offset(n)] = 0.0
    initialise_derivatives(n, matrices, D)
    carry[:] = 0.0
    carry[0] = carry[4] = carry[8] = 1.0
    copy(motion[:3], carry[12:15])
    copy(motion[3:9], carry[18:24])
    rod = n, strain, varies, varying
    for block in range(blocks):
        C, K = table[block * size : (block + 1) * size], kept[block * last : (block + 1) * last]
        count = min(B, steps - block * B)
        strain_moments(n, strain, varies, C, q, qd, S)
        _strain_forces(n, strain, C[15 * B :], qdd, S)
        evaluate_derivatives(count, varying, carry[:24], S, K)
        _fill_columns(rod, count, C[15 * B :], carry[_TIP:], columns, S, K)
        total = carry[_INERTIA : _INERTIA + 10]
        add_section_derivatives(n, C[: 3 * B], columns, K[FORCE : FORCE + 6 * B], total, S, D)
    for block in range(blocks - 1, -1, -1):
        C, K = table[block * size : (block + 1) * size], kept[block * last : (block + 1) * last]
        add_second_derivatives(rod, C[15 * B :], carry[_LOAD : _LOAD + 6], K, columns[: 6 * B], D)
    finish_twists(n, motion, carry[_TIP:], D)
    spin = layout.spin_offset(n)
    subtract_turning(carry[_INERTIA : _INERTIA + 10], motion, D[spin : spin + 9])


@kernel
def _strain_forces(n, strain, C, qdd, S):
    """Second derivatives by time of the moments, by the accelerations of coordinates."""
    A, D = (
        S[MOMENT_ACCELERATIONS : MOMENT_ACCELERATIONS + 6 * B],
        S[MOMENT_ACCELERATIONS + 6 * B : MOMENT_ACCELERATIONS + 12 * B],
    )
    for k in range(6 * B):
        A[k] = D[k] = 0.0
    for j in range(n):
        c = int(strain[j])
        _add(qdd[j], C[j * B :], A[c * B :])
        _add(qdd[j], C[(n + j) * B :], D[c * B :])


@kernel
def _add(value, row, out):
    """Add a row times a number."""
    for k in range(B):
        out[k] += value * row[k]


@kernel
def _fill_columns(rod, count, C, carry, columns, S, K):
    """Fill V_j and derivatives by time at the ends of steps; prepare second derivatives."""
    n, strain, varies, _ = rod
    size = 6 * n * B
    growth, logs = (
        K[COORDINATE_ROWS : COORDINATE_ROWS + size],
        K[COORDINATE_ROWS + 2 * size : COORDINATE_ROWS + 3 * size],
    )
    increments(n, strain, varies, C, S[MAP_A : MAP_A + 54 * B], growth)
    increments(n, strain, varies, C, S[MAPS : MAPS + 54 * B], logs)
    copy(growth, columns[:size])
    increments(n, strain, varies, C, S[MAP_RATES : MAP_RATES + 54 * B], columns[size : 2 * size])
    increments(
        n,
        strain,
        varies,
        C,
        S[MAP_ACCELERATIONS : MAP_ACCELERATIONS + 54 * B],
        columns[2 * size :],
    )
    accumulate(3 * n, count, carry, columns)
    prepare(n, K, columns)
