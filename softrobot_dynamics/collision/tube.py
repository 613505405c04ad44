# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A straight tube around what is in it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from softrobot_dynamics.annotations import Complaints
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.collision.contract import CollisionShape, Element, register, TUBE
from softrobot_dynamics.schema.fields import number, vector
from softrobot_dynamics.schema.poses import z_onto


@register('tube')
@dataclass(frozen=True, kw_only=True)
class Tube(CollisionShape):
    """A tube of an inner ``radius`` from ``start`` to ``end``, open at both; solid around it."""

    start: tuple[float, float, float] = vector('m', 3)
    end: tuple[float, float, float] = vector('m', 3)
    radius: float = number('m', above=0.0)

    on_bodies = False

    def validate(self) -> Complaints:
        """Refuse a tube of no length."""
        yield from super().validate()
        if self.start == self.end:
            yield 'end', list(self.end), 'a place other than the start: a tube has a length'

    def elements(self, body: Body | None) -> Sequence[Element]:
        """Return one tube."""
        start, end = np.array(self.start), np.array(self.end)
        half = np.array([0.0, 0.0, 0.5 * np.linalg.norm(end - start)])
        axes = z_onto(end - start)[:3, :3]
        return (Element(TUBE, 0.5 * (start + end).reshape(1, 3), self.radius, half, axes),)
