# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Results of an estimator: the state at a time, and the innovation of a measurement."""

from __future__ import annotations

from typing import NamedTuple

from softrobot_dynamics.annotations import Matrix, Vector


class Estimate(NamedTuple):
    """Estimate of the state of a robot at a time [s]."""

    time: float
    q: Vector  # (n,)
    qd: Vector  # (n,)
    force: Vector  # (n,) generalized, from outside
    covariance: Matrix | None  # (N, N) of q, qd, force and model_error, if it was asked for
    model_error: Vector  # (3,) shares, see ModelError; (0,) if none is looked for


class Innovation(NamedTuple):
    """
    The innovation of a measurement.

    ``square`` is the normalised innovation squared of what was taken of it: that of a
    right filter is as chi squared with as many degrees of freedom as ``numbers`` is. That of
    efforts is of how much they changed; 0 where nothing is told of their ``change``.
    """

    sensor: str
    time: float  # [s] at which it was true
    square: float
    numbers: int  # 0: nothing was seen, everything was rejected, or it is too old
    outliers: int  # parts that were rejected
    too_old: bool  # beyond the history: left out
    late: bool  # others that are newer were there before it
    coarse: float = 0.0  # factor of the noise by which a rejected one was taken; 0: not so


def estimate_of(time: float, x: Vector, n: int, covariance: Matrix | None) -> Estimate:
    """Return the :class:`Estimate` of x (N,) of a robot with n coordinates, and its covariance."""
    q, qd, force = x[:n].copy(), x[n : 2 * n].copy(), x[2 * n : 3 * n].copy()
    return Estimate(time, q, qd, force, covariance, x[3 * n :].copy())
