# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Parameters that several nodes have. Rates [Hz], times [s]."""

from softrobot_dynamics.configuration.parameters import ParameterSpec
from softrobot_dynamics.controllers.safe import MODES

COMMAND_TYPES = 'joint_state', 'multi_array'

ROBOT = ParameterSpec(
    'robot',
    'string',
    'pcc_arm',
    'Name of a shipped robot, or path of a description',
    read_only=True,
)
RECORD = ParameterSpec(
    'record',
    'string',
    '',
    'File (.mcap) for a record of every tick, numbered if it exists, or a folder for one named'
    ' after node and time; empty for none',
    read_only=True,
)
PREFIX = ParameterSpec(
    'joint_prefix',
    'string',
    '',
    'Prefix of the names of coordinates and actuators in states and commands, except those that'
    ' `joint_names` gives',
    read_only=True,
)
COMMANDS = (
    ParameterSpec(
        'command_type',
        'string',
        'joint_state',
        'Form of the commands: a JointState by name, or a'
        ' Float64MultiArray in the order of the actuators (topic controller/commands)',
        choices=COMMAND_TYPES,
        read_only=True,
    ),
    ParameterSpec(
        'command_topics',
        'strings',
        (),
        'Names of the parts of the commands, each for drives of its own: it has actuators, a topic'
        ' and a type of messages; empty: one topic',
        read_only=True,
        below='commands.NAME',
    ),
    PREFIX,
)
STATE_TOPICS = ParameterSpec(
    'state_topics',
    'strings',
    (),
    'Names of the parts in which states come, each on a topic of its own, see `states`; empty: all'
    ' coordinates on joint_states',
    read_only=True,
    below='states.NAME',
)
COMMUNICATION = (
    ParameterSpec(
        'reliability',
        'string',
        'reliable',
        'Quality of service of published states and commands; all nodes read as best effort',
        choices=('reliable', 'best_effort'),
        read_only=True,
    ),
    *COMMANDS,
)
SAFE = (
    ParameterSpec(
        'safe_command',
        'string',
        'auto',
        'Command while there is no valid state or the law fails; auto: pretension for tendons,'
        ' gravity torque led to zero for joints; brake: joints stay where they are, as far as'
        ' their drives can',
        choices=MODES,
    ),
    ParameterSpec(
        'safe_pretension', 'double', 1.0, 'Pull of a tendon in the safe command [N]', 0.0, 1e6
    ),
    ParameterSpec(
        'safe_ramp',
        'double',
        2.0,
        'Time in which a gravity torque is led to zero [s]',
        0.0,
        3600.0,
    ),
)
RATE = ParameterSpec(
    'rate', 'double', 1000.0, 'Rate of the states [Hz]', 1.0, 10000.0, read_only=True
)
AUTOSTART = ParameterSpec(
    'autostart', 'bool', False, 'Configure and activate at once', read_only=True
)
