# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot reproduce`."""

from argparse import Namespace

from softrobot_dynamics.cli.common import add, SubCommands


def add_to(commands: SubCommands) -> None:
    """Add the sub-command to those of a parser."""
    add(
        commands, 'reproduce', run, "re-run the papers' examples and check the results",
        ('names', 'NAME', 'systems to re-run; without any they are listed', {'nargs': '*'}),
        ('--list', None, 'list the systems'),
        ('--json', 'FILE', 'write checks and data to FILE'),
        ('--page', 'FILE', 'write checks and remarks as Markdown'),
        ('--out', 'FOLDER', 'folder for the figures; default softrobot_reproduce',
         {'default': 'softrobot_reproduce'}),
        ('--no-plot', None, 'draw no figures'),
        ('--animate', None, 'write each motion as an animated GIF into FOLDER, too'),
    )  # fmt: skip


def run(options: Namespace) -> int:
    """Reproduce systems."""
    from softrobot_dynamics.cli.reproduction_report import run as run_systems

    return run_systems(options)
