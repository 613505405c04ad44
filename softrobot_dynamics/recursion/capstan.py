# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Friction of tendons along their routes, by Euler and Eytelwein's law of the capstan.

Along a route (:mod:`softrobot_dynamics.recursion.routes`) the tension of a tendon that slides
towards the base falls as dT/dphi = -mu T with the angle phi by which the route has turned: at a
corner from T to T exp(-mu phi s(v)), along a curve as the integral has it. The tendon slides at v
= -d/dt of all lengths beyond, and s = v / sqrt(v^2 + v0^2) stands for the sign of v: smooth at
rest. v0 is the CREEP_RATIO part of the route's length at rest, at the robot's own rate. (A tendon
that pushes rubs as much: it then goes up instead.) The generalized force is that of the tension
lost at each place on the lengths beyond, int (-dT/ds) d(beyond)/dq ds. It takes the power sum of
drop v >= 0 from the robot at every state, whatever the route, and is that of the damping matrix
sum (drop / v) G^T G.

At rest friction is what is left of the motion before: a tendon that was drawn in last has the
tensions of one that slides towards the base, one that was paid out those of one that slides
towards the tip (:func:`fill_friction_at_rest`).
"""

import math
from typing import NamedTuple

from softrobot_dynamics.annotations import Integers, Vector
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.linalg import copy
from softrobot_dynamics.kernels.sums import dot
from softrobot_dynamics.recursion.routes import follow_routes, NODES, Routes, RULE, STATION, TENDON

CREEP_RATIO = 2e-5  # of the length times the robot's rate; slower sliding has viscous friction


class Capstan(NamedTuple):
    """Routes with friction in I stations, and the tensions along them at a state."""

    routes: Routes
    tendons: Integers  # (I,) whose station it is
    mu: Vector  # (m,)
    creep_speed: Vector  # (m,) [m/s] v0 of the regularisation; about viscous below
    force: Vector  # (m,) along y that the tendons have at the base: minus their tensions
    sliding: Vector  # (I,) [m/s] towards the base
    sign: Vector  # (I,) of that, smooth
    signed_angle: Vector  # (I,) [rad] wrap angles along panels, times that
    tension: Vector  # (I,) [N], beyond corners and at the points of panels
    drop: Vector  # (I,) [N] of tension there
    resistance: Vector  # (I,) [N s/m] drop over v


@kernel
def evaluate_with_friction(evaluate, capstan, h, q, qd):
    """Evaluate at (q, qd), with poses, and take the force of friction from h = ID(q, qd, 0)."""
    run(evaluate, q, qd)
    _add_friction(capstan, h, q, qd)


@kernel
def evaluate_with_friction_at_rates(evaluate, capstan, h, rates, q, qd):
    """Evaluate as :func:`evaluate_with_friction`, with the friction at ``rates`` (n,)."""
    run(evaluate, q, qd)
    _add_friction(capstan, h, q, rates)


@kernel
def fill_friction_at_rest(evaluate, capstan, direction, friction, q, qd):
    """
    Evaluate at (q, qd), and fill ``friction`` (n,) with that of tendons that slide one way each.

    It is what :func:`evaluate_with_friction` adds to h. By ``direction`` (m,) all of a tendon
    slides towards the base (1), towards the tip (-1), or has no friction (0), at whatever qd.
    """
    run(evaluate, q, qd)
    friction[:] = 0.0
    follow_routes(capstan.routes, q, qd)
    for i in range(len(capstan.sign)):
        capstan.sign[i] = direction[capstan.tendons[i]]
    _propagate_tensions(capstan)
    for i in range(len(capstan.sign)):
        capstan.drop[i] *= capstan.sign[i]
    _subtract_drops(capstan, friction)


@kernel
def damping_with_friction(follow, capstan, D, damping, q, qd):
    """Fill ``damping`` (n, n) with D, which ``follow`` updates first, and that of friction."""
    if follow.address != 0:
        run(follow, q, qd)
    n, G = len(D), capstan.routes.G
    for i in range(n):
        copy(D[i], damping[i])
    for i in range(len(G)):
        row = G[i]
        if capstan.resistance[i] > 0.0:
            for j in range(n):
                share = capstan.resistance[i] * row[j]
                for k in range(n):
                    damping[j, k] += share * row[k]


@kernel
def _add_friction(capstan, h, q, qd):
    """Take the force of friction at (q, qd) from h (n,)."""
    follow_routes(capstan.routes, q, qd)
    for i in range(len(capstan.sign)):
        v, creep = -dot(capstan.routes.G[i], qd), capstan.creep_speed[capstan.tendons[i]]
        capstan.sliding[i], capstan.sign[i] = v, v / math.sqrt(v * v + creep * creep)
    _propagate_tensions(capstan)
    for i in range(len(capstan.sign)):
        v, creep = capstan.sliding[i], capstan.creep_speed[capstan.tendons[i]]
        # drop / v, of which the drop has the factor sign = v / speed
        capstan.resistance[i] = capstan.drop[i] / math.sqrt(v * v + creep * creep)
        capstan.drop[i] = capstan.resistance[i] * v
    _subtract_drops(capstan, h)


@kernel
def _subtract_drops(capstan, h):
    """Take the force of the drops of tension from h (n,)."""
    for i in range(len(capstan.drop)):
        row = capstan.routes.G[i]
        for j in range(len(h)):
            h[j] -= capstan.drop[i] * row[j]


@kernel
def _propagate_tensions(capstan):
    """Fill tensions, from the base on, and the drops over the ``sign`` of sliding."""
    routes, parts, tendon, T = capstan.routes, capstan.routes.parts, -1, 0.0
    for e in range(len(parts)):
        part = parts[e]
        if part[TENDON] != tendon:
            tendon = part[TENDON]
            T = -capstan.force[tendon]
        mu, i = capstan.mu[tendon], part[STATION]
        if T < 0.0:
            mu = -mu
        x = mu * routes.wrap_angle[i]
        exponent = x * capstan.sign[i]
        capstan.drop[i] = T * x * _mean_decay(exponent)
        T *= math.exp(-exponent)
        capstan.tension[i] = T
        if part[NODES] > 0:
            T = _propagate_along_panel(capstan, part, mu, T)


@kernel
def _propagate_along_panel(capstan, part, mu, T):
    """Fill tensions and drops along a panel where T [N] comes in; returns what goes on."""
    N, first, rule = part[NODES], part[STATION] + 1, part[RULE]
    angle = capstan.routes.wrap_angle[first : first + N]
    signed = capstan.signed_angle[first : first + N]
    integrate = capstan.routes.rules[rule + N : rule + N + N * N]
    total = 0.0
    for i in range(N):
        signed[i] = angle[i] * capstan.sign[first + i]
        total += signed[i]
    for i in range(N):
        exponent = mu * dot(integrate[i * N : (i + 1) * N], signed)
        capstan.tension[first + i] = T * math.exp(-exponent)
        capstan.drop[first + i] = capstan.tension[first + i] * mu * angle[i]
    return T * math.exp(-mu * total)


@inlined
def _mean_decay(x):
    """(1 - exp(-x)) / x."""
    return -math.expm1(-x) / x if x != 0.0 else 1.0
