# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Parameters as a table: what each is, its default and bounds, and how a change is accepted.

The rows themselves are in `parameter_rows`. A change is checked whole and then swapped in at once,
or refused whole with a reason that names the parameter, its value and what would be right.
"""

from collections.abc import Callable, Iterable, Mapping
import math
import threading
from typing import Any, NamedTuple

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.parameter import Parameter
from softrobot_dynamics.errors import closest, DescriptionError, Problem, SoftRobotError

_FOREIGN = ('use_sim_time', 'start_type_description_service')
_LARGEST = 1e300  # a bound that stands for none where a message wants a number


class Row(NamedTuple):
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

    @property
    def optional(self) -> bool:
        """Tell whether nan is a value, as it is where it is the default."""
        return self.kind == 'double' and math.isnan(self.default)

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

    def read(self, value: Any) -> Any:
        """Return `value` as the kind of this row (an int is a double too); ValueError if not."""
        converted = _CONVERSIONS[self.kind](value)
        for number in {'double': [converted], 'integer': [converted], 'doubles': converted}.get(
            self.kind, ()
        ):
            if not self.lower <= number <= self.upper or math.isinf(number):
                if not (self.optional and math.isnan(number)):
                    raise ValueError
        if self.choices and converted not in self.choices:
            raise ValueError
        if self.size and len(converted) != self.size:
            raise ValueError
        return converted

    def descriptor(self) -> Any:
        """Return the ParameterDescriptor of this row."""
        bounded = math.isfinite(self.lower) or math.isfinite(self.upper)
        low, high = max(self.lower, -_LARGEST), min(self.upper, _LARGEST)
        descriptor = ParameterDescriptor(
            name=self.name,
            description=self.description,
            read_only=self.read_only,
            additional_constraints=self.expected(),
            dynamic_typing=self.kind in ('double', 'doubles', 'strings'),
        )
        if bounded and self.kind == 'integer':
            descriptor.integer_range = [
                IntegerRange(
                    from_value=int(max(low, -(2**63))), to_value=int(min(high, 2**63 - 1))
                )
            ]
        elif bounded and self.kind == 'double' and not self.optional:  # a range refuses nan
            descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
        return descriptor


def _is(kind: type) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise ValueError
        return value

    return convert


def _double(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError
    return float(value)


def _list(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def convert_all(value: Any) -> Any:
        if isinstance(value, (str, bytes)) or not hasattr(value, '__len__'):
            raise ValueError
        return tuple(map(convert, value))

    return convert_all


_CONVERSIONS = {
    'double': _double,
    'integer': _is(int),
    'bool': _is(bool),
    'string': _is(str),
    'doubles': _list(_double),
    'strings': _list(_is(str)),
}


class Table:
    """Rows by name; reads raw values against them."""

    def __init__(self, rows: Iterable[Row]) -> None:
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


class Parameters:
    """
    The parameters of a node that are in one or more tables, declared, checked and kept.

    `values` maps names to converted values and is replaced, never changed. `accept(values,
    changed)` is called with the values as they would be and the names that were set; it raises
    SoftRobotError to refuse, or takes the values as its own. Whoever goes by the values for longer
    than a moment holds `lock`, as a change does.
    """

    def __init__(self, node: Any, rows: Iterable[Row]) -> None:
        self._node = node
        self.lock = threading.RLock()  # again: rclpy calls `_on_set` within `declare`
        self._table = Table(())
        self._accept: Any = None
        self.values: dict[str, Any] = {}
        self.declare(rows)

    def declare(self, rows: Iterable[Row]) -> None:
        """
        Declare further rows, unless they are already.

        Values from the command line or a parameter file are taken. DescriptionError for those that
        a row does not allow.
        """
        new = [row for row in rows if row.name not in self._table.rows]
        values = Table(new).read({row.name: self._given(row) for row in new})
        for row in new:
            self._node.declare_parameter(
                row.name, _plain(values[row.name]), row.descriptor(), ignore_override=True
            )
        self._table = Table([*self._table.rows.values(), *new])
        self.values = {**self.values, **values}

    def _given(self, row: Row) -> Any:
        """Return the value for a row that the node was given, whatever it is, or the default."""
        anything = ParameterDescriptor(dynamic_typing=True)
        self._node.declare_parameter(row.name, _plain(row.default), anything)
        value = self._node.get_parameter(row.name).value
        self._node.undeclare_parameter(row.name)
        return value

    def on_change(self, accept: Callable[[dict[str, Any], Any], object]) -> None:
        """Let live changes through to `accept` from now on."""
        if self._accept is None:
            self._node.add_on_set_parameters_callback(self._on_set)
            if hasattr(self._node, 'add_pre_set_parameters_callback'):  # from Iron on
                self._node.add_pre_set_parameters_callback(self._as_doubles)
        self._accept = accept

    def unknown(self) -> list[str]:
        """Return, in words each, the given parameters that nobody has declared by now."""
        known = self._table.rows  # most of the others are misspelt
        return [
            f'{name}{closest(name, known)}'
            for name in self._overrides()
            if not (self._node.has_parameter(name) or name.startswith(_FOREIGN))
        ]

    def _overrides(self) -> Any:
        return getattr(self._node, '_parameter_overrides', {})  # not public, for words only

    def _as_doubles(self, parameters: Any) -> list[Any]:
        """Return the parameters with whole numbers as doubles where they belong to one."""
        return [self._as_double(parameter) for parameter in parameters]

    def _as_double(self, parameter: Any) -> Any:
        row = self._table.rows.get(parameter.name)
        if row is None or row.kind not in ('double', 'doubles'):
            return parameter
        try:
            value = _plain(_CONVERSIONS[row.kind](parameter.value))
        except ValueError:
            return parameter  # to be refused in words later
        return Parameter(parameter.name, value=value)

    def _on_set(self, parameters: Any) -> Any:
        with self.lock:
            raw = {p.name: p.value for p in parameters if p.name in self._table.rows}
            try:
                values = {**self.values, **self._table.read(raw)}
                if raw:
                    self._accept(values, frozenset(raw))
            except SoftRobotError as error:
                return SetParametersResult(successful=False, reason=reason_of(error))
            self.values = values
            return SetParametersResult(successful=True)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def reason_of(error: Exception) -> str:
    """Return the reason for a refusal, in one line."""
    if isinstance(error, DescriptionError):
        return '; '.join(map(str, error.problems))
    return str(error)
