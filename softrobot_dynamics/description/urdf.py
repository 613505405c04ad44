# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Read the rigid part of a robot from URDF: links with inertia, joints between them, their motors.

What URDF does not allow is refused, and so is what would otherwise be lost: by the joint or the
link that has it, and all of it at once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import hypot
from os import PathLike
from typing import Any
from xml.etree import ElementTree

import numpy as np
from softrobot_dynamics.annotations import Matrix
from softrobot_dynamics.bodies.contract import BODIES
from softrobot_dynamics.description.urdf_elements import (
    Element,
    number,
    numbers,
    only,
    Problems,
    refuse_misspelt,
    ROTATIONAL,
    text,
)
from softrobot_dynamics.description.urdf_trees import JOINTS, name_of, ordered, Tree, tree_of
from softrobot_dynamics.errors import DescriptionError, Problem, UnknownNameError
from softrobot_dynamics.joints.contract import JOINTS as KINDS
from softrobot_dynamics.schema import parsing
from softrobot_dynamics.schema.bounds import ANY, Bounds
from softrobot_dynamics.schema.fields import member
from softrobot_dynamics.schema.poses import Pose

LARGEST = 16_000_000  # [bytes] of a file; those of whole humanoids have 200,000
_UNITS = {'prismatic': ('m', 'N', 'm/s')}
_ANGULAR = 'rad', 'N m', 'rad/s'
_check_joint = parsing.reader(member(KINDS, ignore=('name',)))
_check_body = parsing.reader(member(BODIES))


def read_urdf(path: str | PathLike[str], unlimited: Collection[str] = ()) -> dict[str, Any]:
    """
    Return the mapping of a robot file with the bodies and joints of a URDF file.

    Each link but the root, which stands on the base, becomes a rigid body of its name, whose tip
    frame is the link's: so that further bodies attach where URDF's joints would. Each joint that
    moves has an actuator with its name and effort. What no name may have becomes `_`,
    and a link `base` is `_base`. A joint's friction is its `coulomb_friction`. Of joints named in
    ``unlimited`` the <limit> is left out; one without `lower` and `upper` limits no position.
    Geometry and the root's inertia are left out, too. DescriptionError with every problem: what
    is no URDF or no tree, joints that mimic others or are none of ``JOINTS``, numbers that no
    robot has. UnknownNameError for an ``unlimited`` joint that there is not.
    """
    root = _root(path)
    problems: Problems = []
    refuse_misspelt(root, 'robot', problems)
    text(root, 'name', 'robot', problems, 'the name of the robot')
    tree = tree_of(root, problems)
    _refuse_unknown_joints(unlimited, tree)
    order = [] if problems else ordered(tree, problems)
    bodies = [_module(tree, joint, unlimited, problems) for joint in order]
    if problems:
        raise DescriptionError(tuple(problems), str(path))
    moving = [body['joint'] for body in bodies if body['joint']['type'] != 'fixed']
    return {
        'name': name_of(root.get('name')),
        'bodies': bodies,
        'actuators': [_motor(joint) for joint in moving],
    }


def _root(path: str | PathLike[str]) -> Element:
    """Return the element <robot> of a file."""
    try:
        with open(path, 'rb') as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise _wrong(path, 'more', f'a URDF file of at most {LARGEST // 1_000_000} MB')
        root = ElementTree.fromstring(content)
    except OSError as error:
        raise _wrong(path, str(path), f'a URDF file ({error.strerror})') from error
    except (ValueError, LookupError, ElementTree.ParseError) as error:
        raise _wrong(path, str(error), 'a URDF file') from error
    if root.tag != 'robot':
        raise _wrong(path, root.tag, 'URDF, whose root is <robot>')
    if any('xacro}' in str(element.tag) for element in root.iter()):
        raise _wrong(path, 'xacro', 'URDF, which xacro makes of such a file: xacro FILE > URDF')
    return root


def _wrong(path: str | PathLike[str], value: object, expected: str) -> DescriptionError:
    return DescriptionError((Problem('file', value, expected),), str(path))


def _refuse_unknown_joints(names: Collection[str], tree: Tree) -> None:
    known = tuple(joint.get('name') for joint in tree.joints)
    for name in names:
        if name not in known:
            raise UnknownNameError('joint', name, known)


def _module(
    tree: Tree, joint: Element, unlimited: Collection[str], problems: Problems
) -> dict[str, Any]:
    """Return the entry of `bodies` of a joint and its child; what no robot has is a problem."""
    name, parent, child = tree.ends(joint)
    found = {
        'name': name_of(child),
        'parent': 'base' if parent == tree.root else name_of(parent),
        'joint': _joint(joint, f'joint {name}', name in unlimited, problems),
        'body': _rigid(tree.links[child], f'link {child}', problems),
    }
    for place, key, check in (
        (f'joint {name}', 'joint', _check_joint),
        (f'link {child}', 'body', _check_body),
    ):
        if not any(problem.path.startswith(f'{place}.') for problem in problems):
            check(found[key], place, own := parsing.Problems())
            problems.extend(own)
    return found


def _joint(joint: Element, place: str, unlimited: bool, problems: Problems) -> dict[str, Any]:
    kind = joint.get('type')
    found: dict[str, Any] = {'name': name_of(joint.get('name')), 'type': JOINTS[kind]}
    if (origin := only(joint, 'origin', place, problems)) is not None:
        found['origin'] = _pose(origin, place, problems)
    if kind == 'fixed':  # which has neither axis nor limits, whatever a file says of them
        return found
    axis = only(joint, 'axis', place, problems)
    found['axis'] = numbers(axis, 'xyz', place, problems, (1.0, 0.0, 0.0))  # URDF's default
    if not hypot(*found['axis']):
        problems.append(Problem(f'{place}.axis.xyz', found['axis'], 'numbers, not all zero'))
    if (dynamics := only(joint, 'dynamics', place, problems)) is not None:
        found |= _friction(dynamics, place, problems)
    needed = '' if kind == 'continuous' or unlimited else _needed(kind, place)
    limit = only(joint, 'limit', place, problems, needed)
    if limit is not None and not unlimited:
        found['limits'] = _limits(limit, kind, place, problems)
    return found


def _needed(kind: str, place: str) -> str:
    """Say what a joint without <limit> lacks, and what else it may be."""
    return f'a <limit> with lower, upper, effort and velocity{_remedy(kind, place)}'


def _remedy(kind: str, place: str) -> str:
    """Say how a joint gets no limits, if that is what is meant."""
    name = place.partition(' ')[2]
    other = {'revolute': 'type continuous and no <limit>, or ', 'continuous': 'no <limit>, or '}
    return f' (for none: {other.get(kind, "")}softrobot import --unlimited {name})'


def _limits(limit: Element, kind: str, place: str, problems: Problems) -> dict[str, Any]:
    """Return the limits of a joint; of one that is `continuous`, none of its position."""
    length, force, rate = _UNITS.get(kind, _ANGULAR)
    remedy = _remedy(kind, place)
    found: dict[str, Any] = {
        name: number(limit, name, place, problems, Bounds(above=0.0), remedy=f' [{unit}]{remedy}')
        for name, unit in (('effort', force), ('velocity', rate))
    }
    span = [number(limit, name, place, problems, ANY, 0.0, remedy) for name in ('lower', 'upper')]
    stated = limit.get('lower') is not None or limit.get('upper') is not None
    if kind == 'continuous' or not stated:
        return found
    if not span[0] < span[1]:
        words = f'lower < upper [{length}]; one that does not move is of type fixed{remedy}'
        problems.append(Problem(f'{place}.limit', f'lower {span[0]:g}, upper {span[1]:g}', words))
    return found | {'position': span}


def _friction(dynamics: Element, place: str, problems: Problems) -> dict[str, float]:
    """Return damping and, if there is any, dry friction."""
    damping, friction = (
        number(dynamics, name, place, problems, Bounds(at_least=0.0), 0.0)
        for name in ('damping', 'friction')
    )
    return {'damping': damping} | ({'coulomb_friction': friction} if friction else {})


def _motor(joint: dict[str, Any]) -> dict[str, Any]:
    """Return the actuator of a joint of a robot file."""
    name, effort = joint['name'], joint.get('limits', {}).get('effort')
    limits = {'limits': [-effort, effort]} if effort else {}
    return {'name': name, 'type': 'joint', 'joint': name, **limits}


def _rigid(link: Element, place: str, problems: Problems) -> dict[str, Any]:
    """Return the rigid body of a link, its inertia about the centre of mass, in its axes."""
    inertial = only(link, 'inertial', place, problems)
    found: dict[str, Any] = {'type': 'rigid', 'mass': 0.0}
    if inertial is None:
        return found
    mass = only(inertial, 'mass', place, problems, 'a <mass> in <inertial>')
    words = 'an <inertia> in <inertial> (of a mass in one point all its numbers are 0)'
    inertia = only(inertial, 'inertia', place, problems, words)
    if mass is not None:
        found['mass'] = number(mass, 'value', place, problems, Bounds(at_least=0.0))
    origin, turn = only(inertial, 'origin', place, problems), np.eye(3)
    if origin is not None:
        pose = _pose(origin, place, problems)
        found['com'], turn = pose['xyz'], Pose(**pose).matrix()[:3, :3]
    if inertia is not None:
        values = [number(inertia, name, place, problems) for name in ROTATIONAL]
        if any(values):  # else a mass in one point
            found['inertia'] = _turned(values, turn)
    return found


def _turned(values: Sequence[float], turn: Matrix) -> dict[str, float]:
    """Return an inertia, given in axes that are turned (3, 3), in those of the link."""
    matrix, (rows, columns) = np.zeros((3, 3)), np.triu_indices(3)
    matrix[rows, columns] = matrix[columns, rows] = values
    moved = turn @ matrix @ turn.T
    return dict(zip(ROTATIONAL, moved[rows, columns].tolist()))


def _pose(origin: Element, place: str, problems: Problems) -> dict[str, Any]:
    return {name: numbers(origin, name, place, problems) for name in ('xyz', 'rpy')}
