# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Covariance that the noise of measured efforts adds to the filter state, S S^T and N.

The error sigma of each value is independent of the next one and acts for 1 / rate. So the error of
the force A u, A = dnu/du, has the spectral density A sigma^2 A^T / rate: white noise to motions
that are slower than the values. Overdamped soft bodies follow at once: their error is that of the
last value, not of the mean over a step of h. Hence two columns for each actuator, of a force with
the deviation sigma / (rate h)^1/2:

- one that acts throughout the step. Alone it is exact for one value a step;
- with r = rate h > 1 values a step, another of -(1 + 2^1/2) in the first backward Euler step of
  the two that settle it, and 1 in the second. It changes no momentum, and moves overdamped
  coordinates (1 + 2^1/2)^2 times as far as a steady force: with its share of
  (r - 1) / (1 + 2^1/2)^4, at most a third, these end as under the last value alone; a third is
  the variance of positions that white noise leaves in a step.

With fewer values than steps the uncertainty of overdamped coordinates is overestimated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.estimation.square_root_filter import (
    backward_euler_step,
    PredictionArrays,
    triangularise,
)
from softrobot_dynamics.recursion.constants import L_STABLE_GAMMA
from softrobot_dynamics.simulation.integrators.exponential_step import (
    ONE_STEP_WEIGHT,
    TWO_STEPS_WEIGHT,
)

if TYPE_CHECKING:
    from softrobot_dynamics.dynamics.derivatives import Differentiator
    from softrobot_dynamics.estimation.effort_measurements import Effort, EffortHistory

# of the second column on overdamped coordinates, as variance
_OVERDAMPED_GAIN = TWO_STEPS_WEIGHT**4
_MAX_WHITE_NOISE_FRACTION = 1.0 / 3.0


class EffortNoise(NamedTuple):
    """Work arrays of :func:`add_effort_noise`, for p efforts that are measured with noise."""

    forces: Matrix  # (p, n) generalized force of a unit error of each
    steady: Vector  # (p,) deviations of the first columns
    swinging: Vector  # (p,) of the second columns
    start: Matrix  # (N, 2 p)
    once: Matrix  # (N, 2 p)
    twice: Matrix  # (N, 2 p)
    array: Matrix  # (N, N + 2 p)


class NoisyEfforts:
    """
    Measured efforts with noise, whose errors enter the covariances of a prediction.

    ``prediction`` are the work arrays of :func:`~.square_root_filter.predict`; ``add_noise`` is to
    be called right after it, for the same step.
    """

    def __init__(
        self,
        efforts: Sequence[Effort],
        differentiate: Differentiator,
        prediction: PredictionArrays,
    ) -> None:
        model, N = differentiate.model, len(prediction.start)
        self._efforts, self._differentiate = efforts, differentiate
        self._which = np.concatenate([e.numbers(model.actuator_names) for e in efforts])
        sizes = [len(e.names) for e in efforts]
        p = sum(sizes)
        self._noise, self._rates = (
            np.repeat([getattr(e, name) for e in efforts], sizes) for name in ('noise', 'rate')
        )
        self._work = EffortNoise(
            forces=np.zeros((p, model.n)),
            steady=np.zeros(p),
            swinging=np.zeros(p),
            **{name: np.zeros((N, 2 * p)) for name in ('start', 'once', 'twice')},
            array=np.zeros((N, N + 2 * p)),
        )
        room = prediction._replace(velocity_row=np.zeros(2 * p))
        self._add_noise = cached(add_effort_noise, w=room, b=self._work)

    def add_noise(
        self, S: Matrix, N: Matrix, start: float, h: float, acting: EffortHistory
    ) -> None:
        """Add the noise of efforts used from a start [s] on, for h [s], to S and N (N, N)."""
        each = [acting.measured(effort.name, start, start + h) for effort in self._efforts]
        shares, values = np.concatenate(each), self._rates * h
        if not shares.any():
            return
        work = self._work
        np.multiply(self._noise, np.sqrt(shares / values), out=work.steady)
        swinging = np.clip((values - 1.0) / _OVERDAMPED_GAIN, 0.0, _MAX_WHITE_NOISE_FRACTION)
        np.multiply(work.steady, np.sqrt(swinging), out=work.swinging)
        self._fill()
        self._add_noise(S, N, h)

    def _fill(self) -> None:
        """Fill the forces, where the robot was differentiated."""
        own, forces = self._differentiate, self._work.forces
        np.multiply(own.response.signs[self._which, None], own.terms.J[self._which], out=forces)
        drives = own.drives  # those of positions that motors hold: what a cable makes of them
        if not len(drives.tension):
            return
        by_command = drives.stiffness * drives.transmission
        tension_by_command = np.where(drives.tension > 0.0, by_command, 0.0)
        for force, (first, count) in zip(forces, drives.cables[self._which]):
            force -= tension_by_command[first : first + count] @ drives.J[first : first + count]


@kernel
def add_effort_noise(w, b, S, N, h):
    """Add the noise of efforts to S and N (N, N), which `predict` has just filled."""
    n, p, size, g = len(w.M), len(b.steady), len(S), L_STABLE_GAMMA * h
    for i in range(n):
        row = b.start[2 * n + i]
        for a in range(p):
            row[a] = b.steady[a] * b.forces[a, i]
            row[p + a] = -TWO_STEPS_WEIGHT * b.swinging[a] * b.forces[a, i]
    backward_euler_step(w, g, b.start, b.once)
    for i in range(n):
        for a in range(p):
            b.once[2 * n + i, p + a] = b.swinging[a] * b.forces[a, i]
    backward_euler_step(w, g, b.once, b.twice)
    A = b.array
    for i in range(size):
        row, own, once, twice = A[i], S[i], b.once[i], b.twice[i]
        for c in range(size):
            row[c] = own[c]
        for c in range(2 * p):
            row[size + c] = (
                TWO_STEPS_WEIGHT * twice[c] + ONE_STEP_WEIGHT * once[c] if i < 2 * n else 0.0
            )
    for i in range(2 * n):
        for j in range(2 * n):
            for c in range(size, size + 2 * p):
                N[i, j] += A[i, c] * A[j, c]
    triangularise(A, size, size, size + 2 * p)  # as S is triangular already
    for i in range(size):
        for c in range(i + 1):
            S[i, c] = A[i, c]
