# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Derivatives of inverse and forward dynamics by the state, for linear control and integrators.

Those of the recursion come from :mod:`softrobot_dynamics.recursion.derivative_passes`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.compiling.addresses import EMPTY_ENTRY, run_three
from softrobot_dynamics.compiling.binding import cached, entry
from softrobot_dynamics.dynamics.arguments import checked
from softrobot_dynamics.dynamics.contacts import contact_forces, ContactStiffness
from softrobot_dynamics.dynamics.derivative_workspace import DerivativeWorkspace
from softrobot_dynamics.dynamics.jacobians import load_stiffness
from softrobot_dynamics.dynamics.points import Placement
from softrobot_dynamics.dynamics.response import add_lines, fill_actuator_stiffness, respond
from softrobot_dynamics.dynamics.wrenches import load_force, read_wrenches, Wrenches
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.model.closures import require_tree
from softrobot_dynamics.recursion.actuation_hessians import fibre_stiffness, Hessians, no_hessians
from softrobot_dynamics.recursion.passes import Robot
from softrobot_dynamics.recursion.singular_mass import accelerations
from softrobot_dynamics.recursion.transmission import has_lines

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class InverseDynamicsDerivatives(NamedTuple):
    """Derivatives of nu = ID(q, qd, qdd), (n, n) each; that by qdd is the mass matrix."""

    by_q: Matrix
    by_qd: Matrix
    by_qdd: Matrix


class ForwardDynamicsDerivatives(NamedTuple):
    """The acceleration (n,) at (q, qd, u) and its derivatives (n, n), (n, n), (n, m)."""

    qdd: Vector
    by_q: Matrix
    by_qd: Matrix
    by_u: Matrix


class Differentiator:
    """
    Derivatives of one robot in arrays of its own, filled anew by every call; one for each thread.

    Arguments are contiguous float arrays, unchecked. In :meth:`forward` a ``force`` (n,) from
    outside acts as well, if there is such an array; its numbers may change. If it is
    ``commanded``, u are commands: of position-controlled actuators the positions, by which there
    are no derivatives. If it is ``touching``, stiffness and damping of contact
    count, with obstacles where they are at ``time`` [s], but its force does not. After that the
    derivatives of the forces that the acceleration balances are in ``M`` (n, n), by qdd,
    ``by_state`` (n, 2 n), of ID by q and qd, and ``stiffness`` (n, n), of A(q) u by q; the
    ``tangents`` have the twists and motions of all frames, the ``response`` the factors of M, the
    ``terms`` the gradients of lengths, ``drives`` what cables pull with whose positions are
    commanded.

    Kernels that do as :meth:`forward` take a :class:`~.derivative_workspace.DerivativeWorkspace`.
    """

    def __init__(
        self,
        model: CompiledModel,
        force: Vector | None = None,
        *,
        commanded: bool = False,
        touching: bool = False,
    ) -> None:
        plan, n = model.contact_plan if touching else None, model.n
        self._touching: ContactStiffness | None = None
        self.time = 0.0
        if plan is not None:
            self._touching = ContactStiffness(model, plan)
            accelerations(model, np.eye(n), np.zeros(n))  # compiles
        workspace = DerivativeWorkspace(model, force, commanded=commanded)
        self.model, self._workspace = model, workspace
        self.robot, self.tangents = workspace.robot, workspace.tangents
        self.terms, self.drives = workspace.terms, workspace.drives
        self.response, self.M = workspace.response, workspace.terms.M
        self.by_state = workspace.tangents.by_state
        change, self.stiffness = workspace.response.change, workspace.response.stiffness
        self._forward = ForwardDynamicsDerivatives(
            workspace.response.qdd, change[:, :n], change[:, n : 2 * n], change[:, 2 * n :]
        )
        self._differentiate = cached(
            run_three, 'VECTOR, VECTOR, VECTOR', entry=workspace.stages.whole
        )
        self._actuation = self.along(workspace.robot, model.hessians())
        self._respond = cached(
            respond,
            robot=workspace.robot,
            parts=workspace.parts,
            terms=workspace.terms,
            by_state=self.by_state,
            r=workspace.response,
        )

    def inverse(self, q: Vector, qd: Vector, qdd: Vector) -> tuple[Vector, Matrix]:
        """Return ID (n,) and its derivatives by (q, qd), (n, 2 n)."""
        self._differentiate(q, qd, qdd)
        return self.tangents.force, self.tangents.by_state

    def actuation_stiffness(self, q: Vector, u: Vector) -> Matrix:
        """
        Return the derivative (n, n) by q of the actuation's generalized force A(q) u.

        What `inverse` has returned before may be lost.
        """
        return self._actuation(q, u * self.model.signs)

    def along(
        self, robot: Robot, hessians: Hessians | None = None
    ) -> Callable[[Vector, Vector], Matrix]:
        """
        Return a function of q (n,) and forces (s,) along the lengths that are segments of a robot.

        It is this one, or has its workspace; ``hessians`` are those of its segments. The function
        returns the derivative (n, n) by q of their generalized force; what `inverse` has returned
        before may be lost.
        """
        zero, stiffness, lines = np.zeros(self.model.n), np.zeros((self.model.n,) * 2), EMPTY_ENTRY
        given = {'robot': robot, 'stiffness': stiffness}
        hessians = no_hessians(robot) if hessians is None else hessians
        if has_lines(robot):
            lines = entry(add_lines, t=self.tangents, **given)
        fibres = entry(fibre_stiffness, hessians=hessians, x=self.response.x, **given)
        fill = cached(fill_actuator_stiffness, fibres=fibres, lines=lines)

        def differentiate(q: Vector, force: Vector) -> Matrix:
            """Return the derivative (n, n) by q of the generalized force of forces (s,)."""
            if lines is not EMPTY_ENTRY:  # they need twists at q, and there may be others
                self._differentiate(q, zero, zero)
            fill(q, force)
            return stiffness

        return differentiate

    def forward(self, q: Vector, qd: Vector, u: Vector) -> ForwardDynamicsDerivatives:
        """Return the :class:`ForwardDynamicsDerivatives`; SingularMassError."""
        self._workspace.command[:] = u
        if self._respond(q, qd, u):
            accelerations(self.model, self.M, np.zeros(self.model.n))  # raises
        if (touches := self._of_contact(q, qd)) is not None:
            self.by_state += touches
            rates = self.response.change[:, : 2 * len(q)]
            rates -= accelerations(self.model, self.M, touches.T).T
        return self._forward

    def _of_contact(self, q: Vector, qd: Vector) -> Matrix | None:
        """Return the stiffness and damping (n, 2 n) of contact at (q, qd), if anything touches."""
        touching = self._touching
        if touching is None or not touching.force(q, qd, self.time).any():
            return None
        return touching.by_state()


def inverse_dynamics_derivatives(
    model: CompiledModel,
    *,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    wrenches: Wrenches | None = None,
) -> InverseDynamicsDerivatives:
    """
    Return the :class:`InverseDynamicsDerivatives` at q, qd, qdd (n,) each.

    ``wrenches`` act from outside, as in ``sd.inverse_dynamics``. Raises ArgumentError.
    """
    n, loads = model.n, read_wrenches(model, wrenches)
    q, qd, qdd = checked('q', q, (n,)), checked('qd', qd, (n,)), checked('qdd', qdd, (n,))
    differentiator = Differentiator(model)
    by_state = _finite(q, differentiator.inverse(q, qd, qdd)[1])
    by_q = by_state[:, :n] - load_stiffness(
        model, differentiator.robot, differentiator.tangents, q, loads
    )
    mass = model.per_thread.evaluator(q, qd).M.copy()
    return InverseDynamicsDerivatives(by_q, by_state[:, n:].copy(), mass)


def forward_dynamics_derivatives(
    model: CompiledModel,
    *,
    q: ArrayLike,
    qd: ArrayLike,
    u: ArrayLike,
    wrenches: Wrenches | None = None,
) -> ForwardDynamicsDerivatives:
    """
    Return the :class:`ForwardDynamicsDerivatives` at q, qd (n,) and u (m,).

    ``wrenches`` act from outside, as in ``sd.forward_dynamics``: how they turn with a body, or
    against it, is part of ``by_q``; so is contact. Raises ArgumentError, also for a robot with
    closures, or SingularMassError where nothing has inertia along a coordinate.
    """
    require_tree(model, 'derivatives of forward dynamics, other than sd.linearise, are')
    n, loads = model.n, read_wrenches(model, wrenches)
    q, qd, u = checked('q', q, (n,)), checked('qd', qd, (n,)), checked('u', u, (model.m,))
    force = None
    if loads:
        model.per_thread.evaluator(q, qd)
        force = load_force(Placement(model, model.per_thread.evaluator.robot, q), loads)
    contact = model.per_thread.made(contact_forces)
    if contact:
        force = contact.force(q, qd) + (0.0 if force is None else force)
    differentiator = Differentiator(model, force)
    result = differentiator.forward(q, qd, u)
    _finite(q, result.by_q)
    if loads:
        stiffness = load_stiffness(model, differentiator.robot, differentiator.tangents, q, loads)
        result.by_q[:] += accelerations(model, differentiator.M, stiffness.T).T
    if contact:
        change = accelerations(model, differentiator.M, contact.derivatives(q, qd).T).T
        result.by_q[:] += change[:, :n]
        result.by_qd[:] += change[:, n:]
    return result


def _finite(q: Vector, result: Array) -> Array:
    if not np.isfinite(result).all():
        raise ArgumentError('q', q, 'a posture that the bodies can represent')
    return result
