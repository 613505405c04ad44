# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot identify`."""

from argparse import ArgumentTypeError, Namespace

from softrobot_dynamics.cli.common import add, positive, SubCommands


def add_to(commands: SubCommands) -> None:
    """Add the sub-command to those of a parser."""
    add(
        commands, 'identify', run, 'identify parameters of a robot file from recordings',
        ('robot', 'ROBOT', 'a shipped name or a robot file'),
        ('recording', 'RECORDING', 'CSV file with one posture or one time of a motion in each'
         ' row; or the .mcap recording of a node'),
        ('--mapping', 'FILE', 'YAML file that maps the columns of a CSV file'),
        ('--fit', 'NAME[=[A..B][+-D]],...', 'parameters to fit, numbers of the robot file; A..B:'
         ' bounds of their values; D: standard deviation to which they are known',
         {'required': True}),
        ('--horizon', 'S', 'predict a motion in intervals of this length, each from its own'
         ' initial state', {'type': positive}),
        ('--loss', 'NAME', 'robust loss of scipy: soft_l1 (default) or linear',
         {'default': 'soft_l1'}),
        ('--starts', 'N', 'starting points; default 1', {'type': _count, 'default': 1}),
        ('--seed', 'N', 'seed of random numbers; default 0', {'type': int, 'default': 0}),
        ('--choose', None, 'fit only those parameters that reduce the error of left-out data'),
        ('--cross-validate', None, 'predict each posture, or block of time, from the others'),
        ('--folds', 'N', 'leave out N groups in turn, instead of each posture or block',
         {'type': _count}),
        ('--suggest', 'N', 'propose N more postures to measure', {'type': _count, 'default': 0}),
        ('--output', 'FILE', 'write the fitted robot file to FILE'),
        ('--json', 'FILE', 'write all results to FILE'),
        ('--picture', 'FILE', 'draw the residuals to FILE'),
    )  # fmt: skip


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f'{text}, expected a whole number > 0')
    return int(text)


def run(options: Namespace) -> int:
    """Identify a robot."""
    from softrobot_dynamics.cli.identification_report import run as identify

    return identify(options)
