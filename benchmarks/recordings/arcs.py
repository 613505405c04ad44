# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Arcs without mechanics: each segment's curvature is what its three tendons' displacements say.

A tendon at (x, y) of a section is drawn in by x bend_x + y bend_y along each arc; the bends of a
segment are the best fit to its tendons, less what the segments before it take.
"""

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

SEGMENTS = 3
_PRIOR = 1e-5  # [m] of what the data do not tell, from where it begins
_STARTS = 1.0, 0.3  # of the slack, in SLACK
SLACK = 5e-3  # [m]


def tips(hessians, lengths, beyond=(0.0, 0.0, 0.0)):
    """
    Return the tips (P, 3) [m] of arcs with bends (P, 3, 2) [rad].

    ``lengths`` (3,) or (3, P, 1) [m] of segments; ``beyond`` (3,) [m] from the last arc's end to
    the tip, in the frame of that end.
    """
    R, p = np.eye(3), np.zeros((len(hessians), 3))
    for bend, length in zip(np.moveaxis(hessians, 1, 0), lengths):
        angle = np.linalg.norm(bend, axis=1)[:, None] + 1e-12
        direction = np.column_stack([bend / angle, np.zeros(len(bend))])
        axis = np.cross([0.0, 0.0, 1.0], direction)
        chord = (1.0 - np.cos(angle)) * direction + np.sin(angle) * [0.0, 0.0, 1.0]
        p = p + np.einsum('...ij,...j->...i', R, length / angle * chord)
        R = R @ Rotation.from_rotvec(angle * axis).as_matrix()
    return p + R @ np.array(beyond)


class Arcs:
    """The model for tendons at nominal angles (9,) [rad] and segments of nominal lengths [m]."""

    def __init__(self, angles, radius, lengths, taut):
        """With ``taut`` a tendon that is paid out by more than a fitted slack counts as so far."""
        self._angles, self._radius, self._lengths = np.array(angles), radius, np.array(lengths)
        self._taut = taut
        self.count = 21 + taut

    def predict(self, x, u):
        """Return the tips (P, 3) [m] of displacements u (P, 9) [m] for numbers x (count,)."""
        frame, place, angles = Rotation.from_rotvec(x[:3]), x[3:6], self._angles + x[6:15]
        radii = self._radius * np.repeat(x[15:18], 3)
        sections = radii[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
        if self._taut:
            u = np.maximum(u, -SLACK * x[21])
        hessians = np.zeros((len(u), SEGMENTS, 2))
        for k in range(SEGMENTS):
            own = sections[3 * k : 3 * k + 3]
            left = u[:, 3 * k : 3 * k + 3] - hessians[:, :k].sum(axis=1) @ own.T
            hessians[:, k] = left @ np.linalg.pinv(own).T
        return frame.apply(tips(hessians, self._lengths * x[18:21])) + place

    def fit(self, u, there):
        """Return x (count,) for tips ``there`` (P, 3) [m]: least squares."""
        ends = []
        for slack in _STARTS[: 1 + self._taut]:
            start = np.concatenate([np.zeros(15), np.ones(6), [slack][: self._taut]])

            def off(x, start=start):
                return np.append(self.predict(x, u) - there, _PRIOR * (x - start))

            ends.append(least_squares(off, start, x_scale=0.1))
        return min(ends, key=lambda end: end.cost).x
