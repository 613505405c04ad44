# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Saddle-free Newton method: find where a released, fully damped robot comes to rest."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.dynamics.stability import Linearised

MAX_STEPS = 300
MAX_STEP_ROTATION = 0.5  # [rad] of any joint or body in a step
MAX_STEP_LENGTHENING = 0.5  # of the robot's length, in a step
SADDLE_PERTURBATION = 0.02  # [rad] or of the robot's length; moves the posture off a saddle
NEWTON_RANGE = 1e-3  # residual, of the forces at play, from which Newton's method does the rest
NOT_REPRESENTED = 'a posture that the bodies cannot represent'


class NewtonResult(NamedTuple):
    """End of Newton's method: balanced or not; ``direct``: no step had to be shortened."""

    q: Vector
    residual: float
    iterations: int
    balanced: bool
    direct: bool


class StaticProblem(Protocol):
    """The part of :class:`~.static_residual.Statics` that is used here."""

    def residual(self, q: Vector, u: Vector) -> tuple[Vector, Vector]:
        """Return the static residual (n,) and the sizes (n,) of the forces in it."""

    def set_load_factor(self, factor: float) -> None:
        """Scale all loads by a factor from 0 to 1."""

    def stiffness(self, q: Vector, u: Vector, size: Vector) -> tuple[Matrix, Vector]:
        """Return the tangent stiffness (n, n), its rounding zeroed, and its noise (n,)."""

    def linearised(self, q: Vector, u: Vector) -> Linearised:
        """Return the motion about q (n,) under u (m,)."""

    def is_stable_equilibrium(self, found: NewtonResult, u: Vector) -> bool:
        """Tell whether a posture is balanced, and stable against small motions."""

    def restart_at(self, q: Vector) -> Vector:
        """Restart from a posture; return it in the coordinates used from now on."""

    def posture_fault(self, q: Vector) -> str:
        """Return in words why q (n,) is no valid posture, or ''."""

    def step_rotation(self, step: Vector) -> float:
        """Largest angle [rad] by which a joint or a body turns by a small step (n,) of q."""

    def step_lengthening(self, step: Vector) -> float:
        """Largest share of its length by which the robot grows by a small step (n,) of q."""


class RestResult(NamedTuple):
    """Result of Newton's method, or None and the ``reason``; the number of steps before."""

    solution: Any
    reason: str
    steps: int


def saddle_free_newton(
    statics: StaticProblem, q: Vector, u: Vector, newton: Callable[[Vector], Any]
) -> RestResult:
    """
    Release the robot at q (n,) under u (m,), and return its :class:`RestResult`.

    Steps are Newton's in every mode of vibration, reversed where that would climb to a maximum.
    ``newton(q)`` completes them; at a saddle the robot is pushed along the unstable mode.
    """
    for taken in range(MAX_STEPS):
        r, size = statics.residual(q, u)
        near = statics.linearised(q, u)
        if not (np.isfinite(r).all() and np.isfinite(near.K).all()):
            return RestResult(None, NOT_REPRESENTED, taken)
        squares, modes = near.modes()
        step = _descent_step(statics, r, np.maximum(np.abs(squares), near.errors(modes)), modes)
        if relative_residual(r, size) <= NEWTON_RANGE:
            found = newton(q)
            if statics.is_stable_equilibrium(found, u):
                return RestResult(found, '', taken)
            if found.balanced:
                step = step + _saddle_step(statics, r, modes[:, 0])
        q, reason = _line_search(statics, q, u, r, step)
        if reason:
            return RestResult(None, reason, taken + 1)
        q = statics.restart_at(q)
    return RestResult(None, f'the robot does not come to rest in {MAX_STEPS} steps', MAX_STEPS)


def relative_residual(r: Vector, size: Vector) -> float:
    """Return the largest residual (n,), each of the ``size`` (n,) of the forces in it."""
    return float((np.abs(r) / np.maximum(size, np.finfo(float).tiny)).max(initial=0.0))


def _descent_step(statics: StaticProblem, r: Vector, squares: Vector, modes: Matrix) -> Vector:
    """Return a descent step (n,) within MAX_STEP_ROTATION and MAX_STEP_LENGTHENING."""
    step = -modes @ ((modes.T @ r) / np.maximum(squares, np.finfo(float).tiny))
    rotation = max(statics.step_rotation(step), 1e-300)
    lengthening = max(statics.step_lengthening(step), 1e-300)
    return step * min(1.0, MAX_STEP_ROTATION / rotation, MAX_STEP_LENGTHENING / lengthening)


def _saddle_step(statics: StaticProblem, r: Vector, mode: Vector) -> Vector:
    """Return a step (n,) along a mode, in its direction of descent if there is one."""
    size = max(statics.step_rotation(mode), statics.step_lengthening(mode), 1e-300)
    return mode * SADDLE_PERTURBATION / size * (-1.0 if mode @ r > 0.0 else 1.0)


def _line_search(
    statics: StaticProblem, q: Vector, u: Vector, r: Vector, step: Vector
) -> tuple[Any, str]:
    """Return q after the part of a step that descends, and ''; or None and the reason."""
    reason = 'no posture nearby has less energy'
    for scale in 0.5 ** np.arange(20):
        better = q + scale * step
        derivative = statics.residual(better, u)[0] @ step
        if not np.isfinite(derivative):
            reason = NOT_REPRESENTED
        elif fault := statics.posture_fault(better):
            reason = fault
        elif derivative <= 0.5 * abs(r @ step):
            return better, ''
    return None, reason
