# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Sequential quadratic programming in variables without units, and the units of efforts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TYPE_CHECKING, TypeAlias

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

Equation: TypeAlias = tuple[Callable[[Vector], Any], Callable[[Vector], Any]]
"""A function of z that shall be zero, and its derivative by z."""


def effort_units(model: CompiledModel) -> Vector:
    """
    Return the unit of each u (m,) for optimisation.

    It is the median of half a range, of those in the same unit (N, N m, Pa); where none of these
    is limited, of what moves the robot.
    """
    half = 0.5 * (model.effort_upper - model.effort_lower)
    units = np.array([effort.unit for effort in model.efforts])
    found = model.scales.efforts
    for unit in set(units):
        alike = units == unit
        limited = alike & np.isfinite(half)
        found[alike] = np.median(half[limited] if limited.any() else found[alike])
    return found


def minimise(
    objective: Callable[[Vector], Any],
    equations: Sequence[Equation],
    start: Vector,
    bounds: tuple[Vector, Vector],
    scale: Vector,
    settled: float,
) -> Any:
    """
    Return scipy's result of the least objective (value, gradient) by z, under equations.

    ``start``, ``bounds`` and ``scale`` (k,) are of z. The method, SLSQP, has absolute tolerances:
    it sees z / scale, and objective and equations should have no units.
    """
    from scipy.optimize import minimize  # late: scipy is slow to import

    def scaled(x: Vector) -> Any:
        value, gradient = objective(scale * x)
        return value, scale * gradient

    lower, upper = bounds
    found = minimize(
        scaled,
        np.nan_to_num(np.clip(start, lower, upper)) / scale,
        jac=True,
        bounds=list(zip(lower / scale, upper / scale)),
        constraints=[_constraint(*equation, scale) for equation in equations],
        method='SLSQP',
        options={'maxiter': 500, 'ftol': settled},
    )
    found.x = scale * found.x
    return found


def _constraint(
    function: Callable[[Vector], Any], derivative: Callable[[Vector], Matrix], scale: Vector
) -> dict[str, Any]:
    """Return an equation as SLSQP takes it, by z / ``scale``."""
    return {
        'type': 'eq',
        'fun': lambda x: function(scale * x),
        'jac': lambda x: derivative(scale * x) * scale,
    }
