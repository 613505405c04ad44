# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A quadrature on tetrahedra of a hollow cylinder, as [P] integrates; made without a mesh file."""

from collections.abc import Iterable
from dataclasses import dataclass
import itertools

import numpy as np
from softrobot_dynamics.reproduce.outcome import Array

CORNERS = np.array([
    np.cumsum([[0, 0, 0], *path], axis=0) for path in itertools.permutations(np.eye(3, dtype=int))
])  # fmt: skip
"""Of six tetrahedra that make a brick: (6, 4, 3)."""


@dataclass(frozen=True)
class Bricks:
    """Bricks along, across and around a hollow cylinder, six tetrahedra each, a point in each."""

    axial: int = 19
    radial: int = 1
    angular: int = 24

    def points(self, length: float, outer: float, inner: float) -> tuple[Array, Array]:
        """
        Return centroids (K, 3) [m] and volumes (K,) [m^3].

        Volumes are scaled to that of the cylinder, which the flat faces of bricks cut short.
        """
        cells = np.indices((self.axial, self.radial, self.angular)).reshape(3, -1).T
        corners = self._place(cells[:, None, None] + CORNERS, length, outer, inner)
        corners = corners.reshape(-1, 4, 3)
        volumes = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / 6.0
        whole = np.pi * (outer**2 - inner**2) * length
        return corners.mean(axis=1), volumes * (whole / volumes.sum())

    def misfit(
        self, length: float, outer: float, inner: float
    ) -> Iterable[tuple[str, object, str]]:
        """Yield nothing: a cylinder fits."""
        return ()

    def _place(self, index: Array, length: float, outer: float, inner: float) -> Array:
        """Return corners (..., 3) [m] of indices (..., 3) along, across and around."""
        r = inner + (outer - inner) * index[..., 1] / self.radial
        angle = 2.0 * np.pi * index[..., 2] / self.angular
        z = length * index[..., 0] / self.axial
        return np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=-1)
