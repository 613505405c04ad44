# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Shift a solution in time, for the next one to begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector

if TYPE_CHECKING:
    from softrobot_dynamics.controllers.predictive.horizon import Horizon


def shift(p: Horizon, ahead: float, last_count: int, count: int) -> None:
    """
    Move a solution of ``last_count`` commands on by ``ahead`` knots, to one of ``count`` commands.

    Its states, commands and gains are those that the next roll-out follows. Without the gains a
    roll-out from a state that is off, as after a late solution, would end far from the solution.
    """
    now, trial = p.now, p.trial
    p.trial_last[:] = now.u[int(max(0.0, ahead - 1e-6))]
    trial.x[: count + 1] = _between(now.x, np.minimum(np.arange(count + 1) + ahead, last_count))
    places = np.minimum(np.arange(count) + ahead, last_count - 1.0)
    for each in (now.u, now.A):
        each[:count] = _between(each, places)
    trial.u[:count] = now.u[:count]
    if ahead >= 0.5:
        nearest = np.minimum(np.arange(count) + round(ahead), last_count - 1)
        for array in (p.policy.gain, p.steps.inverse, p.steps.by_all, p.steps.F, p.touched):
            array[:count] = array[nearest]
    if count > last_count:
        p.derivative_age[0] = 0.0


def _between(rows: Matrix, places: Vector) -> Matrix:
    """Return what rows are at ``places`` (k,) between them."""
    low = places.astype(int)
    share = (places - low)[:, None]
    found: Matrix = (1.0 - share) * rows[low] + share * rows[np.minimum(low + 1, len(rows) - 1)]
    return found
