# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Options and output that the sub-commands share."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
import contextlib
import sys
from typing import Any, Protocol, TypeAlias

WRONG_INPUT = 2  # exit status, as argparse has it
Option: TypeAlias = tuple[Any, ...]
"""
An argument: (name, metavar, help), and perhaps a mapping with more that argparse takes; without a
metavar if that is '', a flag if it is None.
"""


class SubCommands(Protocol):
    """The result of ``ArgumentParser.add_subparsers``, to which sub-commands are added."""

    def add_parser(self, name: str, *, help: str, description: str) -> ArgumentParser:  # noqa: A002
        """Return the parser of a new sub-command."""


class ArgumentContainer(Protocol):
    """An ArgumentParser, or a group of one."""

    def add_argument(self, *names: str, **options: Any) -> Any:
        """Add an argument."""


def add(
    commands: SubCommands, name: str, run: Callable[[Namespace], int], words: str, *options: Option
) -> ArgumentParser:
    """Add a sub-command that does `run`, which returns the exit status; return its parser."""
    parser: ArgumentParser = commands.add_parser(
        name, help=words, description=words[0].upper() + words[1:] + '.'
    )
    parser.set_defaults(run=run)
    add_options(parser, *options)
    return parser


def add_options(parser: ArgumentContainer, *options: Option) -> None:
    """Add arguments to a parser."""
    for name, metavar, words, *more in options:
        given = {'action': 'store_true'} if metavar is None else {'metavar': metavar or None}
        parser.add_argument(name, help=words, **{**given, **dict(*more)})


def positive(text: str) -> float:
    """Return the number > 0 that an argument says."""
    value = float(text)
    if not 0.0 < value < float('inf'):
        raise ArgumentTypeError(f'{text}, expected a number > 0')
    return value


def say(words: object) -> None:
    """Print a line, at once."""
    print(words, flush=True)


def refuse(words: object) -> int:
    """Print an error in the input to stderr; return the exit status."""
    if sys.stderr is not None:  # it is closed
        with contextlib.suppress(OSError):  # nobody listens
            print(f'softrobot: {words}', file=sys.stderr, flush=True)
    return WRONG_INPUT
