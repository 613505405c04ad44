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
        help="robot to simulate if it is not the law's model: another one, or changed fields",
    )
    parser.add_argument(
        '--controller', metavar='FILE', help='ROS parameters; default: those shipped for the robot'
    )
    parser.add_argument(
        '--runs', type=int, metavar='N', help='number of runs; default 100, or all of a grid'
    )
    parser.add_argument(
        '--seed', type=int, default=0, metavar='N', help='seed of random numbers; default 0'
    )
    parser.add_argument(
        '--design',
        metavar='NAME',
        help='sampling: sobol, latin, random or grid; default: grid if all --vary list values,'
        ' else sobol',
    )
    parser.add_argument(
        '--seconds',
        type=positive,
        default=10.0,
        metavar='S',
        help='length of each run; default 10',
    )
    parser.add_argument(
        '--tolerance',
        type=positive,
        default=0.04,
        metavar='SHARE',
        help='RMS error as a share of the way, up to which the robot follows; default 0.04',
    )
    parser.add_argument(
        '--jobs', type=int, default=-1, metavar='N', help='processes; default: one for each core'
    )
    parser.add_argument(
        '--output',
        default='softrobot_study',
        metavar='FOLDER',
        help='folder of the results, where the same command resumes an interrupted study;'
        ' default softrobot_study',
    )
