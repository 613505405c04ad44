# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The rigid part of a robot from URDF: links with inertia, joints between them, their motors."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
from softrobot_dynamics.annotations import Matrix
from softrobot_dynamics.errors import DescriptionError, Problem
from softrobot_dynamics.schema.poses import Pose

JOINTS = {
    'revolute': 'revolute', 'continuous': 'revolute', 'prismatic': 'prismatic', 'fixed': 'fixed',
}  # fmt: skip
"""Types of URDF's joints, and ours."""

_PAIRS = 'ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'


def read_urdf(path: str | PathLike[str]) -> dict[str, Any]:
    """
    Return the mapping of a robot file with the bodies and joints of a URDF file.

    Each link but the root, which stands on the base, becomes a rigid body of its name, whose tip
    frame is the link's: so that further bodies attach where URDF's joints would. Each joint that
    moves has an actuator with its name and effort. What no name may have becomes `_`,
    and a link `base` is `_base`. A joint's friction is its `coulomb_friction`.
    Geometry and the root's inertia are left out. DescriptionError for what is no URDF, joints
    that mimic others or are none of ``JOINTS``, and what is no tree.
    """
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError) as error:
        raise _wrong(path, 'file', str(error), 'a URDF file') from error
    if root.tag != 'robot':
        raise _wrong(path, 'file', root.tag, 'URDF, whose root is <robot>')
    try:
        return _robot(root, path)
    except (ValueError, KeyError) as error:
        raise _wrong(path, 'robot', str(error), 'numbers and names as URDF has them') from error


def _wrong(path: Any, place: str, value: Any, expected: str) -> DescriptionError:
    return DescriptionError((Problem(place, value, expected),), str(path))


def _robot(root: Any, path: Any) -> dict[str, Any]:
    links = {link.attrib['name']: link for link in root.findall('link')}
    joints = root.findall('joint')
    for joint in joints:
        kind, name = joint.attrib['type'], joint.attrib['name']
        if kind not in JOINTS or joint.find('mimic') is not None:
            found = kind if kind not in JOINTS else 'mimic'
            raise _wrong(path, f'joint {name}', found, f'one of {", ".join(JOINTS)}, of its own')
    children = [_child(joint, 'child')['link'] for joint in joints]
    roots = [name for name in links if name not in children]
    order = list(_ordered(roots[0], joints)) if len(roots) == 1 else []
    if len(order) != len(links) - 1 or len(joints) != len(order):
        raise _wrong(path, 'links', f'roots {roots}', 'a tree with one root')
    bodies = [_body(links, joint, roots[0]) for joint in order]
    moving = [j for j in order if j.attrib['type'] != 'fixed']
    return {
        'name': _name(root.attrib.get('name', 'robot')),
        'bodies': bodies,
        'actuators': [_motor(joint) for joint in moving],
    }


def _ordered(link: str, joints: Any) -> Iterator[Any]:
    """Yield the joints beyond a link, each before those that it bears."""
    for joint in joints:
        if _child(joint, 'parent')['link'] == link:
            yield joint
            yield from _ordered(_child(joint, 'child')['link'], joints)


def _child(element: Any, tag: str) -> Any:
    """Return the attributes of the child of a tag; KeyError if there is none."""
    if (found := element.find(tag)) is None:
        raise KeyError(f'<{element.tag}> without <{tag}>')
    return found.attrib


def _body(links: Any, joint: Any, root: str) -> dict[str, Any]:
    child, parent = (_child(joint, tag)['link'] for tag in ('child', 'parent'))
    return {
        'name': _name(child),
        'parent': 'base' if parent == root else _name(parent),
        'joint': _joint(joint),
        'body': _rigid(links[child].find('inertial')),
    }


def _joint(joint: Any) -> dict[str, Any]:
    kind, limit = joint.attrib['type'], joint.find('limit')
    found: dict[str, Any] = {'name': _name(joint.attrib['name']), 'type': JOINTS[kind]}
    if (origin := joint.find('origin')) is not None:
        found['origin'] = _pose(origin)
    if kind == 'fixed':
        return found
    axis = joint.find('axis')
    found['axis'] = _vector(axis, 'xyz') if axis is not None else [1.0, 0.0, 0.0]  # URDF's default
    if (dynamics := joint.find('dynamics')) is not None:
        found['damping'] = float(dynamics.attrib.get('damping', 0.0))
        if friction := float(dynamics.attrib.get('friction', 0.0)):
            found['coulomb_friction'] = friction
    if limit is not None:
        limits = {name: float(limit.attrib.get(name, 0.0)) for name in ('effort', 'velocity')}
        found['limits'] = {name: value for name, value in limits.items() if value > 0.0}
        if kind != 'continuous':
            span = [float(limit.attrib.get(name, 0.0)) for name in ('lower', 'upper')]
            found['limits'] |= {'position': span} if span[0] < span[1] else {}
    return found


def _motor(joint: Any) -> dict[str, Any]:
    name, limit = _name(joint.attrib['name']), joint.find('limit')
    effort = float(limit.attrib.get('effort', 0.0)) if limit is not None else 0.0
    limits = {'limits': [-effort, effort]} if effort > 0.0 else {}
    return {'name': name, 'type': 'joint', 'joint': name, **limits}


def _rigid(inertial: Any) -> dict[str, Any]:
    """Return the rigid body of a link, its inertia about the centre of mass, in its axes."""
    if inertial is None:
        return {'type': 'rigid', 'mass': 0.0}
    mass = float(_child(inertial, 'mass')['value'])
    found: dict[str, Any] = {'type': 'rigid', 'mass': mass}
    place = inertial.find('origin')
    turn = np.eye(3)
    if place is not None:
        found['com'] = _vector(place, 'xyz')
        turn = Pose(**_pose(place)).matrix()[:3, :3]
    if mass > 0.0 and (inertia := inertial.find('inertia')) is not None:
        moved = turn @ _matrix(inertia) @ turn.T
        rows, columns = np.triu_indices(3)
        if moved.any():  # else a mass in one point
            found['inertia'] = dict(zip(_PAIRS, moved[rows, columns].tolist()))
    return found


def _matrix(inertia: Any) -> Matrix:
    xx, xy, xz, yy, yz, zz = (float(inertia.attrib.get(name, 0.0)) for name in _PAIRS)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _pose(origin: Any) -> dict[str, Any]:
    return {name: _vector(origin, name) for name in ('xyz', 'rpy')}


def _vector(element: Any, name: str) -> list[float]:
    x, y, z = map(float, element.attrib.get(name, '0 0 0').split())
    return [x, y, z]


def _name(words: str) -> str:
    found = re.sub(r'\W', '_', words, flags=re.ASCII)
    return f'_{found}' if found[:1].isdigit() or found == 'base' else found
