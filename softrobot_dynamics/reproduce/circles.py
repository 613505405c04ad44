# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The circles of Simulation 1 of [P], and the equilibria on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
import softrobot_dynamics as sd
from softrobot_dynamics.dynamics.static_residual import Statics
from softrobot_dynamics.errors import NotConvergedError
from softrobot_dynamics.model.model import CompiledModel
from softrobot_dynamics.references.piecewise import Reference, spline
from softrobot_dynamics.reproduce.outcome import Array

PERIOD = 5.0  # [s]
RADII, HEIGHTS = (0.020, 0.025, 0.030), (0.08, 0.15, 0.24)  # [m] of the three tips' circles
MAX_NEWTON_ITERATIONS, NEWTON_TOLERANCE = 20, 1e-8  # and the step at which it has converged


class CircleMotion(NamedTuple):
    """A motion of the tips along their circles, and K postures at rest along it."""

    reference: Reference  # y_d(t), periodic
    q: Array  # (K, n); the last posture is the first one again
    u: Array  # (K, m) tensions that hold them [N]


def circle(model: CompiledModel, samples: int) -> CircleMotion:
    """
    Return the motion along the circles through so many equilibria.

    Newton's method for q and u at once: forces in balance [P, (55)], and tips on the circles.
    """
    times = np.linspace(0.0, PERIOD, samples + 1)
    points, statics = circles(times), Statics(model)
    q, u = sd.equilibrium(model, u=np.zeros(model.m)).q, np.zeros(model.m)
    begin, rows = tips_of(model, [q])[0], []
    for part in np.linspace(0.1, 1.0, 10):
        q, u = _reach(statics, q, u, begin + part * (points[0] - begin))
    for target in points[:-1]:
        q, u = _reach(statics, q, u, target)
        rows.append((q, u, sd.actuation(model, q=q, qd=0.0 * q).coordinates))
    q_all, u_all, y_all = (np.array([*column, column[0]]) for column in zip(*rows))
    return CircleMotion(spline(times, y_all, periodic=True), q_all, u_all)


def _reach(statics: Statics, q: Array, u: Array, target: Array) -> tuple[Array, Array]:
    """Return q and u that hold the tips at target (3, 3) [m]."""
    for _ in range(MAX_NEWTON_ITERATIONS):
        K = statics.tangent(q, u)
        r, _ = statics.residual(q, u)
        tips, derivatives = statics.tips(range(3))
        A = statics.actuation_matrix()
        matrix = np.block([[K, -A], [derivatives.reshape(9, -1), np.zeros((9, len(u)))]])
        step = np.linalg.solve(matrix, np.concatenate([-r, (target - tips).ravel()]))
        q, u = q + step[: len(q)], u + step[len(q) :]
        if np.abs(step[: len(q)]).max() < NEWTON_TOLERANCE:
            return q, u
    raise NotConvergedError(
        'equilibrium on the circles', MAX_NEWTON_ITERATIONS, float(np.abs(step).max())
    )


def circles(t: ArrayLike) -> Array:
    """Return where the tips are to be at times (T,): (T, 3, 3) [m]."""
    angle = 2.0 * np.pi / PERIOD * np.asarray(t)[:, None]
    r, z = np.array(RADII), np.array(HEIGHTS)
    return np.stack([r * np.cos(angle), r * np.sin(angle), z + 0.0 * angle], axis=-1)


def tips_of(model: CompiledModel, postures: Iterable[Array]) -> Array:
    """Return the tips (K, 3, 3) [m] of all bodies in postures (K, n)."""
    return np.array([sd.forward_kinematics(model, q=q)[:, :3, 3] for q in postures])
