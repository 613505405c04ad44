# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Change the elements of a URDF file before they are read: drop links, lock joints.

Both act on what the file says, so that what is dropped or locked needs not be a kind of joint that
a robot file has.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import atan2, hypot, inf

import numpy as np
from softrobot_dynamics.annotations import Matrix
from softrobot_dynamics.description.urdf_elements import Element, numbers, only, Problems
from softrobot_dynamics.errors import Problem, UnknownNameError
from softrobot_dynamics.schema.poses import Pose, transform, z_onto


def drop_links(root: Element, names: Collection[str]) -> list[str]:
    """
    Remove links, all links beyond them and the joints of all these from an element <robot>.

    Returns the names of these joints. UnknownNameError for a name that no link has.
    """
    known = tuple(link.get('name', '') for link in root.findall('link'))
    for name in names:
        if name not in known:
            raise UnknownNameError('link', name, known)
    joints = [(joint, _end(joint, 'parent'), _end(joint, 'child')) for joint in root.iter('joint')]
    dropped: set[str | None] = set(names)
    before = 0
    while len(dropped) > before:  # one generation a time
        before = len(dropped)
        dropped |= {child for _, parent, child in joints if parent in dropped}
    for link in root.findall('link'):
        if link.get('name') in dropped:
            root.remove(link)
    gone = [joint for joint in root.findall('joint') if _end(joint, 'child') in dropped]
    for joint in gone:
        root.remove(joint)
    return [joint.get('name', '') for joint in gone]


def lock_joints(root: Element, values: Mapping[str, float], problems: Problems) -> None:
    """
    Make joints of an element <robot> fixed, each at a value [rad, m].

    Joints that mimic a locked one are locked where they follow it, and so is one whose multiplier
    is 0. What has no value is a problem:
    a joint of another type than revolute, continuous or prismatic, a value outside of <limit>.
    UnknownNameError for a name that no joint has.
    """
    joints = {joint.get('name', ''): joint for joint in root.findall('joint')}
    for name in values:
        if name not in joints:
            raise UnknownNameError('joint', name, tuple(joints))
    waiting = dict(values)
    for name, joint in joints.items():
        mimic = joint.find('mimic')
        if mimic is not None and name not in values and _is_zero(mimic.get('multiplier')):
            waiting[name] = _followed(mimic, 0.0, name, problems)
    while waiting:
        name, value = waiting.popitem()
        for other, joint in joints.items():
            mimic = joint.find('mimic')
            if mimic is not None and mimic.get('joint') == name and other not in values:
                waiting[other] = _followed(mimic, value, other, problems)
        _lock(joints[name], name, value, problems)


def _is_zero(text: str | None) -> bool:
    try:
        return text is not None and float(text) == 0.0
    except ValueError:
        return False


def _followed(mimic: Element, value: float, name: str, problems: Problems) -> float:
    """Return where a joint that mimics one at `value` stands, and forget that it does."""
    found = []
    for attribute, default in (('multiplier', 1.0), ('offset', 0.0)):
        given = mimic.get(attribute, default)
        try:
            found.append(float(given))
        except ValueError:
            words = 'a finite number'
            problems.append(Problem(f'joint {name}.mimic.{attribute}', given, words))
            found.append(default)
    return found[0] * value + found[1]


def _lock(joint: Element, name: str, value: float, problems: Problems) -> None:
    """Make a joint fixed where it stands at a value."""
    place, kind = f'joint {name}', joint.get('type')
    if kind not in ('revolute', 'continuous', 'prismatic'):
        words = 'a revolute, continuous or prismatic joint, to be locked at a value'
        problems.append(Problem(place, kind, words))
        return
    low, high = _limits(joint) if kind != 'continuous' else (-inf, inf)
    if not low <= value <= high:
        words = f'a value from {low:g} to {high:g}, within <limit>, to lock it at'
        problems.append(Problem(place, value, words))
    axis = numbers(only(joint, 'axis', place, problems), 'xyz', place, problems, (1.0, 0.0, 0.0))
    origin = only(joint, 'origin', place, problems)
    x, y, z = numbers(origin, 'xyz', place, problems)
    roll, pitch, yaw = numbers(origin, 'rpy', place, problems)
    if hypot(*axis) == 0.0:
        return  # which the reader of the joint refuses
    moved = Pose((x, y, z), (roll, pitch, yaw)).matrix() @ displacement(kind, axis, value)
    for tag in ('axis', 'limit', 'mimic', 'dynamics', 'origin'):
        for element in joint.findall(tag):
            joint.remove(element)
    joint.set('type', 'fixed')
    origin = joint.makeelement('origin', {})
    for key, three in (('xyz', moved[:3, 3]), ('rpy', rpy_of(moved))):
        origin.set(key, ' '.join(repr(float(x)) for x in three))
    joint.append(origin)


def displacement(kind: str, axis: list[float], value: float) -> Matrix:
    """Return the transform (4, 4) of a joint of URDF at a value [rad, m]."""
    onto = z_onto(axis)
    along = (0.0, 0.0, value) if kind == 'prismatic' else (0.0, 0.0, 0.0)
    about = (0.0, 0.0, 0.0) if kind == 'prismatic' else (0.0, 0.0, value)
    return onto @ Pose(along, about).matrix() @ transform(onto[:3, :3].T)


def rpy_of(T: Matrix) -> tuple[float, float, float]:
    """Return roll, pitch and yaw [rad] of a rotation (3, 3) or a transform (4, 4)."""
    pitch = atan2(-T[2, 0], hypot(T[0, 0], T[1, 0]))
    if hypot(T[2, 1], T[2, 2]) < 1e-12:  # pitch of a right angle: roll and yaw are one
        return atan2(-T[1, 2], T[1, 1]), pitch, 0.0
    return atan2(T[2, 1], T[2, 2]), pitch, atan2(T[1, 0], T[0, 0])


def nearest_inertia(matrix: Matrix) -> Matrix:
    """
    Return the inertia of a real body that is nearest to a symmetric (3, 3) [kg m^2].

    Nearest in the second moments of mass, S = tr(I) / 2 - I, in the Frobenius norm: a body has
    S > 0, so its eigenvalues are raised to a millionth of the greatest.
    """
    moments, axes = np.linalg.eigh(np.trace(matrix) / 2.0 * np.eye(3) - matrix)
    raised = np.maximum(moments, 1e-6 * np.abs(moments).max())
    return np.asarray(axes @ np.diag(raised.sum() - raised) @ axes.T)


def _limits(joint: Element) -> tuple[float, float]:
    """Return lower and upper of a joint, none where it has no numbers there."""
    limit = joint.find('limit')
    if limit is None or (limit.get('lower') is None and limit.get('upper') is None):
        return -inf, inf
    try:
        low, high = float(limit.get('lower', '0')), float(limit.get('upper', '0'))
    except ValueError:
        return -inf, inf
    return (low, high) if low < high else (-inf, inf)


def _end(joint: Element, tag: str) -> str | None:
    """Return the link that a joint has as parent or child, if it says so."""
    found = joint.find(tag)
    return None if found is None else found.get('link')
