# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot identify`."""

from argparse import ArgumentTypeError, Namespace

from softrobot_dynamics.cli.common import add, positive, SubCommands


def add_to(commands: SubCommands) -> None:
    """Add the sub-command to those of a parser."""
    parser = add(commands, 'identify', run, 'identify parameters of a robot file from recordings')
    parser.add_argument('robot', metavar='ROBOT', help='a shipped name or a robot file')
    parser.add_argument(
        'recording',
        metavar='RECORDING',
        help='CSV file with one posture or one time of a motion in each row; or the .mcap'
        ' recording of a node',
    )
    parser.add_argument(
        '--mapping', metavar='FILE', help='YAML file that maps the columns of a CSV file'
    )
    parser.add_argument(
        '--fit',
        required=True,
        metavar='NAME[=[A..B][+-D]],...',
        help='parameters to fit, numbers of the robot file; A..B: bounds of their values; D:'
        ' standard deviation to which they are known',
    )
    parser.add_argument(
        '--horizon',
        type=positive,
        metavar='S',
        help='predict a motion in intervals of this length, each from its own initial state',
    )
    parser.add_argument(
        '--loss',
        default='soft_l1',
        metavar='NAME',
        help='robust loss of scipy: soft_l1 (default) or linear',
    )
    parser.add_argument(
        '--starts', type=_count, default=1, metavar='N', help='starting points; default 1'
    )
    parser.add_argument(
        '--seed', type=int, default=0, metavar='N', help='seed of random numbers; default 0'
    )
    parser.add_argument(
        '--choose',
        action='store_true',
        help='fit only those parameters that reduce the error of left-out data',
    )
    parser.add_argument(
        '--cross-validate',
        action='store_true',
        help='predict each posture, or block of time, from the others',
    )
    parser.add_argument(
        '--folds',
        type=_count,
        metavar='N',
        help='leave out N groups in turn, instead of each posture or block',
    )
    parser.add_argument(
        '--suggest', type=_count, default=0, metavar='N', help='propose N more postures to measure'
    )
    parser.add_argument('--output', metavar='FILE', help='write the fitted robot file to FILE')
    parser.add_argument('--json', metavar='FILE', help='write all results to FILE')
    parser.add_argument('--picture', metavar='FILE', help='draw the residuals to FILE')


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f'{text}, expected a whole number > 0')
    return int(text)


def run(options: Namespace) -> int:
    """Identify a robot."""
    from softrobot_dynamics.cli.identification_report import run as identify

    return identify(options)
