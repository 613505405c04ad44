# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot plot`."""

from argparse import Namespace
from pathlib import Path
from typing import Any

from softrobot_dynamics.cli.common import add, refuse, say


def add_to(commands: Any) -> None:
    """Add the sub-command to those of a parser."""
    plot = add(commands, 'plot', run, 'draw the picture of a demo again')
    plot.add_argument('folder', metavar='FOLDER', help='what the demo wrote into')
    plot.add_argument('--out', metavar='FILE', help='the picture; default: demo.png in FOLDER')


def run(options: Namespace) -> int:
    """Draw the picture of a demo."""
    from softrobot_dynamics.demo import report

    path = Path(options.out or Path(options.folder) / report.PICTURE)
    if not report.draw(report.load(options.folder), path):
        return refuse(report.INSTALL_MATPLOTLIB)
    say(path)
    return 0
