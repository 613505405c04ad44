# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot check`."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from typing import Any, TYPE_CHECKING

from softrobot_dynamics.cli.common import add, say

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription


def add_to(commands: Any) -> None:
    """Add the sub-command to those of a parser."""
    check = add(commands, 'check', run, 'validate robot files and show every problem')
    check.add_argument('files', nargs='+', metavar='FILE', help='robot file, or a shipped name')


def run(options: Namespace) -> int:
    """Check files; return 1 if one of them is wrong."""
    from softrobot_dynamics.description.robot import load_robot
    from softrobot_dynamics.errors import SoftRobotError

    wrong = 0
    for file in options.files:
        try:
            robot = load_robot(file)
        except SoftRobotError as error:
            wrong += 1
            say(error)
        else:
            counts = f'{robot.n} coordinates, {len(robot.actuator_names)} actuators'
            say(f'{file}: {robot.name}, {counts}{_kinds(robot)}')
    return int(wrong > 0)


def _kinds(robot: RobotDescription) -> str:
    """Return what the commands of a RobotDescription are: ': 6 torque [N m], 1 pressure [Pa]'."""
    counts = Counter(robot.commands)
    parts = [f'{count} {name} [{unit or "-"}]' for (name, unit), count in counts.items()]
    return f': {", ".join(parts)}' if parts else ''
