# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Plan the contacts of a robot: which elements of which shapes may touch, and where they are."""

from collections import defaultdict
import itertools
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Array, Integers, Matrix, Vector
from softrobot_dynamics.collision.contract import (
    BOX,
    CollisionShape,
    combined,
    ContactSurface,
    Element,
    ENVIRONMENT,
    OBJECT,
    PLANE,
    ROBOT,
    SEGMENT,
    TUBE,
)
from softrobot_dynamics.compiling.addresses import NOTHING
from softrobot_dynamics.compiling.binding import cached, entry
from softrobot_dynamics.description.robot import RobotDescription
from softrobot_dynamics.model.contract import RobotModel
from softrobot_dynamics.model.points import cloud_of
from softrobot_dynamics.recursion.contact import (
    B,
    ContactWorkspace,
    differentiate_nodes,
    find_contacts,
    HALF,
    KIND,
    NodeCloud,
    place_nodes,
    POINT_PLANE,
    POINT_TUBE,
    rebound,
    SEGMENT_BOX,
    SEGMENT_SEGMENT,
)
from softrobot_dynamics.recursion.passes import Robot
from softrobot_dynamics.schema.poses import transform

_DEPTH = 0.01  # of the smallest radius: how deep weight and softness press, by default
_REACH = 0.25  # of the smallest radius: gap at which forces are looked at
_SUNK = 0.1  # of the smallest radius: how deep surfaces may overlap at the start
_MARGIN = 0.5  # of the smallest radius: how far nodes move before all pairs are measured again
_SLIP = 2e-4  # of the robot's length, times its rate
_SLOW = 50.0  # times the slip: speed of approach that restitution goes by at least
_WINDING = 0.6  # of both radii: gap at rest below which parts of one rod cannot touch
_STANDING = -1  # in place of a body


class _Placed(NamedTuple):
    """An element and whose it is."""

    element: Element
    shape: CollisionShape
    body: int  # index, or _STANDING
    owner: int  # index of its shape
    name: str  # of the body or obstacle


class ContactPlan(NamedTuple):
    """All pairs of elements of a robot and its surroundings that may touch, P of them."""

    bodies: tuple[tuple[int, Matrix, Matrix], ...]  # index, points (K, 3) [m], axes (K, 9)
    standing: Matrix  # (N', 16) frames of nodes that stand still; they follow those of bodies
    pairs: Integers  # (P, 5) see softrobot_dynamics.recursion.contact
    numbers: Matrix  # (P, 9)
    restitution: Vector  # (P,) 0 where a damping is given
    names: tuple[tuple[str, str], ...]  # (P,) of the bodies or obstacles
    reach: float  # [m]
    margin: float  # [m]
    slip: float  # [m/s]
    depth: float  # [m] of penetration that a posture may have at the start


def plan_contacts(model: RobotModel) -> ContactPlan | None:
    """Return the :class:`ContactPlan` of a model, None where nothing can touch."""
    placed = _placed(model.description)
    couples = [
        (a, b) for a, b in itertools.combinations(placed, 2) if _may_touch(model.description, a, b)
    ]
    if not couples:
        return None
    sizes = [s for p in placed if np.isfinite(s := _size(p.element)) and s > 0.0]
    smallest, contact = min(sizes), model.description.contact
    pressing = _pressing(model)
    stiffness = contact.stiffness or pressing / (_DEPTH * smallest)
    nodes = _Nodes()
    rows, numbers, names, own, restitution = [], [], [], [], []
    for a, b in couples:
        surface = combined(a.shape, b.shape, stiffness)
        for row, number in _pairs(a, b, surface, nodes):
            rows.append(row)
            numbers.append(number)
            names.append((a.name, b.name))
            restitution.append(surface.restitution if np.isnan(surface.damping) else 0.0)
            own.append(_of_one_robot(model.description, a, b))
    bodies, standing, order = nodes.arrays()
    pairs = np.array(rows, dtype=np.int64)
    pairs[:, 1:] = order[pairs[:, 1:]]
    scales = model.scales
    plan = ContactPlan(
        bodies=bodies,
        standing=standing,
        pairs=pairs,
        numbers=np.array(numbers),
        restitution=np.array(restitution),
        names=tuple(names),
        reach=_REACH * smallest,
        margin=_MARGIN * smallest,
        slip=contact.slip or _SLIP * scales.length * scales.rate,
        depth=max(_SUNK * smallest, 3.0 * pressing / stiffness),
    )
    return _without_neighbours(model, plan, np.array(own))


def contact_of(model: RobotModel, robot: Robot, plan: ContactPlan) -> ContactWorkspace:
    """Return the workspace of a plan that goes by the poses in that of a robot."""
    counts = [len(points) for _, points, _ in plan.bodies]
    total, P, n = sum(counts) + len(plan.standing), len(plan.pairs), model.n
    frames, jacobians, needed = np.zeros((total, 16)), np.zeros((total, 6 * n)), np.zeros(total)
    frames[sum(counts) :] = plan.standing
    place, differentiate, first = NOTHING, NOTHING, 0
    for body, points, axes in plan.bodies:
        here = slice(first, first + len(points))
        nodes = NodeCloud(
            cloud=cloud_of(model, robot, body, points),
            body=body,
            turned=int(not np.array_equal(axes, np.tile(np.eye(3).ravel(), (len(axes), 1)))),
            axes=axes,
            frames=frames[here],
            jacobians=jacobians[here],
            needed=needed[here],
        )
        place = entry(place_nodes, before=place, nodes=nodes)
        differentiate = entry(differentiate_nodes, before=differentiate, robot=robot, nodes=nodes)
        first += len(points)
    vectors = {name: np.zeros(P) for name in ('gap', 'speed', 'force', 'damping', 'onset')}
    triples = {name: np.zeros((P, 3)) for name in ('normal', 'point', 'sliding', 'friction')}
    return ContactWorkspace(
        place=place,
        differentiate=differentiate,
        frames=frames,
        jacobians=jacobians,
        needed=needed,
        pairs=plan.pairs,
        numbers=plan.numbers,
        reach=plan.reach,
        dissipation=rebound(0.0),
        margin=plan.margin,
        extent=_extents(plan, total),
        placed=np.full((total, 16), np.inf),
        candidates=np.zeros(P + 1, dtype=np.int64),
        slip=plan.slip,
        slow=_SLOW * plan.slip,
        places=np.zeros((P, 2)),
        J=np.zeros((P, 3 * n)),
        v=np.zeros(3),
        applied=np.zeros(n),
        lasting=np.zeros(P),
        restitution=plan.restitution,
        pushes=np.zeros((P, 3)),
        by_q=np.zeros((P, 3 * n)),
        by_qd=np.zeros((P, 3 * n)),
        change=np.zeros((2, n)),
        **vectors,
        **triples,
    )


def _extents(plan: ContactPlan, count: int) -> Vector:
    """Return how far boxes reach from each of so many nodes [m]; 0 where there is none."""
    found = np.zeros(count)
    for pair, number in zip(plan.pairs, plan.numbers):
        if pair[KIND] == SEGMENT_BOX:
            half = float(np.linalg.norm(number[HALF : HALF + 3]))
            found[pair[B]] = max(found[pair[B]], half)
    return found


class _Nodes:
    """Collects nodes, each once, by body; :meth:`arrays` puts those of a body together."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, bytes, bytes], int] = {}

    def add(self, body: int, point: Vector, axes: Matrix | None = None) -> int:
        """Return the number of a node at a point (3,) [m], with such axes (3, 3) of its own."""
        turned = np.eye(3) if axes is None else axes
        key = body, np.array(point, dtype=float).tobytes(), np.ascontiguousarray(turned).tobytes()
        return self._known.setdefault(key, len(self._known))

    def arrays(self) -> tuple[tuple[tuple[int, Matrix, Matrix], ...], Matrix, Integers]:
        """Return nodes of bodies, frames of those that stand, and where each number is now."""
        grouped: dict[int, list[tuple[int, Vector, Vector]]] = defaultdict(list)
        for (body, point, axes), number in self._known.items():
            grouped[body].append((number, np.frombuffer(point), np.frombuffer(axes)))
        order, bodies, standing, first = np.zeros(len(self._known), dtype=np.int64), [], [], 0
        for body in sorted(grouped, key=lambda b: (b == _STANDING, b)):
            rows = grouped[body]
            order[[number for number, _, _ in rows]] = first + np.arange(len(rows))
            first += len(rows)
            points, turned = np.array([p for _, p, _ in rows]), np.array([a for _, _, a in rows])
            if body != _STANDING:
                bodies.append((body, points, turned))
                continue
            standing += [transform(a.reshape(3, 3), p).ravel() for p, a in zip(points, turned)]
        return tuple(bodies), np.array(standing).reshape(-1, 16), order


def _placed(description: RobotDescription) -> list[_Placed]:
    """Return the elements of all shapes, those of bodies first."""
    found: list[_Placed] = []
    owner = 0
    for i, module in enumerate(description.modules):
        for shape in module.shapes:
            elements = shape.elements(module.body)
            found += [_Placed(e, shape, i, owner, module.name) for e in elements]
            owner += 1
    for obstacle in description.environment:
        elements = obstacle.shape.elements(None)
        found += [_Placed(e, obstacle.shape, _STANDING, owner, obstacle.name) for e in elements]
        owner += 1
    return found


def _group(description: RobotDescription, placed: _Placed) -> str:
    if placed.shape.group is not None:
        return placed.shape.group
    if placed.body == _STANDING:
        return ENVIRONMENT
    return OBJECT if description.modules[placed.body].is_object else ROBOT


def _of_one_robot(description: RobotDescription, a: _Placed, b: _Placed) -> bool:
    """Tell whether both are of the robot, or of one and the same object."""
    if _STANDING in (a.body, b.body):
        return False
    objects = description.modules[a.body].is_object, description.modules[b.body].is_object
    return a.body == b.body or not any(objects)


def _may_touch(description: RobotDescription, a: _Placed, b: _Placed) -> bool:
    """Tell whether the groups of two elements collide. Parts of a robot do only if both say so."""
    if a.body == b.body == _STANDING or {a.element.kind, b.element.kind} <= {PLANE, TUBE}:
        return False
    if _of_one_robot(description, a, b):
        if a.shape.collides_with is None or b.shape.collides_with is None:
            return False
        if a.body == b.body and (a.owner != b.owner or a.element.kind == BOX):
            return False
    return a.shape.wants(_group(description, b)) and b.shape.wants(_group(description, a))


def _pairs(
    a: _Placed, b: _Placed, surface: ContactSurface, nodes: _Nodes
) -> list[tuple[list[int], list[float]]]:
    """Return rows of ``pairs`` and ``numbers`` of two elements; each corner of a box is one."""
    if b.element.kind < a.element.kind:  # a segment first, then a box
        a, b = b, a
    kind = b.element.kind
    if a.element.kind == BOX:
        found = _corners(a, b, surface, nodes)
        return found if kind != BOX else found + _corners(b, a, surface, nodes)
    ends = [nodes.add(a.body, p) for p in a.element.points]
    if kind in (PLANE, TUBE):
        return [_row(a, b, surface, nodes, [end, end]) for end in dict.fromkeys(ends)]
    return [_row(a, b, surface, nodes, [ends[0], ends[-1]])]


def _corners(
    a: _Placed, b: _Placed, surface: ContactSurface, nodes: _Nodes
) -> list[tuple[list[int], list[float]]]:
    """Return rows for the corners of a box a beside another element."""
    e, found = a.element, []
    for signs in itertools.product((-1.0, 1.0), repeat=3):
        corner = nodes.add(a.body, e.points[0] + e.axes @ (e.half * signs))
        found.append(_row(a, b, surface, nodes, [corner, corner]))
    return found


def _row(
    a: _Placed, b: _Placed, surface: ContactSurface, nodes: _Nodes, ends: list[int]
) -> tuple[list[int], list[float]]:
    """Return a row of ``pairs`` and of ``numbers`` of a segment between nodes, and an element."""
    other = b.element
    kind = {PLANE: POINT_PLANE, TUBE: POINT_TUBE, SEGMENT: SEGMENT_SEGMENT, BOX: SEGMENT_BOX}
    turned = None if other.kind == SEGMENT else other.axes
    those = [nodes.add(b.body, p, turned) for p in other.points]
    by_damping = not np.isnan(surface.damping)
    number = [
        a.element.radius,
        other.radius,
        *other.half,
        surface.stiffness,
        surface.damping if by_damping else 0.0,
        -1.0 if by_damping else rebound(surface.restitution),
        surface.friction,
    ]
    return [kind[other.kind], *ends, those[0], those[-1]], number


def _size(element: Element) -> float:
    """Return the radius of an element, or half the shortest edge [m]; inf of a plane or tube."""
    if element.kind == SEGMENT:
        return element.radius
    return float(min(element.half)) if element.kind == BOX else float('inf')


def _pressing(model: RobotModel) -> float:
    """
    Return a force [N] that surfaces may well be pressed together with.

    The weight of all bodies and objects or, without gravity, what moves them by the robot's length
    at its rate, and what bends the softest part by one unit of its coordinate.
    """
    description, scales = model.description, model.scales
    mass = sum(float(m.body.material_points()[1].sum()) for m in description.modules)
    gravity = float(np.linalg.norm(description.gravity))
    weight = mass * (gravity or scales.length * scales.rate**2)
    soft = scales.stiff[scales.stiff > 0.0] / scales.reach[scales.stiff > 0.0]
    return weight + float(min(soft, default=0.0))


def _without_neighbours(model: RobotModel, plan: ContactPlan, own: Array) -> ContactPlan | None:
    """Leave out pairs of the robot's own parts that are next to each other at q = 0."""
    if not own.any():
        return plan
    evaluator = model.evaluator()
    zero = np.zeros(model.n)
    evaluator(zero, zero)
    contact = contact_of(model, evaluator.robot, plan)
    cached(find_contacts, contact=contact, n=model.n)(zero, zero)
    both = plan.numbers[:, 0] + plan.numbers[:, 1]
    keep = np.logical_not(own) | (contact.gap > _WINDING * both)
    if not keep.any():
        return None
    names = tuple(name for name, kept in zip(plan.names, keep) if kept)
    return plan._replace(
        pairs=np.ascontiguousarray(plan.pairs[keep]),
        numbers=np.ascontiguousarray(plan.numbers[keep]),
        restitution=plan.restitution[keep],
        names=names,
    )
