# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Sensing of a simulated robot's node: states in parts, and measurements for an estimator."""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from rclpy.node import Node
from rclpy.qos import QoSProfile
from softrobot_dynamics.configuration import wire_names
from softrobot_dynamics.configuration.law_settings import require_patience
from softrobot_dynamics.configuration.state_topics import state_parts
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.estimation.sensor_simulation import SimulatedSensors
from softrobot_dynamics.estimation.settings import load_estimator
from softrobot_dynamics.loops.simulated_sensors import estimator_file, MeasuredSensing
from softrobot_dynamics.nodes.publishers import SensorPublisher

if TYPE_CHECKING:
    from softrobot_dynamics.configuration.build import Simulated
    from softrobot_dynamics.configuration.state_topics import StatePart
    from softrobot_dynamics.simulation.sensing import Sensing


def published_parts(plant: Simulated, values: dict[str, Any]) -> tuple[StatePart, ...]:
    """Return the parts in which states are published; with an estimator for nobody else."""
    parts = state_parts(values, plant.published.coordinate_names)
    if not values['estimator']:
        return parts
    return tuple(part._replace(topic=f'~/{part.topic}') for part in parts)


def sensing_of(
    node: Node, plant: Simulated, values: dict[str, Any], quality: QoSProfile
) -> Sensing | MeasuredSensing:
    """
    Return the sensing of states and, if there is an estimator, of its sensors.

    Measurements are published by the node. ArgumentError for parameter ``values`` that an
    estimator does not allow.
    """
    sensing = plant.sensing(values)
    require_patience(values)
    if not values['estimator']:
        return sensing
    for name, free in (('wait_for_commands', False), ('real_time_factor', True)):
        if bool(values[name]) is not free:  # no command answers a state that is estimated
            expected = f'{"more than 0" if free else free}, as there is an estimator'
            raise ArgumentError(name, values[name], expected)
    settings, known = load_estimator(estimator_file(values['estimator'])), sensing.sensors
    instruments = SimulatedSensors(
        plant.model,
        settings.sensors,
        efforts=settings.efforts,
        seed=known.seed,
        dropout=known.dropout,
    )
    publisher = SensorPublisher(
        node, wire_names.with_wire_names(values, (*settings.sensors, *settings.efforts)), quality
    )
    simulator = plant.simulator
    return MeasuredSensing(
        sensing,
        instruments,
        publisher.send,
        lambda: simulator.acting,
        lambda: simulator.contact_force,
    )
