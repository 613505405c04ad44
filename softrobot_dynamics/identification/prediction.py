# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Where a robot's markers are at rest, and how that depends on the numbers of its file.

The posture q(θ) is where the static residual r(q, θ) is zero, so dq/dθ = -K⁻¹ ∂r/∂θ with the
static tangent K = ∂r/∂q; only ∂r/∂θ, one evaluation of the residual at a given q, is a difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.dynamics.newton import newton
from softrobot_dynamics.dynamics.points import Placement
from softrobot_dynamics.dynamics.statics import equilibrium, Statics
from softrobot_dynamics.identification.parameters import Parameters
from softrobot_dynamics.identification.postures import Marker, Postures
from softrobot_dynamics.model.model import compile_model, CompiledModel

_FEW = 30  # iterations of Newton's method from the last posture


class _Seen(NamedTuple):
    """A robot at rest: q (P, n), markers (P, K, 3) [m] and their Jacobians (P, K, 3, n)."""

    model: CompiledModel
    statics: Statics
    q: Matrix
    points: Array
    jacobians: Array


class Predictor:
    """
    Predicts the markers of :class:`Postures` for numbers x (p,) of :class:`Parameters`.

    Every posture is looked for from where it was last. Not for several threads.
    """

    def __init__(self, parameters: Parameters, postures: Postures) -> None:
        self.parameters, self.postures = parameters, postures
        self._last: tuple[bytes, _Seen] | None = None
        self.evaluations = 0

    @property
    def bounds(self) -> Matrix:
        """Return the least and the largest x, (2, p)."""
        return self.parameters.bounds

    def begin(self, x: Vector) -> Vector:
        """Return what the fit starts with, x itself."""
        return x

    def points(self, x: Vector) -> Array:
        """Return the markers (P, K, 3) [m], base frame; DescriptionError, NotConvergedError."""
        return self._seen(x).points

    def slopes(self, x: Vector) -> Array:
        """Return the derivatives of the markers by x, (P, K, 3, p); raises as `points`."""
        seen = self._seen(x)
        before = self._residuals(seen.statics, seen.q)
        by_theta = [self._by(seen, before, x, k) for k in range(len(x))]
        slopes = np.empty((*seen.points.shape, len(x)))
        for i, (u, q) in enumerate(zip(self.postures.commands, seen.q)):
            seen.statics.slide(self.postures.sliding[i])
            forces = np.array([r[i] for r, _ in by_theta]).reshape(len(x), -1).T
            K = seen.statics.tangent(q, u)
            change = -seen.model.scales.solve(K, forces)
            slopes[i] = seen.jacobians[i] @ change
            for k, (_, points) in enumerate(by_theta):
                slopes[i, ..., k] += points[i]
        return slopes

    def _seen(self, x: Vector) -> _Seen:
        key = np.asarray(x, dtype=float).tobytes()
        if self._last is None or self._last[0] != key:
            model = compile_model(self.parameters.robot(x))
            statics = Statics(model, commanded=True)
            q = self._rest(statics)
            self._last = (
                key,
                _Seen(model, statics, q, *markers_at(model, self.postures.markers, q)),
            )
            self.evaluations += 1
        return self._last[1]

    def _rest(self, statics: Statics) -> Matrix:
        """Return the postures (P, n), from those of the last robot if there was one."""
        q = []
        for i, (u, ways) in enumerate(zip(self.postures.commands, self.postures.sliding)):
            near = None if self._last is None else self._last[1].q[i]
            statics.slide(ways)
            found = None if near is None else newton(statics, near, u, _FEW)
            if found is not None and found.balanced and found.direct:
                q.append(found.q)
            else:
                q.append(equilibrium(statics.model, command=u, q0=near, sliding=ways).q)
        return np.array(q)

    def _by(self, seen: _Seen, before: Matrix, x: Vector, k: int) -> tuple[Matrix, Array]:
        """Return derivatives by x_k at fixed q: residuals (P, n) and markers (P, K, 3)."""
        robot, step = self.parameters.beside(x, k)
        model = compile_model(robot)
        after = self._residuals(Statics(model, commanded=True), seen.q)
        points = markers_at(model, self.postures.markers, seen.q)[0]
        return (after - before) / step, (points - seen.points) / step

    def _residuals(self, statics: Statics, q: Matrix) -> Matrix:
        """Return the static residuals (P, n) at q (P, n), under the postures' commands."""
        found = []
        for row, u, ways in zip(q, self.postures.commands, self.postures.sliding):
            statics.slide(ways)
            found.append(statics.residual(row, u)[0])
        return np.array(found)


def markers_at(model: CompiledModel, markers: Sequence[Marker], q: Matrix) -> tuple[Array, Array]:
    """Return the markers (P, K, 3) at postures q (P, n), and their Jacobians (P, K, 3, n)."""
    zero = np.zeros(model.n)
    points = np.empty((len(q), len(markers), 3))
    jacobians = np.empty((*points.shape, model.n))
    bodies = [marker.body for marker in markers]
    for name in dict.fromkeys(bodies):
        own = [k for k, body in enumerate(bodies) if body == name]
        there = np.array([markers[k].point for k in own], dtype=float)
        body = model.body_names.index(name)
        for i, row in enumerate(q):
            evaluator = model.per_thread.evaluator
            evaluator(row, zero)
            found = Placement(model, evaluator.robot, row).points(body, there)
            points[i, own], jacobians[i, own] = found.positions, found.jacobians[:, 3:]
    return points, jacobians
