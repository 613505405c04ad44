# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The parameters of the two nodes, one row each. Rates [Hz], times [s], else as described."""

from math import nan

from softrobot_dynamics.controllers.safe import MODES
from softrobot_dynamics.nodes.parameters import Row
from softrobot_dynamics.references.planning import TYPES

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
        'delay',
        'double',
        0.0,
        'Known time from a state until the command that answers it acts; the law makes up for it'
        ' [s]',
        0.0,
        0.01,
    ),
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

_GAINS = {
    'p': ('Gain on the error of y', '1/s^2', 100.0, 1e6),
    'd': ('Gain on the error of its rate', '1/s', 20.0, 1e5),
}
_LIMITS = {
    'lower': ('Least command', ''),
    'upper': ('Greatest command', ''),
    'rate': ('Greatest rate of the command', '/s'),
}


def actuator_rows(actuators):
    """Return the rows of gains and limits, for all and for each of the `actuators` by name."""
    rows = []
    for key, (words, unit, default, most) in _GAINS.items():
        rows.append(Row(f'gains.{key}', 'double', default, f'{words} [{unit}]', 0.0, most))
        rows += [
            Row(f'gains.{name}.{key}', 'double', nan, f'{words}, for {name} [{unit}]', 0.0, most)
            for name in actuators
        ]
    for key, (words, unit) in _LIMITS.items():
        words = f'{words}, within what the robot file allows'
        least = 0.0 if key == 'rate' else -1e9
        rows.append(
            Row(f'limits.{key}', 'double', nan, f'{words} [actuator unit{unit}]', least, 1e9)
        )
        rows += [
            Row(
                f'limits.{name}.{key}',
                'double',
                nan,
                f'{words}, for {name} [actuator unit{unit}]',
                least,
                1e9,
            )
            for name in actuators
        ]
    return tuple(rows)
