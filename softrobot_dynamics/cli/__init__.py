# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The `softrobot` command; a file for each sub-command, which imports what it needs when it runs.

In it `add_to` adds it to the parser, and `run` does it and returns the exit status.
"""

from argparse import ArgumentParser
from collections.abc import Sequence

from softrobot_dynamics.cli import (
    check,
    demo,
    excite,
    fit,
    identify,
    importing,
    modes,
    plot,
    replay,
    reproduce,
    robots,
    study,
    view,
)
from softrobot_dynamics.cli import compile as compiling
from softrobot_dynamics.cli.common import refuse

COMMANDS = (
    demo, view, study, excite, identify, reproduce, check, robots, importing, compiling,
    modes, fit, plot, replay,
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (default: the process's own); return the exit status."""
    options = _parser().parse_args(argv)
    from softrobot_dynamics.errors import SoftRobotError

    try:
        status: int = options.run(options)
        return status
    except SoftRobotError as error:
        return refuse(error)
    except KeyboardInterrupt:
        return 130


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog='softrobot',
        description='Model, simulate and control robots of rigid and soft bodies.',
    )
    commands = parser.add_subparsers(metavar='COMMAND', required=True)
    for command in COMMANDS:
        command.add_to(commands)
    return parser
