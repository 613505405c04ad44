# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Fields of dataclasses, which define the entries of a robot file.

Each function here returns a `dataclasses.field` whose metadata holds a parser: a function
(value, path, problems) -> converted value, which appends a `Problem` for whatever is wrong;
`custom` makes one of any other function. Without `default` a field is required; with
`default=None` a null counts as not given::

    @dataclass(frozen=True)
    class Rod:
        length: float = number('m', above=0)
        radius: tuple = profile('m')

    rod = parse(Rod, {'length': 0.2, 'radius': [0.03, 0.02]}, 'bodies[0].body', problems=[])
"""

from collections.abc import Sequence
from dataclasses import dataclass, Field
import math
from numbers import Integral, Real
from pathlib import Path
import re
from typing import Any, TypeGuard

from softrobot_dynamics.annotations import Function
from softrobot_dynamics.errors import closest, MISSING, Problem
from softrobot_dynamics.schema.bounds import Bounds, hint, is_number, MIN_MAGNITUDE, UNBOUNDED
from softrobot_dynamics.schema.parsing import custom, mapping_of, parse, Parser, Problems, reader
from softrobot_dynamics.schema.registry import read_member, Registry

NAME_PATTERN = re.compile(r'[A-Za-z_][A-Za-z0-9_]*')


def number(
    unit: str,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
    infinite: bool = False,
    default: object = MISSING,
) -> Any:
    """Return the field of a finite (unless `infinite`) number within bounds, in `unit`."""
    bounds = Bounds(above, at_least, at_most, below, infinite)
    return custom(_number(unit, bounds), unit=unit, default=default, kind='double', bounds=bounds)


def vector(
    unit: str, size: int = 0, *, expected: str | None = None, default: object = MISSING
) -> Any:
    """Return the field of a list of `size` finite numbers (0: any), kept as a tuple."""
    read = _numbers(unit, size, expected=expected)
    return custom(read, unit=unit, default=default, kind='doubles', size=size)


def direction(*, default: object = MISSING) -> Any:
    """Return the field of a direction: 3 numbers, not all zero, kept as a unit vector."""
    numbers = _numbers('-', 3)

    def read(value: object, path: str, problems: Problems) -> tuple[float, ...] | None:
        """Return a vector of length one."""
        vector = _checked(numbers, value, path, problems)
        length = math.hypot(*vector or (1.0,))
        if length < MIN_MAGNITUDE:
            problems.append(Problem(path, value, '3 numbers, not all zero [-]'))
        return vector and tuple(x / (length or 1.0) for x in vector)

    return custom(read, expected=numbers.expected, unit='-', default=default)


def interval(unit: str, *, default: object = MISSING) -> Any:
    """Return the field of a pair [low, high] with low < high, kept as a tuple; .inf is allowed."""
    pair, words = _numbers(unit, 2, Bounds(infinite=True)), f'[low, high] with low < high [{unit}]'

    def read(value: object, path: str, problems: Problems) -> tuple[Any, ...] | None:
        """Return a pair in order."""
        limits = _checked(pair, value, path, problems)
        if limits is not None and not limits[0] < limits[1]:
            problems.append(Problem(path, value, words))
        return limits

    return custom(read, expected=words, unit=unit, default=default)


def profile(
    unit: str, *, above: float = 0.0, pointed: bool = False, default: object = MISSING
) -> Any:
    """
    Return the field of one number or a pair [base, tip], kept as the tuple (base, tip).

    With ``pointed`` that at the tip may be 0, as of a cone.
    """
    bounds = Bounds(above=above)
    one, two = _number(unit, bounds), _numbers(unit, 2, bounds)
    expected = f'{one.expected} or a pair [base, tip] of such numbers'
    expected += ', that of the tip may be 0' if pointed else ''

    def read(value: object, path: str, problems: Problems) -> tuple[Any, ...] | None:
        """Return the values at base and tip."""
        if isinstance(value, Real):
            return (one(value, path, problems),) * 2
        if (
            pointed
            and _is_list(value)
            and len(value) == 2
            and is_number(value[1])
            and value[1] == 0
        ):
            return one(value[0], f'{path}[0]', problems), 0.0
        if _is_list(value) and len(value) == 2:
            return two(value, path, problems)
        problems.append(Problem(path, value, expected))

    return custom(read, expected=expected, unit=unit, default=default)


def integer(*, at_least: int = 1, at_most: int = 10_000, default: object = MISSING) -> Any:
    """Return the field of a whole number within bounds; `at_most` is beyond any that is of use."""
    words = f'a whole number >= {at_least}'

    def read(value: object, path: str, problems: Problems) -> int | None:
        """Return a whole number within the bounds."""
        limit = ''
        if isinstance(value, Integral) and is_number(value):
            if at_least <= int(value) <= at_most:
                return int(value)
            limit = f' and <= {at_most}' if value > at_most else ''
        problems.append(Problem(path, value, f'{words}{limit}'))

    bounds = Bounds(at_least=at_least, at_most=at_most)
    return custom(read, expected=words, default=default, kind='integer', bounds=bounds)


def flag(*, default: object = MISSING) -> Any:
    """Return the field of true or false."""
    return _simple('true or false', default, bool, lambda v: isinstance(v, bool), kind='bool')


def choice(names: Sequence[str], *, default: object = MISSING) -> Any:
    """Return the field of one of `names`."""
    words, one = 'one of ' + ', '.join(names), lambda v: isinstance(v, str) and v in names
    return _simple(words, default, str, one, kind='string', choices=tuple(names))


def name(*, default: object = MISSING) -> Any:
    """Return the field of a name: letters, digits and _, not starting with a digit."""
    return _simple(
        f'a name matching {NAME_PATTERN.pattern}',
        default,
        str,
        lambda v: isinstance(v, str) and NAME_PATTERN.fullmatch(v),
    )


def reference(kind: str, *, default: object = MISSING) -> Any:
    """Return the field of the name of a `kind`, 'body' or 'joint', that the robot has."""
    a_name = reader(name())

    def read(value: object, path: str, problems: Problems) -> str | None:
        """Return a name, known if names are known."""
        known = getattr(problems, 'names', {}).get(kind)
        if not isinstance(value, str) or known is None:
            return a_name(value, path, problems)
        if value not in known:
            words = f'the name of a {kind}: {", ".join(known)}{closest(value, known)}'
            problems.append(Problem(path, value, words))
        return value

    return custom(read, expected=f'the name of a {kind}', default=default)


def text(*, default: object = MISSING) -> Any:
    """Return the field of any text."""
    return _simple('text', default, str, lambda v: isinstance(v, str), kind='string')


def file(
    content: Parser | None = None, *, expected: str = 'a file', default: object = MISSING
) -> Any:
    """
    Return the field of a file, given by its path relative to the robot file that names it.

    That of a parameter is relative to the working directory. Kept is the absolute path, a text, or
    what the parser `content` makes of that path.
    """

    def read(value: object, path: str, problems: Problems) -> Any:
        """Return the absolute path, or the content, of a file."""
        words = f'the path of {expected}'
        if isinstance(value, (str, Path)):
            found = Path(getattr(problems, 'folder', ''), Path(value).expanduser()).absolute()
            if found.is_file():
                return content(str(found), path, problems) if content else str(found)
            words += f' (there is no {found})'
        problems.append(Problem(path, value, words))

    return custom(read, expected=f'the path of {expected}', default=default, kind='string')


def items(item: Field[Any], *, default: object = MISSING) -> Any:
    """
    Return the field of a list of what the field `item` reads; kept as a tuple.

    It may be empty if the `default` is.
    """
    one, may_be_empty = reader(item), default == ()
    expected = f'a list{"" if may_be_empty else ", not empty,"} of {item.metadata["expected"]}'

    def read(value: object, path: str, problems: Problems) -> tuple[Any, ...] | None:
        if _is_list(value) and (len(value) or may_be_empty):
            return tuple(one(x, f'{path}[{i}]', problems) for i, x in enumerate(value))
        problems.append(Problem(path, value, expected))

    kind = {'double': 'doubles', 'string': 'strings'}.get(item.metadata.get('kind', ''))
    return custom(read, expected=expected, default=default, kind=kind)


def nested(cls: type, *, default: object = MISSING) -> Any:
    """Return the field of a mapping, read into the dataclass `cls`."""
    return custom(
        lambda value, path, problems: parse(cls, value, path, problems),
        expected=mapping_of(cls),
        default=default,
    )


def member(registry: Registry, *, ignore: Sequence[str] = (), default: object = MISSING) -> Any:
    """Return the field of a mapping whose `type` names a class of `registry`, which reads it."""

    def read(value: object, path: str, problems: Problems) -> Any:
        return read_member(
            registry, 'type', f'{registry.kind} types', value, path, problems, ignore
        )

    return custom(read, expected='a mapping with a type and its fields', default=default)


@dataclass(frozen=True)
class _Reader:
    """A parser that says what it accepts."""

    read: Parser
    expected: str

    def __call__(self, value: object, path: str, problems: Problems) -> Any:
        return self.read(value, path, problems)


def _simple(
    expected: str, default: object, convert: Function, accepts: Function, **known: Any
) -> Any:
    def read(value: object, path: str, problems: Problems) -> object:
        if accepts(value):
            return convert(value)
        problems.append(Problem(path, value, expected))

    return custom(read, expected=expected, default=default, **known)


def _number(unit: str, bounds: Bounds) -> _Reader:
    expected = f'{bounds} [{unit}]'

    def read(value: object, path: str, problems: Problems) -> float | None:
        if is_number(value) and bounds.contain(value):
            return float(value)
        problems.append(Problem(path, value, expected + hint(value, bounds)))

    return _Reader(read, expected)


def _numbers(
    unit: str, size: int, bounds: Bounds = UNBOUNDED, expected: str | None = None
) -> _Reader:
    words = 'a list of', str(size or ''), 'numbers', unit and f'[{unit}]'
    expected = expected or ' '.join(filter(None, words))
    one = _number(unit, bounds)

    def read(value: object, path: str, problems: Problems) -> tuple[float | None, ...] | None:
        if _is_list(value) and (not size or len(value) == size):
            return tuple(one(x, f'{path}[{i}]', problems) for i, x in enumerate(value))
        problems.append(Problem(path, value, expected))

    return _Reader(read, expected)


def _checked(read: Parser, value: object, path: str, problems: Problems) -> Any:
    before = len(problems)
    result = read(value, path, problems)
    return result if len(problems) == before else None


def _is_list(value: object) -> TypeGuard[Sequence[Any]]:
    """Tell whether a value is a list, a tuple or a 1-D array."""
    return isinstance(value, (list, tuple)) or getattr(value, 'ndim', 0) == 1
