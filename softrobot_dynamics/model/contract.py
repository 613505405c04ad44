# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Interface of a compiled robot to plans of its routes, cables and drives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TYPE_CHECKING

from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.compiling.jit import Kernel
from softrobot_dynamics.recursion.contract import Model

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription


class RobotModel(Model, Protocol):
    """A compiled robot with its description, see :class:`.CompiledModel` for the attributes."""

    description: RobotDescription
    body_names: tuple[str, ...]
    q0: Vector
    qd0: Vector
    y0: Vector
    actuator_names: tuple[str, ...]
    lower: Vector  # (m,)
    upper: Vector
    q_lower: Vector  # (n,)
    q_upper: Vector
    qd_limit: Vector
    positioned: Any  # (m,) bool
    servos: Any  # softrobot_dynamics.model.servos.ServoTables
    effort_lower: Vector
    effort_upper: Vector
    cable_tables: Any  # softrobot_dynamics.model.cable_drives.CableTables
    closure_plan: Any  # softrobot_dynamics.model.closures.ClosurePlan, or None

    @property
    def points_kernel(self) -> Callable[[int, bytes], Kernel]:
        """A function of a body's index and points (K, 3) as bytes that returns their Kernel."""

    @property
    def route_plan(self) -> Any:
        """The :class:`softrobot_dynamics.model.routes.RoutePlan`, made when first asked for."""

    @property
    def contact_plan(self) -> Any:
        """The :class:`softrobot_dynamics.model.contacts.ContactPlan`, or None; likewise."""
