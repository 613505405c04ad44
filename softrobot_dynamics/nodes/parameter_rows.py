# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The parameters of the two nodes, one row each. Rates [Hz], times [s], else as described."""

from collections.abc import Iterator, Mapping, Sequence
import functools
from math import inf, nan
from typing import Any

from softrobot_dynamics.controllers.contract import CONTROLLERS
from softrobot_dynamics.controllers.safe import MODES
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.nodes.command_timing import TIMINGS
from softrobot_dynamics.nodes.rows import Row
from softrobot_dynamics.references.contract import GROUP, REFERENCES
from softrobot_dynamics.schema.bounds import ANY
from softrobot_dynamics.simulation.sensing import Sensors

WATCHDOG_PERIODS = 50

_ROBOT = Row(
    'robot',
    'string',
    'pcc_arm',
    'Name of a shipped robot, or path of a description',
    read_only=True,
)
_RECORD = Row(
    'record',
    'string',
    '',
    'File (.mcap) for a record of every tick, numbered if it exists, or a folder for one named'
    ' after node and time; empty for none',
    read_only=True,
)
_COMMUNICATION = (
    Row(
        'reliability',
        'string',
        'reliable',
        'Quality of service of what is published; both nodes read as best effort',
        choices=('reliable', 'best_effort'),
        read_only=True,
    ),
    Row(
        'command_type',
        'string',
        'joint_state',
        'Form of the commands: a JointState by name, or a'
        ' Float64MultiArray in the order of the actuators (topic controller/commands)',
        choices=('joint_state', 'multi_array'),
        read_only=True,
    ),
)
_SAFE = (
    Row(
        'safe_command',
        'string',
        'auto',
        'What is commanded when nothing better is known; auto:'
        ' pretension for tendons, gravity torque led to zero for joints',
        choices=MODES,
    ),
    Row('safe_pretension', 'double', 1.0, 'Pull of a tendon in the safe command [N]', 0.0, 1e6),
    Row(
        'safe_ramp',
        'double',
        2.0,
        'Time in which a gravity torque is led to zero [s]',
        0.0,
        3600.0,
    ),
)

_CONTROLLER = (
    _ROBOT,
    Row('controller', 'string', 'pfbl', 'Name of the control law', read_only=True),
    Row(
        'controlled',
        'strings',
        (),
        'Actuators whose coordinates are controlled; empty for all',
        read_only=True,
    ),
    Row('rate', 'double', 1000.0, 'Rate of the states [Hz]', 1.0, 10000.0, read_only=True),
    Row(
        'allow_unstable',
        'bool',
        False,
        'Activate even where holding the outputs leaves a motion that grows',
    ),
    Row('autostart', 'bool', False, 'Configure and activate at once', read_only=True),
    _RECORD,
    *_COMMUNICATION,
    Row(
        'watchdog_periods',
        'integer',
        WATCHDOG_PERIODS,
        'Periods without a valid state after which the safe command goes out',
        2,
        100000,
    ),
    *_SAFE,
    Row(
        'reference.ramp_time',
        'double',
        2.0,
        'Time in which a new reference is blended in [s]',
        0.0,
        3600.0,
    ),
    Row(
        'target.time',
        'double',
        0.1,
        'Least time in which the outputs are led to a point of ~/target [s]',
        0.01,
        3600.0,
    ),
    Row(
        'target.speed',
        'double',
        0.5,
        'Speed at which a tip is led to a point of ~/target that is far away [m/s]',
        1e-3,
        100.0,
    ),
)

_SIMULATION = (
    _ROBOT,
    Row('rate', 'double', 1000.0, 'Rate of the states [Hz]', 1.0, 10000.0, read_only=True),
    Row(
        'substep', 'double', 5e-4, 'Longest step of the integrator [s]', 1e-6, 0.1, read_only=True
    ),
    _RECORD,
    *_COMMUNICATION,
    Row(
        'command_timeout_periods',
        'integer',
        WATCHDOG_PERIODS,
        'Periods without a command after which the robot applies its own safe command',
        2,
        100000,
    ),
    Row(
        'plant',
        'strings',
        (),
        'What is otherwise than in the robot file: FIELD=NUMBER, or FIELD=×FACTOR; names before'
        ' the field, with dots, say of which body, joint or actuator; or YAML files of such',
        read_only=True,
    ),
    Row(
        'payload.body',
        'string',
        '',
        'Body that may carry a payload at its tip; empty: none',
        read_only=True,
    ),
    Row('payload.mass', 'double', 0.0, 'What it carries: a point mass [kg]', 0.0, 1e6),
    Row(
        'command_timing',
        'string',
        'arrival',
        'From when on a command acts: from when it arrives, from the next period on, as over a bus'
        ' with a cycle, or, for repeatable tests, from the instant of the state answered',
        choices=tuple(TIMINGS),
        read_only=True,
    ),
    Row(
        'real_time_factor',
        'double',
        1.0,
        'Simulated time that passes in one of real time; 0: as fast as commands come that answer'
        ' the states',
        0.0,
        100.0,
    ),
    Row(
        'publish_clock',
        'bool',
        False,
        'Publish the simulated time on /clock, for nodes with use_sim_time',
        read_only=True,
    ),
    Row(
        'wait_for_commands',
        'bool',
        False,
        'Stand at the initial posture until a command answers a state, then set out at the initial'
        ' rates',
        read_only=True,
    ),
    *_SAFE,
)

_LIMITS = {
    'lower': ('Least command', ''),
    'upper': ('Greatest command', ''),
    'rate': ('Greatest rate of the command', '/s'),
}


@functools.cache
def controller_rows() -> tuple[Row, ...]:
    """
    Return the rows of the controller, with those of all references that are registered.

    ArgumentError for a name that is taken.
    """
    kinds = REFERENCES.names()
    choice = Row(f'{GROUP}.type', 'string', 'hold', 'What is to be followed', choices=kinds)
    members: list[Any] = [REFERENCES.get(name) for name in kinds]
    rows = [row for kind in members for p in kind.parameters() for row in _declared(p)]
    return _distinct((), (*_CONTROLLER, choice, *rows))


def reference_names(values: Mapping[str, Any]) -> set[str]:
    """Return the names of the parameters that say what is followed: the type, and its kind's."""
    choice = f'{GROUP}.type'
    kind: Any = REFERENCES.get(values[choice])
    return {choice, *(p.path for p in kind.parameters())}


def configured_rows(law: Any, robot: Any, controlled: Any = ()) -> Any:
    """
    Return the rows that are known once there is a law and a robot: what both may be told.

    `law`: a Controller or its class; `robot`: a RobotDescription or a model; `controlled`: names
    of actuators, none for all. ArgumentError for a name that is taken.
    """
    owners = law.owners(robot, controlled or None)
    rows = [row for p in law.parameters() for row in _declared(p, owners.get(p.each, ()))]
    rows += _limits(robot.actuator_names, robot.commands)
    return _distinct(controller_rows(), rows)


def chosen_rows(robot: Any, values: Mapping[str, Any]) -> tuple[Row, ...]:
    """Return the :func:`configured_rows` of the law that the controller's `values` choose."""
    return configured_rows(CONTROLLERS.get(values['controller']), robot, values['controlled'])


def sensor_rows(robot: Any) -> tuple[Row, ...]:
    """Return the simulation's rows that are known once there is a robot: of single sensors."""
    names = [row.name for row in SIMULATION]
    rows = _sensors(robot.coordinate_names)
    return _distinct(SIMULATION, [row for row in rows if row.name not in names])


def _sensors(names: Sequence[str] = ()) -> list[Row]:
    """Return the rows of the simulated sensors, with those of single coordinates."""
    declared = [(p, names if p.each else ()) for p in Sensors.parameters()]
    rows = [row for p, owners in declared for row in _declared(p, owners)]
    return [row._replace(read_only=True) for row in rows]


def _distinct(known: Sequence[Row], rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return rows whose names are not those of known ones nor of each other; or ArgumentError."""
    names = [row.name for row in (*known, *rows)]
    for row in rows:
        if names.count(row.name) > 1:
            raise ArgumentError('parameter', row.name, 'a name that is not taken: give a `group`')
    return tuple(rows)


def _declared(parameter: Any, owners: Sequence[str] = ()) -> Iterator[Row]:
    """Yield the row of a law's or reference's parameter, and one for each of the owners."""
    unit = f' [{parameter.unit}]' if parameter.unit else ''
    known = parameter.field
    bounds = known.get('bounds') or ANY
    lower, upper = bounds.closed()
    row = Row(
        parameter.path,
        known['kind'],
        parameter.default,
        parameter.words + unit,
        lower,
        upper,
        choices=known.get('choices', ()),
        size=known.get('size', 0),
        words=known['expected'],
    )
    yield row
    for owner in owners:
        words = f'{parameter.words}, for {owner}{unit}'
        yield row._replace(name=parameter.path_of(owner), default=nan, description=words)


def _limits(actuators: Sequence[str], commands: Any) -> Iterator[Row]:
    """Yield the rows of limits, for all and for each of the actuators."""
    known = {quantity.unit for quantity in commands}
    common = known.pop() if len(known) == 1 else "each actuator's unit"
    for key, (words, per) in _LIMITS.items():
        least = 0.0 if key == 'rate' else -inf
        units = [common, *(quantity.unit for quantity in commands)]
        for owner, unit in zip(('', *actuators), units):
            path = '.'.join(filter(None, ('limits', owner, key)))
            whose = f', for {owner}' if owner else ''
            said = f'{words}, within what the robot file allows{whose} [{unit or "-"}{per}]'
            yield Row(path, 'double', nan, said, least)


SIMULATION = (*_SIMULATION, *_sensors())
