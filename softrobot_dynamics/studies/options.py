# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The options of `softrobot study`; needs nothing, as the parser of the command is always made."""

from argparse import ArgumentParser
from collections.abc import Callable


def add_options(parser: ArgumentParser, positive: Callable[[str], float]) -> None:
    """Add the options to a parser; `positive` reads a number > 0."""
    parser.add_argument('robot', metavar='NAME|FILE', help='shipped name or robot file')
    parser.add_argument(
        '--vary',
        action='append',
        required=True,
        metavar='NAME=A..B|A,B,C',
        help='factors of a number in the robot file (young_modulus, arm.density), delay=0..5ms,'
        ' or values of a controller parameter (gains.p); may be given again for others',
    )
    parser.add_argument(
        '--plant',
        action='append',
        default=[],
        metavar='NAME|FILE|FIELD=CHANGE',
        help="another simulated robot than the law's, or what it differs in in every run",
    )
    parser.add_argument(
        '--controller', metavar='FILE', help='ROS parameters; default: those shipped for the robot'
    )
    parser.add_argument('--runs', type=int, metavar='N', help='default 100, or all of a grid')
    parser.add_argument('--seed', type=int, default=0, metavar='N', help='default 0')
    parser.add_argument(
        '--design',
        metavar='NAME',
        help='sobol, latin, random or grid; default: grid if all have values, else sobol',
    )
    parser.add_argument(
        '--seconds', type=positive, default=10.0, metavar='S', help='of each run; default 10'
    )
    parser.add_argument(
        '--tolerance',
        type=positive,
        default=0.04,
        metavar='SHARE',
        help='up to which the robot follows, as for the demo; default 0.04',
    )
    parser.add_argument('--jobs', type=int, default=-1, metavar='N', help='default: all cores')
    parser.add_argument(
        '--output',
        default='softrobot_study',
        metavar='FOLDER',
        help='the same command goes on in there; default softrobot_study',
    )
