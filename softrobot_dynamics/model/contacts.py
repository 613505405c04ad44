# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Plan the contacts of a robot: the pairs of elements that may touch, and arrays for them."""

from __future__ import annotations

from typing import NamedTuple, TYPE_CHECKING
import warnings

import numpy as np
from softrobot_dynamics.annotations import Array, Integers, Matrix, Vector
from softrobot_dynamics.collision.contract import combined
from softrobot_dynamics.compiling.addresses import EMPTY_ENTRY
from softrobot_dynamics.compiling.binding import cached, entry
from softrobot_dynamics.model.collision_filtering import (
    colliding_pairs,
    of_one_robot,
    placed_elements,
    size_of,
)
from softrobot_dynamics.model.contact_rows import ContactNodes, HullFaces, RowMaker, rows_of
from softrobot_dynamics.model.contact_solids import (
    solid_pairs,
    solid_spans,
    SolidCollector,
    SolidTables,
)
from softrobot_dynamics.model.contract import RobotModel
from softrobot_dynamics.model.points import cloud_of
from softrobot_dynamics.recursion.contact_kinematics import find_contacts, measure_contacts
from softrobot_dynamics.recursion.contact_nodes import differentiate_nodes, place_nodes
from softrobot_dynamics.recursion.contact_pairs import A, B, EXTENT, PHASE, RADIUS_A, STIFFNESS
from softrobot_dynamics.recursion.contact_workspace import ContactWorkspace, NodeCloud
from softrobot_dynamics.recursion.obstacle_motion import MovingNodes, no_motion
from softrobot_dynamics.recursion.passes import Robot
from softrobot_dynamics.recursion.restitution import dissipation

if TYPE_CHECKING:
    from softrobot_dynamics.description.obstacle_motion import ObstacleMotion
    from softrobot_dynamics.description.robot import RobotDescription

_DEFAULT_DEPTH = 0.01  # of the smallest radius: penetration by the robot's weight and forces
_DETECTION_RATIO = 0.25  # of the smallest radius: gap at which forces are evaluated
_MAX_START_DEPTH = 0.1  # of the smallest radius: how deep surfaces may overlap at the start
# of the smallest radius: how far nodes move before all pairs are measured again
_MARGIN_RATIO = 0.5
_SLIP_RATIO = 2e-4  # of the robot's length, times its rate
_RESTITUTION_SPEED_RATIO = 50.0  # of the slip: least speed of approach with restitution
_MIN_SELF_GAP = 0.6  # of both radii: gap at rest below which parts of one rod cannot touch


class ContactPlan(NamedTuple):
    """All pairs of elements of a robot and its surroundings that may touch, P of them."""

    bodies: tuple[tuple[int, Matrix, Matrix], ...]  # index, points (K, 3) [m], axes (K, 9)
    standing: Matrix  # (N', 16) frames of nodes of obstacles; they follow those of bodies
    motion_of: Integers  # (N',) which motion they are given; -1: they stand still
    motions: tuple[ObstacleMotion, ...]
    pairs: Integers  # (P, 7) see softrobot_dynamics.recursion.contact_pairs
    numbers: Matrix  # (P, 10)
    faces: Matrix  # (F, 13) of all hulls
    solids: SolidTables
    restitution: Vector  # (P,) 0 where a damping is given
    names: tuple[tuple[str, str], ...]  # (P,) of the bodies or obstacles
    detection_distance: float  # [m] gap below which forces are evaluated
    margin: float  # [m]
    slip: float  # [m/s]
    depth: float  # [m] of penetration that a posture may have at the start


def plan_contacts(model: RobotModel) -> ContactPlan | None:
    """
    Return the :class:`ContactPlan` of a model, None where nothing can touch.

    A RuntimeWarning says so if there are surroundings: somebody expects that something does.
    """
    placed = placed_elements(model.description)
    couples = colliding_pairs(model.description, placed)
    if not couples:
        if model.description.environment or any(m.is_object for m in model.description.modules):
            words = (
                f'robot {model.description.name}: no shape can touch its surroundings; give bodies'
            )
            warnings.warn(f'{words} `collision` shapes of groups that collide', RuntimeWarning, 2)
        return None
    sizes = [s for p in placed if np.isfinite(s := size_of(p.element)) and s > 0.0]
    smallest, contact = min(sizes), model.description.contact
    pressing = _pressing(model)
    stiffness = contact.stiffness or pressing / (_DEFAULT_DEPTH * smallest)
    nodes, hulls, solids = ContactNodes(), HullFaces(), SolidCollector()
    rows: list[list[int]] = []
    numbers: list[list[float]] = []
    names, own, restitution = [], [], []
    known: dict[tuple[object, ...], int] = {}
    for a, b in couples:
        surface = combined(a.shape, b.shape, stiffness)
        for row, number, both in rows_of(a, b, RowMaker(surface, nodes, hulls, solids)):
            key = a.owner, b.owner, *row, *number
            if (first := known.setdefault(key, len(rows))) < len(rows):
                numbers[first][STIFFNESS] += surface.stiffness  # a place of two elements
                continue
            rows.append(row)
            numbers.append(number)
            names.append(both)
            restitution.append(surface.restitution if np.isnan(surface.damping) else 0.0)
            own.append(of_one_robot(model.description, a, b))
    bodies, standing, motion_of, order = nodes.arrays()
    pairs = np.array(rows, dtype=np.int64)
    pairs[:, A:PHASE] = order[pairs[:, A:PHASE]]
    scales = model.scales
    plan = ContactPlan(
        bodies=bodies,
        standing=standing,
        motion_of=motion_of,
        motions=_motions(model.description),
        pairs=pairs,
        numbers=np.array(numbers),
        faces=hulls.faces(),
        solids=solids.tables(),
        restitution=np.array(restitution),
        names=tuple(names),
        detection_distance=_DETECTION_RATIO * smallest,
        margin=_MARGIN_RATIO * smallest,
        slip=contact.slip or _SLIP_RATIO * scales.length * scales.rate,
        depth=max(_MAX_START_DEPTH * smallest, 3.0 * pressing / stiffness),
    )
    return _without_neighbours(model, plan, np.array(own))


def contact_of(model: RobotModel, robot: Robot, plan: ContactPlan) -> ContactWorkspace:
    """Return the workspace of a plan that goes by the poses in that of a robot."""
    counts = [len(points) for _, points, _ in plan.bodies]
    total, P, n = sum(counts) + len(plan.standing), len(plan.pairs), model.n
    frames, jacobians, needed = np.zeros((total, 16)), np.zeros((total, 6 * n)), np.zeros(total)
    frames[sum(counts) :] = plan.standing
    place, differentiate, first = EMPTY_ENTRY, EMPTY_ENTRY, 0
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
    names = 'gap', 'speed', 'force', 'damping', 'onset', 'min_damping'
    vectors = {name: np.zeros(P) for name in names}
    triples = {name: np.zeros((P, 3)) for name in ('normal', 'point', 'sliding', 'friction')}
    contact = ContactWorkspace(
        find=EMPTY_ENTRY,
        place_frames=place,
        differentiate=differentiate,
        frames=frames,
        jacobians=jacobians,
        needed=needed,
        pairs=plan.pairs,
        numbers=plan.numbers,
        faces=plan.faces,
        solids=solid_pairs(plan.solids, plan.pairs, plan.numbers),
        detection_distance=plan.detection_distance,
        dissipation=dissipation(0.0),
        margin=plan.margin,
        extent=_extents(plan, total),
        placed=np.full((total, 16), np.inf),
        candidates=np.zeros(P + 1, dtype=np.int64),
        slip=plan.slip,
        min_restitution_speed=_RESTITUTION_SPEED_RATIO * plan.slip,
        segment_parameters=np.zeros((P, 2)),
        drift=np.zeros((P, 3)),
        moving=_moving(plan, sum(counts)),
        J=np.zeros((P, 3 * n)),
        v=np.zeros(21),
        applied=np.zeros(n),
        lasting=np.zeros(P),
        restitution=plan.restitution,
        pushes=np.zeros((P, 3)),
        unsettled=np.zeros(1),
        **vectors,
        **triples,
    )
    return contact._replace(find=entry(measure_contacts, contact=contact, n=n))


def forget_contact(contact: ContactWorkspace | None) -> None:
    """Forget the forces of contact of the step before: those to come are found without."""
    if contact is not None:
        for each in (contact.onset, contact.applied, contact.pushes, contact.lasting):
            each[:] = 0.0


def _motions(description: RobotDescription) -> tuple[ObstacleMotion, ...]:
    """Return the motions of obstacles, of those that have one."""
    return tuple(o.motion for o in description.environment if o.motion is not None)


def _moving(plan: ContactPlan, before: int) -> MovingNodes:
    """Return the nodes of obstacles that move; so many nodes of bodies go before."""
    found = no_motion(before + len(plan.standing))
    if not plan.motions:
        return found
    knots, formulas, count = [m.knots() for m in plan.motions], [], 0
    for motion, rows in zip(plan.motions, knots):
        formulas.append([*motion.formula(), count, count := count + len(rows)])
    found.motion_of[before:] = plan.motion_of
    those = np.flatnonzero(plan.motion_of >= 0)
    return found._replace(
        formulas=np.array(formulas, dtype=float),
        knots=np.concatenate(knots),
        nodes=before + those,
        motions=plan.motion_of[those],
        rest=np.ascontiguousarray(plan.standing[those]),
        frames=np.zeros((len(knots), 12)),
        twists=np.zeros((len(knots), 9)),
    )


def _extents(plan: ContactPlan, count: int) -> Vector:
    """Return how far what turns with each of so many nodes reaches from it [m]; 0: nothing."""
    found = np.zeros(count)
    for pair, number in zip(plan.pairs, plan.numbers):
        found[pair[B]] = max(found[pair[B]], number[EXTENT])
        if pair[PHASE] > 0:
            found[pair[A]] = max(found[pair[A]], number[RADIUS_A])
    return found


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
    cached(find_contacts, contact=contact)(zero, zero)
    both = plan.numbers[:, 0] + plan.numbers[:, 1]
    keep = np.logical_not(own) | (contact.gap > _MIN_SELF_GAP * both)
    for first, last in solid_spans(plan.pairs, plan.numbers):  # all rows of two solids, or none
        keep[first:last] = keep[first:last].all()
    if not keep.any():
        return None
    names = tuple(name for name, kept in zip(plan.names, keep) if kept)
    return plan._replace(
        pairs=np.ascontiguousarray(plan.pairs[keep]),
        numbers=np.ascontiguousarray(plan.numbers[keep]),
        restitution=plan.restitution[keep],
        names=names,
    )
