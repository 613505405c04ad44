# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The `softrobot` command; a file for each sub-command, whose imports wait until it runs.

In it `add_to` adds it to the parser, and `run` does it and returns the exit status.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
import sys
from typing import Any

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
from softrobot_dynamics.compiling.program_exit import (
    escape_what_cannot_be_shown,
    FAILED,
    give_up_output,
    INTERRUPTED,
    OUTPUT_CLOSED,
    running,
)
from softrobot_dynamics.errors import one_line, SoftRobotError

COMMANDS = (
    demo, view, study, excite, identify, reproduce, check, robots, importing, compiling,
    modes, fit, plot, replay,
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (default: the process's own); return the exit status."""
    if sys.stdout is None:  # closed before the start (`>&-`): nobody reads, as of a closed pipe
        return OUTPUT_CLOSED
    escape_what_cannot_be_shown()
    try:
        with running():
            return _run(argv)
    except SoftRobotError as error:
        return refuse(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        give_up_output()
        return OUTPUT_CLOSED
    except OSError as error:
        give_up_output()
        place = f'{one_line(error.filename, 240)}: ' if error.filename else ''
        refuse(f'{place}{error.strerror or error}')
        return FAILED


def _run(argv: Sequence[str] | None) -> int:
    """Run a command line and flush its output; raise the OSError if that fails."""
    try:
        options = _parser().parse_args(argv)
        status: int = options.run(options)
        return status
    finally:
        sys.stdout.flush()


class _Parser(ArgumentParser):
    """A parser whose help and usage are not lost in silence where they cannot be written."""

    def _print_message(self, message: str, file: Any = None) -> None:
        if (stream := file or sys.stderr) is not None:  # it is closed
            stream.write(message)


def _parser() -> ArgumentParser:
    parser = _Parser(
        prog='softrobot',
        description='Model, simulate and control robots of rigid and soft bodies.',
    )
    commands = parser.add_subparsers(metavar='COMMAND', required=True)
    for command in COMMANDS:
        command.add_to(commands)
    return parser
