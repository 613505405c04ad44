# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Flat arrays of the cables of actuators that hold positions; u of commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from softrobot_dynamics.actuators.contract import Cable, RobotParts, Segment
from softrobot_dynamics.annotations import Integers, Vector
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.model.contract import RobotModel
from softrobot_dynamics.model.robot_arrays import RobotArrays
from softrobot_dynamics.recursion.cable_drives import CableDrives, convert, measure
from softrobot_dynamics.recursion.passes import Robot
from softrobot_dynamics.recursion.transmission import has_lines


class _AllCables:
    """The segments of all cables, as those of one actuator; and the cables of each actuator."""

    def __init__(self, actuators: Sequence[Any]) -> None:
        self._actuators = actuators
        self.each: list[Sequence[Cable]] = []

    def segments(self, parts: RobotParts) -> list[Segment]:
        """Return the segments of all cables, one after the other."""
        self.each = [actuator.cables(parts) for actuator in self._actuators]
        return [s for cables in self.each for cable in cables for s in cable.segments]


class CableTables(NamedTuple):
    """Data of the s cables of a robot with m actuators that threads share; see `CableDrives`."""

    arrays: dict[str, Any]  # segments and P of a Robot
    scratch: int
    cables: Integers  # (m, 2)
    transmission: Vector  # (s,)
    stiffness: Vector  # (s,)
    pretension: Vector  # (s,)
    rest_length: Vector  # (s,)
    parts: Sequence[Segment] = ()  # of all cables, row by row of the segments


def cable_tables(model: RobotModel) -> CableTables:
    """Return the :class:`CableTables` of a compiled model whose kernels are there."""
    description, m = model.description, model.m
    if not model.positioned.any():
        nothing = np.zeros(0)
        none = np.zeros((m, 2), np.int64)
        return CableTables({}, 1, none, nothing, nothing, nothing, nothing)
    every = _AllCables([entry.actuator for entry in description.actuators])
    tables = RobotArrays(description, model.n, [every])
    tables.place(tables.addresses())
    arrays, each = tables.arrays(), [cable for cables in every.each for cable in cables]
    sizes, counts = [len(cable.segments) for cable in each], list(map(len, every.each))
    arrays['segments'][:, 0] = np.repeat(np.arange(len(each)), sizes)
    found = CableTables(
        arrays={name: arrays[name] for name in ('segments', 'P')},
        scratch=max(tables.scratch),
        cables=np.column_stack([np.cumsum([0, *counts[:-1]]), counts]).astype(np.int64),
        transmission=np.array([cable.pull for cable in each]),
        stiffness=np.array([cable.stiffness for cable in each]),
        pretension=np.array([cable.tension for cable in each]),
        rest_length=np.zeros(len(each)),
        parts=tables.segments,
    )
    evaluate, q = model.evaluator(), np.zeros(model.n)
    drives = _drives(model, found, evaluate.robot, True)
    evaluate(q, q)
    cached(measure, drives=drives)(q, q)  # now, also where kernels are being collected
    return found._replace(rest_length=drives.l)


def cable_drives_of(model: RobotModel, robot: Robot, limited: bool = True) -> CableDrives:
    """
    Return the :class:`CableDrives` of a compiled model, without cables if it has none.

    They go by the poses in a robot's workspace, as they are when the kernels are called. Efforts
    are ``limited`` as the description says, or not at all.
    """
    return _drives(model, model.cable_tables, robot, limited)


def _drives(model: RobotModel, tables: CableTables, robot: Robot, limited: bool) -> CableDrives:
    s, limited = len(tables.transmission), model.positioned & limited
    own = robot._replace(**tables.arrays, S=np.zeros(tables.scratch)) if s else robot
    return CableDrives(
        robot=own,
        lines=int(bool(s) and has_lines(own)),
        cables=tables.cables,
        transmission=tables.transmission,
        stiffness=tables.stiffness,
        pretension=tables.pretension,
        rest_length=tables.rest_length,
        lower=np.where(limited, model.effort_lower, -np.inf),
        upper=np.where(limited, model.effort_upper, np.inf),
        **{name: np.zeros(s) for name in ('l', 'bias', 'passive_tension', 'tension')},
        J=np.zeros((s, model.n)),
    )


class Conversion:
    """
    Efforts u (m,) of commands, and commands for efforts, at a posture; one for each thread.

    ``drives`` are those of the posture that was asked about last.
    """

    def __init__(self, model: RobotModel) -> None:
        self._any, self._rest = bool(model.positioned.any()), np.zeros(model.n)
        if self._any:
            self._evaluate = model.evaluator()
            self.drives = cable_drives_of(model, self._evaluate.robot)
            self._measure = cached(measure, 'VECTOR, VECTOR', drives=self.drives)
            self._convert = cached(convert, 'VECTOR, boolean', drives=self.drives)

    def efforts(self, q: Vector, command: Vector) -> Vector:
        """Return u (m,) of a command (m,) at q (n,), contiguous floats."""
        return self._converted(q, command, 1)

    def commands(self, q: Vector, u: Vector) -> Vector:
        """Return the command (m,) for u (m,) at q (n,), limits aside; contiguous floats."""
        return self._converted(q, u, 0)

    def _converted(self, q: Vector, values: Vector, to_efforts: int) -> Vector:
        found = np.array(values, dtype=float)
        if self._any:
            self._evaluate(q, self._rest)
            self._measure(q, self._rest)
            self._convert(found, to_efforts)
        return found
