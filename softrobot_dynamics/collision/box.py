# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A box."""

from collections.abc import Sequence
from dataclasses import dataclass
import itertools

import numpy as np
from softrobot_dynamics.annotations import Complaints, Matrix
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.collision.contract import BOX, CollisionShape, Element, register
from softrobot_dynamics.schema.fields import nested, vector
from softrobot_dynamics.schema.poses import Pose


@register('box')
@dataclass(frozen=True, kw_only=True)
class Box(CollisionShape):
    """
    A box with edges of ``edges`` along the axes of its ``pose``, about its origin.

    The pose is in the frame of a rigid body's joint, or in the base frame. Boxes touch others
    with their corners, and boxes and meshes with edges that cross theirs, too.
    """

    edges: tuple[float, float, float] = vector('m', 3)
    pose: Pose = nested(Pose, default=Pose())

    def validate(self) -> Complaints:
        """Edges must have lengths > 0."""
        yield from super().validate()
        if min(self.edges) <= 0.0:
            yield 'edges', list(self.edges), 'three lengths > 0 [m]'

    def validate_on(self, body: Body) -> Complaints:
        """Refuse a body that deforms."""
        if body.coordinates():
            yield '', 'box', f'a rigid body: one of type {body.type_name} deforms; a rod or points'

    def elements(self, body: Body | None) -> Sequence[Element]:
        """Return one box."""
        T = self.pose.matrix()
        half = 0.5 * np.array(self.edges)
        corners = half * np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
        centre = T[:3, 3].reshape(1, 3)
        return (Element(BOX, centre, half=half, axes=T[:3, :3], corners=corners),)

    def solid_inertia(self, mass: float) -> Matrix | None:
        """Return m/12 of the squares of edges, if the centre is the origin."""
        if any(self.pose.xyz):
            return None
        squares, R = np.square(self.edges), self.pose.matrix()[:3, :3]
        found: Matrix = R @ np.diag(mass / 12.0 * (squares.sum() - squares)) @ R.T
        return found
