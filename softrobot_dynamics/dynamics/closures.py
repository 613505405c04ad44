# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Closed loops at a state: residuals, Jacobians, forces and mobility.

With the Jacobian J of independent rows, M qdd + h = F + J^T lambda and J qdd + bias = 0. Rows that
depend on others (``redundant``) bear no force: the others bear all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.dynamics.arguments import checked, require_finite
from softrobot_dynamics.dynamics.contacts import contact_forces
from softrobot_dynamics.dynamics.points import Placement
from softrobot_dynamics.dynamics.wrenches import Load, load_force, read_wrenches, Wrenches
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.model.closures import (
    all_rows,
    assembled,
    CLOSED_TOLERANCE,
    ClosureEvaluator,
    ClosurePlan,
    open_loop,
)
from softrobot_dynamics.recursion.singular_mass import accelerations

if TYPE_CHECKING:
    from softrobot_dynamics.model.evaluation import Evaluator
    from softrobot_dynamics.model.model import CompiledModel

_FORCE_TOLERANCE = 1e-12  # of the largest generalized force, in units of coordinates


class Closures(NamedTuple):
    """The closures of a robot at a state: r rows, f freedoms."""

    names: tuple[str, ...]  # (r,) of rows, such as loop/rx: closure and direction
    redundant: tuple[str, ...]  # names of rows that follow from the others
    residual: Vector  # (r,) [rad, m] zero where loops are closed
    jacobian: Matrix  # (r, n) its derivative, where loops are closed
    bias: Vector  # (r,) (dJ/dt) qd [rad/s^2, m/s^2]
    forces: Vector  # (r,) [N m, N] along the rows, on the second frame; 0 of redundant ones
    generalized_force: Vector  # (n,) of all of them
    basis: Matrix  # (n, f) motions that keep loops closed; orthonormal in units of coordinates
    mass: Matrix  # (f, f) the mass matrix of these

    @property
    def mobility(self) -> int:
        """Number of freedoms that the loops leave, f = n - rank J."""
        return int(self.basis.shape[1])


class ClosedState(NamedTuple):
    """A state whose loops are closed."""

    q: Vector  # (n,)
    qd: Vector  # (n,)


class ClosedInverseDynamics(NamedTuple):
    """The actuation that a motion of a robot with closed loops takes."""

    u: Vector  # (m,) the least there is
    forces: Vector  # (r,) of the closures, see Closures
    unmet: Vector  # (n,) generalized force that no actuation has; zero where there are enough
    qdd: Vector  # (n,) the acceleration


def closures(
    model: CompiledModel,
    *,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    u: ArrayLike | None = None,
    wrenches: Wrenches | None = None,
) -> Closures:
    """
    Return the :class:`Closures` at q, qd (n,), by default at rest, under u (m,), by default none.

    The posture may be open. Raises ArgumentError, also for a robot without closures, and
    SingularMassError.
    """
    plan, loads = _plan(model), read_wrenches(model, wrenches)
    q = checked('q', q, (model.n,))
    qd = np.zeros(model.n) if qd is None else checked('qd', qd, (model.n,))
    u = np.zeros(model.m) if u is None else checked('u', u, (model.m,))
    evaluator = _evaluated(model, q, qd)
    force, M = tree_force(model, evaluator.evaluate, q, qd, u, loads), evaluator.evaluate.terms.M
    rows, J = evaluator.closures, evaluator.closures.J
    forces = _multipliers(model, plan, evaluator, force)[0]
    basis = _basis(plan, J)
    return Closures(
        names=plan.names,
        redundant=plan.redundant,
        residual=rows.residual.copy(),
        jacobian=J.copy(),
        bias=rows.bias.copy(),
        forces=forces,
        generalized_force=J.T @ forces,
        basis=basis,
        mass=basis.T @ M @ basis,
    )


def assemble(model: CompiledModel, *, q: ArrayLike, qd: ArrayLike | None = None) -> ClosedState:
    """
    Return the :class:`ClosedState` nearest to q, qd (n,), by default at rest.

    Raises ArgumentError, or OpenLoopError where Newton's method finds no closed posture from q.
    """
    plan = _plan(model)
    q = checked('q', q, (model.n,))
    qd = np.zeros(model.n) if qd is None else checked('qd', qd, (model.n,))
    evaluator = _made(model)
    closed = assembled(model, plan, evaluator, q)
    basis, units = _basis(plan, evaluator(closed).J), plan.units
    return ClosedState(closed, basis @ ((basis / units[:, None]).T @ (qd / units)))


def closed_inverse_dynamics(
    model: CompiledModel,
    *,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    wrenches: Wrenches | None = None,
) -> ClosedInverseDynamics:
    """
    Return the :class:`ClosedInverseDynamics` at q, qd, qdd (n,): the u and lambda that it takes.

    ``qdd`` is replaced by the nearest acceleration that keeps loops closed. With more actuators
    than freedoms, u (m,) is the solution of least norm. ``sd.inverse_dynamics`` is that of
    the tree without closures: the sum of both generalized forces. Raises ArgumentError.
    """
    plan = _plan(model)
    q, qd = checked('q', q, (model.n,)), checked('qd', qd, (model.n,))
    qdd, units = checked('qdd', qdd, (model.n,)), plan.units
    require_closed(model, q, qd)
    evaluator = _evaluated(model, q, qd)
    terms, J = evaluator.evaluate.terms, evaluator.closures.J[plan.independent_rows]
    scaled = J * units
    lack = J @ qdd + evaluator.closures.bias[plan.independent_rows]
    qdd = qdd - units * (np.linalg.pinv(scaled) @ lack)
    needed = terms.M @ qdd - tree_force(
        model, evaluator.evaluate, q, qd, np.zeros(model.m), read_wrenches(model, wrenches)
    )
    basis, A = _basis(plan, evaluator.closures.J), terms.J.T * model.signs
    u = np.linalg.pinv(basis.T @ A) @ (basis.T @ needed)
    left = units * (needed - A @ u)  # energies by units of coordinates
    forces = np.zeros(len(plan.rows))
    forces[plan.independent_rows] = np.linalg.lstsq(scaled.T, left, rcond=None)[0]
    unmet = left - scaled.T @ forces[plan.independent_rows]
    unmet[np.abs(unmet) <= _FORCE_TOLERANCE * np.abs(units * needed).max(initial=0.0)] = 0.0
    return ClosedInverseDynamics(u, forces, unmet / units, qdd)


def closed_acceleration(model: CompiledModel, q: Vector, qd: Vector, force: Vector) -> Vector:
    """
    Return qdd (n,) under a generalized force (n,) that is to equal M qdd - J^T lambda.

    At a closed state; ArgumentError where it is open.
    """
    require_closed(model, q, qd)
    return _multipliers(model, _plan(model), _evaluated(model, q, qd), force)[1]


def require_closed(model: CompiledModel, q: Vector, qd: Vector) -> None:
    """Raise ArgumentError where loops of a model with closures are open at q, qd (n,)."""
    plan, rows = _plan(model), _evaluated(model, q, qd).closures
    e = plan.weights * rows.residual
    if not np.linalg.norm(e) <= CLOSED_TOLERANCE:
        words = f'a posture whose loops are closed ({open_loop(model, plan, e, "none")})'
        raise ArgumentError('q', q, words.replace('; expected none', ''))
    speeds = plan.weights * (rows.J @ qd)
    fast = float(np.abs(qd / plan.units).max(initial=0.0))
    if not np.abs(speeds).max(initial=0.0) <= 10.0 * CLOSED_TOLERANCE * fast:
        name = plan.names[int(np.argmax(np.abs(speeds)))]
        raise ArgumentError('qd', qd, f'rates that keep loops closed: they open {name}')


def _plan(model: CompiledModel) -> ClosurePlan:
    """Return the plan of a model; ArgumentError if it has no closures."""
    if model.closure_plan is None:
        name = model.description.name
        raise ArgumentError('model', name, 'a robot with closures')
    return model.closure_plan


def _made(model: CompiledModel) -> ClosureEvaluator:
    """Return the evaluator of this thread."""
    evaluator: ClosureEvaluator = model.per_thread.made(all_rows)
    return evaluator


def _evaluated(model: CompiledModel, q: Vector, qd: Vector) -> ClosureEvaluator:
    """Return the evaluator after an evaluation; ArgumentError where there are no numbers."""
    evaluator = _made(model)
    evaluator(q, qd)
    require_finite(model, q, evaluator.evaluate.terms.h)
    return evaluator


def tree_force(
    model: CompiledModel,
    evaluate: Evaluator,
    q: Vector,
    qd: Vector,
    u: Vector,
    loads: Sequence[Load],
) -> Vector:
    """Return the generalized force (n,) without closures, less ID(q, qd, 0), evaluated before."""
    force: Vector = (model.signs * u) @ evaluate.terms.J - evaluate.terms.h
    if loads:
        force += load_force(Placement(model, evaluate.robot, q), loads)
    if contact := model.per_thread.made(contact_forces):
        force += contact.force(q, qd)
    return force


def _multipliers(
    model: CompiledModel, plan: ClosurePlan, evaluator: ClosureEvaluator, force: Vector
) -> tuple[Vector, Vector]:
    """Return the forces (r,) of closures and qdd (n,), after an evaluation."""
    rows, M = evaluator.closures, evaluator.evaluate.terms.M
    w, J = plan.weights[plan.independent_rows], rows.J[plan.independent_rows]
    answers = accelerations(model, M, np.vstack([w[:, None] * J, force]))
    by_forces, free = answers[:-1], answers[-1]
    scaled = w[:, None] * J
    needed = -w * rows.bias[plan.independent_rows] - scaled @ free
    forces, scaled_forces = np.zeros(len(plan.rows)), np.linalg.solve(scaled @ by_forces.T, needed)
    forces[plan.independent_rows] = w * scaled_forces
    return forces, free + scaled_forces @ by_forces


def _basis(plan: ClosurePlan, J: Matrix) -> Matrix:
    """Return a basis (n, f) of the motions that rows (r, n) of closures allow."""
    units, independent = plan.units, plan.independent_rows
    rows = plan.weights[independent, None] * J[independent] * units
    full = np.linalg.qr(rows.T, mode='complete')[0]
    basis: Matrix = units[:, None] * full[:, len(independent) :]
    return basis
