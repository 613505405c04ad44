# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Find coordinates along which nothing has inertia, where the mass matrix is singular.

Its entries bear the squares of mixed units, so a small one means little by itself, and so does the
condition number. An entry of the diagonal is compared with the inertia that it is the sum of; all
else is judged after scaling to a unit diagonal.
"""

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.errors import SingularMassError
from softrobot_dynamics.kernels.layout import JACOBIAN, ORIGIN
from softrobot_dynamics.kernels.mass_solve import solve_mass
from softrobot_dynamics.recursion.contract import Model
from softrobot_dynamics.recursion.passes import (
    BODY_COUNT,
    BODY_FIRST,
    BODY_SLAB,
    JOINT_COUNT,
    JOINT_FIRST,
    JOINT_POSE,
    JOINT_SLAB,
    Robot,
    STATE,
    TIP_INERTIA,
    TIP_POSE,
)

INERTIA_ROUNDING = 64.0 * np.finfo(float).eps  # of a sum of inertias
MAX_RATE = 1e15  # [rad/s], beyond any vibration of matter
# of a unit diagonal, per coordinate; smaller pivots are rounding
PIVOT_TOLERANCE = 10.0 * np.finfo(float).eps


def least_masses(robot: Robot, stiffness: Matrix) -> Vector:
    """
    Return the diagonal entries (n,) of M below which there is no inertia, after an evaluation.

    Rounding of the inertia of all that a coordinate carries, moved as its frame is; or what the
    diagonal of ``stiffness`` (n, n) would shake faster than matter can.
    """
    W, least = robot.W, np.diag(stiffness) / MAX_RATE**2
    modules = robot.modules.astype(int)
    centre = W[(len(modules) - 1) * STATE + TIP_POSE + ORIGIN :][:3]  # of all inertias
    for i, m in enumerate(modules):
        mass, *_, xx, yy, zz, _, _, _ = W[i * STATE + TIP_INERTIA :][:10]
        rotational = np.sqrt(max(xx + yy + zz, 0.0) / 2.0)  # also where there is no mass
        lever = np.linalg.norm(centre - W[i * STATE + JOINT_POSE + ORIGIN :][:3])
        for first, count, slab in (
            m[[JOINT_FIRST, JOINT_COUNT, JOINT_SLAB]],
            m[[BODY_FIRST, BODY_COUNT, BODY_SLAB]],
        ):
            columns = W[slab + JACOBIAN :][: 6 * count].reshape(2, count, 3)
            turn, shift = np.linalg.norm(columns, axis=2)
            moved = (np.sqrt(mass) * (turn * lever + shift) + turn * rotational) ** 2
            own = slice(first, first + count)
            least[own] = np.maximum(least[own], INERTIA_ROUNDING * moved)
    return least


def accelerations(model: Model, M: Matrix, forces: Array) -> Array:
    """
    Return M^-1 ``forces``, (n,) or (k, n) row by row, of the mass matrix M (n, n) of a model.

    Raises SingularMassError, which names the coordinates without inertia.
    """
    n = model.n
    rows = np.array(forces, dtype=float).reshape(-1, n)
    failed = cached(solve_mass)(
        M, model.least_mass, PIVOT_TOLERANCE * n, np.empty((n, n)), np.empty(n), rows
    )
    if failed:
        last = model.coordinate_names[failed - 1]
        raise SingularMassError(without_inertia(model, M) or (last,))
    return rows.reshape(np.shape(forces))


def without_inertia(model: Model, M: Matrix) -> tuple[str, ...]:
    """Return the names of the coordinates along which M (n, n) has no inertia, a tuple."""
    names, own = np.array(model.coordinate_names), np.diag(M)
    massless = ~(own > model.least_mass)
    if massless.any():
        return tuple(names[massless].tolist())
    scale = 1.0 / np.sqrt(own)
    squares, modes = np.linalg.eigh(scale[:, None] * M * scale)
    if squares[0] > PIVOT_TOLERANCE * model.n:
        return ()
    share = np.abs(modes[:, 0])  # these coordinates, together, move nothing
    return tuple(names[share > 0.1 * share.max()].tolist())
