# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Lengths of paths as what they are: the arc length of a material curve, plus straight lines."""

from dataclasses import replace
import functools

import numpy as np

from oracles.jets import Jet, jet, JETS
from oracles.trees import place, transform
from oracles.volumes import cavity

GAUSS = np.polynomial.legendre.leggauss(40)  # points along each passage, and their weights


def elongations(robot, q):
    """Actuation coordinates (m,) at q (n,): growth of lengths and volumes, joint coordinates."""
    return coordinates(robot, q) - _at_rest(robot, len(q))


@functools.cache
def _at_rest(robot, n):
    """Actuation coordinates (m,) where all n coordinates are zero."""
    return coordinates(robot, np.zeros(n))


def coordinates(robot, q):
    """Lengths of tendons [m], volumes of chambers [m^3], coordinates of joints: (m,) in all."""
    q = np.asarray(q, dtype=float)
    placed = place(robot, [Jet(a) for a in q], JETS)
    return np.array([_coordinate(robot, entry.actuator, q, placed) for entry in robot.actuators])


def _coordinate(robot, actuator, q, placed):
    if actuator.type_name == 'joint':
        names = [c for module in robot.modules for c in module.coordinate_names()]
        return q[names.index(actuator.wire_name(''))]
    if actuator.type_name == 'pressure':
        i = robot.body_names.index(actuator.body)
        return cavity(robot.modules[i].body, [a.value for a in _own(robot, i, q)])
    if actuator.type_name == 'chamber':
        return actuator.area * _length(robot, actuator, q, placed)
    if getattr(actuator, 'opposite', None):
        other = replace(actuator, path=actuator.opposite)
        return 0.5 * (_length(robot, actuator, q, placed) - _length(robot, other, q, placed))
    return _length(robot, actuator, q, placed)


def _length(robot, actuator, q, placed):
    total, last = 0.0, None
    for passage in actuator.path:
        i = robot.body_names.index(passage.body)
        curve = _points if passage.points else _fibre
        length, entry, exit_ = curve(robot.modules[i].body, passage, _own(robot, i, q), placed[i])
        total += length + (np.linalg.norm(entry - last) if last is not None else 0.0)
        last = exit_
    return total


def _own(robot, index, q):
    first = sum(len(m.coordinate_names()) for m in robot.modules[:index])
    first += len(robot.modules[index].joint.coordinates())
    return [Jet(a) for a in q[first : first + len(robot.modules[index].body.coordinates())]]


def _fibre(body, passage, q, placed):
    """Arc length, entry and exit of a curve at an offset in the sections of a body."""
    nodes, weights = GAUSS
    s0, s1 = passage.span
    sigma = s0 + 0.5 * (s1 - s0) * (nodes + 1.0)

    def curve(sigma):
        x, y = passage.offset.at(sigma, JETS)
        return [jet(c) for c in body.position([x, y, body.length * sigma], q, JETS)]

    speed = np.sqrt(sum((0.0 * sigma + c.first) ** 2 for c in curve(Jet(sigma, 1.0))))
    ends = [_base(placed, curve(Jet(s))) for s in passage.span]
    return 0.5 * (s1 - s0) * weights @ speed, *ends


def _points(body, passage, q, placed):
    """Length, first and last point of a polygon on a rigid body."""
    points = [_base(placed, p) for p in passage.points]
    length = sum(np.linalg.norm(b - a) for a, b in zip(points, points[1:]))
    return length, points[0], points[-1]


def _base(placed, p):
    return np.array([float(jet(c).value) for c in transform(placed.joint_frame, p)])
