# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The static residual r(q) = ID(q, 0, 0) - A(q) u - J(q)^T w [P, (55)], and its derivative."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import functools
import math
from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.dynamics.command_conversion import HeldCables
from softrobot_dynamics.dynamics.contacts import contact_forces
from softrobot_dynamics.dynamics.derivatives import Differentiator
from softrobot_dynamics.dynamics.jacobians import load_stiffness
from softrobot_dynamics.dynamics.points import Placement
from softrobot_dynamics.dynamics.saddle_free_newton import NewtonResult
from softrobot_dynamics.dynamics.stability import entries, Linearised
from softrobot_dynamics.dynamics.tendon_friction import Sliding
from softrobot_dynamics.dynamics.wrenches import generalized_force, Load, load_energy
from softrobot_dynamics.kernels.layout import JACOBIAN, ORIGIN
from softrobot_dynamics.model.closures import require_tree
from softrobot_dynamics.model.routes import has_friction
from softrobot_dynamics.recursion.finite_differences import FORMULA_NOISE, STATIC_NOISE
from softrobot_dynamics.recursion.frames import point_jacobian
from softrobot_dynamics.recursion.passes import (
    BODY_COUNT,
    BODY_FIRST,
    BODY_SLAB,
    JOINT_COUNT,
    JOINT_FIRST,
    JOINT_SLAB,
    STATE,
    TIP_POSE,
)
from softrobot_dynamics.schema.poses import transform

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class Statics:
    """
    Static residual of one model, its derivative, and tips; ``loads`` act besides u and gravity.

    If ``commanded``, u are commands, see :func:`~.statics.equilibrium`.
    Only a share of all loads acts, see :meth:`set_load_factor`. ``derivatives`` is
    the model's Differentiator, if there is one already; with ``residual_only`` there is none until
    a derivative is asked for. Friction, see :meth:`slide`, is differenced. A robot with closures
    is an ArgumentError, unless the caller is to keep them ``closed``: this is the residual of its
    tree.
    """

    def __init__(
        self,
        model: CompiledModel,
        loads: Sequence[Load] = (),
        derivatives: Differentiator | None = None,
        commanded: bool = False,
        closed: bool = False,
        residual_only: bool = False,
    ) -> None:
        if not closed:
            require_tree(model, 'planning and fits of postures are')
        self.model, self._evaluate, self._loads = model, model.evaluator(), loads
        self._known_derivatives = derivatives
        if not residual_only:
            self._derivatives  # noqa: B018 (its kernels are compiled here)
        self._zero, self._load_factor = np.zeros(model.n), 1.0
        scales = model.scales
        self._energy = scales.weight + load_energy(scales, loads)
        self._lines = scales.moves_line * scales.reach
        self._jacobian = cached(point_jacobian)
        held = model.positioned & commanded
        self._acts = np.where(held, 0.0, 1.0)  # of u, as it is
        self._cables: HeldCables | None = None
        self._sliding: Sliding | None = None  # made when tendons slide for the first time
        self._friction, self._commanded = False, commanded
        self._contact = contact_forces(model)
        if held.any() or (model.cable_tables.cables[:, 1] == 2).any():
            robot = self._evaluate.robot
            self._cables = HeldCables(model, robot, self._derivatives, commanded)

    @functools.cached_property
    def _derivatives(self) -> Differentiator:
        return self._known_derivatives or Differentiator(self.model)

    def set_load_factor(self, factor: float) -> None:
        """Scale u, gravity and loads by a factor from 0 to 1."""
        gravity = factor * np.array(self.model.description.gravity, dtype=float)
        self._evaluate.robot.gravity[:] = self._derivatives.robot.gravity[:] = gravity
        self._load_factor = factor

    def slide(self, ways: Vector) -> None:
        """Set the directions ``ways`` (m,) in which tendons slid last: 1, in, -1, out, or 0."""
        if self._sliding is None and ways.any() and has_friction(self.model):
            self._sliding = Sliding(self.model, self._evaluate, self._commanded)
        self._friction = self._sliding is not None and self._sliding.take(ways)

    def residual(self, q: Vector, u: Vector) -> tuple[Vector, Vector]:
        """Return the static residual (n,) and the sizes (n,) of the forces in it."""
        elastic, t = self._evaluate.passive(q, self._zero)[0], self._evaluate.terms
        parts = (self._load_factor * self.model.signs * self._acts * u)[:, None] * t.J
        if self._cables:
            parts = np.vstack([parts, -self._load_factor * self._cables.pulls(q, u)])
        if self._loads:
            parts = np.vstack([parts, self._load_force(q)])
        if self._sliding and self._friction:
            parts = np.vstack([parts, self._load_factor * self._sliding.force(q, u)])
        if self._contact:
            parts = np.vstack([parts, self._contact.force(q, self._zero)])
        size = np.abs(parts).max(axis=0, initial=0.0)
        size = np.maximum(np.maximum(size, np.abs(t.h)), np.abs(elastic))
        return t.h - parts.sum(axis=0), np.maximum(size, self._carried(u))

    def _carried(self, u: Vector) -> Vector:
        """
        Return the sizes (n,) of the summands of forces along coordinates, at any posture.

        Weight beyond, lines that pass by and loads may all cancel, as on a turntable: what is left
        is their rounding. So it is with elastic forces near rest.
        """
        scales = self.model.scales
        carried = self._energy + np.abs(self._acts * u) @ self._lines
        if self._cables:
            carried = carried + self._cables.tension() * self._lines.max(axis=0, initial=0.0)
        return (self._load_factor * carried + scales.stiff) / scales.units

    def tangent(self, q: Vector, u: Vector) -> Matrix:
        """Stiffness d residual / dq (n, n)."""
        own, n = self._derivatives.inverse(q, self._zero, self._zero)[1], self.model.n
        K: Matrix = own[:, :n].copy()
        if self._loads:
            at = self._derivatives.robot, self._derivatives.tangents
            K -= self._load_factor * load_stiffness(self.model, *at, q, self._loads)
        K -= self._load_factor * self._derivatives.actuation_stiffness(q, self._acts * u)
        if self._cables:
            self._evaluate(q, self._zero)
            K += self._load_factor * self._cables.stiffness(q, u)
        if self._sliding and self._friction:
            K -= self._load_factor * self._sliding.derivative(q, u)
        if self._contact:
            K -= self._contact.derivatives(q, self._zero)[:, :n]
        return K

    def stiffness(self, q: Vector, u: Vector, size: Vector) -> tuple[Matrix, Vector]:
        """
        Return `tangent` (n, n), its rounding taken for zero, and the noise (n,) of its diagonal.

        ``size`` (n,) is that of the forces at q. Along a joint that may rest
        anywhere it is zero.
        """
        share = STATIC_NOISE if self._friction else FORMULA_NOISE
        K, noise = self.tangent(q, u), share * size / self.model.scales.units
        K[np.abs(K) < entries(noise)] = 0.0
        return K, noise

    def linearised(self, q: Vector, u: Vector) -> Linearised:
        """Return the motion about q (n,) under u (m,), :class:`Linearised`."""
        size = self.residual(q, u)[1]
        M = self._evaluate.terms.M + np.diag(self.model.least_mass)  # none is not solved for
        K, noise = self.stiffness(q, u, size)
        D = self._derivatives.inverse(q, self._zero, self._zero)[1][:, self.model.n :].copy()
        if self._contact:
            D -= self._contact.derivatives(q, self._zero)[:, self.model.n :]
        return Linearised(K, D, M, noise)

    def is_stable_equilibrium(self, found: NewtonResult, u: Vector) -> bool:
        """Tell whether a posture is balanced, and stable against small motions."""
        return found.balanced and self.linearised(found.q, u).stability().stands

    def restart_at(self, q: Vector) -> Vector:
        """Return q (n,): coordinates of a tree are the same everywhere."""
        return q

    def posture_fault(self, q: Vector) -> str:
        """Return in words why q (n,) is no valid posture: a body would be inside out; or ''."""
        for module, _, own in self.model.description.coordinate_slices():
            stretch = module.body.stretch(q[own]) if own.stop > own.start else 1.0
            if not stretch > 0.0:
                return f'{module.name} would be turned inside out, with a stretch of {stretch:.3g}'
        return ''

    def _load_force(self, q: Vector) -> Vector:
        """Generalized force (n,) of the loads at the posture that was evaluated last."""
        placed = Placement(self.model, self._evaluate.robot, q)
        return self._load_factor * generalized_force(placed, self._loads)

    def step_rotation(self, step: Vector) -> float:
        """Largest angle [rad] by which a joint or a body turns by a small step (n,) of q."""
        return self._largest(step, 0)

    def step_lengthening(self, step: Vector) -> float:
        """Largest share of its length by which the robot grows by a small step (n,) of q."""
        return self._largest(step, 1) / self.model.scales.length

    def _largest(self, step: Vector, kind: int) -> float:
        """Largest change of a frame by a step: in its angular (0) or linear (1) Jacobian."""
        robot, largest = self._evaluate.robot, 0.0
        for row in robot.modules:
            for first, count, slab in (
                row[[JOINT_FIRST, JOINT_COUNT, JOINT_SLAB]],
                row[[BODY_FIRST, BODY_COUNT, BODY_SLAB]],
            ):
                start = slab + JACOBIAN + 3 * count * kind
                columns = robot.W[start : start + 3 * count].reshape(count, 3)
                change = step[first : first + count] @ columns
                largest = max(largest, math.hypot(*change))  # a step may be too large to square
        return largest

    def actuation_matrix(self) -> Matrix:
        """Return A (n, m) at the last residual's posture."""
        return (self._evaluate.terms.J * self.model.signs[:, None]).T

    def tips(self, bodies: Iterable[int]) -> tuple[Matrix, Array]:
        """Tip points (P, 3) and their Jacobians (P, 3, n) at the last residual's posture."""
        poses, jacobians = self.tip_poses(bodies)
        return poses[:, :3, 3], jacobians[:, 3:]

    def tip_poses(self, bodies: Iterable[int]) -> tuple[Array, Array]:
        """
        Tip frames (P, 4, 4) and their Jacobians (P, 6, n) at the last residual's posture.

        Angular rows first; both in the base frame.
        """
        robot = self._evaluate.robot
        J, poses, jacobians = np.empty(6 * self.model.n), [], []
        for body in bodies:
            start = body * STATE + TIP_POSE
            rotation, point = robot.W[start : start + ORIGIN], robot.W[start + ORIGIN :][:3].copy()
            poses.append(transform(rotation.reshape(3, 3), point))
            self._jacobian(robot, body, True, point, J)
            jacobians.append(J.reshape(6, -1).copy())
        return np.array(poses), np.array(jacobians)
