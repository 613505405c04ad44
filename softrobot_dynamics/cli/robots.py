# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot robots`."""

from argparse import Namespace
from pathlib import Path

from softrobot_dynamics.cli.common import add, say, SubCommands


def add_to(commands: SubCommands) -> None:
    """Add the sub-command to those of a parser."""
    add(commands, 'robots', run, 'list the robots that come with the package')


def run(options: Namespace) -> int:
    """List the robots."""
    from softrobot_dynamics.description.robot import load_robot
    from softrobot_dynamics.description.shipped import shipped

    files = shipped('robots')
    width = max(map(len, files), default=0)
    for name, file in files.items():
        robot = load_robot(file)
        m = len(robot.actuator_names)
        say(f'{name:<{width}}  n = {robot.n:2}  m = {m:2}  {_first_comment(file)}')
    return 0


def _first_comment(file: Path) -> str:
    """Return the first line of a file's opening comment."""
    line = file.read_text(encoding='utf-8').partition('\n')[0]
    return line.lstrip('# ') if line.startswith('#') else ''
