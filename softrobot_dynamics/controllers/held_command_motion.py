# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Predict the motion of a robot under a held command, for bounds that must be kept meanwhile.

By the linearisation that the response to a held command is made from, at times step, 2 step, ...
Commands w (forces along the outputs) that stay for a time t move the robot by ::

    R(t) (J' w - h + D v) + G(t) M v

with G and R of :mod:`~softrobot_dynamics.controllers.sampled_data.response`. What has moved on for
a time a moves on for b more by ::

    G(a + b) = G(a) + G(b) - G(b) (K R(a) + D G(a)) - R(b) K G(a)
    R(a + b) = R(a) + R(b) - R(b) K R(a) + G(b) M G(a)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Array, Integers, Matrix
from softrobot_dynamics.compiling.jit import kernel, reduction
from softrobot_dynamics.controllers.sampled_data.command import LINEARISED, SPAN
from softrobot_dynamics.controllers.sampled_data.response import (
    allocate_response,
    double,
    HeldForceResponse,
    multiply,
    symmetrise,
)
from softrobot_dynamics.kernels.linalg import copy
from softrobot_dynamics.kernels.sums import dot

# [s] about, between times of the motion; how many times there are
GRID_STEP, GRID_SIZE = 0.012, 16
LINEARISATION, STAGE = range(2)  # of the progress, see :class:`HeldMotion`


class HeldLinearisation(NamedTuple):
    """The linearisation that the response to a held command is made from."""

    response: HeldForceResponse
    clock: Integers  # of the :class:`.HeldCommand` whose it is


def unknown_linearisation(n: int) -> HeldLinearisation:
    """Return a linearisation (n coordinates) of zeros, to compile kernels before there is one."""
    return HeldLinearisation(allocate_response(n), np.zeros(SPAN + 1, dtype=np.int64))


class HeldMotion(NamedTuple):
    """Displacement of a robot of n coordinates at N times from now, and how forces change it."""

    linear: HeldLinearisation  # M, D and K as they are now
    response: HeldForceResponse  # as they were taken over; G and R of the step
    doublings: int  # of the period that make a step
    progress: Integers  # (2,) clock when they were taken over, -1: never; what is next
    G: Array  # (N, n, n)
    R: Array  # (N, n, n) displacement by held forces
    P: Array  # (N, n, n) displacement by velocities
    displacement: Matrix  # (N, n) under the command in force
    spare: Array  # (4, n, n) scratch


def allocate_held_motion(linear: HeldLinearisation, period: float, count: int) -> HeldMotion:
    """Return a :class:`HeldMotion` of ``count`` times, by the linearisation of a held command."""
    n = len(linear.response.M)
    G, R, P = np.zeros((3, count, n, n))
    return HeldMotion(
        linear=linear,
        response=allocate_response(n),
        doublings=max(0, round(np.log2(GRID_STEP / period))),
        progress=np.array([-1, 0]),
        G=G,
        R=R,
        P=P,
        displacement=np.zeros((count, n)),
        spare=np.zeros((4, n, n)),
    )


@kernel
def predict_held_motion(motion, fixed, w, force, v):
    """
    Fill the displacements at rates v (n,) under forces w (c,) along outputs, less ``force`` (n,).

    Advance what they are made from by one stage; by all at once in the beginning.
    """
    first, seen = motion.progress[LINEARISATION] < 0, motion.linear.clock[LINEARISED]
    stages = motion.doublings + len(motion.displacement)
    if first or (motion.progress[STAGE] >= stages and seen != motion.progress[LINEARISATION]):
        _adopt_linearisation(motion)
    while motion.progress[STAGE] < stages:
        _advance_stage(motion, motion.progress[STAGE])
        motion.progress[STAGE] += 1
        if not first:
            break
    n = len(v)
    net = motion.spare[0, 0]
    for j in range(n):
        net[j] = -force[j]
    for i in range(len(w)):
        J = fixed.terms.J[fixed.controlled[i]]
        for j in range(n):
            net[j] += w[i] * J[j]
    for k in range(len(motion.displacement)):
        for i in range(n):
            motion.displacement[k, i] = dot(motion.R[k, i], net) + dot(motion.P[k, i], v)


@kernel
def displacement_row(motion, k, fixed, J, row):
    """Fill the row (c,) of the k-th displacement, along J (n,), by forces w; return it without."""
    bent, at = motion.spare[0, 0], dot(J, motion.displacement[k])
    for j in range(len(J)):
        bent[j] = dot(J, motion.R[k, j])  # R is symmetric
    for i in range(len(row)):
        row[i] = dot(bent, fixed.terms.J[fixed.controlled[i]])
        at -= fixed.b.favoured[i] * row[i]
    return at


@kernel
def _adopt_linearisation(motion):
    """Take over M, D and K, and G and R of a period."""
    x, response = motion.linear.response, motion.response
    for i in range(len(x.M)):
        copy(x.M[i], response.M[i])
        copy(x.G[i], response.G[i])
        copy(x.R[i], response.R[i])
        for j in range(len(x.M)):
            response.D[i, j] = 0.5 * (x.D[i, j] + x.D[j, i])
            response.K[i, j] = 0.5 * (x.K[i, j] + x.K[j, i])
    motion.progress[LINEARISATION], motion.progress[STAGE] = motion.linear.clock[LINEARISED], 0


@kernel
def _advance_stage(motion, stage):
    """Double the period, or go on by a step from the last time."""
    response, n = motion.response, len(motion.response.M)
    if stage < motion.doublings:
        multiply(response, 0, n)
        double(response, motion.spare[0], motion.spare[1], 0, n)
        symmetrise(response, motion.spare[0], motion.spare[1])
        return
    k = stage - motion.doublings
    G, R, P = motion.G[k], motion.R[k], motion.P[k]
    for i in range(n):
        copy(response.G[i], G[i])
        copy(response.R[i], R[i])
        P[i, :] = 0.0
    if k > 0:
        _append_step(response, motion.G[k - 1], motion.R[k - 1], motion.spare, G, R)
    _add_product(G, response.M, 1.0, P)
    _add_product(R, response.D, 1.0, P)


@kernel
def _append_step(response, G, R, spare, new_G, new_R):
    """Add to G and R of a step what makes them those of a step after others."""
    stiff, both, mass, pull = spare[0], spare[1], spare[2], spare[3]
    for k in range(4):
        for i in range(len(G)):
            spare[k, i, :] = 0.0
    _add_product(response.K, R, 1.0, stiff)
    _add_product(response.M, G, 1.0, mass)
    _add_product(response.K, G, 1.0, pull)
    _add_product(response.D, G, 1.0, both)
    for i in range(len(G)):
        for j in range(len(G)):
            both[i, j] += stiff[i, j]
            new_G[i, j] += G[i, j]
            new_R[i, j] += R[i, j]
    _add_product(response.G, both, -1.0, new_G)
    _add_product(response.R, pull, -1.0, new_G)
    _add_product(response.R, stiff, -1.0, new_R)
    _add_product(response.G, mass, 1.0, new_R)


@reduction
def _add_product(A, B, sign, out):
    """Add A B times a sign to ``out`` (n, n)."""
    n = len(out)
    for i in range(n):
        row = out[i]
        for k in range(n):
            share, other = sign * A[i, k], B[k]
            for j in range(n):
                row[j] += share * other[j]
