# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Names of coordinates and actuators in messages of other nodes ("on the wire"); no ROS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TYPE_CHECKING

from softrobot_dynamics.configuration.parameter_descriptions import fixed, ParameterSpec
from softrobot_dynamics.errors import DescriptionError, Problem

if TYPE_CHECKING:
    from softrobot_dynamics.configuration.parts import NamedRobot

NAMES_GROUP = 'joint_names'  # of the parameters, one for each own name
PREFIX = 'joint_prefix'  # declared with the other parameters of the topics
_NAMED_MESSAGE = 'sensor_msgs/JointState'  # type of messages that have names


def wire_name_rows(robot: NamedRobot) -> tuple[ParameterSpec, ...]:
    """Return the rows `joint_names.NAME`, one for each coordinate and actuator of a robot."""
    names = dict.fromkeys((*robot.coordinate_names, *robot.actuator_names))
    return tuple(
        fixed(
            f'{NAMES_GROUP}.{name}',
            '',
            f'Name of {name} in states and commands; empty: `{PREFIX}` and its own',
        )
        for name in names
    )


def wire_name_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the names that are given, for another node."""
    return {
        x: y for x, y in values.items() if y and (x == PREFIX or x.startswith(f'{NAMES_GROUP}.'))
    }


def wire_names(values: Mapping[str, Any], own: Sequence[str], prefix: str = '') -> tuple[str, ...]:
    """
    Return the names that `own` names, of coordinates or of actuators, have on the wire.

    `values`: parameters with the rows of :func:`wire_name_rows`. A name without an entry there has
    the `prefix` before it, or the parameter `joint_prefix` if that is empty. DescriptionError if
    two names become the same.
    """
    prefix = prefix or values.get(PREFIX, '')
    names = tuple(values.get(f'{NAMES_GROUP}.{name}') or f'{prefix}{name}' for name in own)
    owner: dict[str, str] = {}
    problems = []
    for name, wire in zip(own, names):
        if wire in owner:
            words = f'a name of its own: {owner[wire]} has it already'
            problems.append(Problem(f'{NAMES_GROUP}.{name}', wire, words))
        owner.setdefault(wire, name)
    if problems:
        raise DescriptionError(tuple(problems), 'parameters')
    return names


def with_wire_names(values: Mapping[str, Any], sensors: Sequence[Any]) -> list[Any]:
    """
    Return sensors and efforts with their coordinates named as in messages.

    These are those that tell coordinates or actuators by name, in a JointState; others are as
    they were. DescriptionError as :func:`wire_names`.
    """
    return [
        replace(each, names=wire_names(values, each.names))
        if each.message_type == _NAMED_MESSAGE and hasattr(each, 'names')
        else each
        for each in sensors
    ]
