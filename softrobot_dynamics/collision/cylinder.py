# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A solid cylinder with flat ends."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from softrobot_dynamics.annotations import Complaints, Matrix
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.collision.contract import CollisionShape, CYLINDER, Element, register
from softrobot_dynamics.schema.fields import number, vector
from softrobot_dynamics.schema.poses import z_onto


@register('cylinder')
@dataclass(frozen=True, kw_only=True)
class SolidCylinder(CollisionShape):
    """
    A cylinder around the straight line from ``start`` to ``end``, where it ends flat.

    Of a rigid body, or in the base frame. It touches planes, tubes and other solids with the
    nearest places of its two rims, and solids with its side, too.
    """

    start: tuple[float, float, float] = vector('m', 3)
    end: tuple[float, float, float] = vector('m', 3)
    radius: float = number('m', above=0.0)

    def validate(self) -> Complaints:
        """Refuse a cylinder of no length."""
        yield from super().validate()
        if self.start == self.end:
            yield 'end', list(self.end), 'a place other than the start: a cylinder has a length'

    def validate_on(self, body: Body) -> Complaints:
        """Refuse a body that deforms."""
        if body.coordinates():
            words = f'a rigid body: one of type {body.type_name} deforms; a rod or a skin'
            yield '', 'cylinder', words

    def elements(self, body: Body | None) -> Sequence[Element]:
        """Return one cylinder."""
        start, end = np.array(self.start), np.array(self.end)
        half = np.array([0.0, 0.0, 0.5 * np.linalg.norm(end - start)])
        axes = z_onto(end - start)[:3, :3]
        middle = 0.5 * (start + end).reshape(1, 3)
        return (Element(CYLINDER, middle, self.radius, half, axes),)

    def solid_inertia(self, mass: float) -> Matrix | None:
        """Return that of a solid cylinder, if the middle is the origin."""
        if not np.allclose(np.add(self.start, self.end), 0.0):
            return None
        axis, r = np.subtract(self.end, self.start), self.radius
        length = float(np.linalg.norm(axis))
        about, across = 0.5 * mass * r * r, mass * (3.0 * r * r + length**2) / 12.0
        found: Matrix = across * np.eye(3) + (about - across) * np.outer(axis, axis) / length**2
        return found
