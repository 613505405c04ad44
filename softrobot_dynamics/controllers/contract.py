# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What a controller is: a state goes in, a command comes out, at control rate and without ROS."""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.references.contract import braking, constant, Reference, sample
from softrobot_dynamics.schema.registry import Registry

CONTROLLERS = Registry(
    'controller', 'softrobot_dynamics.controllers', 'softrobot_dynamics.controllers'
)
register = CONTROLLERS.register


class Settings(NamedTuple):
    """All that may change while a controller runs; never edited, only replaced as a whole."""

    p: np.ndarray  # (m,) gain on y_d - y [1/s^2]
    d: np.ndarray  # (m,) gain on its rate [1/s]
    lower: np.ndarray  # (m,) limits of u, actuator units
    upper: np.ndarray  # (m,)
    rate: np.ndarray  # (m,) limit of |du/dt| [unit/s]
    feed_forward: np.ndarray  # (m,) u of the actuators that are not controlled
    delay: float = 0.0  # [s] from a state until the command that answers it acts


class Plan(NamedTuple):
    """A reference and the one it takes over from, blended smoothly during ``ramp`` [s]."""

    previous: Reference
    current: Reference
    start: float  # both references' time zero [s]
    ramp: float  # [s]


class Command(NamedTuple):
    """What one tick decided. The arrays belong to the controller: valid until its next tick."""

    u: np.ndarray  # (m,) command, actuator units
    y: np.ndarray  # (m,) actuation coordinates
    velocity: np.ndarray  # (m,) their rates
    desired: np.ndarray  # (3, controlled) y_d, its rate and acceleration
    unmet: np.ndarray  # (m,) acceleration asked for that the limits do not allow
    saturated: int  # number of commands at a limit
    ok: bool  # False: no valid command; use the safe one


def default_settings(model, p=100.0, d=20.0, delay=0.0):
    """Return :class:`Settings` with equal gains and the description's limits."""
    feed_forward = np.clip(np.zeros(model.m), model.lower, model.upper)
    return Settings(
        np.full(model.m, float(p)),
        np.full(model.m, float(d)),
        model.lower.copy(),
        model.upper.copy(),
        model.rate_limit.copy(),
        feed_forward,
        float(delay),
    )


@kernel
def sample_plan(plan, t, out, scratch):
    """
    Fill out (3, m) with the blended y_d, rate and acceleration at t [s]; ``scratch`` (3, m).

    The blend s(x) = 10 x^3 - 15 x^4 + 6 x^5 keeps two derivatives continuous.
    """
    sample(plan.current, t - plan.start, out)
    x = (t - plan.start) / plan.ramp if plan.ramp > 0.0 else 1.0
    if x < 1.0:
        x = max(x, 0.0)
        sample(plan.previous, t - plan.start, scratch)
        s = x * x * x * (10.0 - x * (15.0 - 6.0 * x))
        s1 = 30.0 * x * x * (1.0 - x) * (1.0 - x) / plan.ramp
        s2 = 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / (plan.ramp * plan.ramp)
        for i in range(out.shape[1]):
            gap, gap1 = out[0, i] - scratch[0, i], out[1, i] - scratch[1, i]
            gap2 = out[2, i] - scratch[2, i]
            out[0, i] = scratch[0, i] + s * gap
            out[1, i] = scratch[1, i] + s * gap1 + s1 * gap
            out[2, i] = scratch[2, i] + s * gap2 + 2.0 * s1 * gap1 + s2 * gap


class Controller:
    """
    Base of all controllers: a file beside this one with one law, ``@register``ed.

    Parameters: ``model``; ``period`` [s] of the ticks; ``controlled``, names of actuators whose
    coordinates follow the reference (default: all); ``settings`` (default: the description's
    limits and equal gains). :meth:`compute` belongs to one thread; :meth:`use` and :meth:`follow`
    may be called from another at any time and take effect with the next tick.
    """

    def __init__(self, model, *, period, controlled=None, settings=None):
        names = model.actuator_names if controlled is None else tuple(controlled)
        unknown = [name for name in names if name not in model.actuator_names]
        if unknown or not names or len(set(names)) != len(names):
            raise ArgumentError(
                'controlled',
                list(names),
                'one or more different names of ' + ', '.join(model.actuator_names),
            )
        if not period > 0.0:
            raise ArgumentError('period', period, 'a time > 0 [s]')
        self.model, self.period = model, float(period)
        self.controlled = np.array([model.actuator_names.index(n) for n in names], dtype=np.int64)
        self.settings = settings or default_settings(model)
        self._evaluate, self._sample = model.evaluator(), cached(sample_plan)
        self.plan = Plan(constant(np.zeros(len(names))), constant(np.zeros(len(names))), 0.0, 0.0)
        self.last = np.full(model.m, np.nan)

    def use(self, settings):
        """Replace all settings from the next tick on."""
        self.settings = settings

    def start(self, q, qd, t, u=None):
        """
        Begin at the present state (q, qd) at time t [s]: the plan takes over from there.

        ``u`` (m,) is the command in force, from which rate limits count (default: unknown).
        """
        y, velocity = self.outputs(q, qd)
        state = np.array([y, velocity, 0.0 * y])[:, self.controlled]
        self.plan = self.plan._replace(
            previous=braking(state, 0.0, self.plan.ramp), start=float(t)
        )
        self.last[:] = np.nan if u is None else u

    def follow(self, reference, t, ramp):
        """Turn to another reference, whose time zero is now, t [s], within ``ramp`` [s]."""
        state = self.desired(t)
        self.plan = Plan(braking(state, 0.0, ramp), reference, float(t), float(ramp))

    def desired(self, t):
        """y_d, its rate and acceleration, (3, controlled), at time t [s]."""
        out = np.empty((3, len(self.controlled)))
        self._sample(self.plan, float(t), out, np.empty_like(out))
        return out

    def outputs(self, q, qd):
        """Actuation coordinates y (m,) and their rates (m,) at a state."""
        terms = self.model.per_thread.evaluator(q, qd)
        return terms.y - self.model.y0, terms.J @ qd

    def compute(self, t, q, qd):
        """Return the :class:`Command` for the state (q, qd) at time t [s]."""
        raise NotImplementedError

    def growth(self, q, u, settings):
        """
        Return the rate [1/s] at which errors about rest at q (n,) under u (m,) would grow.

        For any thread, beside :meth:`compute`. A law that cannot say returns nan.
        """
        return np.nan

    def warm(self):
        """Run everything once, so that no tick has to wait for the compiler."""
        q, plan, last = self.model.q0, self.plan, self.last.copy()
        zero = np.zeros(self.model.n)
        self.start(q, zero, 0.0)
        self.compute(0.0, q, zero)
        self.desired(0.0)
        self.growth(q, self.settings.feed_forward, self.settings)
        self.plan, self.last[:] = plan, last
