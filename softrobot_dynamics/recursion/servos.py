# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Joints that drives with a control loop of their own move, in an evaluation of the robot.

With a set-point s of position a drive gives its coordinate a = w^2 (s - q) - 2 w q', with one of
velocity a = w (s - q'). The force for that is what the equation of motion says, the motion of
all other coordinates included. Where it is beyond the drive's limit, that limit acts instead. In
between, M and h are changed so that the coordinate moves by a on its own, M_jj q'' = M_jj a, and
moves all others: ID of those has M_ij a in h. So integrators need not know of drives, but for
their stiffness M_jj w^2 and damping. A coordinate that a stop holds has a = 0; its drive presses
against the stop with the force that would move it by its law there, within its limit.
"""

from typing import NamedTuple

from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.linalg import cholesky, copy, solve_lower, solve_lower_transposed
from softrobot_dynamics.kernels.sums import dot


class ServoDrives(NamedTuple):
    """The k drives of a robot of n coordinates, and their results of the last evaluation."""

    coordinates: Integers  # (k,)
    positions: Integers  # (k,) 1: s is a position, 0: a velocity
    rate: Vector  # (k,) w [1/s]
    limit: Vector  # (k,) greatest force
    setpoint: Vector  # (k,) s
    effort: Vector  # (k,) force of each
    at_limit: Vector  # (k,) its sign where that is the limit, else 0
    inertia: Vector  # (k,) M_jj
    stop_inertia: Vector  # (n,) that holds coordinates at stops, in M; 0 where none does
    free: Vector  # (n,) 0 where a drive gives the acceleration, else 1
    a: Vector  # (n,) accelerations
    L: Matrix  # (n, n) scratch


@kernel
def move_by_servos(evaluate, drives, h, M, J, force, q, qd):
    """Evaluate at (q, qd); change M and h under the ``force`` (m,) along y of other actuators."""
    run(evaluate, q, qd)
    drives.free[:] = 1.0
    for i in range(len(drives.coordinates)):
        j = drives.coordinates[i]
        drives.free[j], drives.at_limit[i] = 0.0, 0.0
        drives.inertia[i] = M[j, j] - drives.stop_inertia[j]
    for _ in range(len(drives.coordinates) + 1):
        _accelerate(drives, h, M, J, force, q, qd)
        if not _update_saturation(drives, h, M, J, force, q, qd):
            break
    _separate(drives, h, M, J, force)


@kernel
def _accelerate(drives, h, M, J, force, q, qd):
    """Fill the accelerations (n,) with those that drives give, and what the others are then."""
    a, L, free, n = drives.a, drives.L, drives.free, len(drives.a)
    for i in range(n):
        a[i] = -h[i]
    for k in range(len(force)):
        for i in range(n):
            a[i] += J[k, i] * force[k]
    for i in range(len(drives.coordinates)):
        j = drives.coordinates[i]
        if drives.at_limit[i] != 0.0:
            a[j] += drives.at_limit[i] * drives.limit[i]
        else:
            a[j] = (
                0.0 if drives.stop_inertia[j] != 0.0 else _commanded_acceleration(drives, i, q, qd)
            )
    for i in range(n):
        for j in range(n):
            both = free[i] * free[j]
            L[i, j] = both * M[i, j]
            if free[i] > free[j]:
                a[i] -= M[i, j] * a[j]
        if free[i] == 0.0:
            L[i, i] = 1.0
    if cholesky(L) == 0:
        solve_lower(L, a)
        solve_lower_transposed(L, a)


@kernel
def _commanded_acceleration(drives, i, q, qd):
    """Acceleration that the law of drive ``i`` gives its coordinate at (q, qd)."""
    j, w = drives.coordinates[i], drives.rate[i]
    if drives.positions[i]:
        return w * (w * (drives.setpoint[i] - q[j]) - 2.0 * qd[j])
    return w * (drives.setpoint[i] - qd[j])


@kernel
def _update_saturation(drives, h, M, J, force, q, qd):
    """Fill the forces of drives; return whether more of them are at their limits than before."""
    more = False
    for i in range(len(drives.coordinates)):
        j = drives.coordinates[i]
        if drives.at_limit[i] != 0.0:
            drives.effort[i] = drives.at_limit[i] * drives.limit[i]
            continue
        effort = h[j] + dot(M[j], drives.a)
        for k in range(len(force)):
            effort -= J[k, j] * force[k]
        if drives.stop_inertia[j] != 0.0:
            effort += drives.inertia[i] * _commanded_acceleration(drives, i, q, qd)
            drives.effort[i] = min(max(effort, -drives.limit[i]), drives.limit[i])
            continue
        drives.effort[i] = effort
        if abs(effort) > drives.limit[i]:
            drives.at_limit[i] = 1.0 if effort > 0.0 else -1.0
            drives.free[j], more = 1.0, True
    return more


@kernel
def _separate(drives, h, M, J, force):
    """Change M and h so that coordinates of drives move by themselves; force where at limits."""
    free, a, n = drives.free, drives.a, len(drives.a)
    for i in range(len(drives.coordinates)):
        j = drives.coordinates[i]
        if drives.at_limit[i] != 0.0:
            h[j] -= drives.at_limit[i] * drives.limit[i]
            continue
        for k in range(n):
            if free[k] != 0.0:
                h[k] += M[k, j] * a[j]
            if k != j:
                M[k, j] = M[j, k] = 0.0
        h[j] = -drives.inertia[i] * a[j]
        for k in range(len(force)):
            h[j] += J[k, j] * force[k]


@kernel
def add_servo_stiffness(follow, drives, K, D, stiffness, damping, q, qd):
    """
    Fill ``stiffness``, ``damping`` (n, n) with K, D, and with those of drives in their places.

    ``follow`` updates K and D first. After :func:`move_by_servos` at the same state.
    """
    if follow.address != 0:
        run(follow, q, qd)
    for i in range(len(K)):
        copy(K[i], stiffness[i])
        copy(D[i], damping[i])
    separate_servos(drives, stiffness, damping)


@kernel
def separate_servos(drives, K, D):
    """Put stiffness and damping of drives in their places of K, D (n, n), and nothing beside."""
    for i in range(len(drives.coordinates)):
        if drives.at_limit[i] != 0.0:
            continue
        j, w, inertia = drives.coordinates[i], drives.rate[i], drives.inertia[i]
        for k in range(len(K)):
            K[k, j] = K[j, k] = D[k, j] = D[j, k] = 0.0
        if drives.positions[i]:
            K[j, j], D[j, j] = inertia * w * w, 2.0 * inertia * w
        else:
            D[j, j] = inertia * w
