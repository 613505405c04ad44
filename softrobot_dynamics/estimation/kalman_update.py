# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Kalman update: a sensor's measurements correct the filter state, fully, partly or not at all."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.errors import SimulationDivergedError
from softrobot_dynamics.estimation.filter_state import FilterState
from softrobot_dynamics.estimation.innovation_gate import ACCEPTED, gate_threshold, OUTLIER
from softrobot_dynamics.estimation.noise_covariance import allocate_noise_update, update_noise
from softrobot_dynamics.estimation.sensors.contract import BoundRobot, Sensor
from softrobot_dynamics.estimation.square_root_filter import allocate_update, update

_NOISE_FACTOR = 1.5  # by which noise is raised until a measurement is accepted
_MAX_NOISE_RATIO = 1e6  # of the stated noise; a measurement farther off is discarded


class GatedUpdate(NamedTuple):
    """Result of one measurement; see :class:`~.estimates.Innovation`."""

    square: float
    numbers: int
    outliers: int  # parts that were rejected
    accepted: int  # parts that were


class KalmanUpdate:
    """
    Updates filter states by the measurements of a ``sensor`` on a ``bound_robot``.

    ``E`` (n, k) are the columns along which shares of x act as forces. ``observe`` takes one,
    ``apply`` and ``apply_inflated`` are then to update the same filter state.
    """

    def __init__(self, sensor: Sensor, bound_robot: BoundRobot, E: Matrix) -> None:
        self.sensor, self.observation = sensor, sensor.bind(bound_robot)
        observed, starts = self.observation.observed, self.observation.starts
        gates = np.array([gate_threshold(sensor.gate, size) for size in np.diff(starts)])
        self._noise = (
            self.observation.noise.copy()
        )  # the kernel's own, which `apply_inflated` multiplies
        self._n, self._E, self._H = len(E), E, observed.H
        if E.shape[1]:
            self._H = np.zeros((len(observed.H), 3 * len(E) + E.shape[1]))
        self._work = allocate_update(observed.residual, self._H, self._noise, starts, gates)
        self._update = cached(update, w=self._work)
        self._names = bound_robot.model.coordinate_names
        self._update_noise = cached(
            update_noise, w=self._work, b=allocate_noise_update(*self._H.shape)
        )

    def observe(self, state: FilterState, z: Vector) -> None:
        """Compute the residual of a measurement at the estimated state."""
        n, seen = self._n, self.observation.observed.H
        self.observation.observe(state.x[:n], state.x[n : 2 * n], z)
        if seen is not self._H:
            self._H[:, : 3 * n] = seen
            np.matmul(seen[:, 2 * n :], self._E, out=self._H[:, 3 * n :])

    def apply(self, state: FilterState) -> GatedUpdate:
        """Update the filter state by the parts that pass the gates; SimulationDivergedError."""
        if self._update(state.S, state.x):
            raise SimulationDivergedError(state.time, self._names[0])
        self._update_noise(state.N)
        (square, numbers), verdicts = self._work.total, self._work.verdicts
        found = verdicts.tolist()  # few: faster than an array
        return GatedUpdate(
            float(square), int(numbers), found.count(OUTLIER), found.count(ACCEPTED)
        )

    def apply_inflated(self, state: FilterState) -> tuple[FilterState, float]:
        """
        Return the filter state updated with inflated noise, and the factor of that noise.

        For a measurement that the gates reject: its noise is multiplied until most of it passes.
        So it moves the filter state by a few deviations at most, whatever it is.
        """
        coarse = 1.0
        try:
            while coarse < _MAX_NOISE_RATIO:
                coarse *= _NOISE_FACTOR
                self._noise[:] = coarse * self.observation.noise
                drawn = state.copy()
                verdict = self.apply(drawn)
                if verdict.accepted > verdict.outliers:
                    return drawn, coarse
        finally:
            self._noise[:] = self.observation.noise
        return state, math.inf
