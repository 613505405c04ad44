# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Motions that obstacles of the environment are given."""

from dataclasses import dataclass
import math

import numpy as np
from softrobot_dynamics.annotations import Complaints, Matrix, Vector
from softrobot_dynamics.schema.fields import items, nested, number, vector
from softrobot_dynamics.schema.poses import Pose, transform

Triple = tuple[float, float, float]
_ZERO_VECTOR = (0.0, 0.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class ObstacleMotion:
    """
    A motion in time t [s] of an obstacle from where its shape has it, base frame.

    It is moved by d(t) and turned by the rotation vector r(t) about ``centre``. Both are the
    sums of ::

        velocity t + amplitude (sin(2 pi frequency t + phase) - sin(phase))

    and of ``poses`` at ``times``, before and after which it rests; between them it follows cubic
    polynomials with continuous velocity.
    """

    centre: Triple = vector('m', 3, default=_ZERO_VECTOR)
    velocity: Triple = vector('m/s', 3, default=_ZERO_VECTOR)
    angular_velocity: Triple = vector('rad/s', 3, default=_ZERO_VECTOR)
    amplitude: Triple = vector('m', 3, default=_ZERO_VECTOR)
    angular_amplitude: Triple = vector('rad', 3, default=_ZERO_VECTOR)
    frequency: float = number('Hz', at_least=0.0, default=0.0)
    phase: float = number('rad', default=0.0)
    times: tuple[float, ...] | None = vector('s', default=None)
    poses: tuple[Pose, ...] | None = items(nested(Pose), default=None)

    def validate(self) -> Complaints:
        """Need times that rise, as many as poses, and a frequency of what oscillates."""
        count = len(self.poses or ())
        if len(self.times or ()) != count or count == 1:
            yield 'times', self.times, f'as many as poses, which are {count}, and two or more'
        elif self.times and not (np.diff(self.times) > 0.0).all():
            yield 'times', self.times, 'times that rise [s]'
        if any((*self.amplitude, *self.angular_amplitude)) and not self.frequency:
            yield 'frequency', self.frequency, 'a frequency > 0 [Hz], as there is an amplitude'

    def formula(self) -> Vector:
        """Return centre (3), rates (6), amplitudes (6), angular frequency, phase: 17 numbers."""
        return np.array(
            [
                *self.centre,
                *self.velocity,
                *self.angular_velocity,
                *self.amplitude,
                *self.angular_amplitude,
                2.0 * math.pi * self.frequency,
                self.phase,
            ]
        )

    def knots(self) -> Matrix:
        """Return rows (Q, 13) of time, displacement and rotation vector, and their rates."""
        from scipy.spatial.transform import Rotation  # here: it takes time to import

        if self.times is None or self.poses is None:
            return np.zeros((0, 13))
        turns = [Rotation.from_matrix(p.matrix()[:3, :3]).as_rotvec() for p in self.poses]
        values = np.array([[*p.xyz, *turn] for p, turn in zip(self.poses, turns)])
        t, rates = np.array(self.times), np.zeros_like(values)
        rates[1:-1] = (values[2:] - values[:-2]) / (t[2:] - t[:-2])[:, None]
        return np.column_stack([t, values, rates])

    def pose(self, t: float) -> Matrix:
        """Return the transform (4, 4) at a time [s] from where the shape has it."""
        from scipy.interpolate import CubicHermiteSpline
        from scipy.spatial.transform import Rotation

        row, found = self.formula(), np.zeros(6)
        found += row[3:9] * t + row[9:15] * (math.sin(row[15] * t + row[16]) - math.sin(row[16]))
        if len(k := self.knots()):
            spline = CubicHermiteSpline(k[:, 0], k[:, 1:7], k[:, 7:])
            found += spline(min(max(t, k[0, 0]), k[-1, 0]))
        R = Rotation.from_rotvec(found[3:]).as_matrix()
        return transform(R, row[:3] + found[:3] - R @ row[:3])
