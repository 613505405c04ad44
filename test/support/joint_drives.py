# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Robots whose joint drives take positions or velocities."""

from pathlib import Path

import softrobot_dynamics as sd
import yaml

ROBOTS = Path(__file__).parents[2] / 'config' / 'robots'


def link(command='position', bandwidth=10.0, **limits):
    """Return the description of a link on one joint, which friction and gravity act on."""
    limits = {'position': [-2.0, 2.0], 'velocity': 3.0, 'effort': 40.0, **limits}
    joint = {'name': 'hip', 'type': 'revolute', 'axis': [0, 1, 0], 'damping': 5.0}
    body = {'type': 'rigid', 'mass': 2.0, 'com': [0.3, 0, 0]}
    body['inertia'] = {'ixx': 0.01, 'iyy': 0.02, 'izz': 0.02}
    drive = {'type': 'joint', 'joint': 'hip', 'command': command, 'bandwidth': bandwidth}
    return {
        'name': 'link',
        'gravity': [0.0, 0.0, -9.81],
        'bodies': [
            {
                'name': 'link',
                'joint': {**joint, 'coulomb_friction': 2.0, 'limits': limits},
                'body': body,
            }
        ],
        'actuators': [{'name': 'drive', **drive}],
    }


def compiled(*given, **limits):
    """Return the compiled :func:`link`."""
    return sd.compile_model(sd.load_robot(link(*given, **limits)))


def with_joint_drives(name, command='position', bandwidth=10.0):
    """Return the description of a shipped robot whose joint actuators take such a command."""
    robot = yaml.safe_load((ROBOTS / f'{name}.yaml').read_text(encoding='utf-8'))
    for actuator in robot['actuators']:
        if actuator['type'] == 'joint':
            actuator.update(command=command, bandwidth=bandwidth)
    return robot
