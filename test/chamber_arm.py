# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A turntable with two soft segments of three chambers each, and the package that it needs."""

import math
from pathlib import Path
import shutil

import yaml

PLUGIN = Path(__file__).parent / 'plugin' / 'soft_chambers.py'


def description(payload=0.05):
    """Return the arm as a robot file has it, with a payload [kg] at its tip."""
    segment = {
        'type': 'pcc', 'length': 0.12, 'radius': 0.025, 'density': 1070.0, 'young_modulus': 2e5,
        'damping': 0.05,
    }  # fmt: skip
    plate = {'type': 'rigid', 'mass': 0.4, 'com': [0.0, 0.0, 0.0]}
    plate['inertia'] = {'ixx': 5e-4, 'iyy': 5e-4, 'izz': 1e-3}
    load = {**plate, 'mass': payload, 'inertia': {'ixx': 1e-5, 'iyy': 1e-5, 'izz': 1e-5}}
    chambers = [
        {
            'name': f'c{3 * i + k + 1}',
            'type': 'line_chamber',
            'body': f'segment{i + 1}',
            'offset': [0.015 * math.cos(a), 0.015 * math.sin(a)],
            'area': 2e-4,
            'limits': [0.0, 2.5e5],
            'rate_limit': 5e6,
        }
        for i in range(2)
        for k, a in enumerate([0.0, 2.0 * math.pi / 3.0, 4.0 * math.pi / 3.0])
    ]
    turn = {'type': 'revolute', 'damping': 0.01}
    return {
        'name': 'chamber_arm',
        'gravity': [0.0, 0.0, 9.81],
        'bodies': [
            {'name': 'turntable', 'joint': {'name': 'turn', **turn}, 'body': plate},
            {'name': 'segment1', 'joint': {'type': 'fixed'}, 'body': segment},
            {'name': 'segment2', 'joint': {'type': 'fixed'}, 'body': segment},
            {'name': 'payload', 'joint': {'type': 'fixed'}, 'body': load},
        ],
        'actuators': [
            {'name': 'motor', 'type': 'joint', 'joint': 'turn', 'limits': [-5.0, 5.0]},
            *chambers,
        ],
    }


def install(folder):
    """Put the plug-in into a folder as pip would, with its entry point."""
    shutil.copy(PLUGIN, folder)
    info = Path(folder) / 'soft_chambers-1.0.dist-info'
    info.mkdir()
    (info / 'METADATA').write_text('Metadata-Version: 2.1\nName: soft-chambers\nVersion: 1.0\n')
    (info / 'entry_points.txt').write_text(
        '[softrobot_dynamics.actuators]\nline_chamber = soft_chambers\n'
    )


def write(path, **changes):
    """Write the robot file."""
    Path(path).write_text(yaml.safe_dump(description(**changes)))
