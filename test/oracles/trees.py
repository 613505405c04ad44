# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
A robot as material points: every point's position in the base frame, as a function of q.

Works with any arithmetic (jets, complex numbers): bodies by their own formula ``position``,
frames by ``tip_frame``, joints by what the robot file means by them. A frame is a pair (R, t):
nine entries, row-major, and three.

A joint type not known here is placed by its own compiled kernel: plain numbers only then.
"""

import functools
from typing import NamedTuple

import numpy as np

IDENTITY = ([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0])


class PlacedFrame(NamedTuple):
    """One body of a posture: its joint frame and tip frame in the base frame, and its points."""

    joint_frame: tuple
    tip_frame: tuple
    points: list  # x, y, z of all material points, base frame, (K,) each [m]
    masses: np.ndarray  # (K,) [kg]


def place(robot, q, math):
    """Return [:class:`PlacedFrame`] of every body of a RobotDescription at coordinates q."""
    placed, first = [], 0
    for module in robot.modules:
        joint, body = module.joint, module.body
        own, first = _take(q, first, joint)
        outer = placed[module.parent].tip_frame if module.parent >= 0 else IDENTITY
        frame = compose(outer, joint_frame(joint, own, math))
        own, first = _take(q, first, body)
        points, masses = body.material_points()
        position = body.position(list(np.asarray(points, dtype=float).T), own, math)
        tip = compose(frame, body.tip_frame(own, math))
        placed.append(PlacedFrame(frame, tip, transform(frame, position), masses))
    return placed


def rotors(robot):
    """Return the inertia (n,) of what turns with each coordinate, and moves nothing else."""
    found = []
    for module in robot.modules:
        found += [module.joint.armature] * len(module.joint.coordinates())
        found += [0.0] * len(module.body.coordinates())
    return np.array(found)


def joint_frame(joint, q, math):
    """Distal frame of a joint in its parent's tip frame; of a user's own by its own formula."""
    motion = MOTIONS.get(joint.type_name, lambda joint, *rest: joint.motion(*rest))(joint, q, math)
    return product(frame_of(joint.before), motion, frame_of(joint.after))


def turn(axis, angle, math):
    """Frame turned about x, y or z (0, 1, 2) by an angle [rad]."""
    c, s, R = math.cos(angle), math.sin(angle), [0.0] * 9
    i, j, k = axis, (axis + 1) % 3, (axis + 2) % 3
    R[4 * i], R[4 * j], R[4 * k], R[3 * j + k], R[3 * k + j] = 1.0, c, c, -s, s
    return R, [0.0, 0.0, 0.0]


def shift(x, y, z):
    """Frame shifted by (x, y, z) [m]."""
    return IDENTITY[0], [x, y, z]


def orientation(joint, q, math):
    """Frame turned by three coordinates: in three turns, or by the quaternion of a vector."""
    if joint.parameters == 'roll_pitch_yaw':
        return product(turn(2, q[2], math), turn(1, q[1], math), turn(0, q[0], math))
    quarter = 0.25 * (q[0] * q[0] + q[1] * q[1] + q[2] * q[2])
    half = 0.5 * math.stumpff(1, quarter)  # sin(angle / 2) / angle
    w, (x, y, z) = math.stumpff(0, quarter), (half * c for c in q)
    R = [
        w * w + x * x - y * y - z * z, 2.0 * (x * y - w * z), 2.0 * (x * z + w * y),
        2.0 * (x * y + w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z - w * x),
        2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z,
    ]  # fmt: skip
    return R, [0.0, 0.0, 0.0]


MOTIONS = {
    'fixed': lambda joint, q, math: IDENTITY,
    'revolute': lambda joint, q, math: turn(2, q[0], math),
    'prismatic': lambda joint, q, math: shift(0.0, 0.0, q[0]),
    'helical': lambda joint, q, math: product(
        shift(0.0, 0.0, joint.pitch * q[0]), turn(2, q[0], math)
    ),
    'cylindrical': lambda joint, q, math: product(turn(2, q[0], math), shift(0.0, 0.0, q[1])),
    'universal': lambda joint, q, math: product(turn(0, q[0], math), turn(1, q[1], math)),
    'planar': lambda joint, q, math: product(shift(q[0], q[1], 0.0), turn(2, q[2], math)),
    'spherical': orientation,
    'free': lambda joint, q, math: product(shift(*q[:3]), orientation(joint, q[3:], math)),
}
"""Motion of each joint type between its constant transforms, as the documentation has it."""


def frame_of(T):
    """Frame of a transform (4, 4)."""
    return list(T[:3, :3].ravel()), list(T[:3, 3])


def transform(frame, p):
    """Return base coordinates of a point (or of arrays of points) given in a frame."""
    R, t = frame
    return [R[3 * i] * p[0] + R[3 * i + 1] * p[1] + R[3 * i + 2] * p[2] + t[i] for i in range(3)]


def product(*frames):
    """Frame after frame, from the outermost inwards."""
    return functools.reduce(compose, frames)


def compose(outer, inner):
    """Frame ``inner``, given in ``outer``, in the frame that ``outer`` is given in."""
    R, S = outer[0], inner[0]
    product = [
        R[3 * i] * S[j] + R[3 * i + 1] * S[3 + j] + R[3 * i + 2] * S[6 + j]
        for i in range(3)
        for j in range(3)
    ]
    return product, transform(outer, inner[1])


def _take(q, first, part):
    last = first + len(part.coordinates())
    return q[first:last], last
