# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot study`."""

from argparse import Namespace

from softrobot_dynamics.cli.common import add, positive, SubCommands


def add_to(commands: SubCommands) -> None:
    """Add the sub-command to those of a parser."""
    add(
        commands, 'study', run, 'run the loop without ROS over many varied robots',
        ('robot', 'NAME|FILE', 'shipped name or robot file'),
        ('--vary', 'NAME=A..B|A,B,C', 'factors of a number in the robot file (young_modulus,'
         ' arm.density), delay=0..5ms, or values of a controller parameter (gains.p); may be'
         ' given again for others', {'action': 'append', 'required': True}),
        ('--plant', 'NAME|FILE|FIELD=CHANGE', "robot to simulate if it is not the law's model:"
         " another one, or changed fields", {'action': 'append', 'default': []}),
        ('--controller', 'FILE', 'ROS parameters; default: those shipped for the robot'),
        ('--runs', 'N', 'number of runs; default 100, or all of a grid', {'type': int}),
        ('--seed', 'N', 'seed of random numbers; default 0', {'type': int, 'default': 0}),
        ('--design', 'NAME', 'sampling: sobol, latin, random or grid; default: grid if all --vary'
         ' list values, else sobol'),
        ('--seconds', 'S', 'length of each run; default 10', {'type': positive, 'default': 10.0}),
        ('--tolerance', 'SHARE', 'RMS error over travel, up to which the robot follows;'
         ' default 0.04', {'type': positive, 'default': 0.04}),
        ('--jobs', 'N', 'processes; default: one for each core', {'type': int, 'default': -1}),
        ('--output', 'FOLDER', 'folder of the results, where the same command resumes an'
         ' interrupted study; default softrobot_study', {'default': 'softrobot_study'}),
    )  # fmt: skip


def run(options: Namespace) -> int:
    """Run a study."""
    from softrobot_dynamics.studies.command import run as run_study

    return run_study(options)
