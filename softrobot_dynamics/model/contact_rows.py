# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Rows of the pairs that two elements of shapes make: sides, corners and rims of solids."""

from collections import defaultdict
from typing import NamedTuple, TypeAlias

import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.collision.contract import (
    BOX,
    CollisionShape,
    ContactSurface,
    CYLINDER,
    Element,
    HULL,
    PLANE,
    SEGMENT,
    SOLIDS,
    TUBE,
)
from softrobot_dynamics.model.contact_solids import SolidCollector
from softrobot_dynamics.recursion.contact_pairs import (
    GROUP,
    HIGH_END,
    KIND,
    LOW_END,
    POINT_PLANE,
    POINT_TUBE,
    ROW,
    SEGMENT_BOX,
    SEGMENT_CYLINDER,
    SEGMENT_HULL,
    SEGMENT_SEGMENT,
    SOLID_SOLID,
)
from softrobot_dynamics.recursion.restitution import dissipation
from softrobot_dynamics.recursion.solid_pairs import MAX_CROSSINGS
from softrobot_dynamics.schema.poses import transform

FIXED_BODY = -1  # in place of the index of a body
_POINT_PAIRS = {
    PLANE: POINT_PLANE,
    TUBE: POINT_TUBE,
    SEGMENT: SEGMENT_SEGMENT,
    BOX: SEGMENT_BOX,
    CYLINDER: SEGMENT_CYLINDER,
    HULL: SEGMENT_HULL,
}

_Row: TypeAlias = tuple[list[int], list[float], tuple[str, str]]
"""Rows of ``pairs`` and ``numbers``, and the names of whose elements they are, in that order."""


class PlacedElement(NamedTuple):
    """An element and whose it is."""

    element: Element
    shape: CollisionShape
    body: int  # index, or FIXED_BODY
    owner: int  # index of its shape
    name: str  # of the body or obstacle
    motion: int = -1  # of an obstacle that moves


class HullFaces:
    """Collects the faces of hulls, those of each element once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Matrix, int]] = {}
        self._count = 0

    def rows(self, faces: Matrix) -> tuple[float, float]:
        """Return the first row of a hull's faces, and that behind its last."""
        if id(faces) not in self._known:
            self._known[id(faces)] = faces, self._count
            self._count += len(faces)
        first = self._known[id(faces)][1]
        return float(first), float(first + len(faces))

    def faces(self) -> Matrix:
        """Return all of them (F, 13)."""
        found = [faces for faces, _ in self._known.values()]
        return np.ascontiguousarray(np.concatenate(found)) if found else np.zeros((0, 13))


class ContactNodes:
    """Collects nodes, each once, by body; :meth:`arrays` puts those of a body together."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int, bytes, bytes], int] = {}

    def add(self, of: PlacedElement, point: Vector, axes: Matrix | None = None) -> int:
        """Return the number of a node at a point (3,) [m], with such axes (3, 3) of its own."""
        turned = np.eye(3) if axes is None else axes
        key = (
            of.body,
            of.motion,
            np.array(point, dtype=float).tobytes(),
            np.ascontiguousarray(turned).tobytes(),
        )
        return self._known.setdefault(key, len(self._known))

    def arrays(self) -> tuple[tuple[tuple[int, Matrix, Matrix], ...], Matrix, Integers, Integers]:
        """
        Return nodes of bodies, frames of those of obstacles, and where each number is now.

        Before the last, which motion those of obstacles have.
        """
        grouped: dict[int, list[tuple[int, Vector, Vector]]] = defaultdict(list)
        motions = []
        for (body, motion, point, axes), number in self._known.items():
            grouped[body].append((number, np.frombuffer(point), np.frombuffer(axes)))
            if body == FIXED_BODY:
                motions.append(motion)
        order, bodies, standing, first = np.zeros(len(self._known), dtype=np.int64), [], [], 0
        for body in sorted(grouped, key=lambda b: (b == FIXED_BODY, b)):
            rows = grouped[body]
            order[[number for number, _, _ in rows]] = first + np.arange(len(rows))
            first += len(rows)
            points, turned = np.array([p for _, p, _ in rows]), np.array([a for _, _, a in rows])
            if body != FIXED_BODY:
                bodies.append((body, points, turned))
                continue
            standing += [transform(a.reshape(3, 3), p).ravel() for p, a in zip(points, turned)]
        moved = np.array(motions, dtype=np.int64)
        return tuple(bodies), np.array(standing).reshape(-1, 16), moved, order


class RowMaker(NamedTuple):
    """Surface, nodes, hulls and pairs of solids that rows of pairs refer to."""

    surface: ContactSurface
    nodes: ContactNodes
    hulls: HullFaces
    solids: SolidCollector


def rows_of(a: PlacedElement, b: PlacedElement, made: RowMaker) -> list[_Row]:
    """
    Return rows of ``pairs`` and ``numbers`` of two elements.

    Corners and rims of solids are a row each. The sides of two cylinders are looked at once.
    """
    if b.element.kind < a.element.kind:  # a segment first, then a solid
        a, b = b, a
    kind = b.element.kind
    if {a.element.kind, kind} <= {BOX, HULL}:
        return _solids(a, b, made)
    if a.element.kind in SOLIDS:
        found = _corners(a, b, made) + _rims(a, b, made, True)
        if kind in SOLIDS:
            found += _corners(b, a, made) + _rims(b, a, made, a.element.kind != CYLINDER)
        return found
    ends = [made.nodes.add(a, p) for p in a.element.points]
    if kind in (PLANE, TUBE):
        return [_row(a, b, made, [end, end]) for end in dict.fromkeys(ends)]
    both = [ends[0], ends[-1]]
    if kind in (BOX, HULL) and len(ends) > 1:  # it may lie flat
        return [_row(a, b, made, both, phase=phase) for phase in (LOW_END, HIGH_END)]
    return [_row(a, b, made, both)]


def _solids(a: PlacedElement, b: PlacedElement, made: RowMaker) -> list[_Row]:
    """Return rows of two solids with flat faces: for corners of both, and edges that cross."""
    both, rows = (a, b), made.hulls.rows
    spans = tuple(rows(p.element.faces) if p.element.kind == HULL else (0.0, 0.0) for p in both)
    group = made.solids.couple(a.element, b.element, spans)
    ends = [[made.nodes.add(p, p.element.points[0], p.element.axes)] * 2 for p in both]
    counts, found = [len(p.element.corners) for p in both], []
    for k in range(sum(counts) + MAX_CROSSINGS):
        swapped = counts[0] <= k < sum(counts)
        first, second = (b, a) if swapped else (a, b)
        row, number, names = _row(first, second, made, ends[swapped], radius=0.0)
        row[KIND], number[ROW], number[GROUP] = SOLID_SOLID, float(k), float(group)
        found.append((row, number, names))
    return found


def _corners(a: PlacedElement, b: PlacedElement, made: RowMaker) -> list[_Row]:
    """Return rows for the corners of a box or a hull a beside another element."""
    e, found = a.element, []
    centre = made.nodes.add(a, e.points[0] + e.axes @ e.middle) if len(e.corners) else 0
    for corner in e.corners:
        node = made.nodes.add(a, e.points[0] + e.axes @ corner)
        found.append(_row(a, b, made, [node, node], radius=0.0, centre=centre))
    return found


def _rims(a: PlacedElement, b: PlacedElement, made: RowMaker, sides: bool) -> list[_Row]:
    """Return rows for both rims of a cylinder a beside another element, and for its side."""
    e = a.element
    found: list[_Row] = []
    if e.kind != CYLINDER:
        return found
    middle, flat = e.points[0], b.element.kind in (PLANE, TUBE)
    inner = made.nodes.add(a, middle, e.axes)
    for sign in (-1.0, 1.0):
        rim = made.nodes.add(a, middle + sign * e.half[2] * e.axes[:, 2], e.axes)
        if flat or sides:
            ends = [rim if flat else inner, rim]
            found.append(_row(a, b, made, ends, phase=1, centre=inner))
        for phase in (2, 3):
            found.append(_row(a, b, made, [rim, rim], phase=phase, centre=inner))
    return found


def _row(
    a: PlacedElement,
    b: PlacedElement,
    made: RowMaker,
    ends: list[int],
    radius: float | None = None,
    phase: int = 0,
    centre: int | None = None,
) -> _Row:
    """Return a row of ``pairs`` and of ``numbers`` of a segment between nodes, and an element."""
    other, surface = b.element, made.surface
    turned = None if other.kind == SEGMENT else other.axes
    those = [made.nodes.add(b, p, turned) for p in other.points]
    half = list(other.half)
    if other.kind == HULL:
        half[:2] = made.hulls.rows(other.faces)
    inner = ends[0] if centre is None else centre
    by_damping = not np.isnan(surface.damping)
    number = [
        a.element.radius if radius is None else radius,
        other.radius,
        *half,
        surface.stiffness,
        surface.damping if by_damping else 0.0,
        -1.0 if by_damping else dissipation(surface.restitution),
        surface.friction,
        _extent(other),
    ]
    return (
        [_POINT_PAIRS[other.kind], *ends, those[0], those[-1], inner, phase],
        number,
        (a.name, b.name),
    )


def _extent(element: Element) -> float:
    """Return how far a solid reaches from its node [m]; 0 of other elements."""
    if element.kind == CYLINDER:
        return float(np.hypot(element.radius, element.half[2]))
    return max((float(np.linalg.norm(c)) for c in element.corners), default=0.0)
