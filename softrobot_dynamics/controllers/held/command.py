# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
What a robot does while its command is held for a period, kept up to date in small bits.

Linearised where it is, and answered exactly for the period (:mod:`~.response`): ::

    v(T) = v + G (A u - h) - R K v

Between linearisations G and R K go on along a straight line: twice as far as they were apart, at
most, in a robot of up to some 30 coordinates. K is the derivative by q of h - A u with the
acceleration in force, tension and gravity included, and cables that are held at a position, which
are springs until the next command; D that of the damping forces by qd. What else velocities do is
in h, and changes little within a period: v(T) - v is right to some 1e-3, with coordinates that
move by 5 rad/s to 3e-3. The rest of dh/dqd would have to be symmetric here, and then makes it no
better (``test_held_command``).

A tick does a small share of the work, by a schedule that is laid down beforehand: the same ticks
do the same work, so that a replay gives the same numbers. A tick of several milliseconds does as
many shares: how far a robot moves between linearisations is a matter of time, and what is
hundreds of milliseconds old can be wrong enough to let a loop diverge. Columns of K and D fit
that, and need nothing compiled that a robot has not; its closed-form derivatives, where it has
them, would come all in one tick, for a quarter less of the work (``benchmarks/performance law``).
"""

from __future__ import annotations

from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Integers, Vector
from softrobot_dynamics.compiling.addresses import Entry, run, run_three
from softrobot_dynamics.compiling.binding import cached, entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.held.response import (
    allocate_response,
    double,
    eliminate,
    first_step,
    multiply,
    Response,
    set_up,
    symmetrise,
)
from softrobot_dynamics.kernels.linalg import all_finite, copy
from softrobot_dynamics.model.drives import drives_of
from softrobot_dynamics.model.evaluation import Evaluator
from softrobot_dynamics.model.terms import Terms
from softrobot_dynamics.recursion.columns import (
    accelerate,
    allocate_work,
    begin_columns,
    columns,
    Work,
)
from softrobot_dynamics.recursion.drives import (
    add_common,
    add_stiffness,
    Drives,
    effort_of,
    measure,
    tighten,
)
from softrobot_dynamics.recursion.passes import Robot

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

SHARE = 1e-3  # [s] of a period in which a tick does one share of the work, at least
CYCLE = 32  # shares from one linearisation to the next, of up to some 30 coordinates
TICKS = 26  # of them in which the columns of K and D are measured
BIT = 20_000  # multiplications by which matrices of many coordinates are worked on in a share
FARTHEST = 3.0  # as far as straight lines are followed [of the ticks between two linearisations]
PAUSE, EVALUATE, BEGIN, COLUMNS = range(4)  # what there is to do; after a pause in the next share
SET_UP, ELIMINATE, FIRST, MULTIPLY, DOUBLE, SYMMETRISE, FINISH = range(4, 11)
ROW, TICK, SINCE, TAKEN, SPAN = range(5)  # of the clock, see :class:`Held`


class Lines(NamedTuple):
    """Straight lines through the last two responses, G and R K in each (2, n, n)."""

    last: Array
    before: Array
    now: Array  # what they have become in the present tick


class Held(NamedTuple):
    """What kernels need of a :class:`HeldCommand`."""

    robot: Robot
    terms: Terms
    evaluate: Entry  # of the terms
    straight: Entry  # straight lines between bodies, as in the Evaluator
    response: Response
    work: Work
    new: Array  # (2, n, n) G and R K to be
    lines: Lines
    drives: Drives
    command: Vector  # (m,) where the robot is linearised
    signs: Vector  # (m,)
    schedule: Integers  # (., 3) what to do, and the rows or columns first to last of it
    clock: Integers  # (5,) next row; ticks: the present, of this linearisation, the last; apart
    period: float
    shares: int  # of the work in a tick
    cycle: int  # ticks from one linearisation to the next


class HeldCommand:
    """
    The response of a robot to a command held for ``period`` [s], in its own arrays.

    Attributes: ``lines`` (:class:`Lines`); ``response`` (:class:`Response`), with M, D and K of
    the last linearisation after `begin`; ``entry``, the Entry of :meth:`advance` for kernels;
    ``clock``, that of :class:`Held`.
    One object for each thread.
    """

    def __init__(self, model: CompiledModel, period: float) -> None:
        n, evaluate = model.n, Evaluator(model)
        self.lines = Lines(**{name: np.zeros((2, n, n)) for name in Lines._fields})
        self.response = allocate_response(n)
        self.response.D[:] = model.damping
        self._period, self._command = period, np.zeros(model.m)
        shares = max(1, round(period / SHARE))
        self._cycle = -(-CYCLE // shares)
        self.drives = drives_of(model, evaluate.robot)
        self._work, self._schedule = allocate_work(model, evaluate.robot), schedule(n)
        self.clock = np.array([len(self._schedule), 0, 0, 0, self._cycle])
        held = Held(
            robot=evaluate.robot,
            terms=evaluate.terms,
            evaluate=evaluate.entry,
            straight=evaluate.lines,
            response=self.response,
            work=self._work,
            new=np.zeros((2, n, n)),
            lines=self.lines,
            drives=self.drives,
            command=self._command,
            signs=model.signs,
            schedule=self._schedule,
            clock=self.clock,
            period=float(period),
            shares=shares,
            cycle=self._cycle,
        )
        self.entry = entry(advance, held=held)
        self._advance = cached(run_three, entry=self.entry)

    def begin(self, q: Vector, qd: Vector, u: Vector) -> None:
        """
        Linearise at (q, qd) (n,) under the command u (m,), all at once.

        And where the robot was a while ago if it has moved as it does: for the straight lines.
        """
        for ago in (self._cycle, 0):
            self._linearise(q, qd, u, ago)

    def stand(self, q: Vector, u: Vector) -> None:
        """Linearise at rest at q (n,) under the command u (m,), all at once."""
        self._linearise(q, np.zeros(len(q)), u, 0)
        self.lines.before[:] = self.lines.last

    def _linearise(self, q: Vector, qd: Vector, u: Vector, ago: int) -> None:
        """Linearise where the robot was so many ticks ago."""
        self._work.q[:], self._work.qd[:] = q - ago * self._period * qd, qd
        self._command[:] = u
        self.clock[[ROW, SINCE, TAKEN]] = 0, -ago, -ago - self._cycle
        while self.clock[ROW] < len(self._schedule):
            self._advance(q, qd, u)
        self.clock[TICK:] = 0, 0, 0, self._cycle
        self.lines.now[:] = self.lines.last

    def advance(self, q: Vector, qd: Vector, u: Vector) -> None:
        """Go one tick on, at (q, qd) (n,) under the command u (m,) in force."""
        self._advance(q, qd, u)


def schedule(n: int) -> Integers:
    """Return the work of a linearisation of n coordinates, rows (what, first, last)."""
    pause, rows = (PAUSE, 0, 0), _shares(n, max(1, BIT // n**2))
    found = [(EVALUATE, 0, n), pause, (BEGIN, 0, n)]
    for share in _shares(n, -(-n // TICKS)):
        found += [pause, (COLUMNS, *share)]
    found.append((SET_UP, 0, n))
    for share in rows:
        found += [pause, (ELIMINATE, *share)]
    found.append((FIRST, 0, n))
    for _ in range(2):
        for what in (MULTIPLY, DOUBLE):
            for share in rows:
                found += [(what, *share), pause][: 1 + (share[1] < n)]
        found += [(SYMMETRISE, 0, n), pause]
    return np.array([*found, (FINISH, 0, n)])


def _shares(n: int, size: int) -> list[tuple[int, int]]:
    """Return the ranges (first, last) of ``size`` at most that make up n."""
    return [(first, min(n, first + size)) for first in range(0, n, size)]


@kernel
def advance(held, q, qd, u):
    """Go one tick on: shares of the next linearisation, and what the lines have become."""
    clock, work, n = held.clock, held.work, len(held.work.q)
    clock[TICK] += 1
    for _ in range(held.shares):
        if clock[ROW] < len(held.schedule):
            _work_a_share(held)
        elif clock[TICK] >= clock[SINCE] + held.cycle:
            clock[ROW], clock[SINCE] = 0, clock[TICK]
            copy(q[:n], work.q)
            copy(qd[:n], work.qd)
            copy(u[: len(held.command)], held.command)
    _follow(held.lines, min(FARTHEST, (clock[TICK] - clock[TAKEN]) / clock[SPAN]))


@kernel
def _work_a_share(held):
    """Work on the schedule up to the next pause, or to its end."""
    clock = held.clock
    while clock[ROW] < len(held.schedule):
        row = held.schedule[clock[ROW]]
        clock[ROW] += 1
        if row[0] == PAUSE:
            return
        _do(held, row[0], row[1], row[2])


@kernel
def _do(held, what, first, last):
    """Do the work of a row of the schedule."""
    x, work, new = held.response, held.work, held.new
    if what == EVALUATE:
        run(held.evaluate, work.q, work.qd)
        _pull(held)
        accelerate(held.terms, x, work)
    elif what == BEGIN:
        begin_columns(held.robot, held.terms, held.straight, work)
    elif what == COLUMNS:
        columns(held.robot, held.terms, held.straight, x, work, first, last)
    elif what == SET_UP:
        add_stiffness(held.drives, 0.0, work.qd, x.K)
        set_up(held.period, x)
    elif what == ELIMINATE:
        eliminate(x, first, last)
    elif what == FIRST:
        first_step(held.period, x)
    elif what == MULTIPLY:
        multiply(x, first, last)
    elif what == DOUBLE:
        double(x, new[0], new[1], first, last)
    elif what == SYMMETRISE:
        symmetrise(x, new[0], new[1])
    elif finish(x, new[0], new[1]):
        _adopt(held.lines, new, held.clock)


@kernel
def _pull(held):
    """Fill the forces along y under the command, where the robot was evaluated."""
    work, drives = held.work, held.drives
    if len(drives.tension) > 0:
        measure(drives, work.q, work.qd)
        tighten(drives, held.command)
        add_common(drives, held.terms.h)
    for k in range(len(work.force)):
        work.force[k] = held.signs[k] * effort_of(drives, k, held.command[k])


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
def _adopt(lines, new, clock):
    """Take over what was linearised: new lines, through it and the last."""
    for k in range(2):
        for i in range(new.shape[1]):
            copy(lines.last[k, i], lines.before[k, i])
            copy(new[k, i], lines.last[k, i])
    clock[SPAN] = clock[SINCE] - clock[TAKEN]
    clock[TAKEN] = clock[SINCE]


@kernel
def _follow(lines, ahead):
    """Fill what the :class:`Lines` have become ``ahead`` of the last, in spans between the two."""
    for k in range(2):
        for i in range(lines.last.shape[1]):
            a, b, out = lines.last[k, i], lines.before[k, i], lines.now[k, i]
            for j in range(len(out)):
                out[j] = a[j] + ahead * (a[j] - b[j])
