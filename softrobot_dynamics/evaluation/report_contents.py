# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Contents of the report of a run, from which figures, pictures and films are made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, TYPE_CHECKING

from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.evaluation import records, tracking
from softrobot_dynamics.references.contract import Targets

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class Report(NamedTuple):
    """A demo and its results."""

    model: CompiledModel
    run: records.Run
    controlled: list[int]  # indices of the actuators that follow the reference
    targets: Targets | None  # that tips follow
    tips: tracking.Tips | None
    ramp: float  # [s] until the first reference is blended in
    output_ranges: Vector  # (c,) what the errors of the outputs are shares of, each in its unit
    figures: tracking.Figures
    unmeasured_outputs: tuple[str, ...] = ()  # outputs about which nothing can be told
    plant: str = ''  # in words, what the simulated robot differs in from the model
    estimated: bool = False  # whether the controller received the states of an estimator

    @property
    def span(self) -> float:
        """The time [s] over which to show motion: a turn, or all after the blending in."""
        end = self.run.t[-1]
        free = max(end - self.ramp, 0.0) or end
        return float(min(free, self.targets.duration) if self.targets else free)


class RunPlan(Protocol):
    """The plan of a run, as it is written down beside the records."""

    @property
    def robot(self) -> str:
        """Shipped name, or path of a robot file."""

    @property
    def controller(self) -> Mapping[str, Any]:
        """The controller's parameters by name."""

    @property
    def simulation(self) -> Mapping[str, Any]:
        """The simulation's parameters by name."""

    @property
    def estimator(self) -> str | None:
        """Path of an estimator file; None without an estimator."""
