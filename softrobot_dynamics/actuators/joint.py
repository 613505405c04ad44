# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A motor at a joint of one coordinate."""

from dataclasses import dataclass
from math import inf

from softrobot_dynamics.actuators.contract import Actuator, CoordinateSegment, register
from softrobot_dynamics.fields import interval, number, reference


@register('joint')
@dataclass(frozen=True)
class JointActuator(Actuator):
    """The torque [N m] or force [N] u along the coordinate of `joint`: y = q, nu = u."""

    joint: str = reference('joint')
    limits: tuple = interval('N m or N', default=(-inf, inf))
    rate_limit: float = number('N m/s or N/s', above=0, infinite=True, default=inf)

    sign = 1
    safe = 'gravity'

    def validate_against(self, bodies, joints):
        """Yield a joint that has not exactly one coordinate, and limits beyond the joint's."""
        moving = [key for key, joint in joints.items() if joint and len(joint.coordinates()) == 1]
        if joints[self.joint] is not None and self.joint not in moving:
            known = ', '.join(moving) or 'there is none'
            yield 'joint', self.joint, f'a joint with one coordinate: {known}'
        elif self.joint in moving:
            low, high = self.command_limits(joints)
            if low >= high:
                yield 'limits', self.limits, f'limits within the effort limit of {self.joint}'

    def segments(self, parts):
        """Return the joint's coordinate."""
        return [CoordinateSegment(self.joint)]

    def command_limits(self, joints):
        """Return `limits`, no wider than the effort limit of the joint."""
        built_for = joints[self.joint].limits
        effort = built_for.effort if built_for else inf
        return max(self.limits[0], -effort), min(self.limits[1], effort)

    def wire_name(self, name):
        """Return the joint's name."""
        return self.joint
