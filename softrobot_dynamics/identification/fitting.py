# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Fit numbers of a robot file to postures or a motion: robust nonlinear least squares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.deprecation import former_names
from softrobot_dynamics.errors import ArgumentError, NotConvergedError
from softrobot_dynamics.identification.confidence import (
    Confidence,
    confidence,
    design,
    direction_in_words,
    without,
)
from softrobot_dynamics.identification.fit_parameters import FitParameters, read_parameters
from softrobot_dynamics.identification.least_squares import Data, LeastSquaresProblem
from softrobot_dynamics.identification.motions import Motion
from softrobot_dynamics.identification.postures import Postures
from softrobot_dynamics.identification.prediction import Predictor

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription

LOSSES = ('soft_l1', 'linear')
_BOUND_TOLERANCE = 1e-3  # of x, from a bound
_START_SPREAD = 1.0  # largest x between random starts and the robot file's


class FittedParameter(NamedTuple):
    """
    A number that was fitted, and its 95 % interval; NaN where the data do not tell it.

    Of a ``factor`` it multiplies several numbers of the robot file. ``at_bound``: the data want
    it beyond.
    """

    name: str
    value: float
    lower: float
    upper: float
    nominal: float
    factor: bool
    at_bound: bool


@former_names(
    off='all_residuals',
    off_before='all_initial_residuals',
    before='initial_residuals',
    unseen='unidentifiable',
)
@dataclass(frozen=True)
class Identification:
    """
    The result of a fit.

    Attributes: ``robot``, the RobotDescription with the fitted numbers; ``estimates`` (p,);
    ``unidentifiable``, in words, combinations of parameters that the data do not show; ``x`` (p,);
    ``states``, those that a motion starts in, as its predictor has them, or how far markers are
    beside their points, see :attr:`placed`; ``all_residuals``
    (P, C), measured less predicted, and ``all_initial_residuals``, those of the robot file;
    ``derivatives`` (N, p), weighted.
    """

    parameters: FitParameters
    data: Data
    x: Vector
    states: Vector
    robot: RobotDescription
    estimates: tuple[FittedParameter, ...]
    unidentifiable: tuple[str, ...]
    all_residuals: Matrix
    all_initial_residuals: Matrix
    derivatives: Matrix

    @property
    def residuals(self) -> Array:
        """Markers (P, K, 3) [m], base frame, measured less predicted."""
        return of_markers(self.data, self.all_residuals)

    @property
    def placed(self) -> dict[str, Vector]:
        """Offsets (3,) [m] of markers from their points, of those not known exactly."""
        loose = [self.data.markers[k].name for k in self.data.loose]
        return dict(zip(loose, self.states.reshape(-1, 3))) if loose else {}

    @property
    def initial_residuals(self) -> Array:
        """The same of the robot file."""
        return of_markers(self.data, self.all_initial_residuals)

    @property
    def rms(self) -> float:
        """Root of the mean squared distance of markers from where they were measured [m]."""
        return rms_of(self.data, self.all_residuals)

    def suggest(self, candidates: int = 64, count: int = 3, seed: int = 0) -> Matrix:
        """
        Return commands (count, m) of new postures that would tell most of the parameters.

        Of so many candidates, drawn evenly within the actuators' limits, the D-optimal ones,
        each with the same markers; a fit of all that was measured and them. ArgumentError where
        an actuator has no limits.
        """
        if isinstance(self.data, Motion):
            raise ArgumentError('suggest', self.data.kind, 'a fit to postures')
        limits = np.array(_limits(self.robot), dtype=float).reshape(-1, 2)
        if not np.isfinite(limits).all():
            raise ArgumentError('suggest', limits, 'a robot whose actuators have limits')
        rng = np.random.default_rng(seed)
        u = rng.uniform(limits[:, 0], limits[:, 1], size=(candidates, len(limits)))
        derivatives = [self._derivatives_under(row) for row in u]
        there = [i for i, s in enumerate(derivatives) if s is not None]
        chosen = design(
            self.derivatives.T @ self.derivatives, [derivatives[i] for i in there], count
        )
        return u[[there[i] for i in chosen]]

    def _derivatives_under(self, u: Vector) -> Any:
        """Return weighted derivatives (3 K, p) under commands u (m,), None if nothing rests."""
        with_friction = isinstance(self.data, Postures) and bool(self.data.sliding.any())
        seen = np.zeros((1, *self.data.positions.shape[1:]))
        ways = np.full_like(u[None], float(with_friction))  # drawn in from nothing
        one = Postures(('',), u[None], self.data.markers, seen, ways)
        try:
            derivatives = Predictor(self.parameters, one).derivatives(np.r_[self.x, self.states])
        except NotConvergedError:
            return None
        return derivatives.reshape(one.measured.size, -1)[:, : len(self.x)] * one.weights[:, None]


def _limits(description: RobotDescription) -> list[Any]:
    joints = {module.joint_name: module.joint for module in description.modules}
    return [entry.actuator.command_limits(joints) for entry in description.actuators]


def rms(residuals: Array) -> float:
    """Return the root mean square of the lengths of residuals (..., 3) [m], NaN of none."""
    seen = residuals[np.isfinite(residuals).all(axis=-1)]
    return float(np.sqrt((seen**2).sum(axis=-1).mean())) if len(seen) else np.nan


def of_markers(data: Data, residuals: Matrix) -> Array:
    """Return the residuals of markers, (P, K, 3) [m], among residuals (P, C)."""
    K = len(data.markers)
    return residuals[:, : 3 * K].reshape(len(residuals), K, 3)


def rms_of(data: Data, residuals: Matrix) -> float:
    """
    Return the root mean square of residuals (P, C): of markers' distances [m], and coordinates.

    Coordinates, in their units, count as their noise is to markers'.
    """
    K = 3 * len(data.markers)
    far = np.linalg.norm(of_markers(data, residuals), axis=-1)
    every = np.hstack([far, residuals[:, K:] * data.weights[K:]])
    seen = every[np.isfinite(every)]
    return float(np.sqrt((seen**2).mean())) if len(seen) else np.nan


def identify(
    description: RobotDescription,
    data: Data,
    fit: Sequence[str],
    *,
    starts: int = 1,
    seed: int = 0,
    loss: str = 'soft_l1',
    progress: Callable[[str], object] | None = None,
) -> Identification:
    """
    Fit numbers of a robot file to measurements, and return the :class:`Identification`.

    ``data`` are :class:`.Postures` that were held, or a :class:`.Motion`. ``fit`` names them, as
    :func:`.fit_parameters.read_parameters` takes it. Further ``starts`` are
    random ones within the bounds; the best end counts. By ``loss`` 'soft_l1' what is off by more
    than some two deviations counts less, by 'linear' all residuals squared. Raises ArgumentError,
    UnknownNameError, DescriptionError; NotConvergedError or SimulationDivergedError if the robot
    rests, or moves, at no start.
    """
    if loss not in LOSSES:
        raise ArgumentError('loss', loss, f'one of {", ".join(LOSSES)}')
    if not isinstance(starts, int) or starts < 1:
        raise ArgumentError('starts', starts, 'a whole number >= 1')
    parameters = read_parameters(description, fit)
    return fitted(parameters, data, _starts(parameters, starts, seed), loss, progress)


def _starts(parameters: FitParameters, count: int, seed: int) -> list[Vector]:
    """Return the robot file's x (p,), and others about it."""
    rng, (lower, upper) = np.random.default_rng(seed), parameters.bounds
    others = parameters.start + rng.uniform(-_START_SPREAD, _START_SPREAD, (count - 1, len(lower)))
    return [parameters.start, *np.clip(others, lower, upper)]


def fitted(
    parameters: FitParameters,
    data: Data,
    starts: Sequence[Vector],
    loss: str = 'soft_l1',
    progress: Callable[[str], object] | None = None,
) -> Identification:
    """Return the :class:`Identification` from starts (p,) each; raises as `identify`."""
    problem = LeastSquaresProblem(parameters, data, progress)
    z, scale = problem.best(starts, loss)
    p, every = len(parameters.each), problem.derivatives(z)
    x, (derivatives, spent) = z[:p], without(every[:, :p], every[:, p:])
    known = confidence(derivatives, problem.residuals(z), scale, spent, problem.least)
    return Identification(
        parameters=parameters,
        data=data,
        x=x,
        states=z[p:],
        robot=parameters.robot(x),
        estimates=_estimates(parameters, x, known),
        unidentifiable=tuple(
            direction_in_words(row, parameters.each) for row in known.unidentifiable
        ),
        all_residuals=data.measured - problem.predicted(z),
        all_initial_residuals=data.measured - problem.first,
        derivatives=derivatives,
    )


def _estimates(
    parameters: FitParameters, x: Vector, known: Confidence
) -> tuple[FittedParameter, ...]:
    found = []
    for p, at, half, low, high in zip(parameters.each, x, known.half, *parameters.bounds):
        lower, upper = sorted((p.value(at - half), p.value(at + half)))
        at_bound = bool(min(at - low, high - at) <= _BOUND_TOLERANCE)
        found.append(
            FittedParameter(p.name, p.value(at), lower, upper, p.nominal, p.factor, at_bound)
        )
    return tuple(found)
