# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Make entries of `bodies` of a robot file from the joints and links of URDF."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import hypot
from typing import Any

import numpy as np
from softrobot_dynamics.annotations import Matrix
from softrobot_dynamics.bodies.contract import BODIES
from softrobot_dynamics.description.urdf_changes import nearest_inertia, rpy_of
from softrobot_dynamics.description.urdf_elements import (
    Element,
    INERTIA_ATTRIBUTES,
    number,
    numbers,
    only,
    Problems,
)
from softrobot_dynamics.description.urdf_mimics import mimic_of
from softrobot_dynamics.description.urdf_trees import JOINTS, name_of, Tree
from softrobot_dynamics.errors import Problem
from softrobot_dynamics.joints.contract import JOINTS as KINDS
from softrobot_dynamics.schema import parsing
from softrobot_dynamics.schema.bounds import Bounds, UNBOUNDED
from softrobot_dynamics.schema.fields import member
from softrobot_dynamics.schema.poses import Pose, transform, z_onto

DRIVEN_JOINTS = 'revolute', 'prismatic'
"""Types of joints that have an actuator, in robot files."""

_ZERO_INERTIA = 1e-24  # [kg m^2] numbers below stand for zero; robot files have 1e-30 or more
_JOINT_UNITS = {'prismatic': ('m', 'N', 'm/s')}
_ANGULAR_UNITS = 'rad', 'N m', 'rad/s'
_check_joint = parsing.reader(member(KINDS, ignore=('name',)))
_check_body = parsing.reader(member(BODIES))


class ModuleReader:
    """Makes the entries of `bodies` of the joints and links of a tree."""

    def __init__(
        self,
        tree: Tree,
        unlimited: Collection[str],
        repair: bool,
        report: Callable[[str], object],
        problems: Problems,
    ) -> None:
        self._tree, self._unlimited, self._repair = tree, unlimited, repair
        self._report, self._problems = report, problems

    def modules(self, joint: Element) -> list[dict[str, Any]]:
        """Return the entries of `bodies` of a joint and its child, two of a tilted planar one."""
        name, parent, child = self._tree.ends(joint)
        for kind, given in (('joint', name), ('link', child)):
            if name_of(given) != given:
                self._report(f'{kind} {given!r} is named {name_of(given)}')
        found: dict[str, Any] = {
            'name': name_of(child),
            'parent': 'base' if parent == self._tree.root else name_of(parent),
            'joint': _joint(joint, f'joint {name}', name in self._unlimited, self._problems),
            'body': _rigid(self._tree.links[child], f'link {child}', self._problems),
        }
        self._check(f'joint {name}', found['joint'], _check_joint)
        if self._repair:
            self._repair_inertia(f'link {child}', found['body'])
        self._check(f'link {child}', found['body'], _check_body)
        return self._tilted(joint, found) if found['joint']['type'] == 'planar' else [found]

    def _check(self, place: str, entry: dict[str, Any], check: parsing.Parser) -> None:
        """Refuse unknown fields of joints and bodies, unless others are refused already."""
        if any(problem.path.startswith(f'{place}.') for problem in self._problems):
            return
        check(entry, place, own := parsing.Problems())
        remedy = '; softrobot import --repair takes the nearest inertia that is possible'
        for problem in own:
            mending = remedy if problem.path.startswith(f'{place}.inertia') else ''
            self._problems.append(problem._replace(expected=problem.expected + mending))

    def _repair_inertia(self, place: str, body: dict[str, Any]) -> None:
        """Replace an impossible inertia by the nearest possible one, and report it."""
        if 'inertia' not in body or any(x.path.startswith(f'{place}.') for x in self._problems):
            return
        _check_body(body, place, wrong := parsing.Problems())
        given = _symmetric(body['inertia'])
        if np.abs(given).max() < _ZERO_INERTIA:
            del body['inertia']
            self._report(f'{place}: inertia of zero left out, that of a point mass')
            return
        if not any(problem.path.startswith(f'{place}.inertia') for problem in wrong):
            return
        mended = nearest_inertia(given)
        body['inertia'] = _upper(mended)
        before, after = (
            ', '.join(f'{moment:.3g}' for moment in np.linalg.eigvalsh(matrix))
            for matrix in (given, mended)
        )
        self._report(f'{place}: principal moments {before} repaired to {after} kg m^2')

    def _tilted(self, joint: Element, found: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the entries of a planar joint; two where its normal is not z: there and back."""
        normal = _axis(joint, f'joint {joint.get("name")}', self._problems)
        if not any(normal[:2]) and normal[2] >= 0.0:
            return [found]
        onto = z_onto(normal)
        origin = Pose(**found['joint'].get('origin', {})).matrix() @ onto
        name = f'{found["name"]}_plane'
        plane = found | {
            'name': name,
            'joint': found['joint'] | {'origin': _origin(origin)},
            'body': {'type': 'rigid', 'mass': 0.0, 'tip': _origin(transform(onto[:3, :3].T))},
        }
        return [plane, found | {'parent': name, 'joint': {'type': 'fixed'}}]


def _origin(T: Matrix) -> dict[str, list[float]]:
    """Return the entry `origin` of a transform (4, 4)."""
    return {'xyz': [float(x) for x in T[:3, 3]], 'rpy': list(rpy_of(T))}


def _joint(joint: Element, place: str, unlimited: bool, problems: Problems) -> dict[str, Any]:
    kind = joint.get('type')
    found: dict[str, Any] = {'name': name_of(joint.get('name')), 'type': JOINTS[kind]}
    if (origin := only(joint, 'origin', place, problems)) is not None:
        found['origin'] = _pose(origin, place, problems)
    if kind == 'fixed':  # which has neither axis nor limits, whatever a file says of them
        return found
    if (dynamics := only(joint, 'dynamics', place, problems)) is not None:
        found |= _friction(dynamics, place, problems)
    if found['type'] not in DRIVEN_JOINTS:
        for name in ('damping', 'coulomb_friction'):
            if found.pop(name, 0.0):
                words = 'none: the coordinates of such a joint have different units'
                problems.append(Problem(f'{place}.dynamics', name, words))
        return found
    found['axis'] = _axis(joint, place, problems)
    found |= mimic_of(joint, place, problems)
    needed = '' if kind == 'continuous' or unlimited else _needed(kind, place)
    limit = only(joint, 'limit', place, problems, needed)
    if limit is not None and not unlimited:
        found['limits'] = _limits(limit, kind, place, problems)
    return found


def _axis(joint: Element, place: str, problems: Problems) -> list[float]:
    """Return the axis of a joint, or the normal of its plane; URDF's default is x."""
    axis = numbers(only(joint, 'axis', place, problems), 'xyz', place, problems, (1.0, 0.0, 0.0))
    if not hypot(*axis):
        problems.append(Problem(f'{place}.axis.xyz', axis, 'numbers, not all zero'))
        return [1.0, 0.0, 0.0]
    return axis


def _needed(kind: str, place: str) -> str:
    """Return in words the missing <limit> of a joint, and the other types it may have."""
    return f'a <limit> with lower, upper, effort and velocity{_remedy(kind, place)}'


def _remedy(kind: str, place: str) -> str:
    """Return in words how a joint may be imported without limits."""
    name = place.partition(' ')[2]
    other = {'revolute': 'type continuous and no <limit>, or ', 'continuous': 'no <limit>, or '}
    return f' (for none: {other.get(kind, "")}softrobot import --unlimited {name})'


def _limits(limit: Element, kind: str, place: str, problems: Problems) -> dict[str, Any]:
    """Return the limits of a joint; of one that is `continuous`, none of its position."""
    length, force, rate = _JOINT_UNITS.get(kind, _ANGULAR_UNITS)
    remedy = _remedy(kind, place)
    found: dict[str, Any] = {
        name: number(limit, name, place, problems, Bounds(above=0.0), remedy=f' [{unit}]{remedy}')
        for name, unit in (('effort', force), ('velocity', rate))
    }
    before = len(problems)
    span = [
        number(limit, name, place, problems, UNBOUNDED, 0.0, remedy) for name in ('lower', 'upper')
    ]
    read = len(problems) == before
    stated = limit.get('lower') is not None or limit.get('upper') is not None
    if kind == 'continuous' or not stated:
        return found
    if read and not span[0] < span[1]:
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
        values = [number(inertia, name, place, problems) for name in INERTIA_ATTRIBUTES]
        if any(values):  # else a mass in one point
            found['inertia'] = _turned(values, turn)
    return found


def _turned(values: Sequence[float], turn: Matrix) -> dict[str, float]:
    """Return an inertia, given in axes that are turned (3, 3), in those of the link."""
    return _upper(turn @ _symmetric(dict(zip(INERTIA_ATTRIBUTES, values))) @ turn.T)


def _symmetric(inertia: dict[str, float]) -> Matrix:
    """Return the matrix (3, 3) of the entry `inertia`."""
    matrix, (rows, columns) = np.zeros((3, 3)), np.triu_indices(3)
    matrix[rows, columns] = matrix[columns, rows] = [inertia[name] for name in INERTIA_ATTRIBUTES]
    return matrix


def _upper(matrix: Matrix) -> dict[str, float]:
    """Return the entry `inertia` of a symmetric matrix (3, 3)."""
    return dict(zip(INERTIA_ATTRIBUTES, matrix[np.triu_indices(3)].tolist()))


def _pose(origin: Element, place: str, problems: Problems) -> dict[str, Any]:
    return {name: numbers(origin, name, place, problems) for name in ('xyz', 'rpy')}
