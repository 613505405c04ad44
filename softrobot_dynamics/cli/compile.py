# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot compile`."""

from argparse import Namespace

from softrobot_dynamics.cli.common import add, SubCommands


def add_to(commands: SubCommands) -> None:
    """Add the sub-command to those of a parser."""
    compiling = add(commands, 'compile', run, 'fill the kernel cache ahead of time')
    compiling.add_argument(
        'robots',
        nargs='*',
        metavar='ROBOT',
        help='shipped name or robot file; default: all shipped',
    )


def run(options: Namespace) -> int:
    """Compile all that robots need."""
    from softrobot_dynamics.compiling.folder import cache_folder
    from softrobot_dynamics.compiling.progress import reporting
    from softrobot_dynamics.demo.warming import warm
    from softrobot_dynamics.description.shipped import shipped
    from softrobot_dynamics.evaluation.terminal import display

    shown = display()
    for robot in options.robots or shipped('robots'):
        with shown.stage(str(robot)), reporting(shown.say):
            warm(robot)
    shown.say(f'kernels are in {cache_folder()}')
    return 0
