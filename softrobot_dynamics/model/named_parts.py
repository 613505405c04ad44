# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Bodies and joints of a robot by name, and where their coordinates are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from softrobot_dynamics.annotations import Integers
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.joints.contract import Joint
from softrobot_dynamics.recursion.passes import BODY_COUNT, BODY_FIRST, JOINT_COUNT, JOINT_FIRST

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription


class NamedParts:
    """A robot's bodies and joints by name, for the queries of actuators: ``RobotParts``."""

    def __init__(self, description: RobotDescription, modules: Integers) -> None:
        self._modules, self._rows = description.modules, modules
        self._bodies = {m.name: i for i, m in enumerate(description.modules)}
        self._joints = {m.joint_name: i for i, m in enumerate(description.modules)}

    def index(self, body: str) -> int:
        """Row of a body's module."""
        return self._bodies[body]

    def body(self, name: str) -> Body:
        """Return a body by name."""
        return self._modules[self._bodies[name]].body

    def joint_coordinate(self, joint: str, coordinate: str) -> int:
        """Index of a coordinate of a joint."""
        i = self._joints[joint]
        return self._rows[i][JOINT_FIRST] + self._modules[i].joint.freedoms().index(coordinate)

    def joint(self, name: str) -> Joint:
        """Return a joint by name."""
        return self._modules[self._joints[name]].joint

    def body_coordinates(self, body: str) -> tuple[int, int]:
        """First coordinate and number of coordinates of a body."""
        return tuple(self._rows[self._bodies[body]][[BODY_FIRST, BODY_COUNT]])

    def rigidly_joined(self, first: str, second: str) -> bool:
        """Tell whether ``second`` stands on the tip of ``first`` by a joint that does not move."""
        i = self._bodies[second]
        return self._modules[i].parent == self._bodies[first] and self._rows[i][JOINT_COUNT] == 0
