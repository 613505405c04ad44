# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Parameters of the nodes that laws, references, sensors, phases and robots declare."""

from collections.abc import Callable, Iterator, Mapping, Sequence
import functools
from math import inf, nan
from typing import Any, TypeAlias

from softrobot_dynamics.configuration.command_parts import command_rows
from softrobot_dynamics.configuration.node_parameters import OF_CONTROLLER, OF_SIMULATION
from softrobot_dynamics.configuration.parameter_descriptions import fixed, live, ParameterSpec
from softrobot_dynamics.configuration.parts import (
    LawPart,
    NamedRobot,
    PART_PARAMETERS,
    parts_of,
    RAMP_TIME,
    require_apart,
    require_parts,
    require_phases,
)
from softrobot_dynamics.configuration.state_topics import state_rows
from softrobot_dynamics.configuration.wire_names import wire_name_rows
from softrobot_dynamics.controllers.composition import Composition
from softrobot_dynamics.controllers.contract import Controller, CONTROLLERS
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.references.contract import GROUP, REFERENCES
from softrobot_dynamics.schema.bounds import UNBOUNDED
from softrobot_dynamics.schema.parameters import own_path, Parameter
from softrobot_dynamics.simulation.bus import Bus
from softrobot_dynamics.simulation.sensing import Sensors

Declare: TypeAlias = Callable[[Sequence[ParameterSpec]], Mapping[str, Any]]

REFERENCE_TYPE = f'{GROUP}.type'
_LIMIT_TEXTS = {
    'lower': ('Least command', ''),
    'upper': ('Greatest command', ''),
    'rate': ('Greatest rate of the command', '/s'),
}


@functools.cache
def controller_rows() -> tuple[ParameterSpec, ...]:
    """
    Return the rows of the controller, with those of all references that are registered.

    ArgumentError for a name that is taken.
    """
    kinds = REFERENCES.names()
    choice = live(REFERENCE_TYPE, 'hold', 'Kind of the reference', choices=kinds)
    members: list[Any] = [REFERENCES.get(name) for name in kinds]
    rows = [row for kind in members for p in kind.parameters() for row in _declared(p)]
    return _distinct((), (*OF_CONTROLLER, choice, *rows))


def configured_rows(
    law: Controller | type[Controller], robot: NamedRobot, controlled: Sequence[str] = ()
) -> Any:
    """
    Return the rows that are known once there is a law and a robot: their settings.

    `law`: a Controller or its class; `robot`: a RobotDescription or a model; `controlled`: names
    of actuators, none for all. ArgumentError for a name that is taken.
    """
    owners = law.owners(robot, controlled or None)
    rows = [row for p in law.parameters() for row in _declared(p, owners.get(p.each, ()))]
    rows += _limits(robot.actuator_names, [quantity.unit for quantity in robot.commands])
    rows += wire_name_rows(robot)
    return _distinct(controller_rows(), rows)


def declare_chosen(robot: NamedRobot, values: Mapping[str, Any], declare: Declare) -> Any:
    """
    Declare in turn the parameters that depend on the controller's `values`; return all values.

    `declare`: a function that is given rows, and returns all values there are then; `robot`: as in
    :func:`configured_rows`. DescriptionError, UnknownNameError, ArgumentError.
    """
    if values.get('state_topics'):
        values = declare(state_rows(values))
    if values.get('command_topics'):
        values = declare(command_rows(values))
    if not values.get('phases'):
        law = CONTROLLERS.get(values['controller'])
        return declare(configured_rows(law, robot, values['controlled']))
    require_phases(values)
    values = declare([row for name in values['phases'] for row in _phase(name)])
    require_parts(values)
    parts = parts_of(values)
    values = declare([row for part in parts for row in _part(part.name)])
    require_apart(robot, values)
    rows = [row for part in parts_of(values) for row in _law(part, robot)]
    return declare([*configured_rows(Composition, robot), *rows])


def all_rows(robot: NamedRobot, values: Mapping[str, Any]) -> tuple[ParameterSpec, ...]:
    """Return all rows that a controller of such `values` has, robot as above."""
    rows = list(controller_rows())

    def note(more: Sequence[ParameterSpec]) -> Mapping[str, Any]:
        """Keep the rows; the values are known."""
        rows.extend(more)
        return values

    declare_chosen(robot, values, note)
    return tuple(rows)


def reference_names(values: Mapping[str, Any]) -> set[str]:
    """Return the names of the parameters of references: their types, and those of each kind."""
    found = set()
    for part in parts_of(values):
        kind: Any = REFERENCES.get(part.values[REFERENCE_TYPE])
        own = [REFERENCE_TYPE, *(p.path for p in kind.parameters())]
        found |= {part.full(name) for name in own}
    return found


def _phase(name: str) -> Iterator[ParameterSpec]:
    """Yield the rows of a phase."""
    words = f'Time that {name} lasts [s]; ignored for the last phase, which has no end'
    yield fixed(f'{name}.duration', nan, words, 1e-3, 1e6)
    words = f'Names of the parts of {name}: each has a `controller` for actuators of its own'
    yield fixed(f'{name}.parts', (), words)


def _part(name: str) -> Iterator[ParameterSpec]:
    """Yield the rows of a part that are known without its law."""
    for row in controller_rows():
        if row.name in PART_PARAMETERS or row.name.startswith(f'{GROUP}.'):
            default = nan if row.name == RAMP_TIME else row.default  # nan: as for all
            yield row._replace(name=f'{name}.{row.name}', default=default)


def _law(part: LawPart, robot: NamedRobot) -> Iterator[ParameterSpec]:
    """Yield the rows of the law of a part; those of the loop are declared once, for all."""
    owners = part.law.owners(robot, part.actuators(robot))
    shared = {p.path for p in Composition.parameters()}
    for p in part.law.parameters():
        for row in _declared(p, owners.get(p.each, ())):
            if p.path not in shared:
                yield row._replace(name=part.full(row.name))


def limit_path(actuator: str, key: str) -> str:
    """Return the name of a limit, 'lower', 'upper' or 'rate', for an actuator; '': for all."""
    return own_path('limits', actuator, key, _LIMIT_TEXTS)


def sensor_rows(robot: NamedRobot) -> tuple[ParameterSpec, ...]:
    """Return the simulation's rows that are known once there is a robot: sensors, wire names."""
    names = [row.name for row in SIMULATION]
    rows = [*_sensors(robot.coordinate_names), *wire_name_rows(robot)]
    return _distinct(SIMULATION, [row for row in rows if row.name not in names])


def _sensors(names: Sequence[str] = ()) -> list[ParameterSpec]:
    """Return the rows of the simulated sensors, with those of single coordinates."""
    declared = [(p, names if p.each else ()) for p in Sensors.parameters()]
    return [row for p, owners in declared for row in _fixed(p, owners)]


def _fixed(parameter: Parameter, owners: Sequence[str] = ()) -> Iterator[ParameterSpec]:
    """Yield the rows of a parameter of the simulated robot, set once."""
    for row in _declared(parameter, owners):
        yield row._replace(read_only=True)


def _distinct(
    known: Sequence[ParameterSpec], rows: Sequence[ParameterSpec]
) -> tuple[ParameterSpec, ...]:
    """Return rows whose names are not those of known ones nor of each other; or ArgumentError."""
    names = [row.name for row in (*known, *rows)]
    for row in rows:
        if names.count(row.name) > 1:
            raise ArgumentError('parameter', row.name, 'a name that is not taken: give a `group`')
    return tuple(rows)


def _declared(parameter: Parameter, owners: Sequence[str] = ()) -> Iterator[ParameterSpec]:
    """Yield the row of a law's or reference's parameter, and one for each of the owners."""
    unit = f' [{parameter.unit}]' if parameter.unit else ''
    known = parameter.field
    bounds = known.get('bounds') or UNBOUNDED
    lower, upper = bounds.closed()
    row = ParameterSpec(
        parameter.path,
        known['kind'],
        parameter.default,
        parameter.words + unit,
        lower,
        upper,
        choices=known.get('choices', ()),
        size=known.get('size', 0),
        words=known['expected'],
        read_only=not parameter.live,
    )
    yield row
    for owner in owners:
        words = f'{parameter.words}, for {owner}{unit}'
        yield row._replace(name=parameter.path_of(owner), default=nan, description=words)


def _limits(actuators: Sequence[str], units: Sequence[str]) -> Iterator[ParameterSpec]:
    """Yield the rows of limits, for all and for each of the actuators."""
    known = set(units)
    common = known.pop() if len(known) == 1 else "each actuator's unit"
    for key, (words, per) in _LIMIT_TEXTS.items():
        least = 0.0 if key == 'rate' else -inf
        for owner, unit in zip(('', *actuators), (common, *units)):
            path = limit_path(owner, key)
            whose = f', for {owner}' if owner else ''
            text = f'{words}, within what the robot file allows{whose} [{unit or "-"}{per}]'
            yield live(path, nan, text, least)


SIMULATION = (*OF_SIMULATION, *(row for p in Bus.parameters() for row in _fixed(p)), *_sensors())
