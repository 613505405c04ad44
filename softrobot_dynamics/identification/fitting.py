# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Fit numbers of a robot file to postures: robust nonlinear least squares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.errors import ArgumentError, DescriptionError, NotConvergedError
from softrobot_dynamics.identification.confidence import Confidence, confidence, design, told
from softrobot_dynamics.identification.parameters import Parameters, read_parameters
from softrobot_dynamics.identification.postures import Postures
from softrobot_dynamics.identification.prediction import Predictor

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription

LOSSES = ('soft_l1', 'linear')
_NEAR = 1e-3  # of x, from a bound
_SPREAD = 1.0  # largest x between random starts and the robot file's
_KNEE = 2.0  # standard deviations, from which soft_l1 counts less
_LOST = 1e3  # [m] residual of a robot that there is not, or does not rest
_SETTLED = 0.9  # share of the knee before, from which it stays
_EXACT = 1e-9  # [m] residuals that are rounding: of data that a model has made


class Estimate(NamedTuple):
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


@dataclass(frozen=True)
class Identification:
    """
    What a fit has found.

    Attributes: ``robot``, the RobotDescription with the fitted numbers; ``estimates`` (p,);
    ``unseen``, in words, combinations of the parameters that the data do not show;
    ``residuals`` (P, K, 3) [m], base frame, measured less predicted; ``before``, those of the
    robot file; ``x`` (p,), ``slopes`` (N, p) weighted, as are their ``errors`` (N,).
    """

    parameters: Parameters
    postures: Postures
    x: Vector
    robot: RobotDescription
    estimates: tuple[Estimate, ...]
    unseen: tuple[str, ...]
    residuals: Array
    before: Array
    slopes: Matrix

    @property
    def rms(self) -> float:
        """Root of the mean squared distance of markers from where they were measured [m]."""
        return rms(self.residuals)

    def suggest(self, candidates: int = 64, count: int = 3, seed: int = 0) -> Matrix:
        """
        Return commands (count, m) of new postures that would tell most of the parameters.

        Of so many candidates, drawn evenly within the actuators' limits, the D-optimal ones,
        each with the same markers; a fit of all that was measured and them. ArgumentError where
        an actuator has no limits.
        """
        limits = np.array(_limits(self.robot), dtype=float).reshape(-1, 2)
        if not np.isfinite(limits).all():
            raise ArgumentError('suggest', limits, 'a robot whose actuators have limits')
        rng = np.random.default_rng(seed)
        u = rng.uniform(limits[:, 0], limits[:, 1], size=(candidates, len(limits)))
        slopes = [self._slopes_under(row) for row in u]
        there = [i for i, s in enumerate(slopes) if s is not None]
        chosen = design(self.slopes.T @ self.slopes, [slopes[i] for i in there], count)
        return u[[there[i] for i in chosen]]

    def _slopes_under(self, u: Vector) -> Any:
        """Return the weighted slopes (3 K, p) under commands u (m,), None if nothing rests."""
        seen = np.zeros((1, *self.postures.positions.shape[1:]))
        one = Postures(('',), u[None], self.postures.markers, seen)
        try:
            slopes = Predictor(self.parameters, one).slopes(self.x)
        except NotConvergedError:
            return None
        return (slopes[0] * one.weights[:, None, None]).reshape(-1, len(self.x))


def _limits(description: RobotDescription) -> list[Any]:
    joints = {module.joint_name: module.joint for module in description.modules}
    return [entry.actuator.command_limits(joints) for entry in description.actuators]


def rms(residuals: Array) -> float:
    """Return the root mean square of the lengths of residuals (..., 3) [m], NaN of none."""
    seen = residuals[np.isfinite(residuals).all(axis=-1)]
    return float(np.sqrt((seen**2).sum(axis=-1).mean())) if len(seen) else np.nan


def identify(
    description: RobotDescription,
    postures: Postures,
    fit: Sequence[str],
    *,
    starts: int = 1,
    seed: int = 0,
    loss: str = 'soft_l1',
    progress: Callable[[str], object] | None = None,
) -> Identification:
    """
    Fit numbers of a robot file to postures that were held, and return the :class:`Identification`.

    ``fit`` names them, as :func:`.parameters.read_parameters` takes it. Further ``starts`` are
    random ones within the bounds; the best end counts. By ``loss`` 'soft_l1' what is off by more
    than some two deviations counts less, by 'linear' all residuals squared. Raises ArgumentError,
    UnknownNameError, DescriptionError; NotConvergedError if the robot rests at no start.
    """
    if loss not in LOSSES:
        raise ArgumentError('loss', loss, f'one of {", ".join(LOSSES)}')
    if not isinstance(starts, int) or starts < 1:
        raise ArgumentError('starts', starts, 'a whole number >= 1')
    parameters = read_parameters(description, fit)
    return fitted(parameters, postures, _starts(parameters, starts, seed), loss, progress)


def _starts(parameters: Parameters, count: int, seed: int) -> list[Vector]:
    """Return the robot file's x (p,), and others about it."""
    rng, (lower, upper) = np.random.default_rng(seed), parameters.bounds
    others = parameters.start + rng.uniform(-_SPREAD, _SPREAD, (count - 1, len(lower)))
    return [parameters.start, *np.clip(others, lower, upper)]


def fitted(
    parameters: Parameters,
    postures: Postures,
    starts: Sequence[Vector],
    loss: str = 'soft_l1',
    progress: Callable[[str], object] | None = None,
) -> Identification:
    """Return the :class:`Identification` from starts (p,) each; raises as `identify`."""
    problem = _Problem(parameters, postures, progress)
    x, scale = problem.best(starts, loss)
    slopes, residuals = problem.slopes(x), problem.residuals(x)
    known = confidence(slopes, residuals, scale)
    return Identification(
        parameters=parameters,
        postures=postures,
        x=x,
        robot=parameters.robot(x),
        estimates=_estimates(parameters, x, known),
        unseen=tuple(told(row, parameters.each) for row in known.unseen),
        residuals=postures.positions - problem.predictor.points(x),
        before=postures.positions - problem.first,
        slopes=slopes,
    )


def _estimates(parameters: Parameters, x: Vector, known: Confidence) -> tuple[Estimate, ...]:
    found = []
    for p, at, half, low, high in zip(parameters.each, x, known.half, *parameters.bounds):
        lower, upper = sorted((p.value(at - half), p.value(at + half)))
        at_bound = bool(min(at - low, high - at) <= _NEAR)
        found.append(Estimate(p.name, p.value(at), lower, upper, p.nominal, p.factor, at_bound))
    return tuple(found)


class _Problem:
    """Residuals of markers that were seen, weighted, for scipy; one for a fit."""

    def __init__(
        self,
        parameters: Parameters,
        postures: Postures,
        progress: Callable[[str], object] | None = None,
    ) -> None:
        self.predictor, self._progress = Predictor(parameters, postures), progress
        self._postures, self._bounds = postures, parameters.bounds
        self._seen = np.isfinite(postures.positions)
        self._weights = postures.weights[:, None]
        if len(parameters.each) > self._seen.sum():
            expected = f'at most {self._seen.sum()} parameters: so many coordinates were measured'
            raise ArgumentError('fit', parameters.names, expected)
        self.first = np.full_like(postures.positions, np.nan)

    def residuals(self, x: Vector) -> Vector:
        """Return what measured markers are off by (N,) [m], weighted; raises."""
        off = (self.predictor.points(x) - self._postures.positions) * self._weights
        return off[self._seen]

    def slopes(self, x: Vector) -> Matrix:
        """Return the derivatives of `residuals`, (N, p)."""
        return (self.predictor.slopes(x) * self._weights[..., None])[self._seen]

    def best(self, starts: Sequence[Vector], loss: str) -> tuple[Vector, float]:
        """Return x (p,) of the least loss, and the knee of it [m]; raises if none begins."""
        ends, errors = [], []
        for number, start in enumerate(starts):
            try:
                points = self.predictor.points(start)
            except (NotConvergedError, DescriptionError) as error:
                errors.append(error)
                continue
            if not number:
                self.first = points
            self._say(f'start {number + 1} of {len(starts)}')
            ends.append(self._solve(start, np.inf))
        if not ends:
            raise errors[0]
        found = min(ends, key=lambda end: end.cost)
        scale = np.inf
        while loss != 'linear':  # what is far off has spoilt the first fit, and so its scale
            spread = _KNEE * 1.4826 * float(np.median(np.abs(found.fun)))
            if spread < _EXACT or spread > _SETTLED * scale:
                break
            scale = spread
            found = self._solve(found.x, scale)
        return found.x, scale

    def _solve(self, start: Vector, scale: float) -> Any:
        from scipy.optimize import least_squares  # late: scipy is slow to import

        linear = not np.isfinite(scale)
        return least_squares(
            self._guarded,
            np.clip(start, *(self._bounds + [[1e-9], [-1e-9]])),
            jac=self.slopes,
            bounds=self._bounds,
            loss='linear' if linear else 'soft_l1',
            f_scale=1.0 if linear else scale,
            xtol=1e-6,
            ftol=1e-6,
            gtol=1e-12,
            max_nfev=60,
        )

    def _guarded(self, x: Vector) -> Vector:
        """Return `residuals`, large ones where there is no such robot at rest."""
        try:
            off = self.residuals(x)
        except (NotConvergedError, DescriptionError):
            return np.full(self._seen.sum(), _LOST)
        self._say(f'rms {1e3 * float(np.sqrt(np.mean(off**2))):.4g} mm a coordinate')
        return off

    def _say(self, words: str) -> None:
        if self._progress:
            self._progress(words)
