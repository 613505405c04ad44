# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Laws in acceleration: commands that give the outputs accelerations, over a period.

What the model has wrong becomes known by what the outputs did not gain, and is made up for. Laws
cancel stiffness and damping that are many times their gains; without, an arm that is a few per
cent softer than its model runs away.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any, TYPE_CHECKING, TypeVar

from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.controllers.output_commands import command_force, conclude
from softrobot_dynamics.controllers.sampled_data_law import SampledDataLaw, SampledDataSettings
from softrobot_dynamics.kernels.sums import dot
from softrobot_dynamics.schema.fields import number
from softrobot_dynamics.schema.parameters import parameter

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

# of the memory, see `_observe`, `_remember`, and their number
DISTURBANCE, TARGET_VELOCITY, MEMORY_ROWS = range(3)
# time constants tried [periods]; unknown delays want long ones
OBSERVER_PERIODS = 100.0, 50.0, 20.0, 10.0, 5.0, 2.0, 1.0, 0.5
MAX_OBSERVER_TIME_RATIO = 0.15  # of the time of the robot's own slowest motion
#: Share by which stiffness and damping may be off: modulus and damping time a fifth each.
DESIGN_UNCERTAINTY = 0.4


@dataclass(frozen=True)
class AccelerationSettings(SampledDataSettings):
    """Settings that all such laws have."""

    observer: float = parameter(
        number('s', at_least=0.0, default=math.nan),
        'Time constant of the disturbance observer; 0: none; not set: the longest with which a'
        ' robot is stable that is 40 % off its model',
    )


A = TypeVar('A', bound=AccelerationSettings)


class AccelerationLaw(SampledDataLaw[A]):
    """
    Base of laws whose tick ends in :func:`accelerate_outputs`.

    Attribute: ``observer`` [s], the time that the law has chosen when it was made, with the gains
    of then, for where its settings leave it the choice.
    """

    remembers = MEMORY_ROWS

    def __init__(self, model: CompiledModel, **options: Any) -> None:
        self.observer = OBSERVER_PERIODS[-2] * options['period']
        super().__init__(model, **options)
        self.observer = self._choose()
        self._apply(self.plan, self.settings)

    def prepared(self, settings: A, q: Vector | None) -> dict[str, Any]:
        """Return the time of the observer, the law's own where the settings have none."""
        unset = math.isnan(settings.observer)
        return {'observer': self.observer if unset else settings.observer}

    def _choose(self) -> float:
        """Return the longest time [s] with which a robot off the model is stable at q0."""
        q, u, scales = self.model.q0, self.settings.feed_forward, self.model.scales
        here = self.settings.replace(delay=0.0)  # whatever is late, which may change
        times = [count * self.period for count in OBSERVER_PERIODS]
        for time in (each for each in times if each <= MAX_OBSERVER_TIME_RATIO / scales.rate):
            growth = self.growth(q, u, here.replace(observer=time), DESIGN_UNCERTAINTY)
            if growth < scales.growth:
                return time
            if math.isnan(growth):  # it cannot be there
                return times[-2]
        return times[-1]


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
        b.memory[TARGET_VELOCITY, i] = b.velocity[k] + period * acceleration
        b.r[i] = period * (acceleration - terms.bias[k]) + dot(terms.J[k], b.drift)
    saturated = command_force(fixed, settings, terms.h)
    _remember(fixed, saturated >= 0, t)
    return conclude(fixed, settings, q, qd, saturated)


@kernel
def _observe(fixed, time, t):
    """
    Bring the disturbance (c,), an acceleration of y, on by what y' gained in the last period.

    It follows what was gained beyond what the last command was to bring, limits included, as a
    filter of first order by a ``time`` [s]. After a pause nothing is learned. Of states that are
    predicted it is what the last one has come to, or the force that changes predictions would be
    counted twice (:class:`~softrobot_dynamics.controllers.sampled_data.prediction.Prediction`).
    """
    b, period = fixed.b, fixed.period
    disturbance, aim = b.memory[DISTURBANCE], b.memory[TARGET_VELOCITY]
    one_period = abs(t - b.last_answer_time[0] - period) < 0.5 * period  # nan: no
    for i in range(len(aim)):
        if time == 0.0:
            disturbance[i] = 0.0
        elif one_period:
            k = fixed.controlled[i]
            reached = b.velocity[k]
            if fixed.reached[0] == fixed.reached[0]:
                reached = dot(fixed.terms.J[k], fixed.reached)
            missed = (reached - aim[i]) / period
            if abs(missed) < math.inf:  # once it is no number, it would stay that
                disturbance[i] += (missed - disturbance[i]) * period / (time + period)


@kernel
def _remember(fixed, answered, t):
    """Note which y' the command is to bring within its period, and when it was asked for."""
    b = fixed.b
    b.last_answer_time[0] = t if answered else math.nan
    for i in range(len(fixed.controlled)):
        b.memory[TARGET_VELOCITY, i] -= fixed.period * b.unmet[fixed.controlled[i]]
