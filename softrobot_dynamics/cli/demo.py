# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot demo`."""

from argparse import Namespace

from softrobot_dynamics.cli.common import add, positive, refuse, SubCommands


def add_to(commands: SubCommands) -> None:
    """Add the sub-command to those of a parser."""
    demo = add(commands, 'demo', run, 'run a simulated robot and its controller over ROS 2')
    demo.add_argument(
        '--robot',
        metavar='NAME|FILE',
        help='shipped name or robot file; default: that of the --controller file, or pcc_arm',
    )
    demo.add_argument(
        '--controller',
        metavar='FILE',
        help='ROS parameters of the controller; default: those shipped for the robot',
    )
    demo.add_argument(
        '--surroundings',
        metavar='FILE',
        help='environment and objects that the simulated robot may touch',
    )
    demo.add_argument(
        '--scene',
        metavar='NAME',
        help='robot, surroundings, controller and goal of a shipped scene, as lift_ball',
    )
    demo.add_argument(
        '--estimated',
        nargs='?',
        const='',
        metavar='NAME|FILE',
        help='close the loop on the estimate from simulated sensors: a shipped name or a file;'
        ' default: those of the robot',
    )
    demo.add_argument(
        '--rate',
        type=positive,
        metavar='HZ',
        help='rate of the loop; default: that of the --controller file, or the highest of 1000,'
        ' 500, 250 and 100 that this machine is measured to hold',
    )
    demo.add_argument(
        '--duration',
        type=positive,
        metavar='S',
        help='seconds; default: what the scene takes, or 10',
    )
    demo.add_argument(
        '--tolerance',
        type=positive,
        default=0.04,
        metavar='SHARE',
        help='RMS error of tips and outputs, as a share of their way, up to which the robot'
        ' follows; default 0.04',
    )
    demo.add_argument(
        '--out',
        default='softrobot_demo',
        metavar='FOLDER',
        help='folder for recordings and picture; default softrobot_demo',
    )
    demo.add_argument('--json', metavar='FILE', help='write the figures to FILE')
    demo.add_argument('--view', action='store_true', help='show the robot in a browser')
    demo.add_argument('--no-plot', action='store_true', help='draw no picture')


def run(options: Namespace) -> int:
    """Run a demo, or say what it needs."""
    try:
        from softrobot_dynamics.demo.session import run as run_demo
    except ModuleNotFoundError as error:
        if (error.name or '').startswith('softrobot_dynamics'):
            raise
        return refuse(
            f'the demo needs ROS 2, and there is no {error.name}: source a ROS installation, or'
            " pip install 'softrobot_dynamics[ros,demo]'"
        )
    return run_demo(options)
