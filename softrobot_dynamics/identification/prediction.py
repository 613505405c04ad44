# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Predict a robot's markers at rest, and their derivatives by the numbers of its file.

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
from softrobot_dynamics.dynamics.static_residual import Statics
from softrobot_dynamics.dynamics.statics import equilibrium
from softrobot_dynamics.identification.fit_parameters import FitParameters
from softrobot_dynamics.identification.postures import Marker, Postures
from softrobot_dynamics.model.model import compile_model, CompiledModel

_NEAR_ITERATIONS = 30  # of Newton's method from the last posture


class _PredictedMarkers(NamedTuple):
    """A robot at rest: q (P, n), and where its markers are."""

    model: CompiledModel
    statics: Statics
    q: Matrix
    marked: Marked


class Predictor:
    """
    Predicts the markers of :class:`Postures` for z: numbers x (p,) of :class:`FitParameters`.

    Behind them stand offsets (3 L,) [m] of the markers whose places are not known exactly, in the
    material frames at their points. Every posture is looked for from where it was last. Not for
    several threads.
    """

    def __init__(self, parameters: FitParameters, postures: Postures) -> None:
        self.parameters, self.postures, self._p = parameters, postures, len(parameters.each)
        self._last: tuple[bytes, _PredictedMarkers] | None = None
        self.evaluations = 0

    @property
    def bounds(self) -> Matrix:
        """Return the least and the largest x, (2, p)."""
        anywhere = np.full(len(self.postures.deviations), np.inf)
        return np.hstack([self.parameters.bounds, [-anywhere, anywhere]])

    def begin(self, x: Vector) -> Vector:
        """Return the z that a fit starts with: x, and markers at their points."""
        return np.r_[x, 0.0 * self.postures.deviations]

    def points(self, z: Vector) -> Array:
        """Return the markers (P, K, 3) [m], base frame; DescriptionError, NotConvergedError."""
        return self._seen(z).marked.points

    def derivatives(self, z: Vector) -> Array:
        """Return the derivatives of the markers by z, (P, K, 3, .); raises as `points`."""
        seen, x = self._seen(z), z[: self._p]
        before = self._residuals(seen.statics, seen.q)
        by_theta = [self._by(seen, before, z, k) for k in range(self._p)]
        derivatives = np.zeros((*seen.marked.points.shape, len(z)))
        for i, (u, q) in enumerate(zip(self.postures.commands, seen.q)):
            seen.statics.slide(self.postures.sliding[i])
            forces = np.array([r[i] for r, _ in by_theta]).reshape(len(x), -1).T
            K = seen.statics.tangent(q, u)
            change = -seen.model.scales.solve(K, forces)
            derivatives[i, ..., : self._p] = seen.marked.jacobians[i] @ change
            for k, (_, points) in enumerate(by_theta):
                derivatives[i, ..., k] += points[i]
        for j, k in enumerate(self.postures.loose):
            first = self._p + 3 * j
            derivatives[:, k, :, first : first + 3] = seen.marked.frames[:, k]
        return derivatives

    def _offsets(self, z: Vector) -> Matrix:
        """Return where markers are beside their points, (K, 3) [m]."""
        offsets = np.zeros((len(self.postures.markers), 3))
        offsets[self.postures.loose] = z[self._p :].reshape(-1, 3)
        return offsets

    def _seen(self, z: Vector) -> _PredictedMarkers:
        x, key = z[: self._p], np.asarray(z, dtype=float).tobytes()
        if self._last is None or self._last[0] != key:
            model = compile_model(self.parameters.robot(x))
            statics = Statics(model, commanded=True)
            q = self._rest(statics)
            marked = markers_at(model, self.postures.markers, q, self._offsets(z))
            self._last = key, _PredictedMarkers(model, statics, q, marked)
            self.evaluations += 1
        return self._last[1]

    def _rest(self, statics: Statics) -> Matrix:
        """Return the postures (P, n), from those of the last robot if there was one."""
        q = []
        for i, (u, ways) in enumerate(zip(self.postures.commands, self.postures.sliding)):
            near = None if self._last is None else self._last[1].q[i]
            statics.slide(ways)
            found = None if near is None else newton(statics, near, u, _NEAR_ITERATIONS)
            if found is not None and found.balanced and found.direct:
                q.append(found.q)
            else:
                q.append(equilibrium(statics.model, command=u, q0=near, sliding=ways).q)
        return np.array(q)

    def _by(
        self, seen: _PredictedMarkers, before: Matrix, z: Vector, k: int
    ) -> tuple[Matrix, Array]:
        """Return derivatives by x_k at fixed q: residuals (P, n) and markers (P, K, 3)."""
        robot, step = self.parameters.beside(z[: self._p], k)
        model = compile_model(robot)
        statics = Statics(model, commanded=True, residual_only=True)
        after = self._residuals(statics, seen.q)
        offsets = self._offsets(z)
        points = markers_at(model, self.postures.markers, seen.q, offsets).points
        return (after - before) / step, (points - seen.marked.points) / step

    def _residuals(self, statics: Statics, q: Matrix) -> Matrix:
        """Return the static residuals (P, n) at q (P, n), under the postures' commands."""
        found = []
        for row, u, ways in zip(q, self.postures.commands, self.postures.sliding):
            statics.slide(ways)
            found.append(statics.residual(row, u)[0])
        return np.array(found)


class Marked(NamedTuple):
    """Markers (P, K, 3) [m], base frame, their Jacobians (P, K, 3, n), frames (P, K, 3, 3)."""

    points: Array
    jacobians: Array
    frames: Array  # rotations to the base frame of the material frames at the markers' points


def markers_at(
    model: CompiledModel, markers: Sequence[Marker], q: Matrix, offsets: Matrix | None = None
) -> Marked:
    """Return the markers at postures q (P, n), ``offsets`` (K, 3) [m] beside their points."""
    zero, shape = np.zeros(model.n), (len(q), len(markers), 3)
    marked = Marked(np.empty(shape), np.empty((*shape, model.n)), np.empty((*shape, 3)))
    bodies = [marker.body for marker in markers]
    offsets = np.zeros(shape[1:]) if offsets is None else offsets
    for name in dict.fromkeys(bodies):
        own = [k for k, body in enumerate(bodies) if body == name]
        there = np.array([markers[k].point for k in own], dtype=float)
        body = model.body_names.index(name)
        turns = np.empty((len(q), len(own), 3, model.n))  # angular rows of the Jacobians
        for i, row in enumerate(q):
            evaluator = model.per_thread.evaluator
            evaluator(row, zero)
            found = Placement(model, evaluator.robot, row).points(body, there)
            marked.points[i, own], marked.frames[i, own] = found.positions, found.frames[:, :3, :3]
            turns[i], marked.jacobians[i, own] = found.jacobians[:, :3], found.jacobians[:, 3:]
        arms = np.einsum('pkij,kj->pki', marked.frames[:, own], offsets[own])
        marked.points[:, own] += arms
        # of a point on a rigid arm
        marked.jacobians[:, own] += np.cross(turns, arms[..., None], axis=2)
    return marked
