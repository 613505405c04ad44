# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What every joint type has: T(q) = before @ motion(q) @ after, parent's tip to distal frame."""

from dataclasses import dataclass

import numpy as np
from softrobot_dynamics.fields import direction, nested, vector
from softrobot_dynamics.poses import dh_row, flat, Pose, z_onto
from softrobot_dynamics.registry import Registry

JOINTS = Registry('joint', 'softrobot_dynamics.joints', 'softrobot_dynamics.joints')
register = JOINTS.register


class Joint:
    """
    One joint: a frozen dataclass whose fields are the YAML's, made by `softrobot_dynamics.fields`.

    `before` and `after` are the constant transforms (4, 4) around the joint's own motion, which
    depends on its coordinates alone.
    """

    limits = None  # or an object with position (low, high), velocity and effort

    def coordinates(self):
        """Return the coordinates' names; ('',) for one, which bears the joint's own name."""
        raise NotImplementedError

    @property
    def before(self):
        """The constant transform (4, 4) from the parent's tip frame to where the motion acts."""
        return np.eye(4)

    @property
    def after(self):
        """The constant transform (4, 4) from the moved frame to the joint's distal frame."""
        return np.eye(4)


@dataclass(frozen=True)
class AxisJoint(Joint):
    """
    A joint with one coordinate q, which moves about or along one axis.

    Placed either by `origin` and `axis`, T = origin Motion_axis(q), the axis in the origin frame,
    or by `dh`, T = Motion_z(q) Rz(theta0) Tz(d) Tx(a) Rx(alpha), a row of the standard
    Denavit-Hartenberg table. Both are given here by a motion about or along z.
    """

    origin: Pose = nested(Pose, default=None)  # default: identity
    axis: tuple = direction(default=None)  # unit vector [-], default: z
    dh: tuple = vector(
        'rad or m',
        4,
        default=None,
        expected='a list of 4 numbers: alpha, a, d, theta0 [rad, m, m, rad]',
    )

    def coordinates(self):
        """Return the one coordinate's name, '': it bears the joint's own."""
        return ('',)

    def validate(self):
        """Yield what is wrong: a joint is placed by `dh` or by `origin` and `axis`."""
        for key in ('origin', 'axis'):
            if self.dh is not None and getattr(self, key) is not None:
                yield key, getattr(self, key), f'no {key} beside dh: either dh or origin and axis'

    @property
    def before(self):
        """Identity for `dh`, else origin @ R with R z = axis, (4, 4)."""
        return (self.origin or Pose()).matrix() @ self._align()

    @property
    def after(self):
        """The transform of the DH row at q = 0 for `dh`, else R^T with R z = axis, (4, 4)."""
        return dh_row(*self.dh) if self.dh else self._align().T

    def numbers(self):
        """Return the kernel's numbers (27,): stiffness, damping, rest, then both constants."""
        return np.concatenate(
            [[self.stiffness, self.damping, self.rest], flat(self.before), flat(self.after)]
        )

    def _align(self):
        return z_onto(self.axis or (0.0, 0.0, 1.0))
