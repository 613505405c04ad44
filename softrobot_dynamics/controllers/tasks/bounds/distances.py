# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Keep a clearance between surfaces, by control barrier functions of their gaps."""

from __future__ import annotations

from dataclasses import dataclass

from softrobot_dynamics.controllers.tasks.bounds.gap_bound import GapBound
from softrobot_dynamics.controllers.tasks.contract import register_bound
from softrobot_dynamics.schema.fields import number
from softrobot_dynamics.schema.parameters import parameter


@register_bound('distances')
@dataclass(frozen=True)
class Distances(GapBound):
    """
    Collision shapes keep clear of the environment, and of parts that they collide with.

    By distances between surfaces, and their control barrier functions. A robot that cannot touch
    anything has no such rows.
    """

    clearance: float = parameter(number('m', at_least=0.0, default=0.0), 'Least distance')

    @property
    def kept(self) -> tuple[float, float]:
        """The clearance [m], and no force."""
        return self.clearance, 0.0
