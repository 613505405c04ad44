# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Rigid body: the formula is the identity, so its terms are constants."""

from dataclasses import dataclass

import numpy as np
from softrobot_dynamics.annotations import Complaints, FrameFormula, Math, Matrix, Values, Vector
from softrobot_dynamics.bodies.contract import Body, register
from softrobot_dynamics.bodies.linear_basis import values_kernel
from softrobot_dynamics.compiling.jit import Kernel, kernel
from softrobot_dynamics.kernels.layout import inertia_offset, LINEAR_BIAS, wrench_offset
from softrobot_dynamics.schema.fields import nested, number, vector
from softrobot_dynamics.schema.poses import flat, Pose


@dataclass(frozen=True)
class Inertia:
    """Inertia about the centre of mass [kg m^2], axes of the joint's distal frame."""

    ixx: float = number('kg m^2', above=0.0)
    iyy: float = number('kg m^2', above=0.0)
    izz: float = number('kg m^2', above=0.0)
    ixy: float = number('kg m^2', default=0.0)
    ixz: float = number('kg m^2', default=0.0)
    iyz: float = number('kg m^2', default=0.0)

    def matrix(self) -> Matrix:
        """Inertia matrix (3, 3)."""
        return np.array(
            [
                [self.ixx, self.ixy, self.ixz],
                [self.ixy, self.iyy, self.iyz],
                [self.ixz, self.iyz, self.izz],
            ]
        )

    def validate(self) -> Complaints:
        """Principal moments must be positive and obey the triangle inequality."""
        low, middle, high = np.linalg.eigvalsh(self.matrix())
        moments = f'(principal moments here: {low:.6g}, {middle:.6g}, {high:.6g})'
        if low <= 0.0:
            yield '', self.matrix().tolist(), f'a positive definite inertia {moments}'
        elif low + middle < high * (1.0 - 1e-9):
            yield (
                '',
                self.matrix().tolist(),
                'an inertia of a real body: each principal moment '
                f'at most the sum of the other two {moments}',
            )


@register('rigid')
@dataclass(frozen=True)
class Rigid(Body):
    """
    A rigid body; ``com``, ``inertia`` and ``tip`` are given in the joint's distal frame.

    Without an ``inertia`` all its mass is in ``com``, and with a mass of 0 it has neither, as a
    flange. An inertia beside a mass of 0 resists rotations alone, as of a rotor whose mass counts
    elsewhere.
    """

    mass: float = number('kg', at_least=0.0)
    inertia: Inertia | None = nested(Inertia, default=None)
    com: tuple[float, float, float] = vector('m', 3, default=(0.0, 0.0, 0.0))
    tip: Pose = nested(Pose, default=Pose())

    section_path = False

    def coordinates(self) -> tuple[str, ...]:
        """Return none."""
        return ()

    def position(self, x: Values, q: Values, math: Math) -> Values:
        """Return x: the formula is the identity."""
        return list(x)

    def tip_frame(self, q: Values, math: Math) -> FrameFormula:
        """Return the constant frame where the next joint attaches."""
        T = self.tip.matrix()
        return list(T[:3, :3].ravel()), list(T[:3, 3])

    def material_points(self) -> tuple[Matrix, Vector]:
        """
        Six points with the mass, centre and inertia of the body.

        Of an inertia without mass a seventh, in the centre, takes away the mass of the others.
        """
        around = self.mass or 1.0  # [kg] of the six
        moments, axes = np.linalg.eigh(self._own_inertia())
        second = (moments.sum() / 2.0 - moments) / around
        offsets = axes * np.sqrt(np.maximum(second, 0.0) * 3.0)
        points = np.concatenate([offsets.T, -offsets.T, np.zeros((1, 3))]) + self.com
        masses = np.append(np.full(6, around / 6.0), -around)
        return (points[:6], masses[:6]) if self.mass else (points, masses)

    def stretch(self, q: Vector) -> float:
        """Return 1."""
        return 1.0

    def kernel(self) -> Kernel:
        """Return the closed form: ten inertia numbers about S_J and the tip frame."""
        com = np.array(self.com)
        inertia = self._own_inertia() + self.mass * (com @ com * np.eye(3) - np.outer(com, com))
        numbers = [
            self.mass,
            *(self.mass * com),
            *inertia.diagonal(),
            inertia[0, 1],
            inertia[0, 2],
            inertia[1, 2],
        ]
        tip = flat(self.tip.matrix())
        return Kernel(__name__, 'rigid_terms', np.concatenate([numbers, tip]))

    def points_kernel(self, points: Matrix) -> Kernel:
        """See :class:`Body`; linear in no coordinates."""
        count = len(points)
        return values_kernel(points, np.zeros((count, 3, 0)), np.zeros((count, 0, 3, 3)))

    def _own_inertia(self) -> Matrix:
        """Inertia (3, 3) about the centre of mass."""
        return np.zeros((3, 3)) if self.inertia is None else self.inertia.matrix()


@kernel
def rigid_terms(P, q, qd, w, W, S):
    """Slab of a rigid body; P: ten inertia numbers, tip frame (12)."""
    for k in range(12):
        W[k] = P[10 + k]
    W[12 : LINEAR_BIAS + 3] = 0.0
    first, wrench = inertia_offset(0), wrench_offset(0)
    for k in range(10):
        W[first + k] = P[k]
    w0, w1, w2 = w[0], w[1], w[2]
    L0 = P[4] * w0 + P[7] * w1 + P[8] * w2
    L1 = P[7] * w0 + P[5] * w1 + P[9] * w2
    L2 = P[8] * w0 + P[9] * w1 + P[6] * w2
    W[wrench] = w1 * L2 - w2 * L1
    W[wrench + 1] = w2 * L0 - w0 * L2
    W[wrench + 2] = w0 * L1 - w1 * L0
    u0 = w1 * P[3] - w2 * P[2]
    u1 = w2 * P[1] - w0 * P[3]
    u2 = w0 * P[2] - w1 * P[1]
    W[wrench + 3] = w1 * u2 - w2 * u1
    W[wrench + 4] = w2 * u0 - w0 * u2
    W[wrench + 5] = w0 * u1 - w1 * u0
