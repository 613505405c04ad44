# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Material curves through a body, and the Gauss points at which their lengths are measured."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import functools
from itertools import pairwise
import math
from typing import Any

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.compiling.jit import Kernel
from softrobot_dynamics.kernels.quadrature import composite

MAX_RULE_POINTS = 64  # points of one Gauss rule; larger rules take long to compute
PROBE_COUNT = 6  # places along a curve where its stretch is evaluated


@dataclass(frozen=True, eq=False)
class Curve:
    """
    A material curve through ``body``, given by its offset in the section at each s/L.

    ``offset`` has ``at(sigma)`` and ``derivative(sigma)``, (x, y) [m] and its derivative by sigma
    = s / L; ``span`` is (s0/L, s1/L). A rule has twice as many points at each doubling; without
    one it has as many as the body asks for.
    """

    name: str  # the body's
    body: Body
    offset: Any
    span: tuple[float, float]

    @functools.cached_property
    def pieces(self) -> Sequence[float]:
        """The s/L between each two of which the deformed curve is smooth."""
        return self.body.fibre_pieces(self._places, *self.span)

    def count(self, doublings: int) -> int:
        """Return the number of points of a rule."""
        cuts, count = self._each(doublings)
        return cuts * count * (len(self.pieces) - 1)

    def kernel(self, doublings: int) -> Kernel:
        """Return the kernel of the length [m], see ``Body.fibre_kernel``."""
        return self.body.fibre_kernel(*self._rule(doublings))

    def hessians(self, doublings: int) -> Kernel | None:
        """Return the kernel of the length's second derivatives, see ``Body.length_hessians``."""
        return self.body.length_hessians(*self._rule(doublings))

    def probes(self) -> list[Kernel]:
        """Return kernels of the length per unit of s/L [m], each at one of a few places."""
        length = np.array([self.body.length])
        each = [self._curve(sigma[None]) for sigma in self._probed()]
        return [self.body.fibre_kernel(*curve, length) for curve in each]

    def probes_around(self, least: float) -> list[Kernel]:
        """
        Return probes of straight fibres beside the axis: as far as the curve, a quarter turn on.

        ``least`` [m] is the least distance from the axis; a curve that is closer has another
        straight fibre, in its own direction at that distance.
        """
        length, none = np.array([self.body.length]), np.zeros((1, 2))
        found = []
        for sigma in self._probed():
            point = self.points(sigma[None])
            x, y = point[0, :2].tolist()
            distance = math.hypot(x, y)
            u, v = (x / distance, y / distance) if distance else (1.0, 0.0)
            far = max(distance, least)
            for offset in ((-far * v, far * u), (far * u, far * v))[: 1 + (distance < least)]:
                point[0, :2] = offset
                found.append(self.body.fibre_kernel(point.copy(), none, length))
        return found

    def points(self, sigma: Vector) -> Matrix:
        """Return the material points (K, 3) [m] at sigma = s/L (K,)."""
        return np.column_stack([self._places(sigma), sigma * self.body.length])

    def _probed(self) -> Vector:
        """Return the s/L (PROBE_COUNT,) of probes."""
        start, end = self.span
        return start + (end - start) * 0.5 * (1.0 - np.cos(np.linspace(0.0, np.pi, PROBE_COUNT)))

    def _each(self, doublings: int) -> tuple[int, int]:
        """Return how many parts each piece is cut into, and the points of each part."""
        least = self.body.fibre_count(len(self.pieces) - 1)
        point_count = least << doublings
        cuts = -(-point_count // max(least, MAX_RULE_POINTS))
        return cuts, -(-point_count // cuts)

    @functools.cached_property
    def _rule(self) -> Callable[[int], tuple[Matrix, Matrix, Vector]]:
        """The rule of a number of doublings, made once: several kernels have the same."""
        return functools.cache(self._new_rule)

    def _new_rule(self, doublings: int) -> tuple[Matrix, Matrix, Vector]:
        """Points (K, 3) [m], derivatives (K, 2), weights (K,) [m] that discretise the curve."""
        cuts, count = self._each(doublings)
        inner = [np.linspace(a, b, cuts + 1)[:-1].tolist() for a, b in pairwise(self.pieces)]
        ends = [*(sigma for piece in inner for sigma in piece), self.pieces[-1]]
        sigma, weights = composite(ends, count)
        return *self._curve(sigma), weights * self.body.length

    def _curve(self, sigma: Vector) -> tuple[Matrix, Matrix]:
        derivatives = np.column_stack(np.broadcast_arrays(*self.offset.derivative(sigma), sigma))[
            :, :2
        ]
        return self.points(sigma), derivatives / self.body.length

    def _places(self, sigma: Vector) -> Matrix:
        return np.column_stack(np.broadcast_arrays(*self.offset.at(sigma), sigma))[:, :2]
