# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
How a dataclass says what its fields may be in a robot file.

Each function here returns a `dataclasses.field` whose metadata holds a parser: a function
(value, path, problems) -> converted value, which appends a `Problem` for whatever is wrong;
`custom` makes one of any other function. Without `default` a field is required; with
`default=None` a null counts as not given.

    @dataclass(frozen=True)
    class Rod:
        length: float = number('m', above=0)
        radius: tuple = profile('m')

    rod = parse(Rod, {'length': 0.2, 'radius': [0.03, 0.02]}, 'bodies[0].body', problems=[])
"""

import math
from numbers import Integral, Real
from pathlib import Path
import re

from softrobot_dynamics.errors import closest, MISSING, Problem
from softrobot_dynamics.schema.bounds import ANY, Bounds
from softrobot_dynamics.schema.parsing import custom, join, mapping_of, parse, reader

NAME = re.compile(r'[A-Za-z_][A-Za-z0-9_]*')


def number(
    unit, *, above=None, at_least=None, at_most=None, below=None, infinite=False, default=MISSING
):
    """Return the field of a finite (unless `infinite`) number within bounds, in `unit`."""
    bounds = Bounds(above, at_least, at_most, below, infinite)
    return custom(_number(unit, bounds), unit=unit, default=default, kind='double', bounds=bounds)


def vector(unit, size, *, expected=None, default=MISSING):
    """Return the field of a list of `size` finite numbers, kept as a tuple."""
    read = _numbers(unit, size, expected=expected)
    return custom(read, unit=unit, default=default, kind='doubles', size=size)


def direction(*, default=MISSING):
    """Return the field of a direction: 3 numbers, not all zero, kept as a unit vector."""
    numbers = _numbers('-', 3)

    def read(value, path, problems):
        vector = _checked(numbers, value, path, problems)
        length = math.hypot(*vector or (1.0,))
        if length == 0:
            problems.append(Problem(path, value, '3 numbers, not all zero [-]'))
        return vector and tuple(x / (length or 1.0) for x in vector)

    return custom(read, expected=numbers.expected, unit='-', default=default)


def interval(unit, *, default=MISSING):
    """Return the field of a pair [low, high] with low < high, kept as a tuple; .inf is allowed."""
    pair = _numbers(unit, 2, Bounds(infinite=True))

    def read(value, path, problems):
        limits = _checked(pair, value, path, problems)
        if limits is not None and not limits[0] < limits[1]:
            problems.append(Problem(path, value, f'[low, high] with low < high [{unit}]'))
        return limits

    return custom(
        read, expected=f'[low, high] with low < high [{unit}]', unit=unit, default=default
    )


def profile(unit, *, above=0.0, default=MISSING):
    """Return the field of one number or a pair [base, tip], kept as the tuple (base, tip)."""
    bounds = Bounds(above=above)
    one, two = _number(unit, bounds), _numbers(unit, 2, bounds)
    expected = f'{one.expected} or a pair [base, tip] of such numbers'

    def read(value, path, problems):
        if isinstance(value, Real):
            return (one(value, path, problems),) * 2
        if _size(value) == 2:
            return two(value, path, problems)
        problems.append(Problem(path, value, expected))

    return custom(read, expected=expected, unit=unit, default=default)


def integer(*, at_least=1, default=MISSING):
    """Return the field of a whole number, not below `at_least`."""
    return _simple(
        f'a whole number >= {at_least}',
        default,
        int,
        lambda v: isinstance(v, Integral) and _is_number(v) and v >= at_least,
        kind='integer',
        bounds=Bounds(at_least=at_least),
    )


def flag(*, default=MISSING):
    """Return the field of true or false."""
    return _simple('true or false', default, bool, lambda v: isinstance(v, bool), kind='bool')


def choice(names, *, default=MISSING):
    """Return the field of one of `names`."""
    words, one = 'one of ' + ', '.join(names), lambda v: isinstance(v, str) and v in names
    return _simple(words, default, str, one, kind='string', choices=tuple(names))


def name(*, default=MISSING):
    """Return the field of a name: letters, digits and _, not starting with a digit."""
    return _simple(
        f'a name matching {NAME.pattern}',
        default,
        str,
        lambda v: isinstance(v, str) and NAME.fullmatch(v),
    )


def reference(kind, *, default=MISSING):
    """Return the field of the name of a `kind`, 'body' or 'joint', that the robot has."""
    a_name = reader(name())

    def read(value, path, problems):
        known = getattr(problems, 'names', {}).get(kind)
        if not isinstance(value, str) or known is None:
            return a_name(value, path, problems)
        if value not in known:
            words = f'the name of a {kind}: {", ".join(known)}{closest(value, known)}'
            problems.append(Problem(path, value, words))
        return value

    return custom(read, expected=f'the name of a {kind}', default=default)


def text(*, default=MISSING):
    """Return the field of any text."""
    return _simple('text', default, str, lambda v: isinstance(v, str), kind='string')


def file(content=None, *, expected='a file', default=MISSING):
    """
    Return the field of a file, given by its path relative to the robot file that names it.

    Kept is the absolute path, a text, or what the parser `content` makes of that path.
    """

    def read(value, path, problems):
        words = f'the path of {expected}'
        if isinstance(value, (str, Path)):
            found = Path(getattr(problems, 'folder', ''), Path(value).expanduser()).absolute()
            if found.is_file():
                return content(str(found), path, problems) if content else str(found)
            words += f' (there is no {found})'
        problems.append(Problem(path, value, words))

    return custom(read, expected=f'the path of {expected}', default=default)


def items(item, *, default=MISSING):
    """Return the field of a list, not empty, of what the field `item` reads; kept as a tuple."""
    one = reader(item)
    expected = f'a list, not empty, of {item.metadata["expected"]}'

    def read(value, path, problems):
        if _size(value):
            return tuple(one(x, f'{path}[{i}]', problems) for i, x in enumerate(value))
        problems.append(Problem(path, value, expected))

    kind = {'double': 'doubles', 'string': 'strings'}.get(item.metadata.get('kind'))
    return custom(read, expected=expected, default=default, kind=kind)


def nested(cls, *, default=MISSING):
    """Return the field of a mapping, read into the dataclass `cls`."""
    return custom(
        lambda value, path, problems: parse(cls, value, path, problems),
        expected=mapping_of(cls),
        default=default,
    )


def member(registry, *, ignore=(), default=MISSING):
    """Return the field of a mapping whose `type` names a class of `registry`, which reads it."""
    expected = 'a mapping with a type and its fields'

    def read(value, path, problems):
        if not isinstance(value, dict):
            problems.append(Problem(path, value, expected))
            return None
        kind, known = value.get('type', MISSING), registry.names()
        if kind not in known:
            problems.append(
                Problem(
                    join(path, 'type'),
                    kind,
                    f'one of the {registry.kind} types {", ".join(known)}{closest(kind, known)}',
                )
            )
            return None
        return parse(registry.get(kind), value, path, problems, ignore=('type', *ignore))

    return custom(read, expected=expected, default=default)


def _simple(expected, default, convert, accepts, **known):
    def read(value, path, problems):
        if accepts(value):
            return convert(value)
        problems.append(Problem(path, value, expected))

    return custom(read, expected=expected, default=default, **known)


def _number(unit, bounds):
    expected = f'{bounds} [{unit}]'

    def read(value, path, problems):
        if _is_number(value) and bounds.contain(value):
            return float(value)
        problems.append(Problem(path, value, expected + _hint(value)))

    read.expected = expected
    return read


def _numbers(unit, size, bounds=ANY, expected=None):
    expected = expected or f'a list of {size} numbers [{unit}]'
    one = _number(unit, bounds)

    def read(value, path, problems):
        if _size(value) == size:
            return tuple(one(x, f'{path}[{i}]', problems) for i, x in enumerate(value))
        problems.append(Problem(path, value, expected))

    read.expected = expected
    return read


def _checked(read, value, path, problems):
    before = len(problems)
    result = read(value, path, problems)
    return result if len(problems) == before else None


def _is_number(value):
    return isinstance(value, Real) and not isinstance(value, bool)


def _size(value):
    """Return the length of a list, tuple or 1-D array; None for anything else."""
    if isinstance(value, (list, tuple)) or getattr(value, 'ndim', 0) == 1:
        return len(value)
    return None


def _hint(value):
    """Explain what is easily overlooked: a number that is not finite, or one that is text."""
    try:
        finite = math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return ''
    if isinstance(value, str):
        return ', not text (plain PyYAML reads 1e-3 as text: write 1.0e-3)'
    return '' if finite else ', finite'
