# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
What a robot does while its command is held for a period, kept up to date in small bits.

Linearised where it is, and answered exactly for the period (:mod:`~.held_response`): ::

    v(T) = v + G (A u - h) - R K v

Between linearisations G and R K go on along a straight line: twice as far as they were apart, at
most, in a robot of up to some 30 coordinates. K is the derivative by q of h - A u with the
acceleration in force, tension and gravity included; D that of the damping forces by qd. What else
velocities do is in h, and changes little within a period. A tick does a small share of the work.
The same ticks do the same work, so that a replay gives the same numbers.
"""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.held.response import (
    allocate_response,
    double,
    eliminate,
    first_step,
    multiply,
    set_up,
    symmetrise,
)
from softrobot_dynamics.kernels.linalg import all_finite, copy
from softrobot_dynamics.model.evaluation import Evaluator
from softrobot_dynamics.recursion.columns import accelerate, allocate_work, begin_columns, columns

CYCLE = 32  # ticks from one linearisation to the next, of up to some 30 coordinates
TICKS = 26  # of them in which the columns of K and D are measured
BIT = 20_000  # multiplications by which matrices of many coordinates are worked on in a tick
FARTHEST = 3.0  # as far as straight lines are followed [of the ticks between two linearisations]
DONE = object()


class Lines(NamedTuple):
    """Straight lines through the last two responses, G and R K in each (2, n, n)."""

    last: np.ndarray
    before: np.ndarray
    now: np.ndarray  # what they have become, after :func:`follow`


class HeldCommand:
    """
    The response of a robot to a command held for ``period`` [s], in its own arrays.

    Attributes: ``lines`` (:class:`Lines`), for kernels to :func:`follow` as far as ``ahead`` says;
    ``response`` (:class:`Response`), with M, D and K of the last linearisation after `begin`.
    One object for each thread.
    """

    def __init__(self, model, period):
        n, self._period = model.n, period
        self._new, *lines = np.zeros((4, 2, n, n))
        self.lines, self.ahead = Lines(*lines), 0.0
        self._tick = self._taken = self._since = 0
        self._span, self._cycle = 1, None
        self._columns_of_a_tick = _shares(n, -(-n // TICKS))
        self._rows_of_a_tick = _shares(n, max(1, BIT // n**2))
        self._evaluate = Evaluator(model)
        self._signs, self._work = model.signs, allocate_work(model, self._evaluate.robot)
        self.response = allocate_response(n)
        self.response.D[:] = model.damping
        self._compile(self.response, period)

    def _compile(self, x, period):
        own = {'terms': self._evaluate.terms, 'work': self._work}
        robot = {'robot': self._evaluate.robot, 'lines': self._evaluate.lines, **own}
        new = {'x': x, 'G': self._new[0], 'R': self._new[1]}
        self._accelerate = cached(accelerate, x=x, **own)
        self._begin_columns = cached(begin_columns, **robot)
        self._columns = cached(columns, x=x, **robot)
        self._set_up, self._eliminate = cached(set_up, T=period, x=x), cached(eliminate, x=x)
        self._first_step, self._multiply = cached(first_step, T=period, x=x), cached(multiply, x=x)
        self._double, self._symmetrise = cached(double, **new), cached(symmetrise, **new)
        self._finish = cached(finish, **new)

    def begin(self, q, qd, u):
        """
        Linearise at (q, qd) (n,) under the command u (m,), all at once.

        And where the robot was a while ago if it has moved as it does: for the straight lines.
        """
        for ago in (CYCLE, 0):
            self._set_out(q - ago * self._period * qd, qd, u, -ago)
            for _ in self._cycle:
                pass
            self._adopt()
        self._tick, self._cycle, self.ahead = 0, None, 0.0

    def advance(self, q, qd, u):
        """Go one tick on, at (q, qd) (n,) under the command u (m,) in force."""
        self._tick += 1
        if self._cycle is not None:
            if next(self._cycle, DONE) is DONE:
                self._adopt()
                self._cycle = None
        elif self._tick >= self._since + CYCLE:
            self._set_out(q, qd, u, self._tick)
        self.ahead = min(FARTHEST, (self._tick - self._taken) / self._span)

    def _set_out(self, q, qd, u, tick):
        """Begin to linearise at a state, that of a ``tick``."""
        work, self._since = self._work, tick
        work.q[:], work.qd[:] = q, qd
        np.multiply(u, self._signs, out=work.force)
        self._cycle = self._linearise()

    def _linearise(self):
        """Do all the work; yields where a tick has done its share."""
        self._evaluate(self._work.q, self._work.qd)
        self._accelerate()
        yield
        self._begin_columns()
        for first, last in self._columns_of_a_tick:
            yield
            self._columns(first, last)
        self._set_up()
        for first, last in self._rows_of_a_tick:
            yield
            self._eliminate(first, last)
        self._first_step()
        for _ in range(2):
            for do in (self._multiply, self._double):
                for first, last in self._rows_of_a_tick:
                    do(first, last)
                    if last < len(self._new[0]):
                        yield
            self._symmetrise()
            yield

    def _adopt(self):
        """Take over what was linearised, unless it is no number: then the last ones go on."""
        if self._finish():
            self.lines.before[:], self.lines.last[:] = self.lines.last, self._new
            self._span, self._taken = self._since - self._taken, self._since


def _shares(n, size):
    """Return the ranges (first, last) of ``size`` at most that make up n."""
    return [(first, min(n, first + size)) for first in range(0, n, size)]


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
def follow(lines, ahead):
    """Fill what the :class:`Lines` have become ``ahead`` of the last, in spans between the two."""
    for k in range(2):
        for i in range(lines.last.shape[1]):
            a, b, out = lines.last[k, i], lines.before[k, i], lines.now[k, i]
            for j in range(len(out)):
                out[j] = a[j] + ahead * (a[j] - b[j])
