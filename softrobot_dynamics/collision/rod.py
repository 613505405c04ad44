# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The surface of a rod: a chain of capsules along its backbone."""

from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy as np
from softrobot_dynamics.annotations import Complaints
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.collision.contract import CollisionShape, Element, register, SEGMENT
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.schema.fields import number

_DESIGN_BEND = math.pi  # [rad] up to which the chain of capsules keeps its tolerance
_MAX_CAPSULES = 1000  # each is a pair with each shape around it


@register('rod')
@dataclass(frozen=True, kw_only=True)
class Rod(CollisionShape):
    """
    Capsules between points of a body's axis, with the radius of its sections, or its own.

    There are as many that a body bent evenly by half a turn is nowhere farther from them than the
    ``tolerance``: an arc of angle a and length L is off its chord by L a / 8 at most. By default
    it is 0.05 of the radius. Radii between base and tip are those of the middle of each capsule.
    """

    radius: float | None = number('m', above=0.0, default=None)
    tolerance: float | None = number('m', above=0.0, default=None)

    fixed = False

    def validate_on(self, body: Body) -> Complaints:
        """Refuse a body without a length, and a tolerance that needs too many capsules."""
        if not body.section_path:
            yield '', 'rod', f'a body with sections: one of type {body.type_name} has none'
        elif (count := self._count(body)) > _MAX_CAPSULES:
            least = float(body.length) * _DESIGN_BEND / 8.0 / _MAX_CAPSULES**2
            words = f'at least {least:.3g} m: {count} capsules are more than {_MAX_CAPSULES}'
            yield 'tolerance', self.tolerance, words

    def elements(self, body: Body | None) -> Sequence[Element]:
        """Return segments, the next of which begins where the one before ends."""
        if body is None:
            raise ArgumentError('body', None, 'a body with sections, along which a rod lies')
        count = self._count(body)
        ends = np.zeros((count + 1, 3))
        ends[:, 2] = np.linspace(0.0, float(body.length), count + 1)
        return [
            Element(SEGMENT, ends[i : i + 2], self._radius(body, (i + 0.5) / count))
            for i in range(count)
        ]

    def _count(self, body: Body) -> int:
        """Return how many capsules keep the tolerance."""
        off = self.tolerance or 0.05 * min(self._radius(body, sigma) for sigma in (0.25, 0.75))
        return max(1, math.ceil(math.sqrt(float(body.length) * _DESIGN_BEND / (8.0 * off))))

    def _radius(self, body: Body, sigma: float) -> float:
        """Return the radius [m] at s / L."""
        return self.radius or float(np.hypot(*body.outline(sigma).T).max())
