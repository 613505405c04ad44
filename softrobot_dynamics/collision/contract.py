# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Base class of collision shapes: geometry that touches other geometry, and how its surface behaves.

A shape on a body is fixed to the body's material; one of the environment stands in the base frame.
For the kernels each shape becomes a few elements (:class:`Element`): segments with a radius (a
point is a segment of no length), boxes, cylinders, convex hulls, planes and tubes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Complaints, Matrix, Vector
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.schema.fields import items, name, number
from softrobot_dynamics.schema.registry import Registry, required

SHAPES = Registry(
    'collision shape', 'softrobot_dynamics.collision', 'softrobot_dynamics.collision'
)
register = SHAPES.register

SEGMENT, BOX, CYLINDER, HULL, PLANE, TUBE = range(6)
SOLIDS = BOX, CYLINDER, HULL
ROBOT, OBJECT, ENVIRONMENT = 'robot', 'object', 'environment'  # groups of shapes without one
DEFAULT_GROUPS = ROBOT, OBJECT, ENVIRONMENT


class Element(NamedTuple):
    """
    A primitive that distances are computed for.

    ``points`` are material points of the body, or places in the base frame [m]: the two ends of a
    segment, or one: the centre of a box, cylinder or tube, a point of a plane, the origin of a
    hull.
    """

    kind: int  # SEGMENT, BOX, CYLINDER, HULL, PLANE or TUBE
    points: Matrix  # (1 or 2, 3) [m]
    radius: float = 0.0  # [m] of a segment, a cylinder or a tube
    half: Vector = np.zeros(3)  # (3,) [m] half the edges of a box; [2]: half the length of others
    axes: Matrix = np.eye(3)  # (3, 3) columns: the axes of the element; z: normal, or axis
    corners: Matrix = np.empty((0, 3))  # (K, 3) [m] of a box or a hull, in these axes
    faces: Matrix = np.empty((0, 13))  # (F, 13) of a hull, see recursion.solid_distances

    @property
    def middle(self) -> Vector:
        """The middle of the corners (3,) [m], in these axes."""
        found: Vector = self.corners.mean(axis=0)
        return found


@dataclass(frozen=True, kw_only=True)
class CollisionShape:
    """
    Base of all shapes: subclass it as a frozen dataclass and ``@register`` a name.

    Two shapes that touch act on each other as :mod:`~softrobot_dynamics.recursion.contact_forces`
    says, with numbers that are combined from those of both (:func:`combined`).
    """

    friction: float = number('-', at_least=0.0, default=0.5)  # Coulomb's coefficient
    stiffness: float | None = number('N/m', above=0.0, default=None)
    damping: float | None = number('s/m', at_least=0.0, default=None)  # Hunt and Crossley's
    restitution: float = number('-', at_least=0.0, at_most=1.0, default=0.0)
    group: str | None = name(default=None)
    collides_with: tuple[str, ...] | None = items(name(), default=None)

    type_name: ClassVar[str] = 'unregistered'
    on_bodies: ClassVar[bool] = True  # False: only of the environment
    fixed: ClassVar[bool] = True  # False: only on bodies

    def validate(self) -> Complaints:
        """Yield (field, value, expected) for what is wrong in itself; a subclass adds its own."""
        if self.damping is not None and self.restitution:
            yield 'restitution', self.restitution, 'none beside a damping, which takes its place'

    def validate_on(self, body: Body) -> Complaints:
        """Yield (field, value, expected) for what cannot be on such a body."""
        yield from ()

    @required
    def elements(self, body: Body | None) -> Sequence[Element]:
        """Return the elements of the shape on a body; None: in the environment."""
        raise NotImplementedError

    def solid_inertia(self, mass: float) -> Matrix | None:
        """
        Return the inertia (3, 3) [kg m^2] of a solid of this shape about its centre of mass.

        None where that is not the origin of the shape's points, or it is no solid.
        """
        return None

    def wants(self, group: str) -> bool:
        """Tell whether it collides with shapes of a group, of others than its own robot's."""
        return self.collides_with is None or group in self.collides_with


class ContactSurface(NamedTuple):
    """Stiffness, damping and friction of two shapes that touch."""

    stiffness: float  # [N/m]
    damping: float  # [s/m]; nan: by restitution
    restitution: float
    friction: float


def combined(a: CollisionShape, b: CollisionShape, stiffness: float) -> ContactSurface:
    """
    Return the :class:`ContactSurface` of two shapes.

    Stiffnesses are in series; where one has none, the other's counts, or the one given [N/m].
    Damping is weighted by compliance and friction is 2 m_a m_b / (m_a + m_b), as in Drake. The
    smaller restitution counts, unless a shape has a damping.
    """
    known = [s for s in (a.stiffness, b.stiffness) if s is not None]
    k = 1.0 / sum(1.0 / s for s in known) if known else stiffness
    both = a.friction + b.friction
    friction = 2.0 * a.friction * b.friction / both if both else 0.0
    return ContactSurface(k, _damping(a, b), min(a.restitution, b.restitution), friction)


def _damping(a: CollisionShape, b: CollisionShape) -> float:
    """Damping [s/m] of two shapes; nan where neither has one."""
    if a.damping is None and b.damping is None:
        return float('nan')
    if a.damping is None or b.damping is None:
        return a.damping or b.damping or 0.0
    if a.stiffness is None or b.stiffness is None:
        return 0.5 * (a.damping + b.damping)
    both = a.stiffness + b.stiffness
    return (b.stiffness * a.damping + a.stiffness * b.damping) / both
