# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Response of a robot to a command held for a period (zero-order hold), updated in small pieces.

Linearised where it is, and answered exactly for the period (:mod:`~.response`): ::

    v(T) = v + G (A u - h) - R K v

Between linearisations G and R K go on along a straight line: twice as far as they were apart, at
most, in a robot of up to some 30 coordinates. M, D and K are the derivatives of M a + h - A u with
the acceleration in force, tension and gravity included, and cables that are held at a position,
which are springs until the next command
(:mod:`softrobot_dynamics.dynamics.derivative_workspace`). Of what velocities do only the symmetric
part counts: damping, and the rate of M. v(T) - v is right to some 1e-3, with coordinates that move
by 5 rad/s to 3e-3.

A tick does a small share of the work, by a schedule that is laid down beforehand: the same ticks
do the same work, so that a replay gives the same numbers. Bodies are differentiated one by one. A
tick of several milliseconds does as many shares: how far a robot moves between linearisations is
a matter of time, and what is hundreds of milliseconds old can be wrong enough to let a loop
diverge.
"""

from __future__ import annotations

from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Integers, Vector
from softrobot_dynamics.compiling.addresses import run_three
from softrobot_dynamics.compiling.binding import cached, entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.sampled_data.linearisation_schedule import (
    ACCUMULATE,
    CYCLE_SHARES,
    DERIVATIVES,
    DOUBLE,
    ELIMINATE,
    EVALUATE,
    FIRST_STEP,
    MULTIPLY,
    PAUSE,
    schedule,
    SET_UP,
    SYMMETRISE,
    WORK_SHARE_TIME,
)
from softrobot_dynamics.controllers.sampled_data.response import (
    allocate_response,
    double,
    eliminate,
    first_step,
    HeldForceResponse,
    multiply,
    set_up,
    symmetrise,
)
from softrobot_dynamics.dynamics.derivative_workspace import DerivativeWorkspace
from softrobot_dynamics.dynamics.response import (
    accelerate,
    AccelerationResponse,
    fill_actuator_stiffness,
    ResponseEntries,
)
from softrobot_dynamics.kernels.linalg import all_finite, copy
from softrobot_dynamics.model.terms import Terms
from softrobot_dynamics.recursion.derivative_passes import DerivativeArrays, DerivativeEntries
from softrobot_dynamics.recursion.passes import propagate_acceleration, Robot

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

MAX_EXTRAPOLATION = 3.0  # [ticks between two linearisations] along straight lines
ROW, TICK, LINEARISING, LINEARISED, SPAN = range(5)  # of the clock, see :class:`HeldCommandArrays`


class ResponseExtrapolation(NamedTuple):
    """Straight lines through the last two responses, G and R K in each (2, n, n)."""

    last: Array
    previous: Array
    present: Array  # what they have become in the present tick


class HeldCommandArrays(NamedTuple):
    """Data that kernels need of a :class:`HeldCommand`."""

    robot: Robot
    terms: Terms
    parts: ResponseEntries
    stages: DerivativeEntries
    tangents: DerivativeArrays
    motion: AccelerationResponse  # where the robot is linearised, as are the next three
    q: Vector  # (n,)
    qd: Vector  # (n,)
    command: Vector  # (m,)
    response: HeldForceResponse
    new: Array  # (2, n, n) G and R K to be
    extrapolation: ResponseExtrapolation
    schedule: Integers  # (., 3) what to do, and the rows or columns first to last of it
    clock: Integers  # (5,) next row; ticks: the present, of this linearisation, the last; apart
    period: float
    shares: int  # of the work in a tick
    cycle: int  # ticks from one linearisation to the next


class HeldCommand:
    """
    The response of a robot to a command held for ``period`` [s], in its own arrays.

    Attributes: ``extrapolation`` (:class:`ResponseExtrapolation`); ``response``
    (:class:`HeldForceResponse`), with M, D and K of the last linearisation after `begin`;
    ``drives``, the cables that are held there; ``entry``, the Entry of :meth:`advance` for
    kernels; ``clock``, that of :class:`HeldCommandArrays`. One object for each thread.
    """

    def __init__(self, model: CompiledModel, period: float) -> None:
        n, own = model.n, DerivativeWorkspace(model, commanded=True, one_sided=True)
        self.extrapolation = ResponseExtrapolation(*np.zeros((3, 2, n, n)))
        self.response = allocate_response(n)._replace(M=own.terms.M)
        self._period, self.drives = period, own.drives
        shares = max(1, round(period / WORK_SHARE_TIME))
        self._cycle = -(-CYCLE_SHARES // shares)
        self._schedule = schedule(n, len(own.robot.modules))
        self.clock = np.array([len(self._schedule), 0, 0, 0, self._cycle])
        self._place = np.zeros((2, n))
        self._command = own.command
        held = HeldCommandArrays(
            robot=own.robot,
            terms=own.terms,
            parts=own.parts,
            stages=own.stages,
            tangents=own.tangents,
            motion=own.response,
            q=self._place[0],
            qd=self._place[1],
            command=self._command,
            response=self.response,
            new=np.zeros((2, n, n)),
            extrapolation=self.extrapolation,
            schedule=self._schedule,
            clock=self.clock,
            period=float(period),
            shares=shares,
            cycle=self._cycle,
        )
        self.entry = entry(advance, held=held)
        self._advance = cached(run_three, 'VECTOR, VECTOR, VECTOR', entry=self.entry)

    def begin(self, q: Vector, qd: Vector, u: Vector) -> None:
        """
        Linearise at (q, qd) (n,) under the command u (m,), all at once.

        And where the robot was a while ago if it has moved as it does: for the straight lines.
        """
        for ago in (self._cycle, 0):
            self._linearise(q, qd, u, ago)

    def linearise_at_rest(self, q: Vector, u: Vector) -> None:
        """Linearise at rest at q (n,) under the command u (m,), all at once."""
        self._linearise(q, np.zeros(len(q)), u, 0)
        self.extrapolation.previous[:] = self.extrapolation.last

    def _linearise(self, q: Vector, qd: Vector, u: Vector, ago: int) -> None:
        """Linearise where the robot was so many ticks ago."""
        self._place[:] = q - ago * self._period * qd, qd
        self._command[:] = u
        self.clock[[ROW, LINEARISING, LINEARISED]] = 0, -ago, -ago - self._cycle
        while self.clock[ROW] < len(self._schedule):
            self._advance(q, qd, u)
        self.clock[TICK:] = 0, 0, 0, self._cycle
        self.extrapolation.present[:] = self.extrapolation.last

    def advance(self, q: Vector, qd: Vector, u: Vector) -> None:
        """Go one tick on, at (q, qd) (n,) under the command u (m,) in force."""
        self._advance(q, qd, u)


@kernel
def advance(held, q, qd, u):
    """Advance by one tick: a share of the next linearisation, and the extrapolated responses."""
    clock, n = held.clock, len(held.q)
    clock[TICK] += 1
    for _ in range(held.shares):
        if clock[ROW] < len(held.schedule):
            _run_share(held)
        elif clock[TICK] >= clock[LINEARISING] + held.cycle:
            clock[ROW], clock[LINEARISING] = 0, clock[TICK]
            copy(q[:n], held.q)
            copy(qd[:n], held.qd)
            copy(u[: len(held.command)], held.command)
    _extrapolate(
        held.extrapolation, min(MAX_EXTRAPOLATION, (clock[TICK] - clock[LINEARISED]) / clock[SPAN])
    )


@kernel
def _run_share(held):
    """Work on the schedule up to the next pause, or to its end."""
    clock = held.clock
    while clock[ROW] < len(held.schedule):
        row = held.schedule[clock[ROW]]
        clock[ROW] += 1
        if row[0] == PAUSE:
            return
        _run_row(held, row[0], row[1], row[2])


@kernel
def _run_row(held, what, first, last):
    """Carry out one row of the schedule."""
    x, new = held.response, held.new
    if what == EVALUATE:
        _evaluate(held)
    elif what == DERIVATIVES:
        held.tangents.module_range[0], held.tangents.module_range[1] = first, last
        run_three(held.stages.derivatives, held.q, held.qd, held.motion.qdd)
    elif what == ACCUMULATE:
        _accumulate(held)
    elif what == SET_UP:
        set_up(held.period, x)
    elif what == ELIMINATE:
        eliminate(x, first, last)
    elif what == FIRST_STEP:
        first_step(held.period, x)
    elif what == MULTIPLY:
        multiply(x, first, last)
    elif what == DOUBLE:
        double(x, new[0], new[1], first, last)
    elif what == SYMMETRISE:
        symmetrise(x, new[0], new[1])
    elif finish(x, new[0], new[1]):
        _adopt(held.extrapolation, new, held.clock)


@kernel
def _evaluate(held):
    """Fill M, and the terms that derivatives begin with, under the command in force."""
    q, qd, motion = held.q, held.qd, held.motion
    if accelerate(held.parts, held.terms, motion, q, qd, held.command) != 0:
        motion.qdd[:] = 0.0  # nothing has inertia: without an answer, too
    propagate_acceleration(held.robot, q, qd, motion.qdd)
    run_three(held.stages.wrenches, q, qd, motion.qdd)


@kernel
def _accumulate(held):
    """Fill K and D from the derivatives of all parts."""
    x, q, motion, n = held.response, held.q, held.motion, len(held.q)
    run_three(held.stages.accumulate, q, held.qd, motion.qdd)
    fill_actuator_stiffness(held.parts.fibres, held.parts.lines, q, motion.force)
    for i in range(n):
        row = held.tangents.by_state[i]
        for j in range(n):
            x.K[i, j] = row[j] - motion.stiffness[i, j]
        copy(row[n:], x.D[i])


@kernel
def finish(x, G, R):
    """Fill G and R K (n, n); returns whether they are numbers."""
    n, sound = len(x.G), True
    for i in range(n):
        drift = R[i]
        copy(x.G[i], G[i])
        drift[:] = 0.0
        for k in range(n):
            share, row = x.R[i, k], x.K[k]
            for j in range(n):
                drift[j] += share * row[j]
        sound &= all_finite(G[i]) and all_finite(drift)
    return sound


@kernel
def _adopt(extrapolation, new, clock):
    """Take over the finished linearisation: new straight lines, through it and the last one."""
    for k in range(2):
        for i in range(new.shape[1]):
            copy(extrapolation.last[k, i], extrapolation.previous[k, i])
            copy(new[k, i], extrapolation.last[k, i])
    clock[SPAN] = clock[LINEARISING] - clock[LINEARISED]
    clock[LINEARISED] = clock[LINEARISING]


@kernel
def _extrapolate(extrapolation, ahead):
    """Fill ``present``, ``ahead`` of the last response, in spans between the two."""
    for k in range(2):
        for i in range(extrapolation.last.shape[1]):
            a, b = extrapolation.last[k, i], extrapolation.previous[k, i]
            out = extrapolation.present[k, i]
            for j in range(len(out)):
                out[j] = a[j] + ahead * (a[j] - b[j])
