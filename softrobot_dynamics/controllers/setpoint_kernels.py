# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Compiled pieces of :mod:`~softrobot_dynamics.controllers.setpoints`: a tick of k drives."""

from typing import NamedTuple

from softrobot_dynamics.annotations import Array, Integers, Vector
from softrobot_dynamics.compiling.addresses import Entry, run
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.linalg import cholesky, solve_lower, solve_lower_transposed
from softrobot_dynamics.kernels.sums import dot
from softrobot_dynamics.model.terms import Terms
from softrobot_dynamics.recursion.cable_drives import CableDrives, effort_of

# [1/w] of a position drive in a steady motion; no farther from the measured position
MAX_LAG = 2.0
STOPPING_RATE = 0.5  # of w; at it a commanded motion comes to rest at a limit of its position


class CommandedMotion(NamedTuple):
    """The commanded motion of k joints, and the setpoints of their drives."""

    coordinates: Integers  # (k,)
    positions: Integers  # (k,) 1: its drive takes a position, 0: a velocity
    w: Vector  # (k,) rate of the drive [1/s]
    lower: Vector  # (k,) limits of the position
    upper: Vector  # (k,)
    speed: Vector  # (k,) limit of the velocity
    correction: Vector  # (k,) kappa [1/s]
    q: Vector  # (k,) commanded
    v: Vector  # (k,)
    a: Vector  # (k,) until the next tick
    measured: Vector  # (k,) position
    measured_rate: Vector  # (k,)
    setpoints: Vector  # (k,) of the drives
    period: float  # [s] of the law


class ForceResponse(NamedTuple):
    """Arrays to compute the mean accelerations under a force that is held for a period."""

    evaluate: Entry
    terms: Terms
    drives: CableDrives
    signs: Vector  # (m,)
    response: Array  # (2, n, n) G and R K of the law, zero where it knows none
    has_response: int  # 1: the law knows its response, 0: M is used
    u: Vector  # (m,) force
    F: Vector  # (n,) scratch
    q: Vector  # (n,) where it is evaluated
    qd: Vector  # (n,)


@kernel
def follow_motion(motion, q_out, qd_out, q, qd, passed):
    """
    Let the commanded motion pass on [s]; fill the state (n,) for the law from the measured one.

    Returns 1 where something else than the accelerations has changed it: a limit, or the measured
    position, from which it must not be too far.
    """
    changed = 0
    for j in range(len(q)):
        q_out[j], qd_out[j] = q[j], qd[j]
    for i in range(len(motion.q)):
        j, v, a = motion.coordinates[i], motion.v[i], motion.a[i]
        position, v = motion.q[i] + passed * (v + 0.5 * passed * a), v + passed * a
        max_lag = MAX_LAG / motion.w[i] * motion.speed[i]
        low, high = max(motion.lower[i], q[j] - max_lag), min(motion.upper[i], q[j] + max_lag)
        if position > high:
            position, v, changed = high, min(v, max(qd[j], 0.0)), 1
        elif position < low:
            position, v, changed = low, max(v, min(qd[j], 0.0)), 1
        motion.measured[i], motion.measured_rate[i] = q[j], qd[j]
        motion.q[i], motion.v[i] = position, v
        q_out[j], qd_out[j] = position, v
    return changed


@kernel
def plan_setpoints(motion, force_response, delay, duration):
    """
    Fill the setpoints of drives, and the mean accelerations that ``force_response.u`` brings.

    Returns 1 where limits of velocities or positions do not allow them.
    """
    limited, tau, T = 0, 0.5 * motion.period + delay, motion.period
    for j in range(len(force_response.q)):
        force_response.q[j] += delay * force_response.qd[j]
    _accelerate(motion, force_response)
    for i in range(len(motion.q)):
        w, position, v = motion.w[i], motion.q[i], motion.v[i]
        slowed = STOPPING_RATE * w
        low = max(-motion.speed[i], min(0.0, slowed * (motion.lower[i] - position)))
        high = min(motion.speed[i], max(0.0, slowed * (motion.upper[i] - position)))
        then = v + T * motion.a[i]
        if then > high or then < low:
            motion.a[i], limited = (min(max(then, low), high) - v) / T, 1
        a = motion.a[i]
        if motion.positions[i]:
            ahead = 1.0 / (w * w) + tau * (2.0 / w + 0.5 * tau)
            reach = motion.speed[i] * duration * (1.0 + 1e-9)
            setpoint = position + (2.0 / w + tau) * v + ahead * a
            setpoint = min(max(setpoint, motion.lower[i]), motion.upper[i])
            setpoint = min(max(setpoint, motion.setpoints[i] - reach), motion.setpoints[i] + reach)
        else:
            setpoint = v + (1.0 / w + tau) * a
            setpoint += motion.correction[i] * (position - motion.measured[i])
            setpoint = min(max(setpoint, low), high)
        motion.setpoints[i] = setpoint
    return limited


@kernel
def _accelerate(motion, force_response):
    """Fill the mean accelerations of the joints over a period in which the force is held."""
    terms, F, qd = force_response.terms, force_response.F, force_response.qd
    response = force_response.response
    run(force_response.evaluate, force_response.q, qd)
    for i in range(len(F)):
        F[i] = -terms.h[i]
    for k in range(len(force_response.u)):
        effort = force_response.signs[k] * effort_of(force_response.drives, k, force_response.u[k])
        if effort != 0.0:
            for i in range(len(F)):
                F[i] += terms.J[k, i] * effort
    if not force_response.has_response and cholesky(terms.M) == 0:
        solve_lower(terms.M, F)
        solve_lower_transposed(terms.M, F)
    for i in range(len(motion.a)):
        j = motion.coordinates[i]
        if force_response.has_response:
            gained = dot(response[0, j], F) - dot(response[1, j], qd)
            motion.a[i] = gained / motion.period
        else:
            motion.a[i] = F[j]
