# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Convert states of a robot to the coordinates of another model of it, as rods to pcc.

Markers sit on the tips of rigid bodies and along the axes of soft ones, at the same shares of
their lengths in both. The coordinates that are heard are those with which the markers of the model
fit those of the robot best, in position and orientation. That is an ideal reconstruction: of exact
poses, at once. A real one needs cameras or gyroscopes, and an estimator.
"""

from __future__ import annotations

from typing import Protocol, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.dynamics.points import Placement
from softrobot_dynamics.errors import ArgumentError

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

STEP_TOLERANCE = 1e-7  # in units of Scales; what is left is a hundredth of it
MAX_STEPS = 50  # from one state to the next
_OBSERVABILITY_TOLERANCE = 1e-9  # of the largest; what moves markers less stays as it is
_MIN_MARKERS = 2  # on a soft body


class NamedRobot(Protocol):
    """A robot, described or compiled."""

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The coordinates' names."""

    @property
    def body_names(self) -> tuple[str, ...]:
        """The bodies' names."""

    @property
    def actuator_names(self) -> tuple[str, ...]:
        """The actuators' names."""

    @property
    def wire_fields(self) -> tuple[str, ...]:
        """The quantity each actuator takes as its command: effort, position or velocity."""


class Reconstruction:
    """
    Coordinates and rates of a ``model`` that fit a ``plant``'s markers: called with its (q, qd).

    Coordinates of the same name are taken over, as encoders would give them. The others are those
    of least squares, where a position that is off by the robot's reach counts as a radian, by
    Gauss and Newton's method from those of the last call on; their rates are those that fit the
    markers' velocities best. What no marker sees stays where it is. A plant may have bodies more,
    as a load. Raises ArgumentError for one without bodies of the model's, by name, or with other
    actuators.
    """

    def __init__(self, model: CompiledModel, plant: CompiledModel) -> None:
        require_alike(model, plant)
        counts = {m.name: _count(m) for m in model.description.modules}
        self._model, self._own, self._there = model, _Marked(model, counts), _Marked(plant, counts)
        names = plant.coordinate_names
        shared = [(i, names.index(c)) for i, c in enumerate(model.coordinate_names) if c in names]
        self._taken, self._from = np.array(shared, dtype=int).reshape(-1, 2).T
        self._free = np.setdiff1d(np.arange(model.n), self._taken)
        reach = np.linalg.norm(self._own(model.q0)[1], axis=1).max()
        reach = reach or model.scales.length  # of a slide at its base
        self._weights = np.tile(np.repeat([1.0, 1.0 / reach], 3), sum(counts.values()))
        self.begin()

    def begin(self) -> None:
        """Restart, from the model's initial state on."""
        self._last: tuple[Vector, Vector, Matrix] | None = None  # q of both, and the map below

    def __call__(self, q: Vector, qd: Vector) -> tuple[Vector, Vector]:
        """Return new arrays q, qd (n,) of the model for the state (q, qd) of the plant; or nan."""
        if not len(self._free):
            return q[self._from], qd[self._from]
        turns, places, jacobian = self._there(q)
        found, rates, free = self._model.q0.copy(), np.zeros(self._model.n), self._free
        if self._last is not None:  # where it has come since then
            before, found, to_free = self._last
            found[free] += to_free @ (jacobian @ (q - before))
        found[self._taken], rates[self._taken] = q[self._from], qd[self._from]
        units = self._model.scales.units[free]
        for _ in range(MAX_STEPS):
            R, p, J = self._own(found)
            gaps = np.hstack([_rotation_vectors(turns, R), places - p]).ravel()
            if not np.isfinite(gaps).all():
                self.begin()
                return np.full_like(found, np.nan), np.full_like(rates, np.nan)
            seen = self._weights[:, None] * J[:, free] * units
            to_free = (
                units[:, None] * np.linalg.pinv(seen, _OBSERVABILITY_TOLERANCE) * self._weights
            )
            step = to_free @ gaps
            found[free] += step
            if np.abs(step / units).max() < STEP_TOLERANCE:
                break
        self._last = q.copy(), found.copy(), to_free
        rates[free] = to_free @ (jacobian @ qd - J[:, self._taken] @ rates[self._taken])
        return found, rates


def reconstruction(model: CompiledModel, plant: CompiledModel) -> Reconstruction | None:
    """Return the :class:`Reconstruction`, None for the same coordinates; ArgumentError."""
    require_alike(model, plant)
    same = model.coordinate_names == plant.coordinate_names
    return None if same else Reconstruction(model, plant)


def require_alike(model: NamedRobot, plant: NamedRobot) -> None:
    """Raise ArgumentError for a plant of other actuators, or that bodies are missing in."""
    if plant.actuator_names != model.actuator_names:
        expected = f'a robot of the actuators {", ".join(model.actuator_names) or "none"}'
        raise ArgumentError('plant', plant.actuator_names, expected)
    if plant.wire_fields != model.wire_fields:
        takes = ', '.join(f'{x}: {y}' for x, y in zip(model.actuator_names, model.wire_fields))
        raise ArgumentError('plant', plant.wire_fields, f'drives that take the same ({takes})')
    known = plant.coordinate_names == model.coordinate_names
    if not known and not set(model.body_names) <= set(plant.body_names):
        expected = f'a robot of the bodies {", ".join(model.body_names)}, and maybe others'
        raise ArgumentError('plant', plant.body_names, expected)


class _Marked:
    """A robot with so many markers on bodies, {name: count}; called with q (n,)."""

    def __init__(self, model: CompiledModel, counts: dict[str, int]) -> None:
        self._model, self._evaluate, self._rest = model, model.evaluator(), np.zeros(model.n)
        self._bodies = [
            (model.body_names.index(name), _along(model, name, count))
            for name, count in counts.items()
        ]

    def __call__(self, q: Vector) -> tuple[Array, Matrix, Matrix]:
        """Return rotations (K, 3, 3), positions (K, 3) [m], and Jacobians (6 K, n), base frame."""
        self._evaluate(q, self._rest)
        placed = Placement(self._model, self._evaluate.robot, q)
        frames, jacobians = [], []
        for body, points in self._bodies:
            if points is None:
                frames.append(placed.pose(body)[None])
                jacobians.append(placed.jacobian(body, axes='base'))
            else:
                found = placed.points(body, points)
                frames.append(found.frames)
                jacobians.append(found.jacobians.reshape(-1, self._model.n))
        poses = np.concatenate(frames)
        return poses[:, :3, :3], poses[:, :3, 3], np.concatenate(jacobians)


def _along(model: CompiledModel, body: str, count: int) -> Matrix | None:
    """Return the points (K, 3) [m] of so many markers along a body, None for one at its tip."""
    module = model.description.modules[model.body_names.index(body)]
    if count == 1:
        return None
    if not _sections(module):
        expected = f'a plant whose body {body} has an axis, as the model has'
        raise ArgumentError('plant', type(module.body).type_name, expected)
    points = np.zeros((count, 3))
    points[:, 2] = np.linspace(0.0, module.body.length, count + 1)[1:]
    return points


def _sections(module: object) -> bool:
    """Tell whether a module's body is a soft one along an axis."""
    body = module.body  # type: ignore[attr-defined]
    return bool(body.section_path and body.coordinates())


def _count(module: object) -> int:
    """Return how many markers the body of a module has: twice as many numbers as coordinates."""
    if not _sections(module):
        return 1
    return max(_MIN_MARKERS, -(-len(module.body.coordinates()) // 3))  # type: ignore[attr-defined]


def _rotation_vectors(to: Array, start: Array) -> Matrix:
    """Return the rotation vectors (K, 3) [rad], base axes, from rotations (K, 3, 3) to others."""
    turn = to @ start.transpose(0, 2, 1)
    axis = 0.5 * np.stack(
        [
            turn[:, 2, 1] - turn[:, 1, 2],
            turn[:, 0, 2] - turn[:, 2, 0],
            turn[:, 1, 0] - turn[:, 0, 1],
        ],
        axis=1,
    )
    sine = np.linalg.norm(axis, axis=1)
    angle = np.arctan2(sine, 0.5 * (np.trace(turn, axis1=1, axis2=2) - 1.0))
    return axis * np.where(sine > 1e-9, angle / np.where(sine > 1e-9, sine, 1.0), 1.0)[:, None]
