# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Simulate actuators between command and force: lag, delay, dead band, slack, supply of air."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
import math
from typing import Any, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.dynamics.arguments import checked, TIME_TOLERANCE
from softrobot_dynamics.dynamics.wrenches import Wrenches
from softrobot_dynamics.model.evaluation import Evaluator
from softrobot_dynamics.simulation.simulator import Simulator

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class Supplies:
    """
    Pressures in chambers with a :class:`.Supply`: air that a movement compresses pushes back.

    ``any``: there is one; other actuators are left alone.
    """

    def __init__(self, model: CompiledModel) -> None:
        parts = [entry.actuator.supply for entry in model.description.actuators]
        self._own = np.flatnonzero([part is not None for part in parts])
        own = [part for part in parts if part is not None]
        self._ambient = np.array([part.ambient for part in own])
        self._flow = self._ambient * [part.flow for part in own]
        self._hoses = np.array([part.volume for part in own])
        self.any, self._rest = bool(own), np.zeros(model.n)
        self._evaluate = Evaluator(model, with_mass=False) if own else None
        self.begin()

    def begin(self) -> None:
        """Restart, with pressures that have been there for long."""
        self._air: Vector | None = None  # [J], pressure times volume

    def fill(self, held: Vector, demanded: Vector, q: Vector, h: float) -> Vector:
        """
        Return mean pressures (m,) over the next h [s] where (m,) are ``demanded``, and go there.

        ``held`` (m,) are those before the first h, q (n,) the robot's.
        """
        if self._evaluate is None:
            return demanded
        own, found = self._own, demanded.copy()
        volume = self._evaluate(q, self._rest).y[own] + self._hoses
        before = (held[own] + self._ambient) * volume if self._air is None else self._air
        target = np.maximum(demanded[own] + self._ambient, 0.0) * volume
        most = self._flow * h
        self._air = np.clip(target, before - most, before + most)
        late = self._air != target
        mean = 0.5 * (before + self._air) / volume - self._ambient
        found[own] = np.where(late, mean, demanded[own])
        return found


class ActuatorDynamics:
    """
    The forces of actuators with lag, delay, dead band, slack and supply, as their fields say.

    Forces are those along y that the simulator takes as u (m,). They begin with the first command
    as if it had been there for long. Attribute ``direct``: whether every force equals its command
    without lag, delay or dead zone.
    """

    def __init__(self, model: CompiledModel) -> None:
        parts = [entry.actuator for entry in model.description.actuators]
        self._lag = np.array([part.lag for part in parts])
        self._dead = np.array([part.dead_band for part in parts])
        self._delay = [part.delay for part in parts]
        self._supplies = Supplies(model)
        self._least = np.where([part.goes_slack for part in parts], 0.0, -np.inf)
        later = self._lag.any() or any(self._delay) or self._supplies.any
        self.direct = not (later or self._dead.any() or np.isfinite(self._least).any())
        self.begin()

    def begin(self, u: Vector | None = None) -> None:
        """Restart under u (m,) as if it had been there for long; None: under the next one."""
        self._now = 0.0
        self._underway: list[deque[tuple[float, float]]] = [deque() for _ in self._delay]
        self._last_command: Any = None
        self._supplies.begin()
        if u is not None:
            self._set_command(u)

    def mean_forces(self, u: Vector, duration: float, longest: float, q: Vector) -> Iterator[Any]:
        """
        Yield (force (m,), time [s]) in order, for a ``duration`` [s] under the command u (m,).

        The time is split exactly where a delay ends, and, while a force lags behind, into parts
        no longer than ``longest`` [s]; the force of each is its mean, so that no impulse is lost.
        Each begins where q (n,), the robot's, has come to.
        """
        self._set_command(u)
        end = self._now + duration
        while self._now < end - TIME_TOLERANCE:
            self._apply_due_commands()
            until = min([end, *(line[0][0] for line in self._underway if line)])
            settled = not self._lag.any() or np.array_equal(self._force, self._steady_forces())
            settled = settled and not self._supplies.any
            parts = 1 if settled else math.ceil((until - self._now) / longest - TIME_TOLERANCE)
            h = (until - self._now) / parts
            for _ in range(parts):
                yield self._advance(h, q), h
            self._now = until

    def _set_command(self, u: Vector) -> None:
        """Set a command (m,) that comes now."""
        if self._last_command is None:
            self._last_command, self._arrived = u.copy(), u.copy()
            self._force = self._steady_forces()
        for k in np.flatnonzero(u != self._last_command):
            self._underway[k].append((self._now + self._delay[k], float(u[k])))
        self._last_command = u.copy()

    def _apply_due_commands(self) -> None:
        """Apply the commands whose delay is over."""
        for k, line in enumerate(self._underway):
            while line and line[0][0] <= self._now + TIME_TOLERANCE:
                self._arrived[k] = line.popleft()[1]

    def _steady_forces(self) -> Vector:
        """Return the forces (m,) where those that lag will end."""
        u = self._arrived
        return u - np.minimum(np.maximum(u, -self._dead), self._dead)

    def _advance(self, h: float, q: Vector) -> Vector:
        """Return the mean forces (m,) over the next h [s], and go there."""
        steady, lags = self._steady_forces(), self._lag > 0.0
        x = h / np.where(lags, self._lag, 1.0)
        ahead = self._force - steady
        mean = steady + np.where(lags, ahead * -np.expm1(-x) / x, 0.0)
        held, self._force = self._force, steady + np.where(lags, ahead * np.exp(-x), 0.0)
        return np.maximum(self._supplies.fill(held, mean, q, h), self._least)


class ActuatedSimulator(Simulator):
    """
    A Simulator whose ``u`` are commands to actuators as their fields describe them.

    Those that are told positions hold them: the tension of their cables comes of the stretch, at
    every evaluation of a step, which takes the stiffness implicitly. A lag, a delay, a dead band
    are those of the position. Joints whose drives take positions or velocities are moved by
    these, with forces up to their limits. Tendons with friction rub along their routes, joints
    with friction where they move. See, in :mod:`softrobot_dynamics.recursion`, ``drives``,
    ``servos``, ``capstan`` and ``joint_friction``.
    """

    has_friction = commanded = has_servos = True

    def __init__(self, model: CompiledModel, **options: Any) -> None:
        self._actuation = ActuatorDynamics(model)
        super().__init__(model, **options)

    def reset(self, q: ArrayLike | None = None, qd: ArrayLike | None = None) -> None:
        """Return to time zero, as a Simulator; the next command has been there for long."""
        super().reset(q, qd)
        self._actuation.begin()
        self._acting = np.clip(np.zeros(self.model.m), self.model.lower, self.model.upper)

    @property
    def acting(self) -> Vector:
        """
        The forces (m,) that the actuators applied last, in their units.

        That of the step before, or what they began under; of drives that are told positions or
        velocities of joints the forces. Not to be written to.
        """
        if (servos := self._stepper.acts.servos) is None:
            return self._acting
        found = self._acting.copy()
        found[self.model.servos.actuators] = servos.effort
        return found

    def begin_under(self, u: ArrayLike) -> None:
        """Start with actuators at rest under a command (m,)."""
        self._acting = checked('u', u, (self.model.m,))
        self._actuation.begin(self._acting)

    def step(self, u: ArrayLike, dt: float, wrenches: Wrenches | None = None) -> None:
        """Advance by dt [s] under the constant command u (m,), as a Simulator does."""
        u = checked('u', u, (self.model.m,))
        if self._actuation.direct:
            super().step(u, dt, wrenches)
            self._acting = u
            return
        for force, h in self._actuation.mean_forces(u, dt, self.substep, self.q):
            super().step(force, h, wrenches)
            self._acting = force
