# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Load stepping: follow equilibria from no load to the full load where Newton's method fails."""

from __future__ import annotations

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.dynamics.newton import newton
from softrobot_dynamics.dynamics.saddle_free_newton import (
    NewtonResult,
    saddle_free_newton,
    StaticProblem,
)
from softrobot_dynamics.errors import NotConvergedError

MAX_ITERATIONS = 100

# fractions of the load, and Newton iterations for each of them, few so as to stay near
FIRST_LOAD_STEP, MIN_LOAD_STEP, ITERATIONS_PER_LOAD = 0.125, 2.0**-10, 15


def step_load(statics: StaticProblem, q: Vector, u: Vector, iterations: int) -> NewtonResult:
    """Follow equilibria from no load to all of it; return :class:`NewtonResult`, or raise."""
    load_factor = step = 0.0  # at first only the load is taken off
    reason = ''
    while True:
        target = min(1.0, load_factor + step)
        statics.set_load_factor(target)
        found = newton(statics, q, u, ITERATIONS_PER_LOAD if target else MAX_ITERATIONS)
        iterations += found.iterations
        stays = statics.is_stable_equilibrium(found, u)
        if not stays and step <= MIN_LOAD_STEP:  # what was followed ends here
            settled, reason, steps = saddle_free_newton(
                statics, q, u, lambda q: newton(statics, q, u, ITERATIONS_PER_LOAD)
            )
            found, stays = settled or found, bool(settled)
            iterations += steps + (settled.iterations if settled else 0)
        if stays and target == 1.0:
            return found._replace(iterations=iterations)
        if stays:
            q, load_factor = statics.restart_at(found.q), target
            step = 2.0 * step or FIRST_LOAD_STEP
        elif step > MIN_LOAD_STEP:
            step *= 0.5
        else:
            break
    statics.set_load_factor(1.0)
    residual = float(np.abs(statics.residual(q, u)[0]).max())
    raise NotConvergedError('equilibrium', iterations, residual, load_factor, reason)
