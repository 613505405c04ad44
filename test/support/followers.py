# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A gripper whose joints follow others, and the same with joints that move by themselves."""

import copy

import numpy as np
import softrobot_dynamics as sd
from support.robots import link, rod

FOLLOW = {
    'tip1': ('drive', -1.3, 0.2),
    'screw': ('drive', 0.8, -0.1),
    'tip2': ('screw', 1.5, 0.05),
    'slide': ('turn', 0.1, 0.02),
}
"""Joints that follow others: (leader, multiplier, offset)."""


def gripper(follow=True):
    """
    Return a palm with fingers, rigid and soft, whose joints follow each other if they are to.

    Followers stand before their leaders and behind them, beyond them and in other branches; one
    follows another follower. Tendons cross them, and motors act at a leader and at a follower.
    """
    springs = {'stiffness': 3.0, 'rest': 0.1, 'damping': 0.2, 'armature': 0.03}
    place = {'xyz': [0.03, 0.02, 0.05], 'rpy': [0.2, -0.4, 0.3]}
    joints = [
        ('palm', 'base', {'name': 'turn', 'type': 'revolute', 'damping': 0.1}, link()),
        (
            'one_b',
            'palm',
            {'name': 'screw', 'type': 'helical', 'pitch': 0.03, **springs},
            link(0.4),
        ),
        (
            'two_b',
            'one_b',
            {'name': 'tip2', 'type': 'revolute', 'axis': [1.0, 0.3, 0.0]},
            link(0.3),
        ),
        ('one', 'palm', {'name': 'drive', 'type': 'revolute', 'axis': [0.0, 1.0, 0.2]}, link(0.5)),
        ('soft', 'one', {'name': 'seat', 'type': 'fixed'}, rod(0.12)),
        (
            'end',
            'soft',
            {'name': 'tip1', 'type': 'revolute', 'axis': [1, 0, 0], **springs},
            link(0.2),
        ),
        ('pusher', 'palm', {'name': 'slide', 'type': 'prismatic', **springs}, link(0.6)),
    ]
    bodies = []
    for name, parent, joint, body in joints:
        joint = {**joint, 'origin': place}
        if follow and joint['name'] in FOLLOW:
            leader, multiplier, offset = FOLLOW[joint['name']]
            joint['mimic'] = {'joint': leader, 'multiplier': multiplier, 'offset': offset}
        bodies.append({'name': name, 'parent': parent, 'joint': joint, 'body': body})
    points = [[0.01, 0.02, 0.0], [0.015, 0.01, 0.05]]
    tendon = [
        {'body': 'palm', 'points': points},
        {'body': 'one', 'points': points[::-1]},
        {'body': 'soft', 'offset': [-0.01, 0.0]},
        {'body': 'end', 'points': points},
    ]
    web = [{'body': 'two_b', 'points': points[:1]}, {'body': 'pusher', 'points': points[1:]}]
    actuators = [
        {'name': 'tendon', 'type': 'tendon', 'path': tendon},
        {'name': 'web', 'type': 'tendon', 'path': web},
        {'name': 'weight', 'type': 'wrench', 'body': 'two_b', 'force': [0.0, 0.6, 0.8]},
        *({'name': j, 'type': 'joint', 'joint': j} for j in ('turn', 'drive', 'tip2', 'slide')),
    ]
    robot = {'name': 'gripper', 'gravity': [1.0, -2.0, 9.0], 'bodies': bodies}
    return copy.deepcopy({**robot, 'actuators': actuators})


class Pair:
    """The gripper as ``model``, and with joints that all move as ``free``: x = G q + c."""

    def __init__(self, robot=gripper):
        self.model = sd.compile_model(sd.load_robot(robot()))
        self.free = sd.compile_model(sd.load_robot(robot(follow=False)))
        self.G, self.c = np.zeros((self.free.n, self.model.n)), np.zeros(self.free.n)
        for i, name in enumerate(self.free.coordinate_names):
            multiplier = 1.0
            while name in FOLLOW:
                name, own, offset = FOLLOW[name]
                self.c[i] += multiplier * offset
                multiplier *= own
            self.G[i, self.model.coordinate_names.index(name)] = multiplier

    def states(self, count, seed=0):
        """Return ``count`` times q, qd and qdd, (n,) each."""
        rng = np.random.default_rng(seed)
        size = np.where(
            [name == 'soft/elongation' for name in self.model.coordinate_names], 0.02, 0.5
        )
        return [tuple(size * rng.uniform(-1.0, 1.0, (3, self.model.n))) for _ in range(count)]

    def lead(self, q, *rates):
        """Return the coordinates x of all joints, and their rates."""
        return (self.G @ q + self.c, *(self.G @ rate for rate in rates))
