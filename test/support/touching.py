# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A press that stands on a floor, with a ball beside it, as files for nodes."""

import yaml

MASS, BALL = 2.0, 0.5  # [kg]
LIFTED = 9.0  # [N] of the foot's weight that its motor can hold, and does by the safe command
PRESS = {
    'name': 'press',
    'gravity': [0.0, 0.0, -9.81],
    'bodies': [
        {
            'name': 'foot',
            'joint': {'name': 'slide', 'type': 'prismatic', 'axis': [0.0, 0.0, 1.0]},
            'body': {
                'type': 'rigid',
                'mass': MASS,
                'inertia': {'ixx': 0.01, 'iyy': 0.01, 'izz': 0.01},
                'tip': {'xyz': [0.0, 0.0, 0.2]},
            },
            'collision': {'type': 'sphere', 'centre': [0.05, 0.0, 0.0], 'radius': 0.05},
        }
    ],
    'actuators': [
        {'name': 'motor', 'type': 'joint', 'joint': 'slide', 'limits': [-LIFTED, LIFTED]}
    ],
}
AROUND = {
    'environment': [{'name': 'floor', 'type': 'plane', 'point': [0.0, 0.0, -0.05]}],
    'objects': [
        {
            'name': 'ball',
            'mass': BALL,
            'shape': {'type': 'sphere', 'radius': 0.04},
            'pose': {'xyz': [0.3, 0.1, -0.01]},
        }
    ],
}


def write_press(folder):
    """Write robot and surroundings into a folder; return both paths."""
    paths = folder / 'press.yaml', folder / 'around.yaml'
    for path, data in zip(paths, (PRESS, AROUND)):
        path.write_text(yaml.safe_dump(data), encoding='utf-8')
    return tuple(map(str, paths))
