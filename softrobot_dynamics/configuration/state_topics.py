# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Parts of the states, each from a driver with a topic of its own, by parameters; no ROS.

Without `state_topics` there is one part, which has no name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from softrobot_dynamics.configuration.parameter_descriptions import (
    fixed,
    misnamed,
    ParameterSpec,
    refuse,
    shared_topics,
)
from softrobot_dynamics.configuration.wire_names import wire_names
from softrobot_dynamics.errors import ArgumentError, closest, Problem
from softrobot_dynamics.loops.part_synchronisation import MAX_EXTRAPOLATION
from softrobot_dynamics.loops.velocity_estimation import delay_of

GROUP = 'states'  # of the parameters of parts
TOPIC = 'joint_states'
_RESERVED_NAMES = 'tick', 'shared_clock'


class StatePart(NamedTuple):
    """The coordinates that one topic has."""

    name: str  # '' for all coordinates on one topic
    topic: str
    indices: tuple[int, ...]  # of its coordinates (k,), increasing
    names: tuple[str, ...]  # of them in messages (k,)
    rate: float = 0.0  # [Hz] of a simulated robot, 0: that of the simulation
    velocities: bool = True  # whether a simulated robot publishes any


_SHARED_PARAMETERS = (
    fixed(f'{GROUP}.tick', '', 'Part of the states that the controller answers; the others are'
          ' extrapolated to its time by their velocities; empty: the slowest'),
    fixed(f'{GROUP}.shared_clock', False, 'Whether the stamps of all parts are by one clock;'
          ' otherwise each part counts from its fastest message'),
)  # fmt: skip


def state_rows(values: Mapping[str, Any]) -> tuple[ParameterSpec, ...]:
    """Return the rows of the parts that `state_topics` names, if any; or DescriptionError."""
    names = values.get('state_topics') or ()
    words = f'names of letters, digits, _; not {_RESERVED_NAMES}'
    refuse(
        misnamed(
            'state_topics', names, words, {*_RESERVED_NAMES, *(x for x in names if '__' in x)}
        )
    )
    rows = [row for name in names for row in _part_rows(name)]
    return (*_SHARED_PARAMETERS, *rows) if names else ()


def state_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the parts that are not as by default, for another node."""
    rows = state_rows(values)
    given = {row.name: values[row.name] for row in rows if values[row.name] != row.default}
    return {'state_topics': values['state_topics'], **given} if rows else {}


def state_parts(values: Mapping[str, Any], coordinates: Sequence[str]) -> tuple[StatePart, ...]:
    """
    Return the :class:`StatePart` s of a robot with `coordinates`.

    `values`: parameters with those of :func:`state_rows`. A part without names has the coordinates
    that no other part has. DescriptionError for a coordinate that is in no part or in two.
    """
    parts = values.get('state_topics') or ()
    if not parts:
        every = tuple(range(len(coordinates)))
        return (StatePart('', TOPIC, every, wire_names(values, coordinates)),)
    found = _shared_out(values, coordinates)
    made = tuple(_part(values, part, coordinates, found[part]) for part in parts)
    topics = ((part.name, part.topic) for part in made)
    refuse([*shared_topics(GROUP, topics), *_no_tick(values)])
    return made


def expected_delay(values: Mapping[str, Any], period: float) -> float:
    """
    Return by how much states will be late by `values`, in a loop with a period, both in s.

    That of estimated velocities, or half a period of the slowest part where another one makes the
    ticks. Latencies are known only while the loop runs.
    """
    parts = values.get('state_topics') or ()
    rates = [values.get(f'{GROUP}.{part}.rate') or 1.0 / period for part in parts]
    estimated = values.get('velocities') == 'differentiated' or any(
        not values.get(f'{GROUP}.{part}.velocities', True) for part in parts
    )
    late = delay_of(round(1e9 * period)) * 1e-9 if estimated else 0.0
    age = 0.5 / min(rates) if rates and values.get(f'{GROUP}.tick') else 0.0
    return max(late, age if age > MAX_EXTRAPOLATION * period else 0.0)


def require_one_clock(values: Mapping[str, Any]) -> None:
    """
    Raise ArgumentError if parts of a simulated robot's `values` cannot be put together.

    At another pace than real time's, or as fast as answers come, only stamps of one clock say how
    old a part is.
    """
    if len(values.get('state_topics') or ()) < 2 or values[f'{GROUP}.shared_clock']:
        return
    pace = values['real_time_factor']
    if pace != 1.0:
        expected = f'1, or {GROUP}.shared_clock: true, as states come in parts'
        raise ArgumentError('real_time_factor', pace, expected)


def _part(
    values: Mapping[str, Any], name: str, coordinates: Sequence[str], indices: Sequence[int]
) -> StatePart:
    """Return a part of the states by parameter values."""
    group = f'{GROUP}.{name}'
    own = [coordinates[i] for i in indices]
    return StatePart(
        name,
        values[f'{group}.topic'] or f'{name}/{TOPIC}',
        tuple(indices),
        wire_names(values, own, values[f'{group}.prefix']),
        values.get(f'{group}.rate', 0.0),
        values.get(f'{group}.velocities', True),
    )


def _part_rows(part: str) -> Iterator[ParameterSpec]:
    """Yield the rows of a part."""
    rows = (
        fixed('topic', '', f'Topic of {part}; empty: {part}/{TOPIC}'),
        fixed('names', (), f'Coordinates that {part} has, * for any characters; empty: those that'
              ' no other has'),
        fixed('prefix', '', f'Prefix of the names in {part}'),
        fixed('rate', 0.0, f'Rate of {part} of a simulated robot [Hz]; 0: that of the simulation',
              0.0, 10000.0),
        fixed('velocities', True, f'Whether {part} of a simulated robot has velocities'),
    )  # fmt: skip
    for row in rows:
        yield row._replace(name=f'{GROUP}.{part}.{row.name}')


def _shared_out(values: Mapping[str, Any], names: Sequence[str]) -> dict[str, list[int]]:
    """Return the indices of the coordinates of each part; DescriptionError."""
    parts, problems = values['state_topics'], []
    owner: dict[int, str] = {}
    for part in parts:
        path = f'{GROUP}.{part}.names'
        for each in values[path]:
            own = [i for i, name in enumerate(names) if fnmatchcase(name, each)]
            if not own:
                words = f'coordinates of the robot{closest(each, names)}'
                problems.append(Problem(path, each, words))
            if taken := [i for i in own if owner.get(i, part) != part]:
                words = f'other coordinates: {owner[taken[0]]} has {names[taken[0]]}'
                problems.append(Problem(path, each, words))
            owner.update((i, part) for i in own if i not in owner)
    rest = [part for part in parts if not values[f'{GROUP}.{part}.names']]
    if len(rest) > 1:
        words = f'names: {rest[0]} has none either, and only one part may take all others'
        problems.append(Problem(f'{GROUP}.{rest[1]}.names', (), words))
    left = [i for i in range(len(names)) if i not in owner]
    if left and not rest:
        words = f'parts for all coordinates: none has {", ".join(names[i] for i in left[:3])}'
        problems.append(Problem('state_topics', tuple(parts), words))
    if rest and not left:
        words = 'no such part, or fewer names in the others: they have all coordinates'
        problems.append(Problem(f'{GROUP}.{rest[0]}.names', (), words))
    refuse(problems)
    owner.update((i, rest[0]) for i in left)
    return {part: sorted(i for i, whose in owner.items() if whose == part) for part in parts}


def _no_tick(values: Mapping[str, Any]) -> Iterator[Problem]:
    given, parts = values.get(f'{GROUP}.tick', ''), values['state_topics']
    if given and given not in parts:
        yield Problem(f'{GROUP}.tick', given, f'one of {", ".join(parts)}{closest(given, parts)}')
