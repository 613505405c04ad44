# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""From the actuators that rub along their routes to the flat arrays of their friction."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from softrobot_dynamics.actuators.contract import MaterialPoint, Parts, Segment, Stretch
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.compiling.binding import address
from softrobot_dynamics.description.modules import NamedActuator
from softrobot_dynamics.kernels.reductions import BLOCK
from softrobot_dynamics.model.tables import Tables
from softrobot_dynamics.recursion.capstan import Capstan
from softrobot_dynamics.recursion.passes import BODY_COUNT, BODY_FIRST, Robot
from softrobot_dynamics.recursion.transmission import has_lines


class Routes:
    """Stands for an actuator whose segments are the lengths of all stretches; has the chains."""

    def __init__(self, actuators: Sequence[Any]) -> None:
        self._actuators = actuators
        self.chains: list[list[Stretch]] = []

    def segments(self, parts: Parts) -> list[Segment]:
        """Return the lengths that change, tendon by tendon from base to tip."""
        self.chains = [list(a.route(parts) if a.friction else ()) for a in self._actuators]
        return [s.segment for chain in self.chains for s in chain if s.segment is not None]


def rubs(model: Any) -> bool:
    """Tell whether a compiled model has friction along routes."""
    return any(entry.actuator.friction for entry in model.description.actuators)


def capstan_of(model: Any, robot: Robot, force: Vector) -> Capstan | None:
    """
    Return the :class:`Capstan` of a compiled model, or None where nothing rubs.

    It goes by the poses in a robot's workspace and the ``force`` (m,) along y, as they are when
    its kernels are called.
    """
    description = model.description
    actuators = [entry.actuator for entry in description.actuators]
    if not rubs(model):
        return None
    routes = Routes(actuators)
    only: Any = NamedActuator('routes', routes)  # type: ignore[arg-type]
    tables = Tables(replace(description, actuators=(only,)), model.n)
    tables.place(tables.addresses())
    arrays, count = tables.arrays(), sum(map(len, routes.chains))
    segments, scratch = arrays['segments'], np.zeros(max(tables.scratch))
    segments[:, 0] = np.arange(len(segments))
    own = robot._replace(segments=segments, P=arrays['P'], S=scratch)
    pieces, n = len(segments), model.n
    return Capstan(
        robot=own,
        lines=int(has_lines(own)),
        y=np.zeros(pieces),
        J=np.zeros((pieces, n)),
        bias=np.zeros(pieces),
        **_points(model, robot, [s for chain in routes.chains for s in chain]),
        **_stretches(routes.chains),
        mu=np.array([float(actuator.friction) for actuator in actuators]),
        force=force,
        G=np.zeros((count, n)),
        sliding=np.zeros(count),
        tension=np.zeros(count),
        resistance=np.zeros(count),
        direction=np.zeros((2, 3)),
    )


def _stretches(chains: Sequence[Sequence[Stretch]]) -> dict[str, Any]:
    """Return the fields of a Capstan about its stretches, three points for each."""
    rows: list[list[int]] = []
    piece = 0
    for tendon, chain in enumerate(chains):
        for stretch in chain:
            length = stretch.segment is not None
            rows.append([tendon, piece if length else -1, 3 * len(rows)])
            piece += length
    weights = [stretch.weights for chain in chains for stretch in chain]
    return {'stretches': np.array(rows, dtype=np.int64), 'weights': np.array(weights)}


def _points(model: Any, robot: Robot, stretches: Sequence[Stretch]) -> dict[str, Any]:
    """Return the fields of a Capstan about where its points are."""
    clouds, outputs, numbers, scratch, filled = [], [], [np.zeros(0)], 1, 0
    anchors, places = [], []
    points: list[Any] = [point for stretch in stretches for point in stretch.points]
    for first, last in _runs(points):
        body = model.body_names.index(points[first].body)
        if not isinstance(points[first], MaterialPoint):
            anchors += [[body, int(p.at_tip), first + i] for i, p in enumerate(points[first:last])]
            places += [p.point for p in points[first:last]]
            continue
        given = np.array([p.point for p in points[first:last]])
        kernel, m = model.points_kernel(body, given.tobytes()), robot.modules[body]
        run = address(kernel.module, kernel.function, 'P, q, V, S')
        clouds.append([body, run, filled, int(m[BODY_FIRST]), first, last - first])
        outputs.append(9 * (1 + int(m[BODY_COUNT])))
        numbers.append(kernel.parameters)
        filled, scratch = filled + len(kernel.parameters), max(scratch, kernel.scratch)
    blocks = [-(-cloud[5] // BLOCK) for cloud in clouds]
    size = max((a * b * BLOCK for a, b in zip(blocks, outputs)), default=0)
    return {
        'clouds': np.array(clouds, dtype=np.int64).reshape(-1, 6),
        'numbers': np.concatenate(numbers),
        'outputs': np.array(outputs, dtype=np.int64),
        'values': np.zeros(size + BLOCK),
        'scratch': np.zeros(scratch),
        'anchors': np.array(anchors, dtype=np.int64).reshape(-1, 3),
        'places': np.array(places, dtype=float).reshape(-1, 3),
        'points': np.zeros((len(points), 3)),
    }


def _runs(points: Sequence[Any]) -> list[tuple[int, int]]:
    """Return ranges (first, last) of points of one kind and body that follow each other."""
    kinds = [(type(point), point.body) for point in points]
    cuts = [i for i in range(1, len(kinds)) if kinds[i] != kinds[i - 1]]
    return list(zip([0, *cuts], [*cuts, len(kinds)]))
