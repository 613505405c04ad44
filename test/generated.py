# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Valid YAML mappings for any registered class, made from what its fields say of themselves."""

import dataclasses
import math
import typing

from softrobot_dynamics.errors import MISSING
from softrobot_dynamics.parsing import parse, Problems, reader

BY_NAME = {'length': (0.25,), 'radius': ([0.02, 0.016], 0.02), 'quadrature': (20,)}
BY_UNIT = {
    'm': 0.1, 'rad': 0.2, 'kg': 1.3, 'kg/m^3': 1070.0, 'Pa': 6e5, 's': 0.05, '-': 0.3,
    'kg m^2': 0.01, 'N/m': 80.0, 'N s/m': 2.0, 'N m/rad': 3.0, 'N m s/rad': 0.1,
}  # fmt: skip
"""A plausible number for a field; one that has a default gets a tenth of it."""

POSE = {'xyz': [0.05, -0.02, 0.04], 'rpy': [0.3, -0.5, 0.7]}
PLACED = (
    {'origin': POSE, 'axis': [0.6, -0.3, -0.8]},
    {'dh': [0.4, 0.05, -0.03, 0.6]},
    {'origin': POSE},
)
"""Ways to place a joint; those that a class has no fields for do not count."""


def instances(registry, name):
    """Return mappings of the type ``name``, each accepted as it is; flags both ways."""
    cls = registry.get(name)
    base = {'type': name, **mapping(cls)}
    flags = [f.name for f in dataclasses.fields(cls) if isinstance(f.default, bool)]
    variants = [base] + [{**base, flag: not getattr(cls, flag)} for flag in flags]
    known = {f.name for f in dataclasses.fields(cls)}
    ways = [way for way in PLACED if set(way) <= known] if 'origin' in known else []
    if ways and 'axis' in known:
        ways = ways[:2]
    return [{**variant, **way} for variant in variants for way in ways or [{}]]


def instance(registry, given):
    """Return the object that a mapping describes."""
    problems = Problems()
    fields = {key: value for key, value in given.items() if key != 'type'}
    made = parse(registry.get(given['type']), fields, '', problems)
    if problems:
        raise ValueError(f'not valid: {given}: {[str(problem) for problem in problems]}')
    return made


def mapping(cls):
    """Return a mapping that reads as ``cls``: required fields, and optional ones of numbers."""
    hints, result = typing.get_type_hints(cls), {}
    for i, field in enumerate(dataclasses.fields(cls)):
        required = field.default is dataclasses.MISSING
        nested = hints.get(field.name) if required else type(field.default)
        if 'parser' not in field.metadata or isinstance(field.default, bool):
            continue
        if dataclasses.is_dataclass(nested):
            result[field.name] = mapping(nested)
        elif required or _is_numeric(field.default):
            result[field.name] = _accepted(field, required, 1.0 + 0.03 * i)
    return {key: value for key, value in result.items() if value not in (MISSING, {})}


def _is_numeric(default):
    values = default if isinstance(default, tuple) else (default,)
    return all(type(v) in (int, float) and math.isfinite(v) for v in values)


def _accepted(field, required, factor):
    """First candidate that the field accepts, no two fields of a class alike."""
    value = factor * BY_UNIT.get(field.metadata['unit'], 0.3) * (1.0 if required else 0.1)
    many = [value, -0.7 * value, 1.3 * value]
    other = (value, many[:2], many, [value] * 2, [value] * 3, int(value) + 1)
    for candidate in (*BY_NAME.get(field.name, ()), *other):
        problems = Problems()
        reader(field)(candidate, field.name, problems)
        if not problems:
            return candidate
    return MISSING
