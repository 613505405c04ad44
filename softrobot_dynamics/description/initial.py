# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Read the initial state of a robot: `initial` of a robot file."""

from collections.abc import Mapping, Sequence
from itertools import islice

from softrobot_dynamics.description.mimics import leader_limits
from softrobot_dynamics.description.modules import Module
from softrobot_dynamics.errors import closest, Problem
from softrobot_dynamics.schema.fields import number
from softrobot_dynamics.schema.parsing import MAX_REPORTED_KEYS, Problems, reader

_LIMIT_TOLERANCE = 1e-9  # relative: a posture at a limit is within it
_value = reader(number('in its own unit'))


def read_initial(
    value: object, modules: Sequence[Module], problems: Problems
) -> tuple[tuple[str, float, float], ...]:
    """Return ((coordinate name, value, rate), ...) of the mapping `initial`."""
    if value is not None and not isinstance(value, dict):
        words = 'a mapping of coordinate names to numbers, or to [value, rate]'
        problems.append(Problem('initial', value, words))
        return ()
    known = [name for module in modules for name in module.coordinate_names()]
    unread = {
        name
        for m in modules
        for name, part in ((m.name, m.body), (m.joint_name, m.joint))
        if not part
    }
    given = value or {}
    listed = set(known)
    unknown = (k for k in given if k not in listed and str(k).split('/')[0] not in unread)
    for key in islice(unknown if problems.names else (), MAX_REPORTED_KEYS):
        words = f'one of the coordinates {", ".join(known)}{closest(key, known)}'
        problems.append(Problem(f'initial.{key}', given[key], words))
    return tuple(
        (key, *_value_and_rate(x, f'initial.{key}', problems)) for key, x in given.items()
    )


def _value_and_rate(value: object, path: str, problems: Problems) -> tuple[float, float]:
    """Return (value, rate) of a coordinate, from a number or a list of two."""
    if not isinstance(value, (list, tuple)):
        return _value(value, path, problems), 0.0
    if len(value) != 2:
        problems.append(Problem(path, value, 'a number, or two: value and rate [unit/s]'))
        return 0.0, 0.0
    return tuple(_value(x, f'{path}[{i}]', problems) for i, x in enumerate(value))


def outside_limits(start: Mapping[str, float], modules: Sequence[Module]) -> list[Problem]:
    """
    Return a problem for each value of ``start``, {coordinate: value}, that is outside its limits.

    A joint that others follow has the limits within which these stay within their own.
    """
    leaders, _ = leader_limits(modules)
    problems = []
    for module in modules:
        for name, limits in zip(module.coordinate_names(), module.joint.position_limits()):
            low, high = leaders.get(name, limits)
            value = start.get(name, low)
            if (
                not low - _LIMIT_TOLERANCE * abs(low)
                <= value
                <= high + _LIMIT_TOLERANCE * abs(high)
            ):
                words = f'a position within its limits, {low:g} to {high:g}'
                problems.append(Problem(f'initial.{name}', value, words))
    return problems
