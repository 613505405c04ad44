# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A force or a magnetic field at the tip of a body, its direction fixed in the base frame."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from softrobot_dynamics.actuators.contract import (
    Actuator,
    PointSegment,
    Quantity,
    register,
    RobotParts,
    Segment,
)
from softrobot_dynamics.annotations import Complaints
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.errors import MISSING
from softrobot_dynamics.joints.contract import Joint
from softrobot_dynamics.schema.fields import direction, interval, number, reference, vector


@register('wrench')
@dataclass(frozen=True)
class WrenchActuator(Actuator):
    """
    A force u [N] along `force`, or the torque of a field u [T] along `field` on a `dipole`.

    `force` and `field` are directions in the base frame. The force acts at `point` [m], which the
    `dipole` [A m^2] is fixed to as well: both in the tip frame of `body`. y is how far the point
    is along the force [m], or the dipole along the field [A m^2], as from q = 0: so
    nu = u dy/dq is J^T of the force, or of the torque dipole x field.

    A force that turns with its body has no such y: its work depends on the way, not on q alone.
    """

    body: str = reference('body')
    force: tuple[float, float, float] | None = direction(default=None)
    field: tuple[float, float, float] | None = direction(default=None)
    dipole: tuple[float, float, float] | None = vector('A m^2', 3, default=None)
    point: tuple[float, float, float] = vector('m', 3, default=(0.0, 0.0, 0.0))
    limits: tuple[float, float] = interval('N or T', default=(-inf, inf))
    rate_limit: float = number('N/s or T/s', above=0, infinite=True, default=inf)

    sign = 1
    safe = 'zero'

    def validate(self) -> Complaints:
        """Yield fields that are neither a force nor a field on a dipole other than zero."""
        if self.force is not None:
            for name, value in (('field', self.field), ('dipole', self.dipole)):
                if value is not None:
                    yield name, value, 'either force, or field and dipole'
        elif self.field is None and self.dipole is None:
            yield 'force', MISSING, 'a direction in the base frame; or field and dipole'
        elif self.field is None:
            yield 'field', MISSING, 'the direction of the field, in the base frame'
        elif self.dipole is None or not any(self.dipole):
            given = MISSING if self.dipole is None else self.dipole
            yield 'dipole', given, '3 numbers, not all zero [A m^2]'

    def validate_against(
        self, bodies: Mapping[str, Body | None], joints: Mapping[str, Joint | None]
    ) -> Complaints:
        """Yield nothing: every body has a tip."""
        yield from ()

    def segments(self, parts: RobotParts) -> Sequence[Segment]:
        """Return the way of the point; or of the dipole's head, less that of its foot."""
        if self.force is not None:
            return [PointSegment(self.body, self.point, self.force)]
        foot, dipole = np.array(self.point), np.array(self.dipole)
        size = float(np.linalg.norm(dipole))
        along = size * np.array(self.field)
        return [
            PointSegment(self.body, foot + dipole / size, along),
            PointSegment(self.body, foot, -along),
        ]

    def quantities(self, joints: Mapping[str, Joint]) -> tuple[Quantity, Quantity]:
        """Return force and displacement, or magnetic field and dipole moment along it."""
        if self.force is not None:
            return Quantity('force', 'N'), Quantity('displacement', 'm')
        return Quantity('magnetic field', 'T'), Quantity('dipole moment', 'A m^2')
