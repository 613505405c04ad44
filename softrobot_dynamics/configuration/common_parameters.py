# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Parameters that several nodes have. Rates [Hz], times [s]."""

from softrobot_dynamics.configuration.parameters import fixed, live
from softrobot_dynamics.controllers.safe import MODES

COMMAND_TYPES = 'joint_state', 'multi_array'

ROBOT = fixed('robot', 'pcc_arm', 'Name of a shipped robot, or path of a description')
RECORD = fixed(
    'record',
    '',
    'File (.mcap) for a record of every tick, numbered if it exists, or a folder for one named'
    ' after node and time; empty for none',
)
PREFIX = fixed(
    'joint_prefix',
    '',
    'Prefix of the names of coordinates and actuators in states and commands, except those that'
    ' `joint_names` gives',
)
COMMANDS = (
    fixed('command_type', 'joint_state', 'Form of the commands: a JointState by name, or a'
          ' Float64MultiArray in the order of the actuators (topic controller/commands)',
          choices=COMMAND_TYPES),
    fixed('command_topics', (), 'Names of the parts of the commands, each for drives of its own:'
          ' it has actuators, a topic and a type of messages; empty: one topic',
          below='commands.NAME'),
    PREFIX,
)  # fmt: skip
STATE_TOPICS = fixed(
    'state_topics',
    (),
    'Names of the parts in which states come, each on a topic of its own, see `states`; empty: all'
    ' coordinates on joint_states',
    below='states.NAME',
)
COMMUNICATION = (
    fixed('reliability', 'reliable', 'Quality of service of published states and commands; all'
          ' nodes read as best effort', choices=('reliable', 'best_effort')),
    *COMMANDS,
)  # fmt: skip
SAFE = (
    live('safe_command', 'auto', 'Command while there is no valid state or the law fails; auto:'
         ' pretension for tendons, gravity torque led to zero for joints; brake: joints stay'
         ' where they are, as far as their drives can', choices=MODES),
    live('safe_pretension', 1.0, 'Pull of a tendon in the safe command [N]', 0.0, 1e6),
    live('safe_ramp', 2.0, 'Time in which a gravity torque is led to zero [s]', 0.0, 3600.0),
)  # fmt: skip
RATE = fixed('rate', 1000.0, 'Rate of the states [Hz]', 1.0, 10000.0)
AUTOSTART = fixed('autostart', False, 'Configure and activate at once')
