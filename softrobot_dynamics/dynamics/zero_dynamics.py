# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Zero dynamics of a robot whose outputs are held: their growing rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from softrobot_dynamics.dynamics.arguments import checked, require_finite
from softrobot_dynamics.dynamics.derivatives import Differentiator
from softrobot_dynamics.dynamics.stability import Linearised
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.model.closures import require_tree

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

# of the outputs' scaled mobility; with less, combinations of outputs cannot move
MOBILITY_TOLERANCE = 1e-9


def zero_dynamics(
    model: CompiledModel,
    *,
    q: ArrayLike,
    controlled: Sequence[str] | None = None,
    u: ArrayLike | None = None,
) -> NDArray[np.complex128]:
    """
    Return the eigenvalues [1/s] of the motions left while outputs are held, largest first.

    Linearised at rest at q (n,), with the coordinates of the ``controlled`` actuators (names;
    default: all) held where they are by whatever command that takes: 2 (n - c) for c independent
    ones, none for a robot without anything left. ``u`` (m,) counts for the other actuators
    (default: 0, within their limits). A real part above zero says that control of these outputs
    alone would leave a motion that grows: Isidori, Nonlinear Control Systems (1995), 4.3.
    Raises ArgumentError, SingularMassError.
    """
    require_tree(model, 'zero dynamics are')
    names = model.actuator_names if controlled is None else tuple(controlled)
    unknown = [name for name in names if name not in model.actuator_names]
    if unknown:
        raise ArgumentError('controlled', unknown, 'names of ' + ', '.join(model.actuator_names))
    q, rest = checked('q', q, (model.n,)), np.zeros(model.n)
    k = [model.actuator_names.index(name) for name in names]
    u = np.zeros(model.m) if u is None else checked('u', u, (model.m,)).copy()
    u = np.clip(u, model.effort_lower, model.effort_upper)
    u[k] = 0.0
    terms = model.per_thread.evaluator(q, rest)
    J, M = terms.J[k].copy(), terms.M.copy()
    derivatives, n = Differentiator(model), model.n
    free = derivatives.forward(q, rest, u)
    require_finite(model, q, free.by_q)
    mobility = J @ (free.by_u[:, k] * model.signs[k])
    u[k] = -model.signs[k] * (_inverse(mobility) @ (J @ free.qdd))
    derivatives.forward(q, rest, u)
    K = derivatives.by_state[:, :n] - derivatives.stiffness
    return Linearised(K, derivatives.by_state[:, n:], M, rest).held(J)


def _inverse(mobility: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the inverse of a symmetric matrix of mixed units, as far as it has one."""
    scale = 1.0 / np.sqrt(np.maximum(np.diag(mobility), np.finfo(float).tiny))
    scaled = mobility * np.outer(scale, scale)
    return np.linalg.pinv(scaled, rcond=MOBILITY_TOLERANCE, hermitian=True) * np.outer(
        scale, scale
    )
