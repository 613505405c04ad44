# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Flat arrays of the joints whose drives take positions or velocities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Integers, Vector
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.model.contract import RobotModel


class ServoTables(NamedTuple):
    """The k drives of a robot that take positions or velocities."""

    actuators: Integers  # (k,) indices among the m
    coordinates: Integers  # (k,) among the n
    positions: Integers  # (k,) 1 for a position, 0 for a velocity
    rate: Vector  # (k,) w [1/s] of the drive, see `Servo`
    lower: Vector  # (k,) limits of the position
    upper: Vector  # (k,)
    speed: Vector  # (k,) limit of the velocity
    effort: Vector  # (k,) greatest force of the drive

    @property
    def any(self) -> bool:
        """Tell whether there is any such drive."""
        return len(self.actuators) > 0

    def resting(self, q: Vector) -> Vector:
        """Return the setpoints (k,) with which drives stay at q (n,)."""
        stay: Vector = np.where(self.positions, q[self.coordinates], 0.0)
        return stay

    def stopped(self, told: Vector) -> Vector:
        """Return the setpoints (k,) with which drives stop, those in force being ``told`` (k,)."""
        stay: Vector = np.where(self.positions, told, 0.0)
        return stay

    def bounds(self) -> tuple[Vector, Vector]:
        """Return the lower and upper bounds of setpoints (k,)."""
        low = np.where(self.positions, self.lower, -self.speed)
        return low, np.where(self.positions, self.upper, self.speed)


def require_forces(model: RobotModel, what: str, names: Iterable[str] | None = None) -> None:
    """
    Raise ArgumentError if one of the actuators is a drive that takes positions or velocities.

    ``what`` needs forces; ``names`` of actuators (default: all).
    """
    own = [model.actuator_names[k] for k in model.servos.actuators]
    if found := [name for name in own if names is None or name in names]:
        expected = f'drives that take forces (command: force), which {what} needs'
        raise ArgumentError('model', ', '.join(found), expected)


def servo_tables(model: RobotModel) -> ServoTables:
    """Return the :class:`ServoTables` of a compiled model, whose limits are there."""
    every = [(k, each.actuator.servo) for k, each in enumerate(model.description.actuators)]
    own = [(k, servo) for k, servo in every if servo is not None]
    places = _coordinates(model)
    at = np.array([places[servo.joint, servo.coordinate] for _, servo in own], dtype=np.int64)
    k = np.array([k for k, _ in own], dtype=np.int64)
    return ServoTables(
        actuators=k,
        coordinates=at,
        positions=np.array([servo.control_mode == 'position' for _, servo in own], dtype=np.int64),
        rate=np.array([servo.rate for _, servo in own], dtype=float),
        lower=model.q_lower[at],
        upper=model.q_upper[at],
        speed=model.qd_limit[at],
        effort=np.maximum(-model.lower[k], model.upper[k]),
    )


def _coordinates(model: RobotModel) -> dict[tuple[str, str], int]:
    """Return the place of each coordinate of a joint, by (joint, coordinate)."""
    return {
        (module.joint_name, name): i
        for module, joint, _ in model.description.coordinate_slices()
        for i, name in enumerate(module.joint.coordinates(), start=joint.start)
    }
