# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Contacts of a robot with its surroundings and with itself at a state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.deprecation import former_names
from softrobot_dynamics.dynamics.arguments import checked
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.model.contacts import contact_of, ContactPlan
from softrobot_dynamics.recursion.contact_forces import (
    add_contact_stiffness,
    evaluate_with_contact,
)
from softrobot_dynamics.recursion.contact_pairs import (
    A,
    A_END,
    B,
    B_END,
    CENTRE,
    HALF,
    KIND,
    RADIUS_B,
    SEGMENT_CYLINDER,
    SOLID_SOLID,
)
from softrobot_dynamics.recursion.contact_workspace import ContactWorkspace
from softrobot_dynamics.recursion.finite_differences import by_fourth_order, CONTACT_STEP

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class Contacts(NamedTuple):
    """Pairs of surfaces that are near each other or touch, C of them, nearest first."""

    bodies: tuple[tuple[str, str], ...]  # (C,) names of bodies, objects or shapes of environment
    gap: Vector  # (C,) [m] < 0 where they overlap
    points: Matrix  # (C, 3) [m] in the middle between the surfaces, base frame
    normals: Matrix  # (C, 3) from the second to the first, base frame
    force: Vector  # (C,) [N] that pushes them apart
    friction: Matrix  # (C, 3) [N] on the first, base frame
    jacobians: Matrix  # (C, 3, n) of the velocity of the first past the second, base frame
    generalized_force: Vector  # (n,) of all of them


@former_names(other='near_shape')
class NearPoint(NamedTuple):
    """A material point on the axis of a body's shape, nearest to another shape."""

    body: str
    point: Vector  # (3,) [m] in the frame at the body's joint
    near_shape: str  # the body, object or shape of the environment that is near
    gap: float  # [m] between the surfaces


class ContactForces:
    """
    Generalized forces of contact of a model in which something may touch; one for each thread.

    Surfaces that overlap are taken to have met at their present speed (for their restitution).
    Arguments are contiguous float arrays, unchecked.
    """

    def __init__(self, model: CompiledModel, plan: ContactPlan) -> None:
        evaluate = model.evaluator()
        self._model, self._h = model, np.zeros(model.n)
        self.contact = contact_of(model, evaluate.robot, plan)
        given = {'evaluate': evaluate.entry, 'contact': self.contact, 'h': self._h}
        self._evaluate = cached(evaluate_with_contact, **given)

    def force(self, q: Vector, qd: Vector, t: float = 0.0) -> Vector:
        """Return the generalized force (n,), with obstacles where they are at t [s]."""
        self.contact.moving.time[0] = t
        self.contact.onset[:] = 0.0
        return self._found(q, qd)

    def derivatives(self, q: Vector, qd: Vector) -> Matrix:
        """
        Return the derivatives (n, 2 n) of the force by q and qd.

        By differences of fourth order: where surfaces just meet or part there is none, and half of
        what it is on one side is returned.
        """
        n, units = len(q), self._model.scales.units
        if not self.force(q, qd).any():
            return np.zeros((n, 2 * n))
        steps = CONTACT_STEP * np.concatenate([units, units * self._model.scales.rate])

        def of_state(x: Vector) -> Vector:
            """Return the generalized force (n,) at a state (2 n,)."""
            return self._found(x[:n].copy(), x[n:].copy())

        return by_fourth_order(of_state, np.concatenate([q, qd]), steps, range(2 * n))

    def _found(self, q: Vector, qd: Vector) -> Vector:
        self._h[:] = 0.0
        self._evaluate(q, qd)
        return -self._h


class ContactStiffness(ContactForces):
    """Contact forces with their stiffness and damping, in one evaluation each."""

    def __init__(self, model: CompiledModel, plan: ContactPlan) -> None:
        super().__init__(model, plan)
        self._K, self._D = np.zeros((2, model.n, model.n))
        self._add = cached(add_contact_stiffness, contact=self.contact, K=self._K, D=self._D)
        self._add()  # compiles

    def by_state(self) -> Matrix:
        """
        Return stiffness and damping (n, 2 n) where :meth:`force` was asked for last.

        The geometric stiffness, by the change of normals and Jacobians, is neglected.
        """
        self._K[:], self._D[:] = 0.0, 0.0
        self._add()
        return np.hstack([self._K, self._D])


def contact_forces(model: CompiledModel) -> ContactForces | None:
    """Return new :class:`ContactForces` of a model; None where nothing can touch."""
    plan = model.contact_plan
    return None if plan is None else ContactForces(model, plan)


def contacts(
    model: CompiledModel, *, q: ArrayLike, qd: ArrayLike | None = None, t: float = 0.0
) -> Contacts:
    """
    Return the :class:`Contacts` at q, qd (n,), by default at rest, and at a time t [s].

    The time matters where obstacles are given a motion. Pairs are those whose gap is below a tenth
    of the smallest radius of a shape. Surfaces that overlap are taken to have met at their present
    speed. Raises ArgumentError.
    """
    q = checked('q', q, (model.n,))
    qd = np.zeros(model.n) if qd is None else checked('qd', qd, (model.n,))
    plan, n = model.contact_plan, model.n
    forces = model.per_thread.made(contact_forces)
    if plan is None or forces is None:
        none, three = np.zeros(0), np.zeros((0, 3))
        return Contacts((), none, three, three, none, three, np.zeros((0, 3, n)), np.zeros(n))
    total, contact = forces.force(q, qd, t), forces.contact
    near = contact.candidates[1 : 1 + contact.candidates[0]]
    near = near[contact.gap[near] < contact.detection_distance]
    near = near[np.argsort(contact.gap[near], kind='stable')]
    jacobians = contact.J[near].reshape(-1, 3, n)
    return Contacts(
        bodies=tuple(plan.names[i] for i in near),
        gap=contact.gap[near],
        points=contact.point[near],
        normals=contact.normal[near],
        force=contact.force[near],
        friction=np.where(contact.force[near, None] > 0.0, contact.friction[near], 0.0),
        jacobians=jacobians,
        generalized_force=total,
    )


def near_points(model: CompiledModel, q: Vector, within: float, t: float = 0.0) -> list[NearPoint]:
    """
    Return the points of bodies whose gap to another shape is at most ``within`` [m] at q.

    ``t`` [s]: the time of the motions that obstacles are given.
    """
    plan, forces = model.contact_plan, model.per_thread.made(contact_forces)
    if plan is None or forces is None:
        return []
    forces.contact.placed[:] = np.inf  # measures all pairs, not only those that may touch
    forces.force(q, np.zeros(model.n), t)
    nodes = [(b, *node) for b, points, axes in plan.bodies for node in zip(points, axes)]
    points = []
    for i in np.flatnonzero(forces.contact.gap <= within):
        for start, end, share in zip((A, B), (A_END, B_END), forces.contact.segment_parameters[i]):
            if plan.pairs[i, start] >= len(nodes):
                continue  # a shape that stands still
            body, point, axes = nodes[plan.pairs[i, start]]
            there = point + share * (nodes[plan.pairs[i, end]][1] - point)
            near = forces.contact.gap[i] < forces.contact.detection_distance
            if plan.pairs[i, KIND] == SOLID_SOLID and near:
                T = forces.contact.frames[plan.pairs[i, start]].reshape(4, 4)
                off = T[:3, :3].T @ (forces.contact.point[i] - T[:3, 3])
                there = point + axes.reshape(3, 3) @ off
            name = model.body_names[body]
            other = next((each for each in plan.names[i] if each != name), name)
            points.append(NearPoint(name, there, other, float(forces.contact.gap[i])))
    return points


def require_apart(model: CompiledModel, q: Vector) -> None:
    """Raise ArgumentError by name where surfaces overlap deeper at q (n,) than they may rest."""
    if model.contact_plan is None:
        return
    found = contacts(model, q=q)
    within = _middles_within(model.contact_plan, model.per_thread.made(contact_forces).contact)
    for (a, b), gap in (*zip(found.bodies, found.gap), *within):
        if -gap > model.contact_plan.depth:
            words = f'a posture where {a} and {b} do not overlap, as they do by {-gap:.3g} m'
            raise ArgumentError('q', q.tolist() if len(q) <= 12 else 'the initial posture', words)


def _middles_within(
    plan: ContactPlan, contact: ContactWorkspace
) -> Iterator[tuple[tuple[str, str], float]]:
    """
    Yield names and gap [m] of the middle of each solid that touches cylinders to these.

    Rims that almost coincide show no overlap: those of two cylinders in one place.
    """
    for pair, number, names in zip(plan.pairs, plan.numbers, plan.names):
        if pair[KIND] == SEGMENT_CYLINDER and pair[CENTRE] != pair[A]:
            T, C = (contact.frames[pair[k]].reshape(4, 4) for k in (B, CENTRE))
            x, y, z = T[:3, :3].T @ (C[:3, 3] - T[:3, 3])
            aside, along = np.hypot(x, y) - number[RADIUS_B], abs(z) - number[HALF + 2]
            yield names, float(max(aside, along))
