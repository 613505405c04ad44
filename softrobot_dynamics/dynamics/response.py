# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The acceleration of a robot and its derivatives by q, qd and u, in one compiled call."""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.addresses import Entry, run, run_three
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.mass_solve import factorise_mass, solve_columns, solve_row
from softrobot_dynamics.recursion.actuation_hessians import add_line_stiffness
from softrobot_dynamics.recursion.contract import Model
from softrobot_dynamics.recursion.passes import propagate_acceleration
from softrobot_dynamics.recursion.singular_mass import PIVOT_TOLERANCE


class AccelerationResponse(NamedTuple):
    """Inputs and results of :func:`respond`, for a model with n coordinates and m actuators."""

    qdd: Vector  # (n,)
    change: Matrix  # (n, 2 n + m) its derivatives by q, qd and u
    stiffness: Matrix  # (n, n) of the actuation by q
    force: Vector  # (m,) along y
    signs: Vector  # (m,)
    min_diagonal: Vector  # (n,) of M, below which there is no inertia, see ``least_mass``
    floor: float  # of a pivot, smaller ones are none
    L: Matrix  # (n, n) factor of M
    scale: Vector  # (n,)
    x: Vector  # (2 n,) scratch


def allocate_response(model: Model) -> AccelerationResponse:
    """Return the :class:`AccelerationResponse` of a model."""
    n, m = model.n, model.m
    return AccelerationResponse(
        qdd=np.zeros(n),
        change=np.zeros((n, 2 * n + m)),
        stiffness=np.zeros((n, n)),
        force=np.zeros(m),
        signs=model.signs.copy(),
        min_diagonal=model.least_mass,
        floor=float(PIVOT_TOLERANCE * n),
        L=np.zeros((n, n)),
        scale=np.zeros(n),
        x=np.zeros(2 * n),
    )


@kernel
def fill_actuator_stiffness(fibres, lines, q, force):
    """Fill the stiffness of actuators under ``force`` (m,); for lines after tangents at q."""
    run(fibres, q, force)
    if lines.address != 0:
        run(lines, q, force)


@kernel
def add_lines(robot, t, stiffness, q, force):
    """Add the stiffness of straight lines and points, as an entry calls it."""
    add_line_stiffness(robot, t, stiffness, force)


@kernel
def add_both(lines, cables, pull, q, force):
    """Add the stiffness of lines, if there are any, and that of ``cables`` under a ``pull``."""
    if lines.address != 0:
        run(lines, q, force)
    run(cables, q, pull)


class ResponseEntries(NamedTuple):
    """Entries of the parts of :func:`respond`, each compiled once."""

    evaluate: Entry  # all terms, by q and qd
    differentiate: Entry  # by q, qd and qdd, after a forward pass
    fibres: Entry  # stiffness of lengths within bodies, by q and the force
    lines: Entry  # the same of what leads from body to body; NOTHING without


@kernel
def accelerate(parts, terms, r, q, qd, u):
    """
    Fill forces and acceleration of an :class:`AccelerationResponse` at (q, qd) under u (m,).

    ``parts`` fill the ``terms``. Returns 1 + i where M has no inertia along q_i.
    """
    run(parts.evaluate, q, qd)
    n, m = len(q), len(u)
    for k in range(m):
        r.force[k] = r.signs[k] * u[k]
    for i in range(n):
        r.qdd[i] = -terms.h[i]
        for k in range(m):
            r.qdd[i] += terms.J[k, i] * r.force[k]
    failed = factorise_mass(terms.M, r.min_diagonal, r.floor, r.L, r.scale)
    if failed == 0:
        solve_row(r.L, r.scale, r.qdd)
    return failed


@kernel
def respond(robot, parts, terms, by_state, r, q, qd, u):
    """
    Fill an :class:`AccelerationResponse` at (q, qd) under u (m,).

    Returns 1 + i where M has no inertia along q_i. ``parts`` fill the ``terms`` and ``by_state``.
    """
    failed = accelerate(parts, terms, r, q, qd, u)
    if failed != 0:
        return failed
    propagate_acceleration(robot, q, qd, r.qdd)
    run_three(parts.differentiate, q, qd, r.qdd)
    fill_actuator_stiffness(parts.fibres, parts.lines, q, r.force)
    n, m = len(q), len(u)
    for i in range(n):
        row, own = r.change[i], by_state[i]
        for j in range(n):
            row[j] = r.stiffness[i, j] - own[j]
            row[n + j] = -own[n + j]
        for k in range(m):
            row[2 * n + k] = r.signs[k] * terms.J[k, i]
    solve_columns(r.L, r.scale, r.change)
    return 0
