# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Describe the parameters of a node and check values for them; no ROS."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
import math
import re
from typing import Any, cast, NamedTuple

from softrobot_dynamics.errors import closest, DescriptionError, Problem
from softrobot_dynamics.schema.bounds import MAX_MAGNITUDE

_ROS_PARAMETER = re.compile(
    'use_sim_time|start_type_description_service'
    r'|qos_overrides\..+\.(publisher|subscription)\.(depth|durability|history|reliability)'
)
PART_NAME = re.compile(r'[A-Za-z]\w*', re.ASCII)
_UNIT_SUFFIX = re.compile(r'\[([^\[\]]+)\]$')


def of_ros(name: str) -> bool:
    """Tell whether ROS itself knows a parameter of this name, in this node or in others."""
    return _ROS_PARAMETER.fullmatch(name) is not None


class ParameterSpec(NamedTuple):
    """One parameter."""

    name: str
    kind: str  # double, integer, bool, string, doubles or strings
    default: Any  # nan: not set, another parameter or the robot file decides
    description: str
    lower: float = -math.inf
    upper: float = math.inf
    choices: tuple[Any, ...] = ()
    size: int = 0  # of doubles; 0: any
    read_only: bool = False
    words: str = ''  # what a value must be; default: as the others say
    below: str = ''  # where the parameters of its entries stand, if they stand elsewhere

    @property
    def optional(self) -> bool:
        """Tell whether nan is a value, as it is where it is the default."""
        return self.kind == 'double' and math.isnan(self.default)

    @property
    def unit(self) -> str:
        """The unit that ends the description, '' for none."""
        found = _UNIT_SUFFIX.search(self.description)
        return found[1] if found else ''

    def expected(self) -> str:
        """Return in words what a value must be."""
        if self.words:
            return self.words + (', or nan for not set' if self.optional else '')
        if self.choices:
            return 'one of ' + ', '.join(self.choices)
        words = {
            'double': 'a number',
            'integer': 'a whole number',
            'bool': 'true or false',
            'string': 'a text',
            'strings': 'a list of texts',
            'doubles': f'a list of {self.size or ""} numbers'.replace('  ', ' '),
        }[self.kind]
        if math.isfinite(self.lower):
            words += f' >= {self.lower:g}'
        if math.isfinite(self.upper):
            words += f'{" and" if math.isfinite(self.lower) else ""} <= {self.upper:g}'
        return words + (', or nan for not set' if self.optional else '')

    def convert(self, value: object) -> Any:
        """Return `value` as the kind of this row, within its bounds or not; ValueError if not."""
        return _CONVERSIONS[self.kind](value)

    def read(self, value: object) -> Any:
        """Return `value` as the kind of this row (an int is a double too); ValueError if not."""
        converted = self.convert(value)
        for number in {'double': [converted], 'integer': [converted], 'doubles': converted}.get(
            self.kind, ()
        ):
            if not self.lower <= number <= self.upper or abs(number) > MAX_MAGNITUDE:
                if not (self.optional and math.isnan(number)):
                    raise ValueError
        if self.choices and converted not in self.choices:
            raise ValueError
        if self.size and len(converted) != self.size:
            raise ValueError
        return converted


_KIND_NAMES = {float: 'double', int: 'integer', bool: 'bool', str: 'string', tuple: 'strings'}


def live(
    name: str,
    default: float | bool | str | tuple[str, ...],
    description: str,
    lower: float = -math.inf,
    upper: float = math.inf,
    **more: Any,
) -> ParameterSpec:
    """Return a parameter of the kind of its default, which may change while the node runs."""
    return ParameterSpec(
        name, _KIND_NAMES[type(default)], default, description, lower, upper, **more
    )


def fixed(*row: Any, **more: Any) -> ParameterSpec:
    """Return a parameter as :func:`live` does, but read-only."""
    return live(*row, **more, read_only=True)


def _is(kind: type) -> Callable[[Any], Any]:
    """Return a function that returns a value of a kind as it is; ValueError for others."""

    def convert(value: object) -> Any:
        """Return the value if it is one of the kind; a bool is no int."""
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise ValueError
        return value

    return convert


def _double(value: object) -> float:
    """Return a number as a float; ValueError for a bool, and for numbers beyond floats."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError
    try:
        return float(value)
    except OverflowError as error:  # a whole number beyond what a double holds
        raise ValueError from error


def _list(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that converts all of a list, to a tuple; ValueError for a text."""

    def convert_all(value: object) -> Any:
        """Return a tuple of all entries, converted."""
        if isinstance(value, (str, bytes)) or not hasattr(value, '__len__'):
            raise ValueError
        return tuple(map(convert, cast(Iterable[object], value)))

    return convert_all


_CONVERSIONS = {
    'double': _double,
    'integer': _is(int),
    'bool': _is(bool),
    'string': _is(str),
    'doubles': _list(_double),
    'strings': _list(_is(str)),
}


def closest_name(name: str, known: Iterable[str]) -> str:
    """
    Return ' (did you mean ...?)' for the known parameter that is most like a name, or ''.

    Of those in the same group the last part is compared, as what all have makes nothing alike.
    """
    known, (group, dot, own) = list(known), name.rpartition('.')
    beside = {x.removeprefix(group + dot): x for x in known if dot and x.startswith(group + dot)}
    if meant := closest(own, beside):
        key = meant.removeprefix(' (did you mean ').removesuffix('?)')
        return f' (did you mean {beside[key]}?)'
    return closest(name, [x for x in known if x not in beside.values()])


def misplaced(given: Iterable[str], rows: Iterable[ParameterSpec]) -> list[Problem]:
    """
    Return the problems of the names of given parameters that stand where none can be.

    Those are below the name of another: what was meant as its value would be lost.
    """
    known, problems = {row.name: row for row in rows}, []
    for name in given:
        groups = [name[:i] for i, letter in enumerate(name) if letter == '.']
        above = next((group for group in groups if group in known), None)
        if name not in known and above is not None:
            row = known[above]
            words = f'nothing below {above}, which is {row.expected()}'
            if row.below:
                words += f'; what belongs to its entries stands under {row.below}'
            problems.append(Problem(above, name[len(above) + 1 :], words))
    return problems


class ParameterTable:
    """Rows by name; reads raw values against them."""

    def __init__(self, rows: Iterable[ParameterSpec]) -> None:
        self.rows = {row.name: row for row in rows}

    def read(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return `values` (name: raw) converted; DescriptionError with every problem."""
        good, problems = {}, []
        for name, value in values.items():
            try:
                good[name] = self.rows[name].read(value)
            except ValueError:
                problems.append(Problem(name, value, self.rows[name].expected()))
        if problems:
            raise DescriptionError(tuple(problems), 'parameters')
        return good


def refuse(problems: Iterable[Problem]) -> None:
    """Raise DescriptionError with the problems of parameters, if there are any."""
    if found := tuple(problems):
        raise DescriptionError(found, 'parameters')


def misnamed(
    path: str, names: Sequence[str], words: str, taken: Container[str] = ()
) -> Iterator[Problem]:
    """
    Yield names of parts that are not letters, digits and _, or ``taken``, or given twice.

    ``path``: the parameter that has the names; ``words``: what would be right.
    """
    for name in names:
        if not PART_NAME.fullmatch(name) or name in taken:
            yield Problem(path, name, words)
        elif list(names).count(name) > 1:
            yield Problem(path, name, 'different names')
            return


def shared_topics(group: str, topics: Iterable[tuple[str, str]]) -> Iterator[Problem]:
    """Yield the topic of each part of a group that another part has; topics: (part, topic)."""
    owner: dict[str, str] = {}
    for part, topic in topics:
        if topic in owner:
            words = f'a topic of its own: {owner[topic]} has this one'
            yield Problem(f'{group}.{part}.topic', topic, words)
        owner.setdefault(topic, part)
