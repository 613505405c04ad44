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
from softrobot_dynamics.evaluation import Evaluator
from softrobot_dynamics.held_response import (
    allocate_response,
    double,
    eliminate,
    first_step,
    multiply,
    set_up,
    symmetrise,
)
from softrobot_dynamics.kernels.addresses import call, run
from softrobot_dynamics.kernels.jit import kernel
from softrobot_dynamics.kernels.linalg import (
    all_finite,
    cholesky,
    copy,
    solve_lower,
    solve_lower_transposed,
)
from softrobot_dynamics.kinematics.binding import cached
from softrobot_dynamics.passive import passive_forces
from softrobot_dynamics.recursion import (
    backward,
    BODY_COUNT,
    BODY_FIRST,
    forward,
    FULL,
    JOINT_COUNT,
    JOINT_FIRST,
    lay_ground,
    pass_module,
    poses,
)
from softrobot_dynamics.transmission import FIBRE

STEP = 1e-7  # of one-sided differences by q [unit of the coordinate]
CYCLE = 32  # ticks from one linearisation to the next, of up to some 30 coordinates
TICKS = 26  # of them in which the columns of K and D are measured
BIT = 20_000  # multiplications by which matrices of many coordinates are worked on in a tick
FARTHEST = 3.0  # as far as straight lines are followed [of the ticks between two linearisations]
DONE = object()


class Work(NamedTuple):
    """Where a robot is linearised, and scratch, for n coordinates, m actuators."""

    q: np.ndarray  # (n,)
    qd: np.ndarray  # (n,)
    force: np.ndarray  # (m,) along y
    qdd: np.ndarray  # (n,) in force
    base: np.ndarray  # (2, n) ID(q, qd, qdd), and the damping in it
    forces: np.ndarray  # (2, n) the same where it is displaced
    elastic: np.ndarray  # (n,)
    x: np.ndarray  # (n,) displaced coordinates
    v: np.ndarray  # (n,) and rates
    pull: np.ndarray  # (2, n) generalized force of straight lines at q, and displaced
    owner: np.ndarray  # (n,) module of each coordinate
    varies: np.ndarray  # (n,) whether its damping is that of a strain energy


class Lines(NamedTuple):
    """Straight lines through the last two responses, G and R K in each (2, n, n)."""

    last: np.ndarray
    before: np.ndarray
    now: np.ndarray  # what they have become, after :func:`follow`


class HeldCommand:
    """
    The response of a robot to a command held for ``period`` [s], in its own arrays.

    Attributes: ``lines`` (:class:`Lines`), for kernels to :func:`follow` as far as ``ahead`` says.
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
        self._signs, self._work = model.signs, _allocate(model, self._evaluate.robot)
        self._response = allocate_response(n)
        self._response.D[:] = model.damping
        self._compile(self._response, period)

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

    def matrices(self):
        """Return copies of M, D and K, (n, n) each, right after :meth:`begin`."""
        return tuple(each.copy() for each in self._response[:3])

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


def _allocate(model, robot):
    n, owner, varies = (
        model.n,
        np.zeros(model.n, dtype=np.int64),
        np.zeros(model.n, dtype=np.int64),
    )
    for i, m in enumerate(robot.modules):
        for first, count in ((JOINT_FIRST, JOINT_COUNT), (BODY_FIRST, BODY_COUNT)):
            owner[m[first] : m[first] + m[count]] = i
    for first, count in model.nonlinear:
        varies[first : first + count] = 1
    return Work(
        q=np.zeros(n),
        qd=np.zeros(n),
        force=np.zeros(model.m),
        qdd=np.zeros(n),
        base=np.zeros((2, n)),
        forces=np.zeros((2, n)),
        elastic=np.zeros(n),
        x=np.zeros(n),
        v=np.zeros(n),
        pull=np.zeros((2, n)),
        owner=owner,
        varies=varies,
    )


@kernel
def accelerate(terms, x, work):
    """Keep M, and fill the acceleration in force, after an evaluation; it uses up the terms."""
    n = len(work.q)
    for i in range(n):
        work.qdd[i] = -terms.h[i]
        for k in range(len(work.force)):
            work.qdd[i] += terms.J[k, i] * work.force[k]
        for j in range(n):
            x.M[i, j] = terms.M[i, j]
    if cholesky(terms.M) == 0:
        solve_lower(terms.M, work.qdd)
        solve_lower_transposed(terms.M, work.qdd)
    else:
        work.qdd[:] = 0.0


@kernel
def begin_columns(robot, terms, lines, work):
    """Evaluate all bodies where the robot is, and the forces there."""
    forward(robot, work.q, work.qd, work.qdd, FULL)
    backward(robot, work.q, work.qd, work.qdd, FULL, work.base[0])
    passive_forces(robot, work.q, work.qd, work.elastic, work.base[1])
    if lines.address != 0:
        _pull(robot, terms, lines, work, work.q, work.pull[0])


@kernel
def columns(robot, terms, lines, x, work, first, last):
    """
    Measure columns of K and D, each by one more evaluation of the body it belongs to.

    D is only measured where it varies; elsewhere it is there already.
    """
    copy(work.qd, work.v)
    for j in range(first, last):
        copy(work.q, work.x)
        if work.varies[j] != 0:
            work.v[j] += 1.0  # damping is linear in rates
            _evaluate_again(robot, work, j)
            work.v[j] = work.qd[j]
            for i in range(len(work.q)):
                x.D[i, j] = work.forces[1, i] - work.base[1, i]
        work.x[j] += STEP
        _evaluate_again(robot, work, j)
        for i in range(len(work.q)):
            x.K[i, j] = (work.forces[0, i] - work.base[0, i]) / STEP
        if lines.address != 0:
            _pull(robot, terms, lines, work, work.x, work.pull[1])
            for i in range(len(work.q)):
                x.K[i, j] -= (work.pull[1, i] - work.pull[0, i]) / STEP
        _subtract_fibres(robot, work, j, x.K)


@kernel
def _evaluate_again(robot, work, j):
    """Fill the forces displaced in coordinate j: only its own module has changed."""
    own, before = work.owner[j], work.owner[max(0, j - 1)]
    lay_ground(robot, FULL)
    for i in range(len(robot.modules)):
        anew = i == own or i == before  # the one before returns to where it was
        pass_module(robot, i, work.x, work.v, work.qdd, anew)
    backward(robot, work.x, work.v, work.qdd, FULL, work.forces[0])
    passive_forces(robot, work.x, work.v, work.elastic, work.forces[1])


@kernel
def _pull(robot, terms, lines, work, q, out):
    """Generalized force (n,) of the straight lines between bodies, after a forward pass at q."""
    out[:] = 0.0
    for k in range(len(work.force)):
        terms.y[k] = terms.bias[k] = 0.0
        terms.J[k, :] = 0.0
    poses(robot)
    run(lines, q, work.qd)
    for k in range(len(work.force)):
        for i in range(len(out)):
            out[i] += terms.J[k, i] * work.force[k]


@kernel
def _subtract_fibres(robot, work, j, K):
    """Subtract from column j of K what lengths within the body of coordinate j pull more."""
    S, x = robot.S, work.x
    for s in range(len(robot.segments)):
        row = robot.segments[s]
        first, count, force = row[3], row[4], work.force[row[0]]
        if row[1] == FIBRE and first <= j < first + count and force != 0.0:
            out = S[: count + 2]
            for side in (1.0, -1.0):
                x[j] = work.q[j] + side * STEP
                call(row[5], robot.P[row[2] :], x[first:], work.qd[first:], out, S[count + 2 :])
                for i in range(count):
                    K[first + i, j] -= side * force * out[1 + i] / (2.0 * STEP)


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
