# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The parameters of the two nodes, one row each. Rates [Hz], times [s], else as described."""

from collections.abc import Iterator, Sequence
from math import inf, nan
from typing import Any

from softrobot_dynamics.controllers.safe import MODES
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.nodes.parameters import Row
from softrobot_dynamics.references.planning import TYPES
from softrobot_dynamics.schema.bounds import ANY

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

CONTROLLER = (
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
    Row('reference.type', 'string', 'hold', 'What is to be followed', choices=TYPES),
    Row(
        'reference.ramp_time',
        'double',
        2.0,
        'Time in which a new reference is blended in [s]',
        0.0,
        3600.0,
    ),
    Row(
        'reference.setpoint',
        'doubles',
        (),
        'Actuation coordinates y to go to, one for each controlled actuator [m or rad]',
    ),
    Row('reference.circle.body', 'string', 'tip', 'Body whose tip follows the circle'),
    Row('reference.circle.center', 'doubles', (0.0, 0.0, 0.57), 'Centre, base frame [m]', size=3),
    Row(
        'reference.circle.normal',
        'doubles',
        (0.0, 0.0, 1.0),
        'Normal of its plane, base frame',
        size=3,
    ),
    Row('reference.circle.radius', 'double', 0.1, 'Radius [m]', 0.0, 100.0),
    Row('reference.circle.period', 'double', 4.0, 'Time of one turn [s]', 0.01, 1e6),
    Row('reference.path.bodies', 'strings', (), 'Bodies whose tips follow paths'),
    Row('reference.path.times', 'doubles', (), 'Times of the points, from 0 on [s]'),
    Row(
        'reference.path.points',
        'doubles',
        (),
        'x, y, z of every body at the first time, then at the second, ..., base frame [m]',
    ),
    Row('reference.path.periodic', 'bool', False, 'Repeat the path: its last point is its first'),
)

SIMULATION = (
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


def configured_rows(law: Any, robot: Any, controlled: Any = ()) -> Any:
    """
    Return the rows that are known once there is a law and a robot: what both may be told.

    `law`: a Controller or its class; `robot`: a RobotDescription or a model; `controlled`: names
    of actuators, none for all. ArgumentError for a name that is taken.
    """
    owners = law.owners(robot, controlled or None)
    rows = [row for p in law.parameters() for row in _declared(p, owners.get(p.each, ()))]
    rows += _limits(robot.actuator_names, robot.commands)
    names = [row.name for row in (*CONTROLLER, *rows)]
    for row in rows:
        if names.count(row.name) > 1:
            raise ArgumentError('parameter', row.name, 'a name that is not taken: give a `group`')
    return tuple(rows)


def _declared(parameter: Any, owners: Sequence[str]) -> Iterator[Row]:
    """Yield the row of a law's parameter, and one for each of the owners."""
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
