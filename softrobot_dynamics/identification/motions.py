# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Motions that were measured: commands in time, and where markers and coordinates were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Array, Integers, Matrix, Vector
from softrobot_dynamics.dynamics.periodic_coordinates import periodic_coordinates, unwrapped
from softrobot_dynamics.errors import ArgumentError, UnknownNameError
from softrobot_dynamics.identification.postures import check_marker, Marker, weights_of
from softrobot_dynamics.identification.prediction import markers_at
from softrobot_dynamics.recordings.reading import read_recording

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription
    from softrobot_dynamics.model.model import CompiledModel

START_STATES = 'rest', 'free'
TIME_BLOCKS = 5  # each to be left out


class Coordinate(NamedTuple):
    """A coordinate of the robot, or of an actuator (y, zero at q = 0), that is measured."""

    name: str
    noise: float = 1.0  # in its unit; ratios to others, and to markers' in m, count, see Marker


@dataclass(frozen=True)
class Motion:
    """
    One motion at T instants, with K markers and J coordinates; made by :func:`motion`.

    Attributes: ``times`` (T,) [s]; ``commands`` (T, m) in actuator units, each from its instant
    to the next; ``markers`` (K,); ``positions`` (T, K, 3) [m], base frame; ``coordinates`` (J,);
    ``values`` (T, J); NaN for what was not measured. ``starts`` (S,) are the instants at which
    the simulation begins, in states that are fitted; if ``rest``, the first at rest under the
    first command. ``names`` (T,) say in which block of time an instant is. ``skipped`` [s] is for
    how long before something was measured that is not here.
    """

    times: Vector
    commands: Matrix
    markers: tuple[Marker, ...]
    positions: Array
    coordinates: tuple[Coordinate, ...]
    values: Matrix
    starts: Integers
    rest: bool
    names: tuple[str, ...]
    skipped: float = 0.0

    kind, loose = 'motion', ()  # of markers whose places are fitted

    def __len__(self) -> int:
        return len(self.times)

    def named(self, name: str) -> list[int]:
        """Return the instants of a block."""
        return [row for row, each in enumerate(self.names) if each == name]

    @property
    def measured(self) -> Matrix:
        """All that was measured, (T, 3 K + J)."""
        return np.hstack([self.positions.reshape(len(self), -1), self.values])

    @property
    def noises(self) -> Vector:
        """Return the standard deviations of `measured`, (3 K + J,), in its units."""
        of_markers = [float(marker.noise) for marker in self.markers]
        of_coordinates = [float(each.noise) for each in self.coordinates]
        return np.r_[np.repeat(of_markers, 3), of_coordinates]

    @property
    def weights(self) -> Vector:
        """Return the weights of residuals of `measured`, (3 K + J,)."""
        return weights_of(self.noises)

    def only(self, rows: Sequence[int]) -> Motion:
        """Return the same of which only some instants were measured."""
        hidden = np.ones(len(self), dtype=bool)
        hidden[list(rows)] = False
        positions, values = self.positions.copy(), self.values.copy()
        positions[hidden], values[hidden] = np.nan, np.nan
        return replace(self, positions=positions, values=values)


def motion(
    description: RobotDescription,
    times: ArrayLike,
    commands: ArrayLike,
    *,
    markers: Sequence[Marker] = (),
    positions: ArrayLike | None = None,
    coordinates: Sequence[Coordinate] = (),
    values: ArrayLike | None = None,
    start: str = 'rest',
    horizon: float | None = None,
    blocks: int = TIME_BLOCKS,
) -> Motion:
    """
    Return the :class:`Motion` of ``commands`` (T, m) from ``times`` (T,) [s] on.

    ``positions`` (T, K, 3) [m], base frame, of markers and ``values`` (T, J) of coordinates were
    measured at these times, NaN where they were not; angles that may go round
    (:mod:`softrobot_dynamics.dynamics.periodic_coordinates`) also within a turn. It starts at
    'rest' under the first command, or in a 'free' state, to be fitted. After each ``horizon`` [s]
    it starts anew in a free one. For cross-validation it has so many ``blocks`` of time.
    Raises ArgumentError, UnknownNameError.
    """
    t, u = np.array(times, dtype=float), np.array(commands, dtype=float)
    m, T = len(description.actuator_names), t.size
    if t.ndim != 1 or T < 2 or not (np.isfinite(t).all() and (np.diff(t) > 0.0).all()):
        raise ArgumentError('times', times, 'two instants [s] or more, each after the last')
    if u.shape != (T, m) or not np.isfinite(u).all():
        raise ArgumentError('commands', f'shape {u.shape}', f'finite numbers ({T}, {m})')
    if start not in START_STATES:
        raise ArgumentError('start', start, f'one of {", ".join(START_STATES)}')
    if horizon is not None and not 0.0 < horizon < np.inf:
        raise ArgumentError('horizon', horizon, 'a time > 0 [s]')
    if not (len(markers) or len(coordinates)):
        raise ArgumentError('markers', (), 'markers or coordinates that were measured')
    if not isinstance(blocks, int) or blocks < 1:
        raise ArgumentError('blocks', blocks, 'a whole number >= 1')
    for marker in markers:
        check_marker(description, marker)
        if marker.deviation:
            name = f'deviation of marker {marker.name}'
            raise ArgumentError(name, marker.deviation, '0: only fits of postures estimate places')
    _check_coordinates(description, coordinates)
    turning = dict(zip(description.coordinate_names, periodic_coordinates(description).period))
    periods = [turning.get(each.name, 0.0) for each in coordinates]
    since = t - t[0]
    turn = np.floor(since / (horizon or np.inf) + 1e-9)
    return Motion(
        times=t,
        commands=u,
        markers=tuple(markers),
        positions=_measured('positions', positions, (T, len(markers), 3)),
        coordinates=tuple(coordinates),
        values=unwrapped(_measured('values', values, (T, len(coordinates))), periods),
        starts=np.flatnonzero(np.r_[True, np.diff(turn[:-1]) > 0.0]),
        rest=start == 'rest',
        names=_blocks(since, blocks),
    )


def _measured(name: str, given: ArrayLike | None, shape: tuple[int, ...]) -> Array:
    """Return an array of this shape; ArgumentError."""
    found = np.zeros(shape) if given is None else np.array(given, dtype=float)
    missing = given is None and 0 not in shape
    if missing or found.shape != shape or np.isinf(found).any():
        raise ArgumentError(name, f'shape {found.shape}', f'{shape}, NaN for what is not known')
    return found


def _blocks(since: Vector, count: int) -> tuple[str, ...]:
    """Return the name of each instant's block."""
    ends = np.linspace(0.0, since[-1], count + 1)
    block = np.clip(np.searchsorted(ends, since, side='right') - 1, 0, count - 1)
    return tuple(f'{ends[b]:.4g} to {ends[b + 1]:.4g} s' for b in block)


def _check_coordinates(description: RobotDescription, each: Sequence[Coordinate]) -> None:
    known = (*description.coordinate_names, *description.actuator_names)
    for one in each:
        if one.name not in known:
            raise UnknownNameError('coordinate or actuator', one.name, known)
        if not 0.0 < one.noise < np.inf:
            raise ArgumentError(f'noise of {one.name}', one.noise, 'a number > 0')


def observed_along(model: CompiledModel, motion: Motion, q: Matrix) -> tuple[Matrix, Array]:
    """Return measured quantities (T, C) at q (T, n) and Jacobians (T, C, n); NaN where not."""
    measured = motion.measured
    seen = np.isfinite(measured).any(axis=1)
    points, jacobians = (np.full((*measured.shape, *own), np.nan) for own in ((), q.shape[1:]))
    points[seen], jacobians[seen] = _observed_at(model, motion, q[seen])
    return points, jacobians


def _observed_at(model: CompiledModel, motion: Motion, q: Matrix) -> tuple[Matrix, Array]:
    """Return all that could be measured (T, C) at q (T, n), and its Jacobians (T, C, n)."""
    points, jacobians, _ = markers_at(model, motion.markers, q)
    T, n = q.shape
    known = [*model.coordinate_names, *model.actuator_names]
    which = [known.index(each.name) for each in motion.coordinates]
    values, derivatives = np.empty((T, len(which))), np.empty((T, len(which), n))
    evaluate, zero = model.per_thread.evaluator, np.zeros(n)
    for i, row in enumerate(q if which else ()):
        t = evaluate(row, zero)
        values[i] = np.r_[row, t.y - model.y0][which]
        derivatives[i] = np.vstack([np.eye(n), t.J])[which]
    return (
        np.hstack([points.reshape(T, -1), values]),
        np.concatenate([jacobians.reshape(T, -1, n), derivatives], axis=1),
    )


def held(u: Matrix) -> Matrix:
    """Return commands (T, m) where those that are missing are the last ones before, or zero."""
    last = np.maximum.accumulate(np.where(np.isnan(u), 0, np.arange(len(u))[:, None]), axis=0)
    return np.nan_to_num(np.take_along_axis(u, last, axis=0))


def read_record(
    description: RobotDescription, path: str | PathLike[str], horizon: float | None = None
) -> Motion:
    """
    Return the :class:`Motion` in a file that a node recorded, from its first command on.

    It starts in a free state, and each ``horizon`` [s] anew. All coordinates count alike, each in
    its own unit. A tick of which the state was not known, or is no later, is left out. Raises
    ArgumentError, also for the record of a robot with other coordinates or actuators.
    """
    record = read_recording(path)
    for name in ('coordinate_names', 'actuator_names'):
        own, there = list(getattr(description, name)), record.facts.get(name)
        if there != own:
            raise ArgumentError(f'{name} in {path}', there, f'those of {description.name}, {own}')
    u, stamp = record['u'], record['stamp']
    commanded = np.maximum.accumulate(np.isfinite(u).all(axis=1))
    later = np.diff(np.maximum.accumulate(stamp), prepend=stamp[:1] - 1) > 0
    kept = commanded & later & np.isfinite(record['q']).all(axis=1)
    if kept.sum() < 2:
        words = 'one with commands, and states after the first'
        raise ArgumentError('recording', str(path), words)
    return motion(
        description,
        1e-9 * (stamp[kept] - stamp[kept][0]),
        held(u)[kept],
        coordinates=[Coordinate(name) for name in description.coordinate_names],
        values=record['q'][kept],
        start='free',
        horizon=horizon,
    )
