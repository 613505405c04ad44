# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Dry friction of joints: a force of constant size against the motion of a coordinate, by Coulomb.

Its sign is that of s = v / sqrt(v^2 + v0^2), smooth at rest: what friction holds creeps on at less
than v0. It is that of a damping F / sqrt(v^2 + v0^2), so that it never gains energy. v0 is the
CREEP_RATIO part of the coordinate's unit, at the robot's own rate (:mod:`.model.scales`): what a
small robot's friction holds creeps as slowly, for its size, as in a large one.
"""

import math
from typing import NamedTuple

from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.linalg import copy

# of a coordinate's unit times the robot's rate; slower motion has viscous friction
CREEP_RATIO = 1e-4


class DryFriction(NamedTuple):
    """Dry friction of the joints of a robot."""

    force: Vector  # (n,) [N m or N] along coordinates
    creep_speed: Vector  # (n,) [rad/s or m/s] v0 of the regularisation; about viscous below


@kernel
def add_joint_friction(evaluate, friction, h, q, qd):
    """Evaluate at (q, qd), and add the :class:`DryFriction` of joints to h = ID(q, qd, 0)."""
    run(evaluate, q, qd)
    _add_friction(friction, h, qd)


@kernel
def add_joint_friction_at_rates(evaluate, friction, h, rates, q, qd):
    """Evaluate as :func:`add_joint_friction`, with the friction of motion at ``rates`` (n,)."""
    run(evaluate, q, qd)
    _add_friction(friction, h, rates)


@kernel
def add_joint_friction_damping(follow, friction, D, damping, q, qd):
    """Fill ``damping`` (n, n) with D, which ``follow`` updates first, and that of friction."""
    if follow.address != 0:
        run(follow, q, qd)
    for i in range(len(D)):
        copy(D[i], damping[i])
        damping[i, i] += _damping(friction, i, qd[i])


@inlined
def _add_friction(friction, h, qd):
    for i in range(len(h)):
        h[i] += _damping(friction, i, qd[i]) * qd[i]


@inlined
def _damping(friction, i, v):
    """Return the friction of a coordinate over its speed v."""
    creep = friction.creep_speed[i]
    return friction.force[i] / math.sqrt(v * v + creep * creep)
