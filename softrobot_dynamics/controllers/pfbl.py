# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Collocated partial feedback linearization in actuation coordinates, by a held command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Integers, Vector
from softrobot_dynamics.compiling.addresses import Entry, run, run_three
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel, summing
from softrobot_dynamics.controllers.allocation import allocate_commands
from softrobot_dynamics.controllers.buffers import allocate_buffers, Buffers, Told
from softrobot_dynamics.controllers.contract import (
    Command,
    Controller,
    register,
    sample_plan,
    Settings,
)
from softrobot_dynamics.controllers.held.command import HeldCommand
from softrobot_dynamics.controllers.held.loop import SampledLoop
from softrobot_dynamics.controllers.held.prediction import Prediction
from softrobot_dynamics.kernels.linalg import all_finite, copy
from softrobot_dynamics.model.evaluation import Evaluator
from softrobot_dynamics.model.terms import Terms
from softrobot_dynamics.schema.fields import number
from softrobot_dynamics.schema.parameters import parameter

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

RELAXATION = 1.0  # [s] in which redundant commands fade to the least effort


@dataclass(frozen=True)
class Gains(Settings):
    """What may be tuned: p and d of [P, Sec. 6], and what is known of the loop."""

    p: Array = parameter(
        number('1/s^2', at_least=0.0, at_most=1e6, default=100.0),
        'Gain on the error of y',
        each='actuator',
        group='gains',
    )
    d: Array = parameter(
        number('1/s', at_least=0.0, at_most=1e5, default=20.0),
        'Gain on the error of its rate',
        each='actuator',
        group='gains',
    )
    delay: float = parameter(
        number('s', at_least=0.0, at_most=0.01, default=0.0),
        'Known time from a state until the command that answers it acts; the law makes up for it',
        group='',
    )


class Fixed(NamedTuple):
    """What the law knows from the beginning, and the arrays it works in."""

    evaluate: Entry  # of the terms
    terms: Terms
    held: Entry  # of what brings the response on by a tick
    response: Array  # (2, n, n) G and R K of this tick
    signs: Vector  # (m,)
    y0: Vector  # (m,)
    controlled: Integers  # (c,)
    last: Vector  # (m,) the command in force, NaN where unknown
    period: float
    b: Buffers


@register('pfbl')
class PartialFeedbackLinearization(Controller):
    """
    y'' = y_d'' + d (y_d' - y') + p (y_d - y) for the controlled actuators' coordinates y.

    u is held for a period T, in which stiff and strongly damped motions settle: asked for at the
    instant of the state, their acceleration would be another one on average. So the law asks for
    what y' gains in T. With J = dy/dq, h = c + g + s of this tick, and the response G, R K of the
    robot to a held force (:mod:`softrobot_dynamics.controllers.held.command`), w being the forces
    along y::

        (J G J') w = T (a - Jdot qd) + J G h + J R K qd

    which is [P, Sec. 6] as T goes to 0. No complementing coordinates are needed, and the robot may
    have more degrees of freedom than actuators, or more actuators than it needs. What the limits
    do not allow is reported. A known ``settings.delay`` [s] is made up for: the law then acts on
    the state in which its command will find the robot. Grizzle and Kokotovic, Feedback
    linearization of sampled-data systems, IEEE Trans. Automatic Control 33 (1988).
    """

    Settings = Gains

    def __init__(self, model: CompiledModel, **options: Any) -> None:
        super().__init__(model, **options)
        evaluate = Evaluator(model, with_mass=False)
        self._held = HeldCommand(model, self.period)
        self._prediction = Prediction(model, self.period)
        self._sampled = SampledLoop(model, self.period, self.controlled)
        self._buffers = allocate_buffers(model.n, model.m, len(self.controlled))
        self._fixed = Fixed(
            evaluate=evaluate.entry,
            terms=evaluate.terms,
            held=self._held.entry,
            response=self._held.lines.now,
            signs=model.signs,
            y0=model.y0,
            controlled=self.controlled,
            last=self.last,
            period=self.period,
            b=self._buffers,
        )
        self._obey(self.plan, self.settings)

    def start(self, q: Vector, qd: Vector, t: float, u: Vector | None = None) -> None:
        """Begin at the present state, see :meth:`Controller.start`."""
        super().start(q, qd, t, u)
        self._prediction.begin(q)
        self._held.begin(q, qd, self._in_force())
        if u is None and self._tick(q, qd, float(t)) >= 0:  # it is known what tension stiffens
            self._held.begin(q, qd, self._buffers.u)
            self.last[:] = np.nan

    def compute(self, t: float, q: Vector, qd: Vector) -> Command:
        """Return the :class:`Command` for the state (q, qd) at time t [s]."""
        b, plan, settings = self._buffers, self.plan, self.settings
        if not (plan is self._obeyed[0] and settings is self._obeyed[1]):
            self._obey(plan, settings)
        delay = settings.delay
        if delay > 0.0:
            q, qd = self._prediction(q, qd, delay, self._in_force())
        saturated = self._tick(q, qd, t + delay)
        ok = saturated >= 0
        if ok and delay > 0.0:
            self._prediction.sent(b.u)
        return Command(b.u, b.y, b.velocity, b.desired, b.unmet, saturated, ok)

    def growth(self, q: Vector, u: Vector, settings: Any) -> float:
        """Return the rate [1/s] at which errors would grow, see :class:`SampledLoop`."""
        return self._sampled.growth(q, u, settings.p, settings.d)

    def _in_force(self) -> Vector:
        """Return the last command (m,), or what comes without one where it is not known."""
        return self.last if self.last[0] == self.last[0] else self.settings.feed_forward

    def _obey(self, plan: Any, settings: Any) -> Any:
        """Prepare the law for a plan and settings: given once, they cost a tick no time."""
        self._obeyed = plan, settings
        told = Told(*(getattr(settings, name) for name in Told._fields))
        self._tick = cached(tick, fixed=self._fixed, plan=plan, settings=told)


@kernel
def tick(fixed, plan, settings, q, qd, t):
    """
    One tick into the :class:`Buffers`; returns the number of saturated commands, or -1.

    -1: the state is not finite, the robot is in a posture its model cannot represent, or no
    command was found; b.u is then not to be used. Otherwise it is the next ``last``.
    """
    last = fixed.last
    saturated = _law(fixed, plan, settings, q, qd, t)
    run_three(fixed.held, q, qd, last if last[0] == last[0] else settings.feed_forward)
    if saturated >= 0:
        copy(fixed.b.u, last)
    return saturated


@kernel
def _law(fixed, plan, settings, q, qd, t):
    """Decide on commands: how many are saturated, or -1."""
    terms, controlled, b, last = fixed.terms, fixed.controlled, fixed.b, fixed.last
    signs, period = fixed.signs, fixed.period
    c, n = len(controlled), len(qd)
    run(fixed.evaluate, q, qd)
    G, drift = fixed.response[0], fixed.response[1]
    sample_plan(plan, t, b.desired, b.blend)
    _outputs(terms, fixed.y0, qd, b)
    _subtract_feed_forward(terms, signs, controlled, settings, last, period, b)
    for i in range(n):
        b.drift[i] = _dot(drift[i], qd)
    for i in range(c):
        k, X = controlled[i], b.X[i]
        _row_times(terms.J[k], G, X)
        acceleration = (
            b.desired[2, i]
            + settings.d[k] * (b.desired[1, i] - b.velocity[k])
            + settings.p[k] * (b.desired[0, i] - b.y[k])
        )
        b.r[i] = period * (acceleration - terms.bias[k])
        b.r[i] += _dot(X, terms.h) + _dot(terms.J[k], b.drift)
        for j in range(i + 1):
            b.S[i, j] = b.S[j, i] = _dot(X, terms.J[controlled[j]])
        _bound(i, k, signs, settings, last, period, b)
    if not allocate_commands(b.S, b.r, b.bounds[0], b.bounds[1], b.favoured, b.w, b.room):
        return -1
    return _command(signs, controlled, period, b)


@summing
def _dot(x, y):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@summing
def _row_times(row, A, out):
    """Fill out (n,) with row (n,) times A (n, n)."""
    out[:] = 0.0
    for j in range(len(row)):
        factor, source = row[j], A[j]
        if factor != 0.0:
            for k in range(len(out)):
                out[k] += factor * source[k]


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
    """Bounds of w_i = sign u_k, and what it shall be as far as nothing else asks for it."""
    low, high = _limits(k, settings, last, period)
    b.bounds[0, i] = low if signs[k] > 0.0 else -high
    b.bounds[1, i] = high if signs[k] > 0.0 else -low
    known = last[k] == last[k]
    b.favoured[i] = signs[k] * last[k] * (1.0 - period / RELAXATION) if known else 0.0


@kernel
def _command(signs, controlled, period, b):
    """Commands and unmet accelerations from w; the number of saturated ones."""
    saturated = 0
    for i in range(len(controlled)):
        k = controlled[i]
        b.u[k] = signs[k] * b.w[i]
        b.unmet[k] = (b.r[i] - _dot(b.S[i], b.w)) / period
        saturated += b.w[i] <= b.bounds[0, i] or b.w[i] >= b.bounds[1, i]
    return saturated if all_finite(b.u) else -1
