# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Wrenches on bodies from outside, and those that joints transmit.

A wrench is a moment [N m], then a force [N]. One that acts on a material point with the Jacobian
J(x) has the generalized force J^T w, and every joint between it and the base bears it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.dynamics.arguments import body_index, checked, one_of
from softrobot_dynamics.dynamics.points import FRAMES, Placement
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.recursion.passes import JOINT_WRENCH, PARENT, STATE

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel
    from softrobot_dynamics.model.scales import Scales


class Wrench(NamedTuple):
    """
    A moment and a force that act on a body at one of its material points.

    ``value`` (6,): moment about the point [N m], force [N]. ``point`` x (3,) [m] of the body's
    material (of a rigid body: in its joint frame); None is the tip. ``frame``: 'body', the wrench
    turns with the material frame at the point (a follower load), or 'base' (a dead load).
    """

    value: Any  # numbers
    point: Any = None  # numbers, or None
    frame: str = 'body'


Wrenches: TypeAlias = Mapping[str, ArrayLike | Wrench | Sequence[Wrench]]
"""By the name of a body: six numbers, at the tip in its frame, or other wrenches."""


class Load(NamedTuple):
    """A checked :class:`Wrench` and the index of its body."""

    body: int
    wrench: Wrench


def read_wrenches(model: CompiledModel, wrenches: Wrenches | None) -> list[Load]:
    """
    Return the :class:`Load` objects of a mapping {body name: wrench}; None: no loads.

    A wrench is six numbers, at the tip in its frame, or a :class:`Wrench`, or a list of those.
    Raises ArgumentError.
    """
    if wrenches is not None and not isinstance(wrenches, Mapping):
        raise ArgumentError('wrenches', wrenches, 'a mapping of body names to wrenches')
    loads = []
    for body, given in (wrenches or {}).items():
        index = body_index(model, body, 'wrenches')
        for name, each in _listed(f'wrenches[{body!r}]', given):
            loads.append(Load(index, _checked_wrench(name, each)))
    return loads


def generalized_force(placement: Placement, loads: Sequence[Load]) -> Vector:
    """Generalized force (n,) of loads: the sum of J(x)^T w."""
    force = np.zeros(placement.model.n)
    groups: dict[tuple[int, str], list[Wrench]] = {}
    for body, wrench in loads:
        if wrench.point is None:
            force += wrench.value @ placement.jacobian(body, None, wrench.frame)
        else:
            groups.setdefault((body, wrench.frame), []).append(wrench)
    for (body, axes), wrenches in groups.items():
        points, values = (np.array([w[i] for w in wrenches]) for i in (1, 0))
        jacobians = placement.points(body, points, axes=axes).jacobians
        force += values.ravel() @ jacobians.reshape(values.size, -1)
    return force


def load_energy(scales: Scales, loads: Sequence[Load]) -> Vector:
    """Return the energies (n,) [J] that loads may have along coordinates, of whatever posture."""
    energy = np.zeros(len(scales.units))
    for body, wrench in loads:
        moment, force = np.linalg.norm(np.reshape(wrench.value, (2, 3)), axis=1)
        lever = scales.reach + (0.0 if wrench.point is None else np.linalg.norm(wrench.point))
        energy += scales.moves[body] * (moment + force * lever)
    return energy


def load_force(placement: Placement, loads: Sequence[Load]) -> Vector:
    """Generalized force (n,) of loads; ArgumentError where one has no frame to act in."""
    force = generalized_force(placement, loads)
    if not np.isfinite(force).all():
        points = [wrench.point for _, wrench in loads]
        raise ArgumentError('wrenches', points, 'material points at which the bodies have frames')
    return force


def reactions(placement: Placement, loads: Sequence[Load]) -> Matrix:
    """
    Wrench (N, 6) that each joint's parent side exerts on the body beyond, at S_J, in S_J.

    The backward pass left in the workspace what moves all bodies beyond a joint (gravity being an
    acceleration); what loads on these bodies contribute, the joint need not.
    """
    robot = placement.robot
    count = len(robot.modules)
    borne = np.zeros((count + 1, 6))  # of loads on the body and beyond, base frame
    for body, wrench in loads:
        borne[body] += _at_base(placement.pose(body, wrench.point), wrench)
    result = np.empty((count, 6))
    for i in range(count - 1, -1, -1):
        borne[robot.modules[i, PARENT]] += borne[i]
        R, t = placement.joint(i)
        moment = borne[i, :3] - np.cross(t, borne[i, 3:])
        needed = robot.W[i * STATE + JOINT_WRENCH :][:6]
        result[i] = needed - np.concatenate([moment @ R, borne[i, 3:] @ R])
    return result


def _at_base(pose: Matrix, wrench: Wrench) -> Vector:
    """Wrench (6,) about the base's origin, in its axes."""
    moment, force = wrench.value[:3], wrench.value[3:]
    if wrench.frame == 'body':
        moment, force = pose[:3, :3] @ moment, pose[:3, :3] @ force
    return np.concatenate([moment + np.cross(pose[:3, 3], force), force])


def _listed(name: str, given: object) -> list[tuple[str, Wrench]]:
    if isinstance(given, Wrench):
        return [(name, given)]
    if isinstance(given, (list, tuple)) and all(isinstance(each, Wrench) for each in given):
        return [(f'{name}[{i}]', each) for i, each in enumerate(given)]
    return [(name, Wrench(given))]


def _checked_wrench(name: str, wrench: Wrench) -> Wrench:
    point = wrench.point
    return Wrench(
        checked(name, wrench.value, (6,)),
        None if point is None else checked(f'{name}.point', point, (3,)),
        one_of(f'{name}.frame', wrench.frame, FRAMES),
    )
