# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Generate valid YAML mappings for any registered class from the metadata of its fields."""

import dataclasses
import math
import typing

import pytest
from softrobot_dynamics.errors import MISSING
from softrobot_dynamics.joints.compound import CompoundJoint
from softrobot_dynamics.joints.rotations import PARAMETERS, TurningJoint
from softrobot_dynamics.schema.parsing import parse, Problems, reader
from support.solids import modes_file
from support.weights import weights_file

MATERIAL = {'type': 'neo_hookean', 'young_modulus': 6e5, 'poisson_ratio': 0.3, 'damping': 0.05}
BY_NAME = {
    'length': (0.25,),
    'radius': ([0.02, 0.016], 0.02),
    'quadrature': (20,),
    'material': (MATERIAL,),
    'outer_radius': (0.02,),
    'modes': (modes_file(),),
    'weights': (weights_file(),),
    'fields': (
        {
            'x_bend': {'x': {'s^2': 1.0, 'y s^3': 0.5}, 'z': {'x s': -2.0}},
            'y_bend': {'y': {'s^2': 1.0}, 'z': {'y s': -1.9}},
            'z_stretch': {'z': {'s': 1.0}, 'x': {'x s': -0.4}, 'y': {'y s': -0.4}},
        },
    ),
    'functions': (
        {
            'x_bend': {'x': {'s^2': 1.0}},
            'y_bend': {'y': {'s^2': 0.7, 's^3': 0.3}},
            'z_stretch': {'z': {'s': 1.0}},
        },
    ),
}
BY_UNIT = {
    'm': 0.1, 'rad': 0.2, 'kg': 1.3, 'kg/m^3': 1070.0, 'Pa': 6e5, 's': 0.05, '-': 0.3,
    'kg m^2': 0.01, 'N/m': 80.0, 'N s/m': 2.0, 'N m/rad': 3.0, 'N m s/rad': 0.1,
}  # fmt: skip
"""A plausible number for a field; one that has a default gets a tenth of it."""

BY_TYPE = {
    'cosserat': {
        'section': {
            'type': 'elliptic', 'half_axis_x': [0.02, 0.015], 'half_axis_y': [0.013, 0.011],
        },
        'density': 1070.0,
        'young_modulus': 6e5,
        'strains': {
            'kappa_x': {'basis': 'legendre', 'order': 1},
            'kappa_y': {'basis': 'gaussian', 'order': 1},
            'kappa_z': {'basis': 'monomial'},
            'gamma_x': {'basis': 'monomial'},
            'gamma_z': {'basis': 'table', 'stations': [0, 0.4, 1], 'values': [[0.7, 1.0, 0.5]]},
        },
        'reference_strain': [0.9, -0.6, 0.5, 0.04, -0.03, 1.02],
        'quadrature': 4,
    },
}  # fmt: skip
"""Fields that numbers do not fill, and others that would make a test slow, by type."""

POSE = {'xyz': [0.05, -0.02, 0.04], 'rpy': [0.3, -0.5, 0.7]}
PLACED = (
    {'origin': POSE, 'axis': [0.6, -0.3, -0.8]},
    {'dh': [0.4, 0.05, -0.03, 0.6]},
    {'origin': POSE},
)
"""Ways to place a joint; those that a class has no fields for do not count."""


def members(registry):
    """Parameters for a test: every valid instance of every registered type."""
    return [
        pytest.param(instance(registry, given), id=f'{name}-{i}')
        for name in registry.names()
        for i, given in enumerate(instances(registry, name))
    ]


def instances(registry, name):
    """Return mappings of the type ``name``, each accepted as it is; flags and choices each way."""
    cls = registry.get(name)
    base = {'type': name, **mapping(cls), **BY_TYPE.get(name, {})}
    flags = [f.name for f in dataclasses.fields(cls) if isinstance(f.default, bool)]
    variants = [base] + [{**base, flag: not getattr(cls, flag)} for flag in flags]
    if 'material' in [f.name for f in dataclasses.fields(cls)] and 'material' not in base:
        linear = {key: value for key, value in base.items() if key != 'damping'}
        variants.append({**linear, 'material': MATERIAL})
    if issubclass(cls, TurningJoint):
        variants = [{**base, 'parameters': each} for each in PARAMETERS]
    variants = [{**variant, **springs(instance(registry, variant))} for variant in variants]
    known = {f.name for f in dataclasses.fields(cls)}
    ways = [way for way in PLACED if set(way) <= known] if 'origin' in known else []
    if ways and 'axis' in known:
        ways = ways[:2]
    return [{**variant, **way} for variant in variants for way in ways or [{}]]


def springs(part):
    """Return springs by coordinate name, for a joint of several coordinates."""
    names = part.coordinates() if isinstance(part, CompoundJoint) else ()
    first = {'stiffness': 0.4, 'damping': 0.05, 'rest': -0.1} if names else {}
    return {key: {c: x * (1.0 + 0.2 * i) for i, c in enumerate(names)} for key, x in first.items()}


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
        if dataclasses.is_dataclass(nested) and field.name not in BY_NAME:
            result[field.name] = mapping(nested)
        elif required or _is_numeric(field.default):
            result[field.name] = _accepted(field, required, 1.0 + 0.03 * i)
    return {key: value for key, value in result.items() if value not in (MISSING, {})}


def _is_numeric(default):
    values = default if isinstance(default, tuple) else (default,)
    return values != () and all(type(v) in (int, float) and math.isfinite(v) for v in values)


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
