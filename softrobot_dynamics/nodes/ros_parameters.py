# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The parameters of a node, as ROS knows them, by a table, and how a change is accepted.

Each is described in `configuration.parameter_descriptions`; the tables are in `node_parameters`
and `declared_parameters`. A change is checked whole and then swapped in at once, or refused whole
with a reason that names the parameter, its value and what would be right.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
import math
import threading
from typing import Any

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.node import Node
from rclpy.parameter import Parameter
from softrobot_dynamics.configuration.parameter_descriptions import (
    closest_name,
    misplaced,
    of_ros,
    ParameterSpec,
    ParameterTable,
)
from softrobot_dynamics.errors import closest, DescriptionError, Problem, SoftRobotError

UNCHANGED = 'no parameter was changed'
_REFERENCE_UNCHANGED = 'the reference stays as it was'
_MAX_DOUBLE = 1e300  # in place of an infinite bound, where a message wants a number


class NodeParameters:
    """
    The parameters of a node that are in one or more tables, declared, checked and kept.

    `values` maps names to converted values and is replaced, never changed. `accept(values,
    changed)` is called with the values as they would be and the names that were set; it raises
    SoftRobotError to refuse, or takes the values as its own. Whoever goes by the values for longer
    than a moment holds `lock`, as a change does.
    """

    def __init__(self, node: Node, rows: Iterable[ParameterSpec]) -> None:
        self._node = node
        self.lock = threading.RLock()  # again: rclpy calls `_on_set` within `declare`
        self._table = ParameterTable(())
        self._accept: Any = None
        self.values: dict[str, Any] = {}
        self.declare(rows)

    def declare(self, rows: Iterable[ParameterSpec]) -> dict[str, Any]:
        """
        Declare further rows, unless they are already; return the values of all.

        Values from the command line or a parameter file are taken. DescriptionError for those that
        a row does not allow.
        """
        new = [row for row in rows if row.name not in self._table.rows]
        values = ParameterTable(new).read({row.name: self._given(row) for row in new})
        for row in new:
            self._node.declare_parameter(
                row.name, _plain(values[row.name]), descriptor_of(row), ignore_override=True
            )
        self._table = ParameterTable([*self._table.rows.values(), *new])
        self.values = {**self.values, **values}
        return self.values

    def _given(self, row: ParameterSpec) -> Any:
        """Return the value for a row that the node was given, whatever it is, or the default."""
        anything = ParameterDescriptor(dynamic_typing=True)
        self._node.declare_parameter(row.name, _plain(row.default), anything)
        value = self._node.get_parameter(row.name).value
        self._node.undeclare_parameter(row.name)
        if value is None and row.kind in ('doubles', 'strings'):
            return ()  # `[]` in a parameter file, as `ros2 param dump` writes it, is of no type
        return value

    def on_change(self, accept: Callable[[dict[str, Any], frozenset[str]], object]) -> None:
        """Pass live changes to `accept` from now on."""
        if self._accept is None:
            self._node.add_on_set_parameters_callback(self._on_set)
            if hasattr(self._node, 'add_pre_set_parameters_callback'):  # from Iron on
                self._node.add_pre_set_parameters_callback(self._as_doubles)
        self._accept = accept

    def unknown(self) -> list[str]:
        """Return, in words each, the given parameters that nobody has declared by now."""
        known = self._table.rows  # most of the others are misspelt
        return [
            f'{name}{closest_name(name, known)}'
            for name in self._overrides()
            if not (self._node.has_parameter(name) or of_ros(name))
        ]

    def warn_of_unknown(self) -> None:
        """Log which given parameters are ignored, as nobody has declared them by now."""
        for words in self.unknown():
            self._node.get_logger().warning(f'unknown parameter {words} is ignored')

    def require_known(self, group: str) -> None:
        """
        Raise DescriptionError for given parameters of a group that nobody has declared.

        So it does for a value of the group itself, which has none, and for parameters below the
        name of another (:func:`misplaced`). For when all are declared.
        """
        start = f'{group}.'
        known = [x.removeprefix(start) for x in self._table.rows if x.startswith(start)]
        given = [x for x in self._overrides() if not self._node.has_parameter(x)]
        problems = misplaced(given, self._table.rows.values())
        for name, parameter in self._overrides().items():
            if name == group and name not in self._table.rows:
                words = f'a map, {group}.NAME: TEXT, for each NAME that the robot has'
                problems.append(Problem(name, parameter.value, words))
            elif name.startswith(start) and name not in self._table.rows:
                own = name.removeprefix(start)
                words = f'a name of the robot{closest(own, known)}'
                problems.append(Problem(group, own, words))
        if problems:
            raise DescriptionError(tuple(problems), 'parameters')

    def _overrides(self) -> Mapping[str, Parameter]:
        return getattr(self._node, '_parameter_overrides', {})  # not public, for words only

    def _as_doubles(self, parameters: Sequence[Parameter]) -> list[Parameter]:
        """Return the parameters with whole numbers as doubles where they belong to one."""
        return [self._as_double(parameter) for parameter in parameters]

    def _as_double(self, parameter: Parameter) -> Parameter:
        row = self._table.rows.get(parameter.name)
        if row is None or row.kind not in ('double', 'doubles'):
            return parameter
        try:
            value = _plain(row.convert(parameter.value))
        except ValueError:
            return parameter  # to be refused in words later
        return Parameter(parameter.name, value=value)

    def _on_set(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        """Accept all of the changed parameters, or none, with the reason."""
        with self.lock:
            raw = {p.name: p.value for p in parameters if p.name in self._table.rows}
            try:
                values = {**self.values, **self._table.read(raw)}
                if raw:
                    self._accept(values, frozenset(raw))
            except SoftRobotError as error:
                return SetParametersResult(successful=False, reason=refusal_of(error, UNCHANGED))
            self.values = values
            return SetParametersResult(successful=True)


def descriptor_of(row: ParameterSpec) -> ParameterDescriptor:
    """Return the ParameterDescriptor of a row."""
    bounded = math.isfinite(row.lower) or math.isfinite(row.upper)
    low, high = max(row.lower, -_MAX_DOUBLE), min(row.upper, _MAX_DOUBLE)
    descriptor = ParameterDescriptor(
        name=row.name,
        description=row.description,
        read_only=row.read_only,
        additional_constraints=row.expected(),
        dynamic_typing=row.kind in ('double', 'doubles', 'strings'),
    )
    if bounded and row.kind == 'integer':
        descriptor.integer_range = [
            IntegerRange(from_value=int(max(low, -(2**63))), to_value=int(min(high, 2**63 - 1)))
        ]
    elif bounded and row.kind == 'double' and not row.optional:  # a range refuses nan
        descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
    return descriptor


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def refusal_of(error: Exception, kept: str = _REFERENCE_UNCHANGED) -> str:
    """Return the words for a refusal, in one line, with the value that is `kept` ('': none)."""
    words = f'refused: {reason_of(error).removeprefix("message refused: ")}'
    return f'{words}; {kept}' if kept else words


def reason_of(error: Exception) -> str:
    """Return the reason for a refusal, in one line."""
    if isinstance(error, DescriptionError):
        return '; '.join(map(str, error.problems))
    return str(error)
