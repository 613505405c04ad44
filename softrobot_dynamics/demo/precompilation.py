# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Everything that the nodes of a robot would compile, compiled ahead of time; needs no ROS."""

from collections.abc import Iterable, Iterator
import contextlib
import subprocess
import sys
from typing import Any

from softrobot_dynamics.compiling.parallel import process_limit
from softrobot_dynamics.compiling.processes import python_command, python_environment
from softrobot_dynamics.configuration import build
from softrobot_dynamics.errors import ArgumentError

_RATE, _SUBSTEP = 1000.0, 5e-4


def warm(robot: str, laws: Iterable[str]) -> None:
    """
    Compile the kernels of simulation, references and those laws that can control the robot.

    Raises SoftRobotError for a robot that cannot be simulated.
    """
    with simulation_elsewhere(robot):
        for law in laws:
            with contextlib.suppress(ArgumentError):  # it takes more actuators, or fewer
                build.controlled({**_values(robot), 'controller': law})
    build.simulated(_values(robot))


@contextlib.contextmanager
def simulation_elsewhere(robot: str) -> Iterator[Any]:
    """
    Within this context another process, a Popen, compiles what a simulation of a robot needs.

    None where one process alone may compile. Whatever goes wrong there goes wrong again when this
    process does the same.
    """
    if process_limit() == 1:
        yield None
        return
    other = subprocess.Popen(
        python_command(f'{__name__}:main', str(robot)),
        env=python_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # it ends with this context, not by Ctrl-C
    )
    try:
        yield other
        other.wait()
    finally:
        other.kill()
        other.wait()


def _values(robot: str) -> dict[str, Any]:
    """Return the parameters of a simulation that is compiled ahead of time."""
    return {
        'robot': robot,
        'plant': (),
        'surroundings': (),
        'payload.body': '',
        'rate': _RATE,
        'substep': _SUBSTEP,
        'integrator': 'exponential',
        'controlled': (),
    }


def main() -> None:
    """Compile, in the other process, for the robot that the command line names."""
    build.simulated(_values(sys.argv[1]))
