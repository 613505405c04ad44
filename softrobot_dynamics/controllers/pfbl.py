# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Collocated partial feedback linearization in actuation coordinates, by a held command."""

from __future__ import annotations

from dataclasses import dataclass

from softrobot_dynamics.annotations import Array, Vector
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.acceleration_law import (
    accelerate_outputs,
    AccelerationLaw,
    AccelerationSettings,
)
from softrobot_dynamics.controllers.blending import sample_plan
from softrobot_dynamics.controllers.contract import register
from softrobot_dynamics.controllers.gains import gain, rate_gain
from softrobot_dynamics.controllers.output_commands import read_outputs
from softrobot_dynamics.controllers.settings import kernel_settings


@dataclass(frozen=True)
class PfblSettings(AccelerationSettings):
    """Settings: gains p and d of [P, Sec. 6]."""

    p: Array = gain('Gain on the error of y', each='actuator', group='gains')
    d: Array = rate_gain('Gain on the error of its rate', each='actuator', group='gains')


PfblKernelSettings = kernel_settings('PfblKernelSettings', PfblSettings)


@kernel
def tick(fixed, plan, settings, q, qd, t):
    """One tick, see :class:`.SampledDataLaw`."""
    controlled, b = fixed.controlled, fixed.b
    run(fixed.evaluate, q, qd)
    read_outputs(fixed, qd)
    sample_plan(plan, t, b.desired, b.blend)
    for i in range(len(controlled)):
        k = controlled[i]
        b.acceleration[i] = (
            b.desired[2, i]
            + settings.d[k] * (b.desired[1, i] - b.velocity[k])
            + settings.p[k] * (b.desired[0, i] - b.y[k])
        )
    return accelerate_outputs(fixed, settings, q, qd, t)


@register('pfbl')
class PartialFeedbackLinearization(AccelerationLaw[PfblSettings]):
    """
    y'' = y_d'' + d (y_d' - y') + p (y_d - y) for the controlled actuators' coordinates y.

    u is held for a period T, in which stiff and strongly damped motions settle: asked for at the
    instant of the state, their acceleration would be another one on average. So the law asks for
    what y' gains in T. With J = dy/dq, h = c + g + s of this tick, and the response G, R K of the
    robot to a held force (:mod:`softrobot_dynamics.controllers.sampled_data.command`), w being the
    forces along y::

        (J G J') w = T (a - Jdot qd) + J G h + J R K qd

    which is [P, Sec. 6] as T goes to 0. No complementing coordinates are needed, and the robot may
    have more degrees of freedom than actuators, or more actuators than it needs. What the limits
    do not allow is reported. With an ``observer`` what the model does not know, such as a payload,
    becomes known as an acceleration of y, what y' gained less what the last command was to bring
    it, and is made up for: y then comes to y_d in spite of it. It does not wind up at limits, as
    what they did not allow was not expected. Grizzle and Kokotovic, Feedback linearization of
    sampled-data systems, IEEE Trans. Automatic Control 33 (1988).
    """

    Settings, KernelSettings = PfblSettings, PfblKernelSettings
    tick = staticmethod(tick)

    def unstable_zero_dynamics(self, q: Vector) -> tuple[complex, ...]:
        """Return the growing rates of the zero dynamics at q, as the base class says."""
        settings = self.settings
        rates = self._sampled.zero_dynamics(
            q, settings.feed_forward, lambda q, u: self._law_at_rest(q, u, settings)
        )
        return tuple(rates[rates.real > self.model.scales.growth].tolist())
