# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Parts of the commands, each for the drives behind a topic of its own, by parameters; no ROS.

Without `command_topics` there is one part, which has no name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from math import isnan, nan
import re
from typing import Any, NamedTuple, TYPE_CHECKING

from softrobot_dynamics.configuration.node_parameters import COMMAND_TYPES
from softrobot_dynamics.configuration.parameter_descriptions import (
    fixed,
    misnamed,
    ParameterSpec,
    refuse,
    shared_topics,
)
from softrobot_dynamics.configuration.wire_names import wire_names
from softrobot_dynamics.errors import closest, Problem
from softrobot_dynamics.schema.units import UNITS, units_of

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel

GROUP = 'commands'  # of the parameters of parts
TRAJECTORY = 'joint_trajectory'
TYPES = (*COMMAND_TYPES, TRAJECTORY)
FIELDS = 'effort', 'position', 'velocity'  # of a sensor_msgs/JointState
_DEFAULT_TOPICS = dict(zip(TYPES, ('joint_commands', 'commands', 'joint_trajectory')))
_TOPIC_NAME = re.compile(r'(~/|/)?[A-Za-z_]\w*(/[A-Za-z_]\w*)*', re.ASCII)


class CommandPart(NamedTuple):
    """The commands of some of the actuators, as one topic has them."""

    name: str  # '' for those of all actuators on one topic
    type: str  # one of `TYPES`
    topic: str  # '' for the one that the nodes have for its type
    indices: tuple[int, ...]  # of its actuators (k,)
    names: tuple[str, ...]  # of them in messages (k,)
    fields: tuple[str, ...]  # of a JointState in which each stands (k,)
    sizes: tuple[float, ...]  # of the unit of each in messages, in the SI unit (k,)
    horizon: float = nan  # [s] in which the drives are to reach a point of a trajectory


def command_rows(values: Mapping[str, Any]) -> tuple[ParameterSpec, ...]:
    """Return the rows of the parts that `command_topics` names; or DescriptionError."""
    names = values.get('command_topics') or ()
    wrong = misnamed('command_topics', names, 'names of letters, digits and _')
    refuse([*wrong, *_beside(values, names)])
    return tuple(row for name in names for row in _part_rows(name))


def command_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the parts that are not as by default, for another node."""
    rows = command_rows(values)
    given = {row.name: values[row.name] for row in rows if values[row.name] not in ('', ())}
    known = {x: y for x, y in given.items() if not (isinstance(y, float) and isnan(y))}
    return {'command_topics': values['command_topics'], **known} if rows else {}


def command_parts(model: CompiledModel, values: Mapping[str, Any]) -> tuple[CommandPart, ...]:
    """
    Return the :class:`CommandPart` s of a model's commands.

    `values`: parameters with those of :func:`command_rows`. DescriptionError for an actuator that
    is in no part, or in two, or is not there; for a unit that does not fit.
    """
    if not values.get('command_topics'):
        every = range(model.m)
        return (_part(model, values, '', every, values['command_type'], '', nan),)
    parts = values['command_topics']
    found = {part: _chosen(model, values[f'{GROUP}.{part}.actuators']) for part in parts}
    refuse([*_not_in_one(model, values, found), *_wrong_topics(values)])
    return tuple(
        _part(
            model,
            values,
            part,
            found[part],
            values[f'{GROUP}.{part}.type'],
            _topic(values, part),
            _horizon(values, part),
        )
        for part in parts
    )


def _part_rows(part: str) -> Iterator[ParameterSpec]:
    """Yield the rows of a part."""
    topics = ', '.join(f'{part}/{topic}' for topic in _DEFAULT_TOPICS.values())
    units = ', '.join(filter(None, UNITS))
    rows = (
        fixed('actuators', (), f'Names of the actuators of {part}, * for any characters'),
        fixed('type', TYPES[0], f'Messages to {part}', choices=TYPES),
        fixed('topic', '', f'Topic of {part}; empty: by the type, one of {topics}'),
        fixed('unit', '', f'Unit of the commands to {part}: {units}; empty: that of the robot'
              ' file'),
        fixed('prefix', '', f'Prefix of the names of actuators to {part}'),
        fixed('field', '', f'Field of the messages to {part} that has the commands; empty: by the'
              ' actuators', choices=('', *FIELDS), words=f'one of {", ".join(FIELDS)}, or empty'),
        fixed('horizon', nan, f'Time in which {part} is to reach a point of a trajectory [s]; nan:'
              ' one period', 0.0, 10.0),
    )  # fmt: skip
    for row in rows:
        yield row._replace(name=f'{GROUP}.{part}.{row.name}')


def _beside(values: Mapping[str, Any], names: Sequence[str]) -> Iterator[Problem]:
    """Yield a `command_type` that is given beside parts."""
    given = values.get('command_type', COMMAND_TYPES[0])
    if names and given != COMMAND_TYPES[0]:
        words = f'nothing beside command_topics: {GROUP}.{names[0]}.type is that of a part'
        yield Problem('command_type', given, words)


def _chosen(model: CompiledModel, patterns: Sequence[str]) -> tuple[int, ...]:
    """Return the indices of the actuators that names or patterns mean, in their order."""
    names = list(enumerate(model.actuator_names))
    found = (i for each in patterns for i, name in names if fnmatchcase(name, each))
    return tuple(dict.fromkeys(found))


def _not_in_one(
    model: CompiledModel, values: Mapping[str, Any], found: Mapping[str, Sequence[int]]
) -> Iterator[Problem]:
    """Yield names that mean no actuator, and actuators that are not in exactly one part."""
    names = model.actuator_names
    owner: dict[int, str] = {}
    for part, own in found.items():
        path = f'{GROUP}.{part}.actuators'
        given = values[path]
        for each in given:
            if not any(fnmatchcase(name, each) for name in names):
                yield Problem(path, each, f'names of actuators{closest(each, names)}')
        if not given:
            yield Problem(path, given, f'names of actuators, some of {", ".join(names)}')
        if taken := [i for i in own if i in owner]:
            taken_names = ', '.join(names[i] for i in taken)
            yield Problem(path, given, f'other actuators: {owner[taken[0]]} has {taken_names}')
        owner.update((i, part) for i in own if i not in owner)
    if left := [name for i, name in enumerate(names) if i not in owner]:
        words = f'parts for all actuators: none has {", ".join(left)}'
        yield Problem('command_topics', tuple(found), words)


def _wrong_topics(values: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield topics of parts that are no names, or that two parts share."""
    topics = [(part, _topic(values, part)) for part in values['command_topics']]
    for part, topic in topics:
        if not _TOPIC_NAME.fullmatch(topic):
            words = 'a name of a topic: letters, digits and _, with / between'
            yield Problem(f'{GROUP}.{part}.topic', topic, words)
    yield from shared_topics(GROUP, topics)


def _topic(values: Mapping[str, Any], part: str) -> str:
    given: str = values[f'{GROUP}.{part}.topic']
    return given or f'{part}/{_DEFAULT_TOPICS[values[f"{GROUP}.{part}.type"]]}'


def _horizon(values: Mapping[str, Any], part: str) -> float:
    given: float = values[f'{GROUP}.{part}.horizon']
    return 1.0 / values['rate'] if isnan(given) and 'rate' in values else given


def _part(
    model: CompiledModel,
    values: Mapping[str, Any],
    part: str,
    indices: Sequence[int],
    type_name: str,
    topic: str,
    horizon: float,
) -> CommandPart:
    """Return a part of the commands by parameter values."""
    group = f'{GROUP}.{part}'
    own = [model.actuator_names[i] for i in indices]
    field = values.get(f'{group}.field', '')
    every = model.description.wire_fields
    return CommandPart(
        part,
        type_name,
        topic,
        tuple(indices),
        wire_names(values, own, values.get(f'{group}.prefix', '')),
        tuple(field or every[i] for i in indices),
        _sizes(model, indices, f'{group}.unit', values.get(f'{group}.unit', '')),
        horizon,
    )


def _sizes(
    model: CompiledModel, indices: Sequence[int], path: str, unit: str
) -> tuple[float, ...]:
    """Return the size of a unit, '' for the SI unit, for each actuator; DescriptionError."""
    if not unit:
        return (1.0,) * len(indices)
    sent_units = [_unit_of(model, i) for i in indices]
    for i, own in zip(indices, sent_units):
        if unit not in units_of(own):
            words = f'one of {", ".join(units_of(own))} for {model.actuator_names[i]}'
            refuse([Problem(path, unit, f'{words}, or empty')])
    return tuple(units_of(own)[unit] for own in sent_units)


def _unit_of(model: CompiledModel, i: int) -> str:
    """Return the SI unit of the numbers sent to the drive of an actuator."""
    field = model.description.wire_fields[i]
    if field == 'effort':
        return str(model.commands[i].unit)
    return model.outputs[i].unit + ('/s' if field == 'velocity' else '')
