# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Robust nonlinear least squares for numbers of a robot file, and states that are not known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.errors import (
    ArgumentError,
    DescriptionError,
    NotConvergedError,
    SimulationDivergedError,
)
from softrobot_dynamics.identification.fit_parameters import FitParameters
from softrobot_dynamics.identification.motion_prediction import MotionPredictor
from softrobot_dynamics.identification.motions import Motion
from softrobot_dynamics.identification.postures import Postures
from softrobot_dynamics.identification.prediction import Predictor

Data: TypeAlias = Postures | Motion

_SOFT_L1_SCALE = 2.0  # standard deviations, from which soft_l1 counts less
_FAILED_RESIDUAL = 1e3  # of the data's size: where a robot is impossible, or does not rest or stay
_MODEL_ERRORS = DescriptionError, NotConvergedError, SimulationDivergedError
_SCALE_CONVERGENCE = 0.9  # of the scale before, from which it stays
# of a fitted state's distance from its first guess, in ways of the robot
_STATE_PRIOR_WEIGHT = 1e-3
# of x, or of the way between bounds: from nearer, a first step beyond ends a fit
_MIN_START_DISTANCE = 0.05
_DEFAULT_NOISE = 1.0  # of what is measured
_ROUNDING_RESIDUAL = 1e-9  # of the data's size; of data that a model has made


def predictor_of(parameters: FitParameters, data: Data) -> Predictor | MotionPredictor:
    """Return the predictor of such data."""
    if isinstance(data, Motion):
        return MotionPredictor(parameters, data)
    return Predictor(parameters, data)


def _size_of(data: Data) -> float:
    """
    Return the size of the measurements, weighted: the deviation from their mean, or from zero.

    Of all that is compared with residuals, which have the unit of the weights.
    """
    values = data.measured * data.weights
    seen = np.isfinite(values)
    count = np.maximum(seen.sum(axis=0), 1)
    known = np.where(seen, values, 0.0)
    spread = np.where(seen, values - known.sum(axis=0) / count, 0.0)
    return float(np.abs(spread).max(initial=0.0) or np.abs(known).max(initial=0.0) or 1.0)


class LeastSquaresProblem:
    """
    Weighted residuals of measurements, for scipy; one for a fit.

    Below them are those of states that are fitted, too, from the first guess: small, for what the
    data hardly show of these should not run away; and those of places of markers, as well as they
    are known. Last are those of numbers that were known
    before: one deviation counts as much as a residual of one deviation of its noise, ``least``.
    """

    def __init__(
        self,
        parameters: FitParameters,
        data: Data,
        progress: Callable[[str], object] | None = None,
    ) -> None:
        self.predictor, self._progress = predictor_of(parameters, data), progress
        self._measured, self._weights = data.measured, data.weights
        self._p, self._parameters = len(parameters.each), parameters
        known = [parameters.names[i] for i in parameters.known]
        known += [data.markers[k].name for k in data.loose]
        if known and (data.noises == _DEFAULT_NOISE).all():
            expected = 'the noise of what was measured, which deviations of numbers are weighed by'
            raise ArgumentError('fit', known, expected)
        self._one = float(1.0 / np.mean(1.0 / data.noises))  # a residual of one deviation
        self.least = self._one if known else 0.0
        self._anchors = (
            _STATE_PRIOR_WEIGHT if isinstance(data, Motion) else self._one / data.deviations
        )
        self._seen, self._bounds = np.isfinite(data.measured), self.predictor.bounds
        self._count = int(self._seen.sum())
        if len(parameters.each) > self._count:
            expected = f'at most {self._count} parameters: so many coordinates were measured'
            raise ArgumentError('fit', parameters.names, expected)
        self.first = np.full_like(self._measured, np.nan)
        self._size = _size_of(data)

    def predicted(self, z: Vector) -> Matrix:
        """Return the predicted measurements (P, C); raises."""
        found: Matrix = self.predictor.points(z).reshape(self._measured.shape)
        return found

    def residuals(self, z: Vector) -> Vector:
        """Return the weighted residuals (N,); raises."""
        off = ((self.predicted(z) - self._measured) * self._weights)[self._seen]
        before = self._one * self._parameters.off(z[: self._p])
        return np.r_[off, self._anchors * (z - self._begun)[self._p :], before]

    def derivatives(self, z: Vector) -> Matrix:
        """Return the derivatives of `residuals`, (N, .)."""
        derivatives = self.predictor.derivatives(z).reshape(*self._measured.shape, -1)
        anchor = np.eye(len(z))[self._p :] * np.reshape(self._anchors, (-1, 1))
        before = np.zeros((len(self._parameters.known), len(z)))
        before[:, : self._p] = self._one * self._parameters.off_derivatives(z[: self._p])
        return np.vstack([(derivatives * self._weights[:, None])[self._seen], anchor, before])

    def best(self, starts: Sequence[Vector], loss: str) -> tuple[Vector, float]:
        """Return z of the least loss, and the knee of it [m]; raises if none begins."""
        ends, errors = [], []
        for number, start in enumerate(starts):
            try:
                z = self._begun = self.predictor.begin(start)
                points = self.predicted(z)
            except _MODEL_ERRORS as error:
                errors.append(error)
                continue
            if not number:
                self.first = points
            self._say(f'start {number + 1} of {len(starts)}')
            ends.append(self._solve(z, np.inf))
        if not ends:
            raise errors[0]
        found = min(ends, key=lambda end: end.cost)
        scale = np.inf
        while loss != 'linear':  # what is far off has spoilt the first fit, and so its scale
            spread = _SOFT_L1_SCALE * 1.4826 * float(np.median(np.abs(found.fun[: self._count])))
            if spread < _ROUNDING_RESIDUAL * self._size or spread > _SCALE_CONVERGENCE * scale:
                break
            scale = spread
            found = self._solve(found.x, scale)
        return found.x, scale

    def _solve(self, start: Vector, scale: float) -> Any:
        from scipy.optimize import least_squares  # late: scipy is slow to import

        linear, (lower, upper) = not np.isfinite(scale), self._bounds
        inside, size = (
            np.minimum(_MIN_START_DISTANCE, _MIN_START_DISTANCE * (upper - lower)),
            self._size,
        )
        found = least_squares(  # whose tolerance of the gradient is absolute
            lambda z: self._guarded(z) / size,
            np.clip(start, lower + inside, upper - inside),
            jac=lambda z: self.derivatives(z) / size,
            bounds=self._bounds,
            loss='linear' if linear else 'soft_l1',
            f_scale=1.0 if linear else scale / size,
            xtol=1e-6,
            ftol=1e-6,
            gtol=1e-12,
            max_nfev=60,
        )
        found.fun = size * found.fun
        return found

    def _guarded(self, z: Vector) -> Vector:
        """Return `residuals`, large ones where there is no such robot, at rest or in motion."""
        try:
            residuals = self.residuals(z)
        except _MODEL_ERRORS:
            more = len(z) - self._p + len(self._parameters.known)
            return np.full(self._count + more, _FAILED_RESIDUAL * self._size)
        size = float(np.sqrt(np.mean(residuals[: self._count] ** 2)))
        self._say(f'rms {size:.4g} a coordinate')
        return residuals

    def _say(self, words: str) -> None:
        if self._progress:
            self._progress(words)
