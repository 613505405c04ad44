# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Kinetic, gravitational and elastic energy of a robot at a state [J]."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.dynamics.arguments import checked
from softrobot_dynamics.dynamics.calls import elastic_force, placement
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.recursion.passes import BODY_COUNT, BODY_SLAB

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

_QUADRATURE_TOLERANCE = 1e-12  # relative, requested for the elastic energy
_MAX_ENERGY_ERROR = 1e-8  # relative, accepted in the end


def kinetic_energy(model: CompiledModel, *, q: ArrayLike, qd: ArrayLike) -> float:
    """Return qd^T M(q) qd / 2 [J] at q, qd (n,)."""
    qd = checked('qd', qd, (model.n,))
    placement(model, q)
    return float(0.5 * qd @ model.per_thread.evaluator.terms.M @ qd)


def potential_energy(model: CompiledModel, *, q: ArrayLike) -> float:
    """
    Return the energy V [J] in gravity at q (n,): g(q) = dV/dq.

    It is zero for what is at the origin of the base frame.
    """
    placed = placement(model, q)
    robot, energy = placed.robot, 0.0
    for i, m in enumerate(robot.modules):
        first = m[BODY_SLAB] + layout.slab(m[BODY_COUNT]).inertia
        mass, moment = robot.W[first], robot.W[first + 1 :][:3]
        R, t = placed.joint(i)
        energy -= robot.gravity @ (mass * t + R @ moment)
    return float(energy)


def elastic_energy(model: CompiledModel, *, q: ArrayLike) -> float:
    """
    Return the energy E [J] of bodies and joint springs at q (n,): s(q) = dE/dq.

    It is zero where all are unstressed. For linear elasticity it is in closed form; otherwise it
    is the work of s along the straight line from there to q, by adaptive Gauss-Kronrod quadrature,
    to rounding where s is smooth. Raises ArgumentError where a posture on that line is out of
    range, or s is not smooth along it.
    """
    q = checked('q', q, (model.n,))
    displacement = q - model.rest
    if model.linear:
        return float(0.5 * displacement @ elastic_force(model, q=q))
    from scipy.integrate import quad  # late: scipy is slow to import

    def power(share: float) -> float:
        """Return the derivative of the energy by the share of the way from rest [J]."""
        return float(displacement @ elastic_force(model, q=model.rest + share * displacement))

    energy, error, *_ = quad(
        power, 0.0, 1.0, epsabs=0.0, epsrel=_QUADRATURE_TOLERANCE, full_output=1
    )
    if error > _MAX_ENERGY_ERROR * abs(energy) and error > np.finfo(float).tiny:
        raise ArgumentError(
            'q', q, 'a posture to which elastic forces are continuous, on the line from rest'
        )
    return float(energy)
