# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot reproduce`."""

from argparse import Namespace

from softrobot_dynamics.cli.common import add, SubCommands


def add_to(commands: SubCommands) -> None:
    """Add the sub-command to those of a parser."""
    words = "re-run the papers' examples and check the results"
    reproduce = add(commands, 'reproduce', run, words)
    reproduce.add_argument(
        'names', nargs='*', metavar='NAME', help='systems to re-run; without any they are listed'
    )
    reproduce.add_argument('--list', action='store_true', help='list the systems')
    reproduce.add_argument('--json', metavar='FILE', help='write checks and data to FILE')
    reproduce.add_argument('--page', metavar='FILE', help='write checks and remarks as Markdown')
    reproduce.add_argument(
        '--out',
        default='softrobot_reproduce',
        metavar='FOLDER',
        help='folder for the figures; default softrobot_reproduce',
    )
    reproduce.add_argument('--no-plot', action='store_true', help='draw no figures')
    words = 'write each motion as an animated GIF into FOLDER, too'
    reproduce.add_argument('--animate', action='store_true', help=words)


def run(options: Namespace) -> int:
    """Reproduce systems."""
    from softrobot_dynamics.cli.reproduction_report import run as run_systems

    return run_systems(options)
