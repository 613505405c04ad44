# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Commands of the actuators that a predictive law does not have, over its horizon."""

from __future__ import annotations

from softrobot_dynamics.annotations import Integers, Vector
from softrobot_dynamics.controllers.predictive.horizon import HorizonProblem


def with_other_commands(
    problem: HorizonProblem,
    controlled: Integers,
    mean: Vector,
    u: Vector,
    since: float,
    horizon: float,
) -> HorizonProblem:
    """
    Return a problem in which actuators that are not ``controlled`` stay at their mean command.

    ``mean`` (m,), over a ``horizon`` [s], is brought on to commands u (m,) ``since`` [s] the last
    solution, nan: there was none. Laws beside this one answer its commands within a tick: if those
    of the moment stayed, both together would oscillate.
    """
    if len(controlled) == len(u):
        return problem
    mean += (since / (since + horizon) if since >= 0.0 else 1.0) * (u - mean)
    lower, upper = mean.copy(), mean.copy()
    lower[controlled], upper[controlled] = problem.lower[controlled], problem.upper[controlled]
    return problem._replace(lower=lower, upper=upper)
