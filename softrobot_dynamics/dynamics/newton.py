# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Newton's method for postures at rest: steps that do not depend on units, with a line search."""

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.dynamics.saddle_free_newton import (
    MAX_STEP_ROTATION,
    NewtonResult,
    relative_residual,
    StaticProblem,
)

# of the forces at play: at the first iteration stops, the second is accepted
STOP_RESIDUAL, ACCEPTED_RESIDUAL = 1e-14, 1e-7


def newton(statics: StaticProblem, q: Vector, u: Vector, max_iterations: int) -> NewtonResult:
    """Iterate from q, at most so often, down to rounding; return :class:`NewtonResult`."""
    r, size = statics.residual(q, u)
    direct, iteration = True, 0
    while True:
        error, largest = relative_residual(r, size), float(np.abs(r).max(initial=0.0))
        if error <= STOP_RESIDUAL:
            return NewtonResult(
                q=q, residual=largest, iterations=iteration, balanced=True, direct=direct
            )
        better = _newton_step(statics, q, u, r, size) if iteration < max_iterations else None
        if better is None:  # near a solution: as good as rounding lets it be
            return NewtonResult(
                q=q,
                residual=largest,
                iterations=min(iteration + 1, max_iterations),
                balanced=error <= ACCEPTED_RESIDUAL,
                direct=direct,
            )
        q, r, size, whole = better
        direct = direct and (whole or error <= ACCEPTED_RESIDUAL)
        iteration += 1


def _newton_step(
    statics: StaticProblem, q: Vector, u: Vector, r: Vector, size: Vector
) -> tuple[Vector, Vector, Vector, bool] | None:
    """
    Return q, residual, sizes after one Newton step with line search, and whether it was whole.

    None: no descent. A step must shorten the Newton correction, not the residual: that test does
    not depend on units [Deuflhard 2004, Sec. 3.1].
    """
    K, _ = statics.stiffness(q, u, size)
    if not (np.isfinite(r).all() and np.isfinite(K).all()):
        return None  # a posture that the model cannot represent
    columns, inverse = _scaled_inverse(K)
    correction = -inverse @ r
    step, length = columns * correction, np.linalg.norm(correction)
    longest = min(1.0, MAX_STEP_ROTATION / max(statics.step_rotation(step), 1e-300))
    for scale in longest * 0.5 ** np.arange(12):
        better = q + scale * step
        trial, size = statics.residual(better, u)
        if np.linalg.norm(inverse @ trial) <= (1.0 - 0.5 * scale) * length:
            if not statics.posture_fault(better):
                return better, trial, size, scale == 1.0
    return None


def _scaled_inverse(K: Matrix) -> tuple[Vector, Matrix]:
    """Return c (n,) and the pseudo-inverse of K diag(c), rows and columns being of like size."""
    rows = 1.0 / np.maximum(np.abs(K).max(axis=1), 1e-300)
    K = rows[:, None] * K
    columns = 1.0 / np.maximum(np.abs(K).max(axis=0), 1e-300)
    return columns, np.linalg.pinv(K * columns, rcond=1e-12) * rows
