# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Simulated robot of a loop without ROS, with delayed commands."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.controllers.safe_command import SafeCommand
from softrobot_dynamics.dynamics.arguments import checked, TIME_TOLERANCE
from softrobot_dynamics.dynamics.wrenches import Wrenches
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator
from softrobot_dynamics.simulation.bus import Bus, HeldOverBus, Stretch

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

SAFE_COMMAND = 'auto', 1.0, 2.0  # mode, pretension [N] and ramp [s], as in the nodes


class DelayedPlant:
    """
    A simulated robot that commands reach a ``delay`` [s] after they are sent, over a ``bus``.

    They are sent once in a ``period`` [s]. ``wrenches`` is a function of time [s], or None.
    """

    def __init__(
        self,
        model: CompiledModel,
        period: float,
        delay: float,
        bus: Bus,
        wrenches: Callable[[float], Wrenches | None] | None,
    ) -> None:
        self.model = model
        self._period, self._wrenches = period, wrenches
        whole = math.floor(delay / period + TIME_TOLERANCE)
        offset = delay - whole * period
        self._offset = offset if offset > TIME_TOLERANCE * period else 0.0
        self._sent: deque[Vector] = deque(maxlen=whole + 2)
        self._held = HeldOverBus(bus, np.zeros(model.m))

    def set_out(self, simulator: ActuatedSimulator, u0: ArrayLike | None) -> None:
        """
        Start with a simulator under u0 (m,), or under the safe command.

        Drives that take positions or velocities of joints hold these, in both cases.
        """
        self.simulator, model = simulator, self.model
        safe = SafeCommand.of_model(model)
        safe.choose(*SAFE_COMMAND)
        safe.begin(simulator.q, None)
        self.u = safe.at(0.0) if u0 is None else checked('u', u0, (model.m,)).copy()
        self.u[model.servos.actuators] = model.servos.resting(simulator.q)
        self._sent.extend([self.u] * (self._sent.maxlen or 0))
        self._held.begin(self.u)
        simulator.begin_under(self.u)

    def step(self, t: float, u: Vector) -> None:
        """Simulate from t [s] to the next tick, u (m,) being sent at t."""
        model = self.model
        self._sent.append(np.minimum(np.maximum(u, model.sent_lower), model.sent_upper))
        arrived = [Stretch(self._sent[1], self._period - self._offset)]
        if self._offset:
            arrived.insert(0, Stretch(self._sent[0], self._offset))
        for held, duration in self._held.stretches(arrived):
            wrenches = self._wrenches and self._wrenches(t + 0.5 * duration)
            self.simulator.step(held, duration, wrenches)
            t += duration
