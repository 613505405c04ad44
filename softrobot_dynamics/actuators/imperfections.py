# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Imperfections of actuators between command and force: lag, delay, dead band, slack."""

from dataclasses import dataclass

from softrobot_dynamics.schema.fields import number


@dataclass(frozen=True, kw_only=True)
class Imperfections:
    """
    Fields that every actuator has; by default the force is the command.

    A command u that arrives acts `delay` later. The first `dead_band` of it, up or down, is lost:
    what is left of u is u - dead_band or u + dead_band, or zero in between. The force f comes
    after that as lag df/dt = u - f. The simulated robot has them; laws do not look at them.
    """

    lag: float = number('s', at_least=0.0, default=0.0)
    delay: float = number('s', at_least=0.0, default=0.0)
    dead_band: float = number('unit of u', at_least=0.0, default=0.0)
