# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Response of a robot to forces of contact in a step: it moves as a linear one, from rest.

Coordinates are in blocks that nothing but contact couples, the robot's and those of each object;
a contact is between one or two of them. Responses to forces along the columns of a matrix are
found together, by the steps of backward Euler's method that :mod:`.exponential_step` consists of.
With A = M + g D + g^2 K, whose inverse is there, one of them takes (x, v) under F to ::

    v' = v - A^-1 (g D v + g K (x + g v)) + g A^-1 F,   x' = x + g v'

in which only A^-1 is a full matrix.
"""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Array, Integers, Matrix, Vector
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.sums import dot
from softrobot_dynamics.model.contact_blocks import contact_blocks, NO_BLOCK
from softrobot_dynamics.model.contract import RobotModel
from softrobot_dynamics.recursion.constants import L_STABLE_GAMMA
from softrobot_dynamics.recursion.contact_workspace import ContactWorkspace
from softrobot_dynamics.simulation.integrators.exponential_step import (
    ONE_STEP_WEIGHT,
    TWO_STEPS_WEIGHT,
)

(_X, _V, _X_ONE_STEP, _V_ONE_STEP, _VELOCITY_CHANGE, _PULL, _FORCE) = range(7)  # of the columns


class ContactSystem(NamedTuple):
    """The contacts that take part in a step, of P, as a linear system of n coordinates."""

    blocks: Integers  # (B, 3) first coordinate, that behind the last, and contacts taking part
    sides: Integers  # (P, 2) blocks that a pair is between, the second NO_BLOCK if there is none
    active: Integers  # (P + 1,) how many pairs take part; and which
    axes: Matrix  # (P, 9) normal and two tangents
    J: Matrix  # (P, 3 n) of the relative velocity along these
    # (P, 6 n) of q and then of qd to a unit force along each axis: for each axis, and block
    pair_response: Matrix
    self_response: Matrix  # (P, 5) of the pair itself, see :func:`_fill_self_response`
    free: Matrix  # (P, 4) gap [m] and velocity along the axes [m/s] with forces as they were
    force: Matrix  # (P, 3) [N] along the axes
    saved_force: Matrix  # (P, 3) [N] forces to return to
    sweep_velocity: Matrix  # (P, 3) [m/s] velocity along the axes when the last sweep came to it
    change: Vector  # (2 n,) by changes of forces: for each block of its q and then of its qd
    response: Matrix  # (n, 2 n) to a force along each coordinate
    columns: Array  # (7, n, n) see the names above
    laws: Matrix  # (P, 6) this and what follows: see :mod:`.contact_newton`
    motion: Matrix  # (P, 4) gap [m] and velocities [m/s]
    slopes: Matrix  # (P, 12) of forces by the motion
    step: Matrix  # (P, 3) [N] of forces; and before, by how much they are not those of the law
    motion_step: Matrix  # (P, 4) of motions, by the step of forces
    change_step: Vector  # (2 n,) of the change, likewise
    matrix: Matrix  # (n, n) of the equations
    unknown: Matrix  # (n, 1) right side, and solution
    by_unit: Matrix  # (3, n) scratch: forces by a force along each coordinate of a block


def system_of(model: RobotModel) -> ContactSystem:
    """Return the :class:`ContactSystem` of a model's contact plan."""
    return _allocate(*contact_blocks(model))


def whole_system(contact: ContactWorkspace, n: int) -> ContactSystem:
    """Return the :class:`ContactSystem` of contacts in one block of n coordinates."""
    sides = np.tile(np.array([[0, NO_BLOCK]]), (len(contact.gap), 1))
    return _allocate(np.array([[0, n]]), sides)


def _allocate(blocks: Integers, sides: Integers) -> ContactSystem:
    """Return the :class:`ContactSystem` of blocks (B, 2) and of pairs of such sides (P, 2)."""
    P, n = len(sides), int(blocks.max())
    return ContactSystem(
        blocks=np.column_stack([blocks, np.zeros(len(blocks), dtype=np.int64)]),
        sides=sides,
        active=np.zeros(P + 1, dtype=np.int64),
        axes=np.zeros((P, 9)),
        J=np.zeros((P, 3 * n)),
        pair_response=np.zeros((P, 6 * n)),
        self_response=np.zeros((P, 5)),
        free=np.zeros((P, 4)),
        force=np.zeros((P, 3)),
        saved_force=np.zeros((P, 3)),
        sweep_velocity=np.zeros((P, 3)),
        change=np.zeros(2 * n),
        response=np.zeros((n, 2 * n)),
        columns=np.zeros((7, n, n)),
        laws=np.zeros((P, 6)),
        motion=np.zeros((P, 4)),
        slopes=np.zeros((P, 12)),
        step=np.zeros((P, 3)),
        motion_step=np.zeros((P, 4)),
        change_step=np.zeros(2 * n),
        matrix=np.zeros((n, n)),
        unknown=np.zeros((n, 1)),
        by_unit=np.zeros((3, n)),
    )


@kernel
def respond(system, K, D, h, b):
    """Fill what forces of the pairs that take part do to q and qd in a step of h [s]."""
    for k in range(len(system.blocks)):
        block = system.blocks[k]
        first, last, count = block[0], block[1], 3 * block[2]
        if count == 0:
            continue
        size = last - first
        if count < size:
            _respond_to_pairs(system, k, first, last, count, K, D, h, b)
        else:
            _respond_to_units(system, first, last, K, D, h, b)
            _combine(system, k, first, last)
    for c in range(system.active[0]):
        _fill_self_response(system, system.active[1 + c])


@kernel
def _respond_to_pairs(system, k, first, last, count, K, D, h, b):
    """Fill responses of a block to forces of its pairs, these as columns."""
    F, n, column = system.columns[_FORCE], len(K), 0
    for c in range(system.active[0]):
        i = system.active[1 + c]
        if system.sides[i, 0] == k or system.sides[i, 1] == k:
            for axis in range(3):
                for j in range(first, last):
                    F[j, column] = system.J[i, axis * n + j]
                column += 1
    _respond_to_columns(system.columns, first, last, count, K, D, h, b)
    x, v, column, size = system.columns[_X], system.columns[_V], 0, last - first
    for c in range(system.active[0]):
        i = system.active[1 + c]
        if system.sides[i, 0] == k or system.sides[i, 1] == k:
            for axis in range(3):
                by = system.pair_response[i, 2 * (axis * n + first) : 2 * (axis * n + last)]
                for j in range(size):
                    by[j], by[size + j] = x[first + j, column], v[first + j, column]
                column += 1


@kernel
def _respond_to_units(system, first, last, K, D, h, b):
    """Fill responses of a block to a force along each of its coordinates."""
    F, size = system.columns[_FORCE], last - first
    for i in range(size):
        F[first + i, :size] = 0.0
        F[first + i, i] = 1.0
    _respond_to_columns(system.columns, first, last, size, K, D, h, b)
    x, v = system.columns[_X], system.columns[_V]
    for j in range(size):
        found = system.response[first + j, 2 * first : 2 * last]
        for i in range(size):
            found[i], found[size + i] = x[first + i, j], v[first + i, j]


@kernel
def _respond_to_columns(columns, first, last, count, K, D, h, b):
    """Fill x and v, of coordinates first to last, for so many columns of forces."""
    g = L_STABLE_GAMMA * h / b.parts
    x, v, x_once, v_once = columns[_X], columns[_V], columns[_X_ONE_STEP], columns[_V_ONE_STEP]
    pushed, F, A = columns[_VELOCITY_CHANGE], columns[_FORCE], b.inverse
    for i in range(first, last):
        row = pushed[i, :count]
        row[:] = 0.0
        x[i, :count] = 0.0
        v[i, :count] = 0.0
        for j in range(first, last):
            _add(g * A[i, j], F[j, :count], row)
    for part in range(b.parts):
        _backward_euler_step(columns, _X, _X_ONE_STEP, first, last, count, K, D, g, part == 0, b)
        _backward_euler_step(columns, _X_ONE_STEP, _X, first, last, count, K, D, g, False, b)
        for i in range(first, last):
            for c in range(count):
                x[i, c] = TWO_STEPS_WEIGHT * x[i, c] + ONE_STEP_WEIGHT * x_once[i, c]
                v[i, c] = TWO_STEPS_WEIGHT * v[i, c] + ONE_STEP_WEIGHT * v_once[i, c]


@kernel
def _backward_euler_step(columns, before, after, first, last, count, K, D, g, at_rest, b):
    """Make a step of g [s] by backward Euler's method from columns to others, see above."""
    x, v, pulls = columns[before], columns[before + 1], False
    x_then, v_then = columns[after], columns[after + 1]
    pull, pushed = columns[_PULL], columns[_VELOCITY_CHANGE]
    for i in range(first, last):
        if at_rest:
            break
        row, k, d = pull[i, :count], K[i], D[i]
        row[:] = 0.0
        for j in range(first, last):
            if k[j] != 0.0 or d[j] != 0.0:
                pulls = True
                _add_scaled_pair(
                    -g * k[j], x[j, :count], -g * (d[j] + g * k[j]), v[j, :count], row
                )
    for i in range(first, last):
        for c in range(count):
            v_then[i, c] = v[i, c] + pushed[i, c]
        if pulls:
            for j in range(first, last):
                _add(b.inverse[i, j], pull[j, :count], v_then[i, :count])
        for c in range(count):
            x_then[i, c] = x[i, c] + g * v_then[i, c]


@inlined
def _add(factor, row, out):
    for c in range(len(out)):
        out[c] += factor * row[c]


@inlined
def _add_scaled_pair(one, row, other, more, out):
    for c in range(len(out)):
        out[c] += one * row[c] + other * more[c]


@kernel
def _combine(system, k, first, last):
    """Fill responses of a block to forces of its pairs by those to forces along coordinates."""
    n = len(system.response)
    for c in range(system.active[0]):
        i = system.active[1 + c]
        if system.sides[i, 0] != k and system.sides[i, 1] != k:
            continue
        row, size = system.pair_response[i], 2 * n
        x, y, z = row[:size], row[size : 2 * size], row[2 * size :]
        x, y, z = x[2 * first : 2 * last], y[2 * first : 2 * last], z[2 * first : 2 * last]
        x[:] = 0.0
        y[:] = 0.0
        z[:] = 0.0
        J = system.J[i]
        for j in range(first, last):
            a, b, d = J[j], J[n + j], J[2 * n + j]
            if a != 0.0 or b != 0.0 or d != 0.0:
                _add_to_three(a, b, d, system.response[j, 2 * first : 2 * last], x, y, z)


@inlined
def _add_to_three(a, b, d, row, x, y, z):
    for m in range(len(row)):
        x[m] += a * row[m]
        y[m] += b * row[m]
        z[m] += d * row[m]


@kernel
def _fill_self_response(system, i):
    """
    Fill what forces of a pair do to it.

    Those along the normal to its gap and to its velocity along all axes; those along both tangents
    to that along them, on average.
    """
    own, n = system.self_response[i], len(system.response)
    own[:] = 0.0
    for side in range(2):
        k = system.sides[i, side]
        if k == NO_BLOCK:
            continue
        first, last = system.blocks[k, 0], system.blocks[k, 1]
        for axis in range(3):
            J = system.J[i, axis * n + first : axis * n + last]
            by = system.pair_response[i, 2 * first : 2 * last]
            if axis == 0:
                own[0] += dot(J, by[: last - first])
            own[1 + axis] += dot(J, by[last - first :])
            if axis > 0:
                by = system.pair_response[i, 2 * (axis * n + first) : 2 * (axis * n + last)]
                own[4] += 0.5 * dot(J, by[last - first :])
