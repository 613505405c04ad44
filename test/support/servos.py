# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A soft arm whose tendons are commanded by position."""

import numpy as np
import softrobot_dynamics as sd
from support.robots import rod

ARM = 15e-3  # [m] of tendons, from the axis


def servo(drive, pairs=False, count=3, gravity=9.81, **more):
    """Return a hanging rod with ``count`` tendons around it, or two ``pairs`` on a motor each."""
    phases = 2.0 * np.pi * np.arange(2 if pairs else count) / (4 if pairs else count)

    def path(phase):
        return [{'body': 'arm', 'offset': {'radius': ARM, 'phase': float(phase)}}]

    tendons = [
        {
            'name': f't{k}',
            'type': 'tendon',
            'path': path(phase),
            'command': 'position',
            'drive': drive,
            **({'opposite': path(phase + np.pi)} if pairs else {}),
            **more,
        }
        for k, phase in enumerate(phases)
    ]
    bodies = [{'name': 'arm', 'joint': {'type': 'fixed'}, 'body': rod()}]
    return {'name': 'arm', 'gravity': [0, 0, gravity], 'bodies': bodies, 'actuators': tendons}


def tips_under(robot, commands):
    """Return where the tip is (P, 1, 3) [m] under commands (P, m), by whole solves."""
    model = sd.compile_model(robot)
    q = [sd.equilibrium(model, command=command).q for command in commands]
    return np.array([[sd.forward_kinematics(model, q=each)[-1][:3, 3]] for each in q])
