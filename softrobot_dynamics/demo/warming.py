# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Everything that the nodes of a robot would compile, compiled ahead of time; needs no ROS."""

from softrobot_dynamics.controllers.contract import CONTROLLERS
from softrobot_dynamics.nodes import plants

_RATE, _SUBSTEP = 1000.0, 5e-4


def warm(robot):
    """Compile what simulation, references and every control law need; SoftRobotError if not."""
    values = {'robot': robot, 'rate': _RATE, 'substep': _SUBSTEP, 'controlled': ()}
    plants.simulated(values)
    for law in CONTROLLERS.names():
        plants.controlled({**values, 'controller': law})
