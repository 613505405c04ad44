# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The arrays of an optimisation over a horizon: problem, motions, derivatives and policy."""

from __future__ import annotations

from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.controllers.predictive.backward_pass import (
    allocate_backward,
    allocate_policy,
    BackwardWorkspace,
    Policy,
)
from softrobot_dynamics.controllers.predictive.stage_cost import (
    Aims,
    allocate_aims,
    allocate_costs,
    allocate_weights,
    CostArrays,
    Weights,
)
from softrobot_dynamics.controllers.predictive.step_workspace import (
    allocate_steps,
    StepArrays,
    StepWorkspace,
)

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

# of the report; FIRST: fraction to try
COST, RESIDUAL, ROLL_OUTS, REGULARISATION, DONE, FIRST = range(6)


class Limits(NamedTuple):
    """Limits of commands, (m,) each, actuator units."""

    lower: Vector
    upper: Vector
    rate: Vector  # [unit/s]


class HorizonProblem(NamedTuple):
    """The problem that a solution is optimal for; arrays are not written to."""

    knot: float  # [s] for which a command is held
    steps: int  # of the horizon
    iterations: int  # of each solution
    renewal: int  # of derivatives, see :class:`.Horizon`
    contact_force: float  # [N] soft limit of single contacts
    motion_start: float  # [s] when the given motions of obstacles begin
    observer: float  # [s] in which a disturbance becomes known; 0: it is not looked for
    body: int  # whose tip is led
    weights: dict[str, Any]  # of :class:`.Weights` by name
    aims: dict[str, Any]  # of :class:`.Aims` but tip, y and time by name
    lower: Vector  # (m,)
    upper: Vector  # (m,)
    rate: Vector  # (m,)


class HorizonMotion(NamedTuple):
    """States and commands over N steps, and the accelerations of their stages."""

    x: Matrix  # (N + 1, 2 n)
    u: Matrix  # (N, m)
    A: Matrix  # (N, 2 n) of both stages


class Horizon(NamedTuple):
    """A problem and all that its solution is worked out in."""

    step: StepWorkspace
    steps: StepArrays
    weights: Weights
    aims: Aims
    costs: CostArrays
    limits: Limits
    backward: BackwardWorkspace
    policy: Policy
    now: HorizonMotion
    trial: HorizonMotion  # x and u are at first those that now.A and the policy are of, if known
    spare: HorizonMotion  # another trial, to compare with
    last: Vector  # (m,) the command before the first
    trial_last: Vector  # (m,) the command before the first of the motion in ``trial``
    z: Vector  # (2 n + m,)
    report: Vector  # (6,) cost, residual, roll-outs, regularisation, iterations
    derivative_age: Vector  # (1,) iterations since all got derivatives, from 1; 0: they have none
    renewal: Vector  # (1,) iterations in which all steps get new derivatives, a part in each
    touched: Vector  # (N,) 1 where forces of contact acted in the step that was differentiated


def allocate_horizon(model: CompiledModel, count: int, touching: bool = False) -> Horizon:
    """
    Return a :class:`Horizon` of up to ``count`` steps for a model, with its limits.

    If ``touching``, forces of contact act in the steps.
    """
    n, m = model.n, model.m
    step, steps, forces = allocate_steps(model, count, touching)

    def trajectory() -> HorizonMotion:
        x = np.zeros((count + 1, 2 * n))
        return HorizonMotion(x, np.zeros((count, m)), np.zeros((count, 2 * n)))

    return Horizon(
        step=step,
        steps=steps,
        weights=allocate_weights(n, m),
        aims=allocate_aims(n, m, count),
        costs=allocate_costs(model, count, step.robot, forces),
        limits=Limits(model.lower.copy(), model.upper.copy(), model.rate_limit.copy()),
        backward=allocate_backward(n, m),
        policy=allocate_policy(n, m, count),
        now=trajectory(),
        trial=trajectory(),
        spare=trajectory(),
        last=np.zeros(m),
        trial_last=np.zeros(m),
        z=np.zeros(2 * n + m),
        report=np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0]),
        derivative_age=np.zeros(1),
        renewal=np.ones(1),
        touched=np.zeros(count),
    )


def take_over(p: Horizon, problem: HorizonProblem) -> None:
    """Take over weights, aims and limits of a problem."""
    for name, value in problem.weights.items():
        getattr(p.weights, name)[:] = value
    for name, value in problem.aims.items():
        getattr(p.aims, name)[:] = value
    p.limits.lower[:], p.limits.upper[:] = problem.lower, problem.upper
    p.limits.rate[:] = problem.rate
    p.renewal[0] = problem.renewal
    p.costs.forces.max_force[0] = problem.contact_force
