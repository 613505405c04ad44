# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A capsule: all that is nearer than a radius to a straight line."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from softrobot_dynamics.annotations import Matrix
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.collision.contract import CollisionShape, Element, register, SEGMENT
from softrobot_dynamics.schema.fields import number, vector


@register('capsule')
@dataclass(frozen=True, kw_only=True)
class Capsule(CollisionShape):
    """
    A capsule between two points, of the body's material or in the base frame.

    On a body that deforms it stays straight between them: a chain along a rod is a `rod`.
    """

    start: tuple[float, float, float] = vector('m', 3, default=(0.0, 0.0, 0.0))
    end: tuple[float, float, float] = vector('m', 3)
    radius: float = number('m', above=0.0)

    def elements(self, body: Body | None) -> Sequence[Element]:
        """Return a segment."""
        return (Element(SEGMENT, np.array([self.start, self.end]), self.radius),)

    def solid_inertia(self, mass: float) -> Matrix | None:
        """Return that of a cylinder and two half spheres, if the middle is the origin."""
        if not np.allclose(np.add(self.start, self.end), 0.0):
            return None
        axis, r = np.subtract(self.end, self.start), self.radius
        length = float(np.linalg.norm(axis))
        volumes = np.array([np.pi * r * r * length, 4.0 / 3.0 * np.pi * r**3])
        m, caps = mass * volumes / volumes.sum()
        about = 0.5 * m * r * r + 0.4 * caps * r * r
        across = m * (length**2 / 12.0 + r * r / 4.0)
        across += caps * (0.4 * r * r + length**2 / 4.0 + 3.0 / 8.0 * length * r)
        u = axis / length if length else np.array([0.0, 0.0, 1.0])
        found: Matrix = across * np.eye(3) + (about - across) * np.outer(u, u)
        return found
