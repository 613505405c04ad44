# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
A robot as URDF, to be shown: links at the tips of its bodies and at discs along soft ones.

URDF has no soft body, and no joint whose value says how one is bent. So each link hangs on the
world by a floating joint, the pose of which nobody computes from joint states: it is that on
`/tf`. There is geometry to be seen, and neither mass nor limits, as nothing is to be simulated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.dynamics.calls import placement
from softrobot_dynamics.viewing.colours import Palette
from softrobot_dynamics.viewing.shapes import reach_of, RIGID_RADIUS_RATIO, RobotShape

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel
    from softrobot_dynamics.viewing.discs import Disc

_MIN_PIPE_LENGTH = 1e-9  # [m]


def robot_description(
    shape: RobotShape, discs: Sequence[Disc], world: str = 'world', prefix: str = ''
) -> str:
    """
    Return the URDF of a :class:`RobotShape` with :class:`Disc` along soft bodies.

    Links are named as the frames on `/tf`: `world`, and `prefix` before the names of the bodies
    and of the discs. A rigid body is a pipe, as wide as it is drawn elsewhere, from its joint to
    its tip; what is between the tip before it and its joint belongs to the link it stays with.
    """
    model = shape.model
    robot = ElementTree.Element('robot', name=model.description.name)
    colours = Palette(shape).bodies(None) / 255.0
    base = _Link(robot, world, colours[0])
    links = [_Link(robot, prefix + n, c) for n, c in zip(model.body_names, colours)]
    radius = RIGID_RADIUS_RATIO * reach_of(model)
    for owner, start, end in _pipes(model):
        (links[owner] if owner >= 0 else base).pipe(start, end, radius)
    for disc in discs:
        half = np.array([0.0, 0.0, 0.5 * disc.length])
        links.append(_Link(robot, prefix + disc.name, colours[disc.body]))
        links[-1].pipe(-half, half, disc.radius)
    for link in links:
        link.hang_on(world)
    ElementTree.indent(robot)
    return ElementTree.tostring(robot, encoding='unicode')


def _pipes(model: CompiledModel) -> Iterator[tuple[int, Vector, Vector]]:
    """Yield (body or -1: the world, start (3,), end (3,) [m] in its tip frame), which stay."""
    to_world = model.description.base.matrix()
    placed = placement(model, model.q0)
    for i, module in enumerate(model.description.modules):
        tip = to_world if module.parent < 0 else np.eye(4)
        yield module.parent, tip[:3, 3], (tip @ module.joint.before)[:3, 3]
        if module.body.coordinates():
            continue
        R, t = placed.joint(i)
        pose = placed.pose(i)
        own = np.linalg.inv(pose)
        after = np.linalg.inv(module.joint.after)[:3, 3]
        moved, joint = (own[:3, :3] @ x + own[:3, 3] for x in (R @ after + t, t))
        yield i, moved, joint
        yield i, joint, np.zeros(3)


class _Link:
    """A link of a robot, and what is to be seen of it."""

    def __init__(self, robot: ElementTree.Element, name: str, colour: Vector) -> None:
        self._robot, self._name = robot, name
        self._element = ElementTree.SubElement(robot, 'link', name=name)
        self._colour = _words((*colour, 1.0))

    def pipe(self, start: Vector, end: Vector, radius: float) -> None:
        """Add a cylinder of a radius between points (3,) [m] of the link's frame, if any."""
        length = float(np.linalg.norm(end - start))
        if length < _MIN_PIPE_LENGTH:
            return
        x, y, z = (end - start) / length
        visual = ElementTree.SubElement(self._element, 'visual')
        turn = 0.0, float(np.arctan2(np.hypot(x, y), z)), float(np.arctan2(y, x))
        middle = 0.5 * (start + end)
        ElementTree.SubElement(visual, 'origin', xyz=_words(middle), rpy=_words(turn))
        geometry = ElementTree.SubElement(visual, 'geometry')
        size = {'radius': f'{radius:.9g}', 'length': f'{length:.9g}'}
        ElementTree.SubElement(geometry, 'cylinder', size)
        material = ElementTree.SubElement(visual, 'material', name=f'{self._name}/colour')
        ElementTree.SubElement(material, 'color', rgba=self._colour)

    def hang_on(self, world: str) -> None:
        """Add the floating joint that a link has in the world."""
        fields = {'name': f'{self._name}/pose', 'type': 'floating'}
        joint = ElementTree.SubElement(self._robot, 'joint', fields)
        ElementTree.SubElement(joint, 'parent', link=world)
        ElementTree.SubElement(joint, 'child', link=self._name)


def _words(numbers: Sequence[float] | Vector) -> str:
    return ' '.join(f'{x:.9g}' for x in numbers)
