# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Flat arrays of the friction of actuators along their routes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from softrobot_dynamics.actuators.contract import Line, RobotParts, Segment, Stretch
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.bodies.curves import Curve
from softrobot_dynamics.compiling.binding import address
from softrobot_dynamics.kernels.quadrature import collocation
from softrobot_dynamics.kernels.reductions import BLOCK
from softrobot_dynamics.model.contract import RobotModel
from softrobot_dynamics.model.length_quadrature import Sampling
from softrobot_dynamics.model.robot_arrays import RobotArrays
from softrobot_dynamics.model.tendon_friction_panels import Panel, panelled, POINTS
from softrobot_dynamics.recursion.capstan import Capstan, CREEP_RATIO
from softrobot_dynamics.recursion.passes import BODY_COUNT, BODY_FIRST, Robot
from softrobot_dynamics.recursion.routes import Routes
from softrobot_dynamics.recursion.transmission import has_lines

_MIN_PART_RATIO = 1e-9  # of a route's length; a shorter part of it is a point


class _Lines:
    """The straight lines of all routes, as segments of one actuator; and the routes."""

    def __init__(self, actuators: Sequence[Any]) -> None:
        self._actuators = actuators
        self.routes: list[list[Stretch]] = []

    def segments(self, parts: RobotParts) -> list[Segment]:
        """Return the lengths of lines that change, tendon by tendon from base to tip."""
        self.routes = [list(a.route(parts) if a.friction else ()) for a in self._actuators]
        every = [part for route in self.routes for part in route]
        return [p.segment for p in every if isinstance(p, Line) and p.segment is not None]


class RoutePlan(NamedTuple):
    """Routes with friction, in parts: (tendon, line or panel), and how panels were chosen."""

    parts: list[tuple[int, Line | Panel]]
    samplings: tuple[Sampling, ...]
    lengths: Vector  # (m,) [m] of the routes, at q = 0
    segments: Any  # of the lines between bodies, and the numbers and scratch they need
    numbers: Vector
    scratch: int


def has_friction(model: RobotModel) -> bool:
    """Tell whether a compiled model has friction along routes."""
    return any(entry.actuator.friction for entry in model.description.actuators)


def plan_routes(model: RobotModel) -> RoutePlan:
    """Return the :class:`RoutePlan` of a compiled model."""
    description = model.description
    lines = _Lines([entry.actuator for entry in description.actuators])
    tables = RobotArrays(description, model.n, [lines])
    tables.place(tables.addresses())
    arrays, parts, samplings = tables.arrays(), list[Any](), []
    for tendon, route in enumerate(lines.routes):
        for part in route:
            if isinstance(part, Line):
                parts.append((tendon, part))
                continue
            panels, error = panelled(part, _start(model, part))
            parts += [(tendon, panel) for panel in panels]
            points = sum(panel.nodes for panel in panels)
            samplings.append(Sampling(tendon, part.name, points, error))
    arrays['segments'][:, 0] = np.arange(len(arrays['segments']))
    lengths = np.abs(model.y0) + [sum(map(_own_length, route)) for route in lines.routes]
    return RoutePlan(
        parts, tuple(samplings), lengths, arrays['segments'], arrays['P'], max(tables.scratch)
    )


def capstan_of(model: RobotModel, robot: Robot, force: Vector) -> Capstan | None:
    """
    Return the :class:`Capstan` of a compiled model, or None where nothing rubs.

    It goes by the poses in a robot's workspace and the ``force`` (m,) along y, as they are when
    its kernels are called.
    """
    if not has_friction(model):
        return None
    plan: RoutePlan = model.route_plan
    tendons = [t for t, part in plan.parts for _ in range(1 + _nodes(part))]
    sliding, sign, signed, tension, drop, resistance = np.zeros((6, len(tendons)))
    return Capstan(
        routes=_routes(model, robot, plan),
        tendons=np.array(tendons, dtype=np.int64),
        mu=np.array([float(entry.actuator.friction) for entry in model.description.actuators]),
        creep_speed=CREEP_RATIO * model.scales.rate * plan.lengths,
        force=force,
        sliding=sliding,
        sign=sign,
        signed_angle=signed,
        tension=tension,
        drop=drop,
        resistance=resistance,
    )


def _routes(model: RobotModel, robot: Robot, plan: RoutePlan) -> Routes:
    """Return the :class:`Routes` of a plan, in arrays of their own."""
    own = robot._replace(segments=plan.segments, P=plan.numbers, S=np.zeros(plan.scratch))
    n, pieces, panels = model.n, len(plan.segments), [p for _, p in plan.parts]
    stations = sum(1 + _nodes(part) for part in panels)
    least = np.array([_MIN_PART_RATIO * plan.lengths[tendon] for tendon, _ in plan.parts])
    most = max(map(_nodes, panels), default=0)
    return Routes(
        robot=own,
        lines=int(has_lines(own)),
        y=np.zeros(pieces),
        J=np.zeros((pieces, n)),
        bias=np.zeros(pieces),
        **_clouds(model, robot, panels),
        **_anchors(model, panels),
        **_parts(model, plan),
        panel=np.zeros(3 * max(most, 1) * (1 + n)),
        stretch=np.zeros((max(most, 1), n)),
        beyond=np.zeros(n),
        ends=np.zeros((len(panels), 6)),
        min_length=least,
        wrap_angle=np.zeros(stations),
        G=np.zeros((stations, n)),
    )


def _clouds(model: RobotModel, robot: Robot, parts: Sequence[Any]) -> dict[str, Any]:
    """Return the fields of Routes about the points of panels, those of a body in one cloud."""
    rows, numbers, filled, size, scratch = [], [np.zeros(0)], 0, 0, 1
    for name in _bodies(parts):
        points = np.vstack([p.points for p in parts if not isinstance(p, Line) and p.body == name])
        body = model.body_names.index(name)
        kernel, m = model.points_kernel(body, points.tobytes()), robot.modules[body]
        run, count = address(kernel.module, kernel.function, POINTS), int(m[BODY_COUNT])
        rows.append([body, run, filled, int(m[BODY_FIRST]), count, size])
        numbers.append(kernel.parameters)
        filled += len(kernel.parameters)
        size += -(-len(points) // BLOCK) * BLOCK * 9 * (1 + count)
        scratch = max(scratch, kernel.scratch)
    return {
        'clouds': np.array(rows, dtype=np.int64).reshape(-1, 6),
        'numbers': np.concatenate(numbers),
        'values': np.zeros(size + 1),
        'scratch': np.zeros(scratch),
    }


def _anchors(model: RobotModel, parts: Sequence[Any]) -> dict[str, Any]:
    """Return the fields of Routes about the ends of lines."""
    ends = [p for part in parts if isinstance(part, Line) for p in (part.start, part.end)]
    where = [[model.body_names.index(p.body), int(p.at_tip)] for p in ends]
    return {
        'anchors': np.array(where, dtype=np.int64).reshape(-1, 2),
        'places': np.array([p.point for p in ends], dtype=float).reshape(-1, 3),
        'points': np.zeros((len(ends), 3)),
    }


def _parts(model: RobotModel, plan: RoutePlan) -> dict[str, Any]:
    """Return the table of parts, see :mod:`softrobot_dynamics.recursion.routes`, and the rules."""
    names = _bodies([part for _, part in plan.parts])
    filled, rules, starts = dict.fromkeys(names, 0), [np.zeros(0)], dict[int, int]()
    rows, station, lines, lengths = [], 0, 0, 0
    for tendon, part in plan.parts:
        if isinstance(part, Line):
            changes = part.segment is not None
            rows.append([tendon, station, 0, 2 * lines, lengths if changes else -1, 0])
            lines, lengths, station = lines + 1, lengths + changes, station + 1
            continue
        if part.nodes not in starts:
            starts[part.nodes] = sum(map(len, rules))
            rule = collocation(part.nodes)
            rule = rule._replace(integration_matrix=rule.integration_matrix / rule.weights)
            rules += [matrix.ravel() for matrix in rule]
        cloud, start = names.index(part.body), starts[part.nodes]
        rows.append([tendon, station, part.nodes, filled[part.body], cloud, start])
        filled[part.body] += part.nodes
        station += 1 + part.nodes
    table = np.array(rows, dtype=np.int64).reshape(-1, 6)
    return {'parts': table, 'rules': np.concatenate(rules)}


def _bodies(parts: Sequence[Any]) -> list[str]:
    """Return the names of the bodies that panels are in, each once."""
    return list(dict.fromkeys(part.body for part in parts if not isinstance(part, Line)))


def _nodes(part: Line | Panel) -> int:
    return 0 if isinstance(part, Line) else part.nodes


def _start(model: RobotModel, curve: Curve) -> Vector:
    """Return the initial coordinates (.,) of the body of a curve."""
    slices = model.description.coordinate_slices()
    own = next(body for module, _, body in slices if module.name == curve.name)
    return np.ascontiguousarray(model.q0[own])


def _own_length(part: Stretch) -> float:
    """Return the length [m] of a line within a rigid body, 0 of all others."""
    if isinstance(part, Line) and part.segment is None and part.start.body == part.end.body:
        return float(np.linalg.norm(np.subtract(part.end.point, part.start.point)))
    return 0.0
