# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Compiled pieces of laws that hold their command for a period: outputs, limits, commands for forces.

They work on the ``fixed`` (:class:`~softrobot_dynamics.controllers.sampled_data_law.LawWorkspace`)
of a law, fill its :class:`~softrobot_dynamics.controllers.buffers.Buffers`, and read the limits of
the ``settings`` it is told.
"""

from softrobot_dynamics.compiling.addresses import run_three
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.allocation import allocate_commands
from softrobot_dynamics.kernels.linalg import all_finite, copy
from softrobot_dynamics.kernels.sums import dot, row_times
from softrobot_dynamics.recursion.cable_drives import command_of, effort_bounds, effort_of


@kernel
def read_outputs(fixed, qd):
    """Fill y and its rate from the terms, and an empty ``unmet``."""
    terms, b = fixed.terms, fixed.b
    for k in range(len(b.y)):
        b.y[k] = terms.y[k] - fixed.y0[k]
        b.velocity[k] = dot(terms.J[k], qd)
        b.unmet[k] = 0.0


@kernel
def add_output_forces(fixed, gains, force):
    """Add the force (n,) of :class:`.GainMatrices` between y and y_d, and between their rates."""
    controlled, b, J = fixed.controlled, fixed.b, fixed.terms.J
    stiffness, damping = gains.stiffness, gains.damping
    for i in range(len(controlled)):
        pull = 0.0
        for j in range(len(controlled)):
            k = controlled[j]
            pull += stiffness[i, j] * (b.desired[0, j] - b.y[k])
            pull += damping[i, j] * (b.desired[1, j] - b.velocity[k])
        row = J[controlled[i]]
        for j in range(len(force)):
            force[j] += pull * row[j]


@kernel
def command_force(fixed, settings, force):
    """
    Fill the commands; returns how many are saturated, or -1 if there is no answer.

    They bring the outputs, in the period they are held for, what a generalized force (n,) would
    that is held as long, plus b.r (c,), a gain of their rates: w from (J G J') w = J G force + r.
    The force is changed: actuators that are not controlled take their share of it.
    """
    b = fixed.b
    prepare_forces(fixed, settings, force)
    for i in range(len(fixed.controlled)):
        b.r[i] += dot(b.X[i], force)
    if not allocate_commands(b.H, b.r, b.bounds[0], b.bounds[1], b.favoured, b.w, b.allocation):
        return -1
    return take_forces(fixed, settings)


@kernel
def prepare_forces(fixed, settings, force):
    """
    Fill X = J G and H = J G J' of the outputs, their bounds, and their favoured values.

    The force (n,) loses what the actuators that are not controlled take.
    """
    terms, controlled, b = fixed.terms, fixed.controlled, fixed.b
    _subtract_feed_forward(fixed, settings, force)
    for i in range(len(controlled)):
        X = b.X[i]
        row_times(terms.J[controlled[i]], fixed.response[0], X)
        for j in range(i + 1):
            b.H[i, j] = b.H[j, i] = dot(X, terms.J[controlled[j]])
        _bound(fixed, settings, i, controlled[i])


@kernel
def conclude(fixed, settings, q, qd, saturated):
    """
    Bring the response to a held command on by a tick, and note the command if there is one.

    There is none, and -1 is returned, for a state (q, qd) that is not finite.
    """
    last = fixed.last
    if not (all_finite(q) and all_finite(qd)):
        saturated = -1
    run_three(fixed.advance_response, q, qd, last if last[0] == last[0] else settings.feed_forward)
    if saturated >= 0:
        copy(fixed.b.u, last)
    return saturated


@kernel
def _reach(fixed, settings, k):
    """Limits of command k in this tick, with the rate limit."""
    low, high, last = settings.lower[k], settings.upper[k], fixed.last[k]
    if last == last:
        reach = settings.rate[k] * fixed.period
        low, high = (min(max(low, last - reach), high), max(min(high, last + reach), low))
    return low, high


@kernel
def _subtract_feed_forward(fixed, settings, force):
    """Apply the feed-forward of actuators that are not controlled; subtract their forces."""
    signs, J, u, drives = fixed.signs, fixed.terms.J, fixed.b.u, fixed.drives
    for k in range(len(signs)):
        low, high = _reach(fixed, settings, k)
        u[k] = min(max(settings.feed_forward[k], low), high)
    for i in range(len(fixed.controlled)):
        u[fixed.controlled[i]] = command_of(drives, fixed.controlled[i], 0.0)
    for k in range(len(signs)):
        share = signs[k] * effort_of(drives, k, u[k])
        if share != 0.0:
            for j in range(len(force)):
                force[j] -= J[k, j] * share


@kernel
def _bound(fixed, settings, i, k):
    """Bounds of w_i = sign u_k, and its favoured value where the outputs leave it free."""
    b, signs, last = fixed.b, fixed.signs, fixed.last
    low, high = _reach(fixed, settings, k)
    low, high = effort_bounds(fixed.drives, k, low, high)
    b.bounds[0, i] = low if signs[k] > 0.0 else -high
    b.bounds[1, i] = high if signs[k] > 0.0 else -low
    b.favoured[i] = 0.0
    if last[k] == last[k]:
        effort = effort_of(fixed.drives, k, last[k])
        b.favoured[i] = signs[k] * effort * (1.0 - fixed.fading)


@kernel
def take_forces(fixed, settings):
    """Fill commands and unmet accelerations from w; the number of saturated ones."""
    b, saturated = fixed.b, 0
    for i in range(len(fixed.controlled)):
        k = fixed.controlled[i]
        low, high = _reach(fixed, settings, k)
        b.u[k] = min(max(command_of(fixed.drives, k, fixed.signs[k] * b.w[i]), low), high)
        b.unmet[k] = (b.r[i] - dot(b.H[i], b.w)) / fixed.period
        saturated += b.w[i] <= b.bounds[0, i] or b.w[i] >= b.bounds[1, i]
    return saturated if all_finite(b.u) else -1
