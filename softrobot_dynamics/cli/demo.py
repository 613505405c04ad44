# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot demo`."""

from argparse import Namespace

from softrobot_dynamics.cli.common import add, positive, refuse, SubCommands


def add_to(commands: SubCommands) -> None:
    """Add the sub-command to those of a parser."""
    add(
        commands, 'demo', run, 'run a simulated robot and its controller over ROS 2',
        ('--robot', 'NAME|FILE', 'shipped name or robot file; default: that of the --controller'
         ' file, or pcc_arm'),
        ('--controller', 'FILE', 'ROS parameters of the controller; default: those shipped for'
         ' the robot'),
        ('--surroundings', 'FILE', 'environment and objects that the simulated robot may touch'),
        ('--scene', 'NAME', 'robot, surroundings, controller and goal of a shipped scene, as'
         ' lift_ball'),
        ('--estimated', 'NAME|FILE', 'close the loop on the estimate from simulated sensors: a'
         ' shipped name or a file; default: those of the robot', {'nargs': '?', 'const': ''}),
        ('--rate', 'HZ', 'rate of the loop; default: that of the --controller file, or the'
         ' highest of 1000, 500, 250 and 100 that this machine is measured to hold',
         {'type': positive}),
        ('--duration', 'S', 'seconds; default: what the scene takes, or 10', {'type': positive}),
        ('--tolerance', 'SHARE', 'RMS error of tips and outputs, over their travel, up to'
         ' which the robot follows; default 0.04', {'type': positive, 'default': 0.04}),
        ('--out', 'FOLDER', 'folder for recordings and picture; default softrobot_demo',
         {'default': 'softrobot_demo'}),
        ('--json', 'FILE', 'write the figures to FILE'),
        ('--view', None, 'show the robot in a browser'),
        ('--no-plot', None, 'draw no picture'),
    )  # fmt: skip


def run(options: Namespace) -> int:
    """Run a demo, or print which package is missing for it."""
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
