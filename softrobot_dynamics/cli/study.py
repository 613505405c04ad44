# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot study`."""

from argparse import Namespace

from softrobot_dynamics.cli.common import add, positive, SubCommands
from softrobot_dynamics.studies.options import add_options


def add_to(commands: SubCommands) -> None:
    """Add the sub-command to those of a parser."""
    study = add(commands, 'study', run, 'run the loop without ROS over many varied robots')
    add_options(study, positive)


def run(options: Namespace) -> int:
    """Run a study."""
    from softrobot_dynamics.studies.command import run as run_study

    return run_study(options)
