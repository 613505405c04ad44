# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Collocated partial feedback linearization in actuation coordinates."""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.controllers.contract import Command, Controller, register, sample_plan
from softrobot_dynamics.kernels.box_qp import solve_box_qp
from softrobot_dynamics.kernels.jit import kernel
from softrobot_dynamics.kernels.linalg import (
    all_finite,
    cholesky,
    solve_lower,
    solve_lower_transposed,
)
from softrobot_dynamics.kinematics.binding import cached
from softrobot_dynamics.linearisation import Linearisation

SINGULAR = 1e-12  # pivots of S below this share of its largest entry: damped solve
DAMPING = 1e-8  # that is then added to its diagonal, as a share of its largest entry


class Buffers(NamedTuple):
    """Results and scratch of the law; c controlled actuators."""

    u: np.ndarray  # (m,)
    y: np.ndarray  # (m,) relative to q = 0
    velocity: np.ndarray  # (m,)
    unmet: np.ndarray  # (m,)
    desired: np.ndarray  # (3, c)
    blend: np.ndarray  # (3, c)
    X: np.ndarray  # (c, n) rows L^-1 J_i'
    S: np.ndarray  # (c, c) J M^-1 J'
    F: np.ndarray  # (c, c)
    r: np.ndarray  # (c,)
    w: np.ndarray  # (c,) force along y: sign * u
    bounds: np.ndarray  # (2, c)
    scratch: np.ndarray  # (3, c)
    free: np.ndarray  # (c,) integers


@register('pfbl')
class PartialFeedbackLinearization(Controller):
    """
    y'' = y_d'' + d (y_d' - y') + p (y_d - y) for the controlled actuators' coordinates y.

    With J = dy/dq and h = c + g + s from one pass of the recursion: S w = a + J M^-1 h - Jdot qd,
    S = J M^-1 J', w the forces along y. No complementing coordinates are needed, and the robot may
    have more degrees of freedom than actuators. Within the limits w minimises
    |S^(1/2) (w - w*)|^2, and the acceleration that cannot be met is reported. [P, Sec. 6]

    u is held for a period, in which stiff or strongly damped motions settle: asked for at the
    instant of the state, their acceleration would be a fraction of it on average, and the loop
    as much slower than its gains say. ``settings.lookahead`` [s], one period unless set, lets the
    law hold for the velocity at the end of that time instead; 0 is the law as [P] has it. What it
    needs to know of stiffness and damping, it knows of the present posture.
    """

    def __init__(self, model, **options):
        super().__init__(model, **options)
        c, m, n = len(self.controlled), model.m, model.n
        self._buffers = Buffers(
            np.zeros(m),
            np.zeros(m),
            np.zeros(m),
            np.zeros(m),
            np.zeros((3, c)),
            np.zeros((3, c)),
            np.zeros((c, n)),
            np.zeros((c, c)),
            np.zeros((c, c)),
            np.zeros(c),
            np.zeros(c),
            np.zeros((2, c)),
            np.zeros((3, c)),
            np.zeros(c, dtype=np.int64),
        )
        self._linearisation = Linearisation(model, self._evaluate)
        self._obey(self.plan, self.settings)

    def start(self, q, qd, t, u=None):
        """Begin at the present state, see :meth:`Controller.start`."""
        super().start(q, qd, t, u)
        self._linearisation.begin(q)

    def compute(self, t, q, qd):
        """Return the :class:`Command` for the state (q, qd) at time t [s]."""
        b, plan, settings = self._buffers, self.plan, self.settings
        if not (plan is self._obeyed[0] and settings is self._obeyed[1]):
            self._obey(plan, settings)
        self._evaluate(q, qd)
        if settings.lookahead > 0.0:
            self._linearisation.refresh(q, qd)
        K, D = self._linearisation.stiffness, self._linearisation.damping
        saturated = self._law(K, D, self.last, qd, float(t))
        ok = saturated >= 0
        if ok:
            self.last[:] = b.u
        return Command(b.u, b.y, b.velocity, b.desired, b.unmet, saturated, ok)

    def _obey(self, plan, settings):
        """Prepare the law for a plan and settings: given once, they cost a tick no time."""
        self._obeyed = plan, settings
        self._law = cached(
            law,
            terms=self._evaluate.terms,
            signs=self.model.signs,
            y0=self.model.y0,
            controlled=self.controlled,
            plan=plan,
            settings=settings,
            period=self.period,
            b=self._buffers,
        )


@kernel
def law(terms, K, D, signs, y0, controlled, plan, settings, period, last, qd, t, b):
    """
    One tick into the :class:`Buffers` b; returns the number of saturated commands, or -1.

    ``terms`` are the robot's at the present state (they are used up), K and D (n, n) its
    stiffness and damping, ``last`` (m,) the last command, NaN where unknown. -1: the state is not
    finite or the robot is in a posture its model cannot represent; b.u is then not to be used.
    """
    c = len(controlled)
    _look_ahead(terms, K, D, qd, settings.lookahead)
    sample_plan(plan, t, b.desired, b.blend)
    _outputs(terms, y0, qd, b)
    _subtract_feed_forward(terms, signs, controlled, settings, last, period, b)
    if cholesky(terms.M) != 0:
        return -1
    solve_lower(terms.M, terms.h)
    for i in range(c):
        k = controlled[i]
        for j in range(len(qd)):
            b.X[i, j] = terms.J[k, j]
        solve_lower(terms.M, b.X[i])
        acceleration = (
            b.desired[2, i]
            + settings.d[k] * (b.desired[1, i] - b.velocity[k])
            + settings.p[k] * (b.desired[0, i] - b.y[k])
        )
        b.r[i] = acceleration - terms.bias[k] + _dot(b.X[i], terms.h)
        for j in range(i + 1):
            b.S[i, j] = b.S[j, i] = _dot(b.X[i], b.X[j])
        _bound(i, k, signs, settings, last, period, b)
    if not _solve(b):
        return -1
    return _command(signs, controlled, b)


@kernel
def _look_ahead(terms, K, D, qd, T):
    """
    Replace M and h by those of the velocity T [s] ahead, by one linearly implicit step.

    M -> M + T D + T^2 K and h -> h + T K qd: under a constant u, (v(T) - v(0)) / T is then what
    the law asks of the acceleration. T = 0 is the law at this very instant.
    """
    if T > 0.0:
        for i in range(len(qd)):
            terms.h[i] += T * _dot(K[i], qd)
            for j in range(len(qd)):
                terms.M[i, j] += T * (D[i, j] + T * K[i, j])


@kernel
def _dot(x, y):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@kernel
def _outputs(terms, y0, qd, b):
    """Y and its rate."""
    for k in range(len(y0)):
        b.y[k] = terms.y[k] - y0[k]
        b.velocity[k] = _dot(terms.J[k], qd)
        b.unmet[k] = 0.0


@kernel
def _limits(k, settings, last, period):
    """Limits of command k in this tick, with the rate limit."""
    low, high = settings.lower[k], settings.upper[k]
    if last[k] == last[k]:
        reach = settings.rate[k] * period
        low, high = (min(max(low, last[k] - reach), high), max(min(high, last[k] + reach), low))
    return low, high


@kernel
def _subtract_feed_forward(terms, signs, controlled, settings, last, period, b):
    """Let the actuators that are not controlled act: h loses their generalized force."""
    for k in range(len(signs)):
        low, high = _limits(k, settings, last, period)
        b.u[k] = min(max(settings.feed_forward[k], low), high)
    for i in range(len(controlled)):
        b.u[controlled[i]] = 0.0
    for k in range(len(signs)):
        force = signs[k] * b.u[k]
        if force != 0.0:
            for j in range(len(terms.h)):
                terms.h[j] -= terms.J[k, j] * force


@kernel
def _bound(i, k, signs, settings, last, period, b):
    """Bounds of w_i = sign u_k."""
    low, high = _limits(k, settings, last, period)
    b.bounds[0, i] = low if signs[k] > 0.0 else -high
    b.bounds[1, i] = high if signs[k] > 0.0 else -low


@kernel
def _copy_lower(A, B):
    for i in range(len(A)):
        for j in range(i + 1):
            B[i, j] = A[i, j]


@kernel
def _solve(b):
    """W from S w = r within the bounds, damped where S is singular; unmet acceleration in r."""
    c, largest = len(b.r), 0.0
    for i in range(c):
        largest = max(largest, b.S[i, i])
    if not (all_finite(b.r) and largest > 0.0 and largest * 0.0 == 0.0):
        return False
    _copy_lower(b.S, b.F)
    if cholesky(b.F, SINGULAR * largest) != 0:
        for i in range(c):
            b.S[i, i] += DAMPING * largest
        _copy_lower(b.S, b.F)
        if cholesky(b.F) != 0:
            return False
    for i in range(c):
        b.w[i] = b.r[i]
    solve_lower(b.F, b.w)
    solve_lower_transposed(b.F, b.w)
    inside = True
    for i in range(c):
        inside &= b.bounds[0, i] <= b.w[i] <= b.bounds[1, i]
    if (
        not inside
        and solve_box_qp(
            b.S,
            b.r,
            b.bounds[0],
            b.bounds[1],
            b.w,
            b.scratch[0],
            b.scratch[1],
            b.scratch[2],
            b.F,
            b.free,
        )
        < 0
    ):
        return all_finite(b.w)
    return True


@kernel
def _command(signs, controlled, b):
    """Commands and unmet accelerations from w; the number of saturated ones."""
    saturated = 0
    for i in range(len(controlled)):
        k = controlled[i]
        b.u[k] = signs[k] * b.w[i]
        b.unmet[k] = b.r[i] - _dot(b.S[i], b.w)
        saturated += b.w[i] <= b.bounds[0, i] or b.w[i] >= b.bounds[1, i]
    return saturated if all_finite(b.u) else -1
