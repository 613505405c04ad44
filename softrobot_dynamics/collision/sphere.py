# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A sphere."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from softrobot_dynamics.annotations import Matrix
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.collision.contract import CollisionShape, Element, register, SEGMENT
from softrobot_dynamics.schema.fields import number, vector


@register('sphere')
@dataclass(frozen=True, kw_only=True)
class Sphere(CollisionShape):
    """A sphere about a ``centre``, a material point of the body or a place in the base frame."""

    centre: tuple[float, float, float] = vector('m', 3, default=(0.0, 0.0, 0.0))
    radius: float = number('m', above=0.0)

    def elements(self, body: Body | None) -> Sequence[Element]:
        """Return a segment of no length."""
        return (Element(SEGMENT, np.array([self.centre]), self.radius),)

    def solid_inertia(self, mass: float) -> Matrix | None:
        """Return 2/5 m r^2, if the centre is the origin."""
        return None if any(self.centre) else 0.4 * mass * self.radius**2 * np.eye(3)
