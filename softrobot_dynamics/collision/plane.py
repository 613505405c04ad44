# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A plane, solid on one side."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.collision.contract import CollisionShape, Element, PLANE, register
from softrobot_dynamics.schema.fields import direction, vector
from softrobot_dynamics.schema.poses import z_onto


@register('plane')
@dataclass(frozen=True, kw_only=True)
class Plane(CollisionShape):
    """A plane through a ``point``; the side that its ``normal`` points to is free."""

    point: tuple[float, float, float] = vector('m', 3, default=(0.0, 0.0, 0.0))
    normal: tuple[float, float, float] = direction(default=(0.0, 0.0, 1.0))

    on_bodies = False

    def elements(self, body: Body | None) -> Sequence[Element]:
        """Return one plane."""
        axes = z_onto(self.normal)[:3, :3]
        return (Element(PLANE, np.array([self.point]), axes=axes),)
