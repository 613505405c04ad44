# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""One sensor of every registered kind, for the shipped soft arm."""

from dataclasses import fields

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.dynamics.derivatives import Differentiator
from softrobot_dynamics.estimation.sensors.contract import BoundRobot, SENSORS
from support.generated import mapping
from support.robots import compiled

MOUNT = {'xyz': [0.01, -0.02, 0.03], 'rpy': [0.3, -0.4, 0.5]}
EXAMPLES = {
    'pose': {'body': 'segment2', 'point': [0.01, 0.005, 0.07], 'mount': MOUNT},
    'markers': {'points': [{'body': 'segment1'}, {'body': 'segment3', 'point': [0.02, 0.0, 0.1]}]},
    'joint': {'names': ['t9', 'segment2/bend_y', 't1'], 'noise': 1e-3},
    'imu': {'body': 'segment2', 'mount': MOUNT, 'orientation_noise': 0.1},
}
"""Fields of our kinds."""

COMMON = {'body': 'segment3', 'names': ['t1', 't2']}
"""Fields of a user's kind that name a part of the arm; the others are made of their units."""


def example(name):
    """Return one sensor of a registered kind."""
    given = EXAMPLES.get(name)
    if given is None:
        kind = SENSORS.get(name)
        named = {each.name for each in fields(kind)} & set(COMMON)
        given = {**mapping(kind), **{each: COMMON[each] for each in named}}
    (sensor,) = sd.load_estimator({'sensors': [{**given, 'name': 'own', 'type': name}]}).sensors
    return sensor


def bound(sensor, force=None):
    """Return the observation of a sensor on the arm, pushed by a generalized force (n,)."""
    model = compiled('pcc_arm')
    pushed = Differentiator(model, np.zeros(model.n) if force is None else force)
    return sensor.bind(BoundRobot(model, pushed, np.linspace(0.1, 0.5, model.m)))
