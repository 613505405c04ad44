# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A collision shape: a bead at the end of a body."""

from dataclasses import dataclass

import numpy as np
from softrobot_dynamics.collision.contract import CollisionShape, Element, register, SEGMENT
from softrobot_dynamics.schema.fields import number


@register('bead')
@dataclass(frozen=True, kw_only=True)
class Bead(CollisionShape):
    """A sphere about the end of a body's axis."""

    radius: float = number('m', above=0.0)

    fixed = False

    def elements(self, body):
        """Return a segment of no length."""
        return (Element(SEGMENT, np.array([[0.0, 0.0, float(body.length)]]), self.radius),)
