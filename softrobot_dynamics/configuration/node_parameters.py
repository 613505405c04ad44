# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Parameters of the nodes, but for those of laws and references. Rates [Hz], times [s]."""

from softrobot_dynamics.configuration.parameter_descriptions import fixed, live
from softrobot_dynamics.controllers.safe_command import MODES
from softrobot_dynamics.loops.command_timing import TIMINGS
from softrobot_dynamics.loops.velocity_estimation import MODES as VELOCITIES
from softrobot_dynamics.loops.watchdog import AFTER_LOSS

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
    live('safe_ramp', 2.0, 'Time in which the gravity torque is ramped to zero [s]', 0.0, 3600.0),
)  # fmt: skip
RATE = fixed('rate', 1000.0, 'Rate of the states [Hz]', 1.0, 10000.0)
AUTOSTART = fixed('autostart', False, 'Configure and activate at once')


WATCHDOG_PERIODS = 50

OF_CONTROLLER = (
    ROBOT,
    fixed('controller', 'pfbl', 'Name of the control law'),
    fixed('controlled', (), 'Actuators whose coordinates are controlled; empty for all'),
    fixed('phases', (), 'Names of phases, one after the other: each has a duration and parts,'
          ' each part a law and what it follows; empty: one law all the time', below='NAME'),
    RATE,
    fixed('surroundings', '', 'YAML file of an environment that laws know beside that of the'
          ' robot file, as distances of the law task; objects in it are left out; empty: none'),
    live('allow_unstable', False, 'Activate although the zero dynamics are unstable'),
    AUTOSTART,
    RECORD,
    *COMMUNICATION,
    STATE_TOPICS,
    fixed('velocities', 'auto', 'Velocities of the states: as measured, or estimated from the'
          ' positions where they are missing (auto), or always (differentiated)',
          choices=VELOCITIES),
    live('watchdog_periods', WATCHDOG_PERIODS, 'Periods without a valid state after which the'
         ' safe command goes out', 2, 100000),
    live('after_loss', AFTER_LOSS[0], 'Reference when states come back after the watchdog ran'
         ' out: the ordered one, from its beginning, or a hold where the robot is',
         choices=AFTER_LOSS),
    *SAFE,
    live('reference.ramp_time', 2.0, 'Time in which a new reference is blended in [s]',
         0.0, 3600.0),
    live('target.time', 0.1, 'Shortest time of the way to a point of ~/target [s]',
         0.01, 3600.0),
    live('target.speed', 0.5, 'Highest speed on the way to a point of ~/target [m/s]',
         1e-3, 100.0),
    live('target.patience', 0.2, 'Time after which a twist of ~/target_twist counts as zero,'
         ' unless another comes [s]', 0.01, 10.0),
)  # fmt: skip

OF_SIMULATION = (
    ROBOT,
    RATE,
    fixed('substep', 5e-4, 'Longest step of the integrator [s]', 1e-6, 0.1),
    fixed('integrator', 'exponential', 'Integrator of the equation of motion, by its registered'
          ' name; one with equal steps'),
    RECORD,
    *COMMUNICATION,
    STATE_TOPICS,
    live('command_timeout_periods', WATCHDOG_PERIODS, 'Periods without a command after which the'
         ' robot applies its own safe command', 2, 100000),
    fixed('plant', (), 'Differences of the simulated robot from the robot file: FIELD=NUMBER, or'
          ' FIELD=×FACTOR; names before the field, with dots, say of which body, joint or'
          ' actuator; or YAML files of such; or another robot, of the same bodies and actuators,'
          ' by its file or shipped name'),
    fixed('surroundings', '', 'YAML file of an environment and objects that the simulated robot'
          ' may touch; empty: none but those of the robot file'),
    fixed('contact_rate', 30.0, 'Rate of ~/objects, ~/contacts/BODY and ~/contact_points [Hz]; 0:'
          ' they are not published', 0.0, 1000.0),
    fixed('payload.body', '', 'Body that may carry a payload at its tip; empty: none'),
    live('payload.mass', 0.0, 'Mass of the payload, a point [kg]', 0.0, 1e6),
    fixed('command_timing', 'arrival', 'Time from which a command acts: from its arrival, from'
          ' the next period on, as over a bus with a cycle, or, for repeatable tests, from the'
          ' instant of the state answered', choices=tuple(TIMINGS)),
    live('real_time_factor', 1.0, 'Simulated time that passes in one of real time; 0: as fast as'
         ' commands come that answer the states', 0.0, 100.0),
    fixed('estimator', '', 'Name or path of an estimator file whose sensors are simulated and'
          ' published; the true states then go to ~/joint_states; empty: none'),
    fixed('publish_clock', False, 'Publish the simulated time on /clock, for nodes with'
          ' use_sim_time'),
    fixed('wait_for_commands', False, 'Stand at the initial posture until a command answers a'
          ' state, then start with the initial rates'),
    *SAFE,
)  # fmt: skip

OF_ESTIMATOR = (
    ROBOT,
    fixed('estimator', '', 'Sensors and uncertainties: name of a shipped estimator, or path of a'
          ' file; empty: the one shipped for the robot'),
    RATE,
    AUTOSTART,
    *COMMUNICATION,
    fixed('timeout', 0.1, 'Time without a measurement that counts as silence of a sensor, or two'
          ' and a half of its periods if that is longer [s]', 1e-3, 60.0),
    fixed('settling', 0.2, 'Time of measurements before states are published [s]', 0.0, 60.0),
    fixed('real_time_factor', 1.0, 'Time that passes by the stamps of the sensors in one of real'
          ' time, as in the simulation; rate and times of this node are by the stamps',
          0.01, 100.0),
    fixed('command_delay', 0.0, 'Time from a command until it acts [s]', 0.0, 1.0),
    fixed('allow_unobservable', False, 'Activate even if the sensors do not observe some'
          ' coordinates, which then follow the model'),
    fixed('push', '', 'Body at whose tip an external force is estimated; empty: the last one'),
    fixed('collision_force', 0.0, 'Force on the tip of `push` [N] above which'
          ' `controller/emergency_stop` is called; 0: never', 0.0, 1.0e6),
    fixed('report_rate', 20.0, 'Rate of covariance and push [Hz]', 0.1, 1000.0),
)  # fmt: skip

OF_VISUALIZER = (
    ROBOT,
    fixed('rate', 30.0, 'Highest rate of the markers [Hz]', 0.1, 60.0),
    fixed('discs', 5, 'Discs along each soft body that have a frame', 0, 100),
    fixed('frame_id', 'world', 'Frame of the markers'),
    fixed('surroundings', '', 'YAML file of an environment and objects to show, as the simulation'
          ' has it; empty: none but those of the robot file'),
    *COMMANDS,
    STATE_TOPICS,
)  # fmt: skip
