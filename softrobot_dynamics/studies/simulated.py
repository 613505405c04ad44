# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The simulated robot of a study, as the `simulation` block of a parameter file describes it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, TYPE_CHECKING

from softrobot_dynamics.configuration.law_settings import sensors_of
from softrobot_dynamics.configuration.parameter_files import simulation_values
from softrobot_dynamics.simulation.bus import GROUP as BUS
from softrobot_dynamics.simulation.sensing import GROUP as SENSORS

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription

_COMPOSITE = 'payload.', 'command_timing', 'estimator', 'safe_'  # names begin so, and are not used


class Given(NamedTuple):
    """Parameters of the simulated robot in a file; empty where it has none."""

    plant: tuple[str, ...]  # what is otherwise than in the robot file
    bus: dict[str, Any]  # fields of the Bus by name
    sensors: dict[str, Any]  # fields of the Sensors by name
    substep: dict[str, float]  # of the integrator, by its name as an argument [s]
    remarks: tuple[str, ...]  # in words, parameters that a study does not use


NOTHING = Given((), {}, {}, {}, ())


def given_by(description: RobotDescription, files: Iterable[Path]) -> Given:
    """Return what the files say of the simulated robot; DescriptionError."""
    values = simulation_values(description, files)
    names = description.coordinate_names
    sensed = any(name.startswith(f'{SENSORS}.') for name in values)
    return Given(
        plant=values.get('plant', ()),
        bus={x.partition('.')[2]: y for x, y in values.items() if x.startswith(f'{BUS}.')},
        sensors=dict(vars(sensors_of(names, values))) if sensed else {},
        substep={'substep': values['substep']} if 'substep' in values else {},
        remarks=tuple(
            f'{name}: {value} of the simulation in the parameter file is not used in a study'
            for name, value in values.items()
            if name.startswith(_COMPOSITE)
        ),
    )
