# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Compiled pieces of laws that ask for accelerations of the outputs, over the period of a command.

What the model has wrong becomes known by what the outputs did not gain, and is made up for. Laws
cancel stiffness and damping that are many times their gains; without, an arm that is a few per
cent softer than its model runs away.
"""

import math
from typing import Any

from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.commanding import command_force, conclude, dot
from softrobot_dynamics.schema.fields import number
from softrobot_dynamics.schema.parameters import parameter

DISTURBANCE, AIM, ROWS = range(3)  # of the memory: see `_observe`, `_remember`; how many there are

OBSERVER: Any = parameter(
    number('s', at_least=0.0, default=1e-3),
    'Time in which forces that the model does not know become known; 0: they are not looked for',
)
"""A field of the Settings of such a law."""


@kernel
def accelerate_outputs(fixed, settings, q, qd, t):
    """
    Fill the commands that bring the outputs b.acceleration (c,) on average over the period.

    Of a robot evaluated at the state (q, qd) of time t [s], whose outputs have been read. Returns
    how many are saturated, or -1 if there is no answer.
    """
    terms, controlled, b, period = fixed.terms, fixed.controlled, fixed.b, fixed.period
    _observe(fixed, settings.observer, t)
    for i in range(len(qd)):
        b.drift[i] = dot(fixed.response[1, i], qd)
    for i in range(len(controlled)):
        k = controlled[i]
        acceleration = b.acceleration[i] - b.memory[DISTURBANCE, i]
        b.memory[AIM, i] = b.velocity[k] + period * acceleration
        b.r[i] = period * (acceleration - terms.bias[k]) + dot(terms.J[k], b.drift)
    saturated = command_force(fixed, settings, terms.h)
    _remember(fixed, saturated >= 0, t)
    return conclude(fixed, settings, q, qd, saturated)


@kernel
def _observe(fixed, time, t):
    """
    Bring the disturbance (c,), an acceleration of y, on by what y' gained in the last period.

    It follows what was gained beyond what the last command was to bring, limits included, as a
    filter of first order by a ``time`` [s]. After a pause nothing is learned.
    """
    b, period = fixed.b, fixed.period
    disturbance, aim = b.memory[DISTURBANCE], b.memory[AIM]
    one_period = abs(t - b.asked[0] - period) < 0.5 * period  # nan: no
    for i in range(len(aim)):
        if time == 0.0:
            disturbance[i] = 0.0
        elif one_period:
            missed = (b.velocity[fixed.controlled[i]] - aim[i]) / period
            disturbance[i] += (missed - disturbance[i]) * period / (time + period)


@kernel
def _remember(fixed, answered, t):
    """Note which y' the command is to bring within its period, and when it was asked for."""
    b = fixed.b
    b.asked[0] = t if answered else math.nan
    for i in range(len(fixed.controlled)):
        b.memory[AIM, i] -= fixed.period * b.unmet[fixed.controlled[i]]
