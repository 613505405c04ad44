# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Parameters of each node, but for those of laws and references. Rates [Hz], times [s]."""

from softrobot_dynamics.configuration.common_parameters import (
    AUTOSTART,
    COMMANDS,
    COMMUNICATION,
    RATE,
    RECORD,
    ROBOT,
    SAFE,
    STATE_TOPICS,
)
from softrobot_dynamics.configuration.parameters import ParameterSpec
from softrobot_dynamics.loops.command_timing import TIMINGS
from softrobot_dynamics.loops.guarding import AFTER_LOSS
from softrobot_dynamics.loops.velocity_estimation import MODES as VELOCITIES

WATCHDOG_PERIODS = 50

OF_CONTROLLER = (
    ROBOT,
    ParameterSpec('controller', 'string', 'pfbl', 'Name of the control law', read_only=True),
    ParameterSpec(
        'controlled',
        'strings',
        (),
        'Actuators whose coordinates are controlled; empty for all',
        read_only=True,
    ),
    ParameterSpec(
        'phases',
        'strings',
        (),
        'Names of phases, one after the other: each has a duration and parts, each part a law and'
        ' what it follows; empty: one law all the time',
        read_only=True,
        below='NAME',
    ),
    RATE,
    ParameterSpec(
        'surroundings',
        'string',
        '',
        'YAML file of an environment that laws know beside that of the robot file, as distances'
        ' of the law task; objects in it are left out; empty: none',
        read_only=True,
    ),
    ParameterSpec(
        'allow_unstable',
        'bool',
        False,
        'Activate even where holding the outputs leaves a motion that grows',
    ),
    AUTOSTART,
    RECORD,
    *COMMUNICATION,
    STATE_TOPICS,
    ParameterSpec(
        'velocities',
        'string',
        'auto',
        'Velocities of the states: as measured, or estimated from the positions where they are'
        ' missing (auto), or always (differentiated)',
        choices=VELOCITIES,
        read_only=True,
    ),
    ParameterSpec(
        'watchdog_periods',
        'integer',
        WATCHDOG_PERIODS,
        'Periods without a valid state after which the safe command goes out',
        2,
        100000,
    ),
    ParameterSpec(
        'after_loss',
        'string',
        AFTER_LOSS[0],
        'Reference when states come back after the watchdog ran out: the ordered one, from its'
        ' beginning, or a hold where the robot is',
        choices=AFTER_LOSS,
    ),
    *SAFE,
    ParameterSpec(
        'reference.ramp_time',
        'double',
        2.0,
        'Time in which a new reference is blended in [s]',
        0.0,
        3600.0,
    ),
    ParameterSpec(
        'target.time',
        'double',
        0.1,
        'Least time in which the outputs are led to a point of ~/target [s]',
        0.01,
        3600.0,
    ),
    ParameterSpec(
        'target.speed',
        'double',
        0.5,
        'Speed at which a tip is led to a point of ~/target that is far away [m/s]',
        1e-3,
        100.0,
    ),
    ParameterSpec(
        'target.patience',
        'double',
        0.2,
        'Time after which a twist of ~/target_twist counts as zero, unless another comes [s]',
        0.01,
        10.0,
    ),
)

OF_SIMULATION = (
    ROBOT,
    RATE,
    ParameterSpec(
        'substep', 'double', 5e-4, 'Longest step of the integrator [s]', 1e-6, 0.1, read_only=True
    ),
    ParameterSpec(
        'integrator',
        'string',
        'exponential',
        'Integrator of the equation of motion, by its registered name; one with equal steps',
        read_only=True,
    ),
    RECORD,
    *COMMUNICATION,
    STATE_TOPICS,
    ParameterSpec(
        'command_timeout_periods',
        'integer',
        WATCHDOG_PERIODS,
        'Periods without a command after which the robot applies its own safe command',
        2,
        100000,
    ),
    ParameterSpec(
        'plant',
        'strings',
        (),
        'Differences of the simulated robot from the robot file: FIELD=NUMBER, or FIELD=×FACTOR;'
        ' names before the field, with dots, say of which body, joint or actuator; or YAML files'
        ' of such; or another robot, of the same bodies and actuators, by its file or shipped'
        ' name',
        read_only=True,
    ),
    ParameterSpec(
        'surroundings',
        'string',
        '',
        'YAML file of an environment and objects that the simulated robot may touch; empty: none'
        ' but those of the robot file',
        read_only=True,
    ),
    ParameterSpec(
        'contact_rate',
        'double',
        30.0,
        'Rate of ~/objects, ~/contacts/BODY and ~/contact_points [Hz]; 0: they are not published',
        0.0,
        1000.0,
        read_only=True,
    ),
    ParameterSpec(
        'payload.body',
        'string',
        '',
        'Body that may carry a payload at its tip; empty: none',
        read_only=True,
    ),
    ParameterSpec('payload.mass', 'double', 0.0, 'Mass of the payload, a point [kg]', 0.0, 1e6),
    ParameterSpec(
        'command_timing',
        'string',
        'arrival',
        'Time from which a command acts: from its arrival, from the next period on, as over a bus'
        ' with a cycle, or, for repeatable tests, from the instant of the state answered',
        choices=tuple(TIMINGS),
        read_only=True,
    ),
    ParameterSpec(
        'real_time_factor',
        'double',
        1.0,
        'Simulated time that passes in one of real time; 0: as fast as commands come that answer'
        ' the states',
        0.0,
        100.0,
    ),
    ParameterSpec(
        'estimator',
        'string',
        '',
        'Name or path of an estimator file whose sensors are simulated and published; the true'
        ' states then go to ~/joint_states; empty: none',
        read_only=True,
    ),
    ParameterSpec(
        'publish_clock',
        'bool',
        False,
        'Publish the simulated time on /clock, for nodes with use_sim_time',
        read_only=True,
    ),
    ParameterSpec(
        'wait_for_commands',
        'bool',
        False,
        'Stand at the initial posture until a command answers a state, then set out at the initial'
        ' rates',
        read_only=True,
    ),
    *SAFE,
)

OF_ESTIMATOR = (
    ROBOT,
    ParameterSpec(
        'estimator',
        'string',
        '',
        'Sensors and uncertainties: name of a shipped estimator, or path of a file; empty: the one'
        ' shipped for the robot',
        read_only=True,
    ),
    RATE,
    AUTOSTART,
    *COMMUNICATION,
    ParameterSpec(
        'timeout',
        'double',
        0.1,
        'Time without a measurement that counts as silence of a sensor, or two and a half of its'
        ' periods if that is longer [s]',
        1e-3,
        60.0,
        read_only=True,
    ),
    ParameterSpec(
        'settling',
        'double',
        0.2,
        'Time of measurements before states go out [s]',
        0.0,
        60.0,
        read_only=True,
    ),
    ParameterSpec(
        'command_delay',
        'double',
        0.0,
        'Time from a command until it acts [s]',
        0.0,
        1.0,
        read_only=True,
    ),
    ParameterSpec(
        'allow_unobservable',
        'bool',
        False,
        'Activate even if the sensors do not observe some coordinates, which then follow the'
        ' model',
        read_only=True,
    ),
    ParameterSpec(
        'push',
        'string',
        '',
        'Body on whose tip a force from outside is looked for; empty: the last one',
        read_only=True,
    ),
    ParameterSpec(
        'collision_force',
        'double',
        0.0,
        'Force on the tip of `push` [N] above which `controller/emergency_stop` is called; 0:'
        ' never',
        0.0,
        1.0e6,
        read_only=True,
    ),
    ParameterSpec(
        'report_rate',
        'double',
        20.0,
        'Rate of covariance and push [Hz]',
        0.1,
        1000.0,
        read_only=True,
    ),
)

OF_VISUALIZER = (
    ROBOT,
    ParameterSpec(
        'rate', 'double', 30.0, 'Highest rate of the markers [Hz]', 0.1, 60.0, read_only=True
    ),
    ParameterSpec(
        'discs',
        'integer',
        5,
        'Discs along each soft body that have a frame',
        0,
        100,
        read_only=True,
    ),
    ParameterSpec('frame_id', 'string', 'world', 'Frame of the markers', read_only=True),
    ParameterSpec(
        'surroundings',
        'string',
        '',
        'YAML file of an environment and objects to show, as the simulation has it; empty: none'
        ' but those of the robot file',
        read_only=True,
    ),
    *COMMANDS,
    STATE_TOPICS,
)
