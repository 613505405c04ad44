# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The arrays that steps of :mod:`~.predictive.implicit_step` are worked out in."""

from __future__ import annotations

from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.compiling.addresses import EMPTY_ENTRY, Entry
from softrobot_dynamics.compiling.binding import entry
from softrobot_dynamics.controllers.predictive.contact import HorizonForces, step_parts
from softrobot_dynamics.dynamics.derivative_workspace import DerivativeWorkspace
from softrobot_dynamics.dynamics.response import ResponseEntries
from softrobot_dynamics.model.terms import Terms
from softrobot_dynamics.recursion.cable_drives import subtract_by_command
from softrobot_dynamics.recursion.passes import Robot

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class StepWorkspace(NamedTuple):
    """Arrays that steps of one robot work in; k = 2 n + m columns stand for (q, qd, u)."""

    robot: Robot
    parts: ResponseEntries
    terms: Terms  # of the last evaluation: after a step, before its ``position_correction``
    by_state: Matrix  # (n, 2 n)
    stiffness: Matrix  # (n, n) of the actuation
    disturbance: Vector  # (n,) f, a generalized force that the model does not know
    time: Vector  # (1,) [s] of the motions of obstacles; a step brings it on
    work: Vector  # (1,) evaluations so far, derivatives counting as DERIVATIVES of them
    abrupt: int  # 1: forces may change abruptly, those of contact and of cables
    signs: Vector  # (m,) 0: of those whose positions are commanded
    command: Vector  # (m,) actuator units
    # takes the pull of cables by these from ``right_hand_side``; EMPTY_ENTRY without cables
    by_command: Entry
    units: Vector  # (n,) of the coordinates
    output_forces: Vector  # (m,) generalized forces along the coordinates y of the actuators
    q: Vector  # (n,) of the stage
    v: Vector  # (n,)
    base_q: Vector  # (n,)
    base_v: Vector  # (n,)
    r: Vector  # (n,) R, then its correction
    correction: Vector  # (n,) of A; the last one is not in the terms, see ``position_correction``
    position_correction: Vector  # (n,) what that makes of q at the end of a step
    K: Matrix  # (n, n)
    D: Matrix  # (n, n)
    S: Matrix  # (n, n)
    by_q: Matrix  # (n, k) derivative of the base, then of the end, of a stage
    by_v: Matrix  # (n, k)
    right_hand_side: Matrix  # (n, k) of the linear equations for the derivatives of A


class StepArrays(NamedTuple):
    """Values of N steps that start the next solution, and its derivatives."""

    A: Array  # (N, 2, n) accelerations of the stages
    inverse: Array  # (N, 2, n, n) of S
    by_all: Array  # (N, 2, n, k) derivatives of A by (q, qd, u)
    F: Array  # (N, 2 n, k) derivatives of the next state


def allocate_steps(
    model: CompiledModel, count: int, touching: bool = False
) -> tuple[StepWorkspace, StepArrays, HorizonForces]:
    """
    Return the workspace of steps of a model, in arrays of its own, and those of ``count``.

    If ``touching``, forces of contact act, which the last of what is returned measures.
    """
    n, k = model.n, 2 * model.n + model.m
    force = np.zeros(n)
    own = DerivativeWorkspace(model, force, commanded=True)
    made = step_parts(model, own, touching)
    names = 'q', 'v', 'base_q', 'base_v', 'r', 'correction', 'position_correction'
    vectors = {x: np.zeros(n) for x in names}
    squares = {x: np.zeros((n, n)) for x in ('K', 'D', 'S')}
    wide = {x: np.zeros((n, k)) for x in ('by_q', 'by_v', 'right_hand_side')}
    by_command = EMPTY_ENTRY
    if model.positioned.any():
        given = {'drives': own.drives, 'first': 2 * n, 'force': wide['right_hand_side']}
        by_command = entry(subtract_by_command, **given)
    workspace = StepWorkspace(
        robot=own.robot,
        parts=made.parts,
        terms=own.terms,
        by_state=own.tangents.by_state,
        stiffness=own.response.stiffness,
        disturbance=force,
        time=made.time,
        work=np.zeros(1),
        abrupt=int(made.forces.measure.address != 0 or model.positioned.any()),
        signs=own.response.signs,
        command=own.command,
        by_command=by_command,
        units=np.array(model.scales.units, dtype=float),
        output_forces=np.zeros(model.m),
        **vectors,
        **squares,
        **wide,
    )
    arrays = StepArrays(
        A=np.zeros((count, 2, n)),
        inverse=np.zeros((count, 2, n, n)),
        by_all=np.zeros((count, 2, n, k)),
        F=np.zeros((count, 2 * n, k)),
    )
    return workspace, arrays, made.forces
