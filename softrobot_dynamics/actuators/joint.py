# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A motor at a coordinate of a joint."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, pi, sqrt
from typing import Any

from softrobot_dynamics.actuators.contract import (
    Actuator,
    CoordinateSegment,
    Quantity,
    register,
    RobotParts,
    Servo,
)
from softrobot_dynamics.annotations import Complaints
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.errors import closest, MISSING
from softrobot_dynamics.joints.contract import Joint
from softrobot_dynamics.schema.fields import choice, interval, name, number, reference

FORCE, POSITION, VELOCITY = 'force', 'position', 'velocity'
_DOUBLE_POLE = sqrt(sqrt(2.0) - 1.0)  # bandwidth over rate of two equal poles: -3 dB there


@register('joint')
@dataclass(frozen=True)
class JointActuator(Actuator):
    """
    The generalized force u [N m or N] along a coordinate of `joint`: y = q, nu = u.

    `coordinate` is its name, which a joint with only one does not need. `command` is what the
    drive takes: the force; or a `position` or `velocity` of the coordinate, which its own control
    loop follows with a `bandwidth` (frequency of -3 dB), see :class:`.Servo`. Laws ask for forces
    within `limits` all the same. Such a coordinate has a limit of its velocity.
    """

    joint: str = reference('joint')
    limits: tuple[float, float] = interval('N m or N', default=(-inf, inf))
    rate_limit: float = number('N m/s or N/s', above=0, infinite=True, default=inf)
    coordinate: str | None = name(default=None)
    command: str = choice((FORCE, POSITION, VELOCITY), default=FORCE)
    bandwidth: float = number('Hz', above=0, at_most=200.0, default=10.0)

    sign = 1
    safe = 'gravity'

    @property
    def safe_command(self) -> Any:
        """Return gravity, or, of a drive that takes positions or velocities, brake."""
        return self.safe if self.command == FORCE else 'brake'

    @property
    def servo(self) -> Servo | None:
        """Model of a drive that takes positions (two equal poles) or velocities (one pole)."""
        if self.command == FORCE:
            return None
        rate = 2.0 * pi * self.bandwidth
        if self.command == POSITION:
            rate /= _DOUBLE_POLE
        return Servo(self.joint, self.coordinate or '', self.command, rate)

    @property
    def wire_field(self) -> str:
        """Return the field of messages that holds the command: effort, position or velocity."""
        return 'effort' if self.command == FORCE else self.command

    def validate(self) -> Complaints:
        """Yield fields that a drive taking positions or velocities cannot have."""
        if self.command == FORCE:
            return
        if self.dead_band:
            yield 'dead_band', self.dead_band, f'0 of a drive that takes a {self.command}'
        if self.rate_limit < inf:
            words = f'none of a drive that takes a {self.command}; limits.velocity of the joint'
            yield 'rate_limit', self.rate_limit, words

    def validate_against(
        self, bodies: Mapping[str, Body | None], joints: Mapping[str, Any]
    ) -> Complaints:
        """Yield a joint that does not move or lacks the coordinate, limits beyond the joint's."""
        joint = joints[self.joint]
        if joint is None:
            return
        if not joint.freedoms():
            known = ', '.join(key for key, j in joints.items() if j and j.freedoms())
            expected = f'a joint with one coordinate or more: {known or "there is none"}'
            yield 'joint', self.joint, expected
        elif (self.coordinate or '') not in joint.freedoms():
            yield 'coordinate', self.coordinate or MISSING, self._coordinate_of(joint)
        else:
            low, high = self.command_limits(joints)
            if low >= high:
                yield 'limits', self.limits, f'limits within the effort limit of {self.joint}'
            if self.servo is not None and self._of(joint.velocity_limits(), joint) == inf:
                words = f'force, or a limits.velocity of {self.joint}: how fast the drive may move'
                yield 'command', self.command, words

    def segments(self, parts: RobotParts) -> list[CoordinateSegment]:
        """Return the joint's coordinate."""
        return [CoordinateSegment(self.joint, self.coordinate or '')]

    def command_limits(self, joints: Mapping[str, Joint]) -> tuple[float, float]:
        """Return `limits`, no wider than the effort limit of the coordinate."""
        joint = joints[self.joint]
        effort = self._of(joint.effort_limits(), joint)
        return max(self.limits[0], -effort), min(self.limits[1], effort)

    def quantities(self, joints: Mapping[str, Joint]) -> tuple[Quantity, Quantity]:
        """Return torque and angle, or force and displacement of a coordinate that is a length."""
        unit = joints[self.joint].unit(self.coordinate or '')
        if unit == 'rad':
            return Quantity('torque', 'N m'), Quantity('angle', 'rad')
        if unit == 'm':
            return Quantity('force', 'N'), Quantity('displacement', 'm')
        force = f'J/({unit})' if unit else 'J'
        return Quantity('generalized force', force), Quantity('coordinate', unit)

    def wire_name(self, name: str) -> str:
        """Return the coordinate's name on the wire: the joint's, or joint/coordinate."""
        return f'{self.joint}/{self.coordinate}' if self.coordinate else self.joint

    def _of(self, values: Sequence[Any], joint: Joint) -> Any:
        """Return that of the values of a joint's coordinates which is of this one."""
        return values[joint.freedoms().index(self.coordinate or '')]

    def _coordinate_of(self, joint: Joint) -> str:
        """Return in words the coordinates of `joint`."""
        names = joint.freedoms()
        if names == ('',):
            return f'no coordinate: {self.joint} has only one'
        hint = closest(self.coordinate, names) if self.coordinate else ''
        return f'one of the coordinates of {self.joint}: {", ".join(names)}{hint}'
