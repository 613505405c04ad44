# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The law output_pd, compiled, with bounded spring forces."""

from dataclasses import dataclass
import math
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.blending import sample_plan
from softrobot_dynamics.controllers.contract import register
from softrobot_dynamics.controllers.output_commands import command_force, conclude, read_outputs
from softrobot_dynamics.controllers.sampled_data_law import SampledDataLaw, SampledDataSettings
from softrobot_dynamics.kernels.linalg import copy
from softrobot_dynamics.schema.fields import number
from softrobot_dynamics.schema.parameters import parameter


@dataclass(frozen=True)
class Bounds(SampledDataSettings):
    """Settings of the law, for each of c controlled outputs."""

    stiffness: np.ndarray = parameter(
        number('unit of u per unit of y', above=0.0, default=100.0), 'Spring', each='output'
    )
    damping: np.ndarray = parameter(
        number('unit of u per unit of y, times s', above=0.0, default=20.0),
        'Damper',
        each='output',
    )
    bound: np.ndarray = parameter(
        number('unit of u', above=0.0, default=50.0), 'Largest force of the spring', each='output'
    )


class KernelBounds(NamedTuple):
    """The settings that the kernel reads, by their names."""

    stiffness: np.ndarray  # (c,)
    damping: np.ndarray  # (c,)
    bound: np.ndarray  # (c,)
    lower: np.ndarray  # (m,), and so on: the limits
    upper: np.ndarray
    rate: np.ndarray
    feed_forward: np.ndarray


@kernel
def tick(fixed, plan, settings, q, qd, t):
    """Fill the commands; return how many are saturated."""
    b, J = fixed.b, fixed.terms.J
    run(fixed.evaluate, q, fixed.rest)  # the terms at rest
    read_outputs(fixed, qd)
    sample_plan(plan, t, b.desired, b.blend)
    copy(fixed.terms.h, b.force)
    for i in range(len(fixed.controlled)):
        k, bound = fixed.controlled[i], settings.bound[i]
        error, rate = b.desired[0, i] - b.y[k], b.desired[1, i] - b.velocity[k]
        pull = bound * math.tanh(settings.stiffness[i] * error / bound)
        pull += settings.damping[i] * rate
        for j in range(len(b.force)):
            b.force[j] += pull * J[k, j]
        b.r[i] = 0.0
    return conclude(fixed, settings, q, qd, command_force(fixed, settings, b.force))


@register('bounded_pd')
class BoundedPd(SampledDataLaw):
    """Forces F tanh(K (y_d - y) / F) + D (y_d' - y') beside weight and springs."""

    Settings, KernelSettings = Bounds, KernelBounds
    tick = staticmethod(tick)
