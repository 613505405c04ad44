# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot import`."""

from argparse import ArgumentTypeError, Namespace
import contextlib
from math import inf, isfinite
from pathlib import Path

from softrobot_dynamics.cli.common import add, refuse, say, SubCommands


def add_to(commands: SubCommands) -> None:
    """Add the sub-command to those of a parser."""
    add(
        commands, 'import', run, 'make the rigid part of a robot file from URDF',
        ('urdf', 'URDF', 'a URDF file'),
        ('--out', 'FILE', 'the robot file; default: named as the URDF, beside it'),
        ('--unlimited', 'JOINT', 'joints to import without their <limit>',
         {'nargs': '+', 'default': ()}),
        ('--lock', 'JOINT=VALUE', 'joints to fix, each at a value [rad, m]; joints that mimic'
         ' them are fixed, too', {'nargs': '+', 'type': _locked, 'default': ()}),
        ('--drop', 'LINK', 'links to leave out, with all links beyond them',
         {'nargs': '+', 'default': ()}),
        ('--repair', None, 'replace a physically impossible inertia by the nearest possible one'),
    )  # fmt: skip


def _locked(text: str) -> tuple[str, float]:
    """Return the joint and the value of an argument JOINT=VALUE."""
    name, equals, value = text.rpartition('=')
    with contextlib.suppress(ValueError):
        if equals and name and isfinite(number := float(value)):
            return name, number
    raise ArgumentTypeError(f'{text}, expected JOINT=VALUE, the value a finite number [rad, m]')


def run(options: Namespace) -> int:
    """Write a robot file, which must not exist."""
    from softrobot_dynamics.description.robot import load_robot
    from softrobot_dynamics.description.urdf import changed_names, read_urdf
    from softrobot_dynamics.errors import shortened
    import yaml

    path = Path(options.out or Path(options.urdf).with_suffix('.yaml'))
    mapping = read_urdf(
        options.urdf,
        options.unlimited,
        locked=dict(options.lock),
        dropped=options.drop,
        repair=options.repair,
        report=say,
    )
    robot = load_robot(mapping)
    names = {x: y for x, y in changed_names(options.urdf).items() if x in robot.coordinate_names}
    beside = path.with_name(f'{path.stem}_names.yaml')
    if names and beside.exists():
        return refuse(f'{beside}: File exists')
    parameters = {'/**': {'ros__parameters': {'joint_names': names}}}
    try:
        with open(path, 'x', encoding='utf-8') as file:
            yaml.safe_dump(mapping, file, sort_keys=False, default_flow_style=None, width=100)
        if names:  # which the robot's own drivers go on using
            with open(beside, 'x', encoding='utf-8') as file:
                yaml.safe_dump(parameters, file, sort_keys=False, allow_unicode=True)
            say(f'{beside}: joint_names of {len(names)} joints, for --params-file of the nodes')
    except OSError as error:
        return refuse(f'{error.filename or path}: {error.strerror}')
    say(f'{path}: {robot.name}, {len(robot.body_names)} bodies, {robot.n} coordinates')
    free = [m.joint_name for m in robot.modules if (-inf, inf) in m.joint.position_limits()]
    if free:
        say(f'{len(free)} of the joints have no limits of position: {shortened(", ".join(free))}')
    return 0
