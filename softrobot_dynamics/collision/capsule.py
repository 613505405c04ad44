# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A capsule: all that is nearer than a radius to a straight line."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.collision.contract import Element, register, SEGMENT, Shape
from softrobot_dynamics.schema.fields import number, vector


@register('capsule')
@dataclass(frozen=True, kw_only=True)
class Capsule(Shape):
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
