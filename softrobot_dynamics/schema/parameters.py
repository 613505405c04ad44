# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Parameters: fields of a dataclass that may be set from outside while something runs.

They are declared by the functions of `fields`, as what stands in a robot file is, with words for
whoever sets them::

    @dataclass(frozen=True)
    class Gains(Settings):
        p: np.ndarray = parameter(
            number('1/s^2', at_least=0.0, default=100.0), 'Gain on the error', each='actuator'
        )
        form: str = parameter(choice(('full', 'short'), default='full'), 'Form of the law')
"""

from collections.abc import Container, Iterable, Mapping
import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.errors import (
    ArgumentError,
    DescriptionError,
    MISSING,
    Problem,
    UnknownNameError,
)
from softrobot_dynamics.schema.fields import flag, integer, number, text
from softrobot_dynamics.schema.parsing import Problems

EACH_OF = ('actuator', 'output', 'coordinate')
_EXPECTED_KINDS = 'number, integer, flag, choice, text, file, vector, or items of number or text'


class Parameter(NamedTuple):
    """Value, unit and bounds of one parameter."""

    name: str  # of the field
    path: str  # the name from outside, group included
    words: str
    field: Any  # what `fields` know of it: parser, expected, unit, kind, bounds, choices, size
    default: object
    each: str  # one for each actuator, output or coordinate, kept as an array; '': one
    siblings: tuple[str, ...] = ()  # names in its group, its own among them
    live: bool = True  # whether it may be set while something runs

    def path_of(self, owner: str) -> str:
        """Return the name from outside of the value for one actuator, output or coordinate."""
        group, _, name = self.path.rpartition('.')
        return own_path(group, owner, name, self.siblings)

    @property
    def unit(self) -> str:
        """The unit in words, '' for none."""
        return self.field['unit'] or ''

    def read(self, value: object, count: int, problems: Problems) -> Any:
        """
        Return `value` converted, or append its fault to `problems`.

        Of those for each, one number stands for all, and (`count`,) are kept, never to be written.
        """
        if not self.each:
            if type(value) is type(self.default) and (
                value == self.default or (value != value and self.default != self.default)
            ):
                return value  # such as the empty list, or nan, that says: not given
            return self.field['parser'](value, self.path, problems)
        given = np.asarray(value, dtype=object)
        if given.ndim > 1 or given.size not in (1, count):
            words = f'a number, or {count}, one for each {self.each} [{self.unit}]'
            problems.append(Problem(self.path, value, words))
            return None
        each = np.resize(given, count).tolist()
        numbers = [self.field['parser'](x, self.path, problems) for x in each]
        return None if None in numbers else frozen(numbers)


def parameter(
    field: dataclasses.Field[Any],
    words: str,
    *,
    each: str = '',
    group: str | None = None,
    live: bool = True,
) -> Any:
    """
    Return `field`, one of those that `fields` make with a default, as a parameter.

    `words` say what it is, without its unit. `each`, of a number: there is one for each
    'actuator', 'output' (that is controlled) or 'coordinate', kept as an array in their order;
    from outside one can be set for all, and single ones by name. `group` begins its name from
    outside ('' for none); by default that is the name of the type that it belongs to. One
    that is not ``live`` cannot be set any more once something runs.
    """
    known = field.metadata
    if known.get('kind') is None or known['default'] is MISSING:
        raise ArgumentError('field', known.get('expected'), f'{_EXPECTED_KINDS}, with a default')
    if each and (each not in EACH_OF or known['kind'] != 'double'):
        raise ArgumentError('each', each, f'one of {", ".join(EACH_OF)}, of a number')
    more = {'words': words, 'each': each, 'group': group, 'live': live}
    return dataclasses.field(default=known['default'], metadata={**known, **more})


def own_path(group: str, owner: str, name: str, siblings: Container[str]) -> str:
    """
    Return the name from outside of a parameter in a group for one owner; '': for all.

    An owner that is called as a parameter of the group, one of the ``siblings``, gets a trailing
    underscore: a parameter file cannot hold a value and a group of the same name.
    """
    distinct = f'{owner}_' if owner in siblings else owner
    return '.'.join(filter(None, (group, distinct, name)))


def parameters_of(cls: type, group: str, every: bool = False) -> tuple[Parameter, ...]:
    """
    Return the :class:`Parameter` s of a dataclass, a tuple; `group` as in :func:`parameter`.

    `every`: also the fields with a default that are not declared as one, their names being the
    words. ArgumentError for a field of which no parameter can be made then.
    """
    known: dict[str, Mapping[str, Any]] = {
        field.name: field.metadata for field in dataclasses.fields(cls) if field.init
    }
    if every:
        fields = {field.name: field for field in dataclasses.fields(cls)}
        known = {x: y if 'words' in y else _undeclared(fields[x]) for x, y in known.items()}
    return tuple(
        Parameter(
            name=name,
            path='.'.join(filter(None, (_group(own, group), name))),
            words=own['words'],
            field=own,
            default=own['default'],
            each=own['each'],
            siblings=tuple(
                other
                for other, its in known.items()
                if 'words' in its and _group(its, group) == _group(own, group)
            ),
            live=own.get('live', True),
        )
        for name, own in known.items()
        if 'words' in own
    )


def _undeclared(field: dataclasses.Field[Any]) -> Mapping[str, Any]:
    """Return the metadata of a field that is not declared as a parameter."""
    known = field.metadata
    if not known:
        makers: dict[type, Any] = {
            bool: flag,
            int: functools.partial(integer, at_least=-(2**31)),
            float: functools.partial(number, '-'),
            str: text,
        }
        make = makers.get(type(field.default))
        known = make(default=field.default).metadata if make else {}
    if known.get('kind') is None or known['default'] is MISSING:
        words = '`parameter(...)`, with a default, or one that is a number, a text or a flag'
        raise ArgumentError('field', field.name, words)
    return {**known, 'words': field.name.replace('_', ' '), 'each': '', 'group': None}


def read_all(
    parameters: Iterable[Parameter], given: Mapping[str, Any], whose: str, count: int = 1
) -> dict[str, Any]:
    """
    Return the value of each of the parameters, by name, from those that are ``given`` so.

    ``whose`` they are, in words; ``count``: how many values there are of those for each.
    DescriptionError with all that is wrong, UnknownNameError.
    """
    known, problems = {p.name: p for p in parameters}, Problems()
    for name in given:
        if name not in known:
            raise UnknownNameError(f'parameter of {whose}', name, tuple(known))
    read = {name: p.read(given.get(name, p.default), count, problems) for name, p in known.items()}
    if problems:
        raise DescriptionError(tuple(problems), 'parameters')
    return read


def frozen(array: ArrayLike) -> Vector:
    """Return a float array (.,) of its own that cannot be written to."""
    array = np.array(array, dtype=float)
    array.flags.writeable = False
    return array


def _group(known: Mapping[str, Any], otherwise: str) -> str:
    given = known['group']
    return otherwise if given is None else given
