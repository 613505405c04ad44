# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Everything that the nodes of a robot would compile, compiled ahead of time; needs no ROS."""

from collections.abc import Iterator
import contextlib
import os
import subprocess
import sys
from typing import Any

from softrobot_dynamics.controllers.contract import CONTROLLERS
from softrobot_dynamics.nodes import plants

_RATE, _SUBSTEP = 1000.0, 5e-4


def warm(robot: str) -> None:
    """Compile what simulation, references and every control law need; SoftRobotError if not."""
    with simulation_elsewhere(robot):
        for law in CONTROLLERS.names():
            plants.controlled({**_values(robot), 'controller': law})
    plants.simulated(_values(robot))


@contextlib.contextmanager
def simulation_elsewhere(robot: str) -> Iterator[None]:
    """
    Within this context another process compiles what a simulation of the robot needs.

    Whatever goes wrong there goes wrong again when this process does the same.
    """
    other = subprocess.Popen(
        [sys.executable, '-m', __spec__.name, str(robot)],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # it ends with this context, not by Ctrl-C
    )
    try:
        yield
        other.wait()
    finally:
        other.kill()
        other.wait()


def _values(robot: str) -> dict[str, Any]:
    return {
        'robot': robot,
        'plant': (),
        'payload.body': '',
        'rate': _RATE,
        'substep': _SUBSTEP,
        'controlled': (),
    }


if __name__ == '__main__':
    plants.simulated(_values(sys.argv[1]))
