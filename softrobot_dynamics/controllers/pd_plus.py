# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""PD control of the outputs, with gravity and elastic forces cancelled."""

from dataclasses import dataclass
import functools
from typing import Any

from softrobot_dynamics.annotations import Array, Vector
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.blending import sample_plan
from softrobot_dynamics.controllers.contract import register
from softrobot_dynamics.controllers.gains import gain, rate_gain
from softrobot_dynamics.controllers.output_commands import (
    add_output_forces,
    command_force,
    conclude,
    read_outputs,
)
from softrobot_dynamics.controllers.output_gains import output_gains, OutputGains
from softrobot_dynamics.controllers.sampled_data_law import SampledDataLaw, SampledDataSettings
from softrobot_dynamics.controllers.settings import kernel_settings
from softrobot_dynamics.kernels.linalg import copy


@dataclass(frozen=True)
class PdPlusSettings(SampledDataSettings):
    """Settings: gains as accelerations of the robot at q0, so that units do not matter."""

    p: Array = gain(
        'Gain on the error of y, scaled by inertia and damping of the outputs at q = 0',
        each='output',
    )
    d: Array = rate_gain('Gain on the error of its rate, likewise', each='output')


PdPlusKernelSettings = kernel_settings('PdPlusKernelSettings', PdPlusSettings, 'gains')


@kernel
def tick(fixed, plan, settings, q, qd, t):
    """One tick, see :class:`SampledDataLaw`."""
    b = fixed.b
    run(fixed.evaluate, q, fixed.rest)
    read_outputs(fixed, qd)
    sample_plan(plan, t, b.desired, b.blend)
    copy(fixed.terms.h, b.force)
    add_output_forces(fixed, settings.gains, b.force)
    b.r[:] = 0.0
    return conclude(fixed, settings, q, qd, command_force(fixed, settings, b.force))


@register('pd_plus')
class PdPlus(SampledDataLaw[PdPlusSettings]):
    """
    Forces K_P (y_d - y) + K_D (y_d' - y') along the outputs, beside what holds the robot.

    That is the generalized force g(q) + s(q, 0) (gravity and springs at rest); [P, Sec. 7.2] in
    actuation coordinates. The constant gains are made of p and d by the inertia L and the damping
    B that outputs meet at q = 0 (:func:`~.output_gains.output_gains`),
    K_P = p L + sqrt(p) B and K_D = d L: with d = 2 sqrt(p) errors there decay with the rate
    sqrt(p); elsewhere as springs and dampers pull, which ask for no model of the motion. Where the
    robot comes to rest, y is y_d. What the actuators cannot hold is left as small as the response
    of the robot says.
    """

    Settings, KernelSettings = PdPlusSettings, PdPlusKernelSettings
    tick = staticmethod(tick)

    @functools.cached_property
    def _gains(self) -> OutputGains:
        return output_gains(self.model, self.controlled)

    def prepared(self, settings: PdPlusSettings, q: Vector | None) -> dict[str, Any]:
        """Return the :class:`.GainMatrices` of p and d."""
        return {'gains': self._gains.matrices(settings.p, settings.d)}
