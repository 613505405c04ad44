# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Measurements of an estimator's sensors on the simulated robot, for topics; no ROS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.estimation.sensor_simulation import SimulatedSensors
from softrobot_dynamics.loops.contracts import StateSensing
from softrobot_dynamics.simulation.sensing import Measured


def estimator_file(given: str) -> str:
    """Return the path of an estimator file, which may be a shipped name."""
    return str(shipped('estimators').get(given, given))


class MeasuredSensing:
    """
    A Sensing beside which the sensors of an estimator look at the robot, too.

    ``send(sensor name, value, stamp [ns])`` is called with what has come by the time of a state;
    ``acting()`` is what the actuators do (m,), ``touching()`` the generalized force of contact
    (n,).
    """

    answered = False  # but those of estimates

    def __init__(
        self,
        sensing: StateSensing,
        instruments: SimulatedSensors,
        send: Callable[[str, Any, int], None],
        acting: Callable[[], Vector],
        touching: Callable[[], Vector],
    ) -> None:
        self._sensing, self._instruments, self._send = sensing, instruments, send
        self._acting, self._touching = acting, touching
        self.begin()

    def begin(self) -> None:
        """Restart."""
        self._sensing.begin()
        self._epoch: int | None = None

    def sense(self, stamp: int, q: Vector, qd: Vector) -> Measured | None:
        """Take the robot's next state; return the sensed one."""
        if self._epoch is None:
            self._epoch = stamp
            self._instruments.begin(0.0)
        passed = (stamp - self._epoch) * 1e-9
        acting, touching = self._acting(), self._touching()
        for reading in self._instruments.look(passed, q, qd, acting, touching):
            self._send(reading.sensor, reading.value, self._epoch + round(1e9 * reading.time))
        return self._sensing.sense(stamp, q, qd)
