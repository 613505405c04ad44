# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Hold the outputs where they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.references.contract import OutputMotion, register, Trajectory

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel
    from softrobot_dynamics.references.piecewise import Indices


@register('hold')
@dataclass(frozen=True)
class Hold(Trajectory):
    """The outputs keep their values at the beginning."""

    takes_long = False

    def plan(self, model: CompiledModel, controlled: Indices, q: Vector) -> OutputMotion | None:
        """Return None: there is nothing to plan."""
        return None
