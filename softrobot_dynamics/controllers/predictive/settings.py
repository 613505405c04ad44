# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Settings of the predictive law, and the problem that they describe for a robot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
import math
from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Integers
from softrobot_dynamics.controllers.predictive.horizon import HorizonProblem
from softrobot_dynamics.controllers.predictive.planner import MAX_HORIZON_STEPS
from softrobot_dynamics.controllers.sampled_data_law import SampledDataSettings
from softrobot_dynamics.schema.fields import flag, integer, number, text, vector
from softrobot_dynamics.schema.parameters import parameter
from softrobot_dynamics.schema.poses import Pose

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

ROUNDING_TOLERANCE = 1e-9  # of a unit that is counted: 0.0015 s are one and a half of 0.001 s


@dataclass(frozen=True)
class PredictiveSettings(SampledDataSettings):
    """Settings: the horizon, and weights of the cost per second."""

    tip: str = parameter(
        text(default=''),
        'Body whose tip follows the reference; empty: outputs follow it',
        live=False,
    )
    horizon: float = parameter(
        number('s', at_least=0.01, at_most=10.0, default=0.2), 'Time that is looked ahead'
    )
    knot: float = parameter(
        number('s', at_least=0.001, at_most=0.5, default=0.01),
        'Time for which a planned command is held',
    )
    interval: float = parameter(
        number('s', at_least=0.001, at_most=0.5, default=0.005),
        'Time from one solution to the next, rounded to periods of the loop, halves down',
    )
    iterations: int = parameter(
        integer(at_least=1, at_most=20, default=1), 'Iterations of a solution'
    )
    renewal: int = parameter(
        integer(at_least=1, at_most=10, default=4),
        'Solutions in which all steps of the horizon are differentiated anew, a part in each',
    )
    tip_weight: float = parameter(
        number('1/m^2', at_least=0.0, default=1e6), 'Weight of the error of the tip'
    )
    rotation_weight: float = parameter(
        number('1/rad^2', at_least=0.0, default=0.0),
        'Weight of the turn of the axes of the tip from those of tip_rpy',
    )
    tip_rpy: tuple[float, float, float] = parameter(
        vector('rad', 3, default=(0.0, 0.0, 0.0)),
        'Roll, pitch and yaw that the axes of the tip shall have, base frame',
    )
    output_weight: float = parameter(
        number('-', at_least=0.0, default=1e6),
        'Weight of the error of outputs, relative to what a unit of a coordinate does to them',
    )
    output_pull: float = parameter(
        number('-', above=0.0, default=1e3),
        'Largest slope of the cost by the error of an output, relative as output_weight',
    )
    posture_weight: float = parameter(
        number('-', at_least=0.0, default=0.0),
        'Weight of how far coordinates are from the initial posture, in units of coordinates',
    )
    speed_weight: float = parameter(
        number('s^2', at_least=0.0, default=1e-2),
        'Weight of the rates of coordinates, in units of coordinates',
    )
    effort_weight: float = parameter(
        number('-', at_least=0.0, default=4.0), 'Weight of commands, as shares of their range'
    )
    change_weight: float = parameter(
        number('s^2', above=0.0, default=1.6e-2),
        'Weight of the rates of commands, as shares of their range',
    )
    limit_weight: float = parameter(
        number('-', at_least=0.0, default=1e6),
        'Weight of how far coordinates and rates are beyond soft limits, in units of coordinates',
    )
    speed_limit: float = parameter(
        number('1/s', above=0.0, default=math.nan),
        'Soft limit of the rates of coordinates, in units of coordinates; not set: none',
    )
    margin: float = parameter(
        number('-', at_least=0.0, at_most=1.0, default=0.0),
        "Distance of the soft limits within the joints' position limits, in units of coordinates",
    )
    clearance: float = parameter(
        number('m', at_least=0.0, default=math.nan),
        'Soft limit of distances from the environment and between parts; not set: none',
    )
    distance_weight: float = parameter(
        number('1/m^2', at_least=0.0, default=1e8),
        'Weight of how far distances are below the clearance',
    )
    contact: bool = parameter(
        flag(default=False),
        'Whether forces of contact act on the robot that is predicted',
        live=False,
    )
    contact_force: float = parameter(
        number('N', above=0.0, default=math.nan),
        'Soft limit of the force of one contact, with contact; not set: none',
    )
    contact_force_weight: float = parameter(
        number('1/N^2', at_least=0.0, default=100.0),
        'Weight of how far forces of contact are above their limit',
    )
    motion_start: float = parameter(
        number('s', default=0.0),
        'When the given motions of obstacles begin, by the time since the loop began',
    )
    observer: float = parameter(
        number('s', at_least=0.0, at_most=10.0, default=0.005),
        'Time in which forces become known that the model lacks, unless those of contact act;'
        ' 0: they are not looked for',
    )

    @property
    def steps(self) -> int:
        """The number of commands that are planned: the horizon in knots, halves down."""
        return whole_count(self.horizon, self.knot)

    def ticks(self, period: float) -> int:
        """Return the number of periods [s] from one solution to the next: halves down."""
        return whole_count(self.interval, period)

    def validate(self) -> Iterable[tuple[str, object, str]]:
        """Yield what does not fit together."""
        if self.steps > MAX_HORIZON_STEPS:
            expected = (
                f'at most {MAX_HORIZON_STEPS} times knot, {MAX_HORIZON_STEPS * self.knot:g} s'
            )
            yield 'horizon', self.horizon, expected
        if self.knot > self.horizon:
            yield 'knot', self.knot, f'at most the horizon, {self.horizon:g} s'
        if not self.contact and not math.isnan(self.contact_force):
            yield 'contact_force', self.contact_force, 'nan, or contact: true'
        if self.interval + self.delay > 0.5 * self.horizon:
            expected = f'with the delay, at most half the horizon, {0.5 * self.horizon:g} s'
            yield 'interval', self.interval, expected

    def examine(self, model: CompiledModel) -> Iterable[tuple[str, object, str]]:
        """Yield what does not fit to a model, as (name of the field, value, expected)."""
        if self.tip not in ('', 'tip', *model.body_names):
            known = ', '.join(model.body_names)
            yield 'tip', self.tip, f'tip, for the last body, or one of {known}'
        if model.contact_plan is None:
            words = 'nothing of this robot may touch, as it has no shapes or no environment'
            if not math.isnan(self.clearance):
                yield 'clearance', self.clearance, f'nan: {words}'
            if self.contact:
                yield 'contact', True, f'false: {words}'
        room = 0.5 * (model.q_upper - model.q_lower) / model.scales.units
        if (self.margin > room).any():
            name = model.coordinate_names[int(room.argmin())]
            expected = f'at most {room.min():.4g}, half of the range of {name}'
            yield 'margin', self.margin, expected


def whole_count(time: float, unit: float) -> int:
    """Return how often a unit of time fits into a time [s], rounded, halves down; 1 at least."""
    return max(1, math.ceil(time / unit - 0.5 - ROUNDING_TOLERANCE))


def problem_of(
    model: CompiledModel, controlled: Integers, body: int, s: PredictiveSettings
) -> HorizonProblem:
    """
    Return the :class:`.HorizonProblem` of settings for a model.

    ``controlled`` (c,) are the actuators that may move; ``body``, whose tip is led, -1: outputs.
    """
    units, own = model.scales.units, np.zeros(model.m, dtype=bool)
    own[controlled] = True
    span = s.upper - s.lower
    share = 1.0 / np.where(np.isfinite(span) & (span > 0.0), span, 1.0) ** 2
    sizes = np.abs(model.scales.outputs).max(axis=1)
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    output = s.output_weight / sizes**2
    rest = np.clip(s.feed_forward, s.lower, s.upper)
    margin = s.margin * units
    return HorizonProblem(
        knot=float(s.knot),
        steps=s.steps,
        iterations=s.iterations,
        renewal=s.renewal,
        contact_force=float(s.contact_force),
        motion_start=float(s.motion_start),
        observer=float(s.observer),
        body=body,
        weights={
            'tip': s.tip_weight if s.tip else 0.0,
            'rotation': s.rotation_weight if s.tip else 0.0,
            'output': np.where(own, 0.0 if s.tip else output, 0.0),
            'huber_threshold': s.output_pull / max(s.output_weight, 1e-300) * sizes,
            'posture': s.posture_weight / units**2,
            'speed': s.speed_weight / units**2,
            'limit': s.limit_weight,
            'distance': 0.0 if math.isnan(s.clearance) else s.distance_weight,
            'force': 0.0 if math.isnan(s.contact_force) else s.contact_force_weight,
            'effort': s.effort_weight * share,
            'change': s.change_weight * share,
        },
        aims={
            'q': model.q0,
            'rotation': Pose(rpy=s.tip_rpy).matrix()[:3, :3].ravel(),
            'u': np.clip(np.zeros(model.m), s.lower, s.upper),
            'lower': model.q_lower + margin,
            'upper': model.q_upper - margin,
            'clearance': 0.0 if math.isnan(s.clearance) else s.clearance,
            'speed': np.full(model.n, np.inf)
            if math.isnan(s.speed_limit)
            else s.speed_limit * units,
        },
        lower=np.where(own, s.lower, rest),
        upper=np.where(own, s.upper, rest),
        rate=np.array(s.rate),
    )
