# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Commands to several drivers over real DDS: each part on its topic, in its type and unit."""

import signal

import pytest

pytest.importorskip('rclpy')

import numpy as np  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
import softrobot_dynamics as sd  # noqa: E402
from softrobot_dynamics.configuration import build  # noqa: E402
from softrobot_dynamics.configuration.node_parameters import OF_SIMULATION  # noqa: E402
from softrobot_dynamics.configuration.parameter_files import controller_values  # noqa: E402
from softrobot_dynamics.description.shipped import shipped  # noqa: E402
from softrobot_dynamics.loops.message_fields import SECOND, stamp_of  # noqa: E402
from softrobot_dynamics.recordings.reading import read_recording  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402
from support.node_processes import NODES, SAFE, starting  # noqa: E402
from support.observer import CONTROLLER, PATIENCE, SIMULATION  # noqa: E402
from trajectory_msgs.msg import JointTrajectory  # noqa: E402

HYBRID = {
    'command_topics': ['arm', 'tendons', 'gripper'],
    'commands__arm__actuators': ['*_joint'],
    'commands__arm__prefix': 'ur_',
    'commands__tendons__actuators': ['t*'],
    'commands__tendons__type': 'multi_array',
    'commands__tendons__unit': 'mN',
    'commands__gripper__actuators': ['p'],
    'commands__gripper__type': 'joint_trajectory',
    'commands__gripper__unit': 'kPa',
}
ROBOT = 'hybrid_arm'
FILE = shipped('controllers')[ROBOT]
PERIOD = 4_000_000  # [ns]
TICKS = 300  # all three phases
LATE = range(4)  # ticks
HEARD = 20  # commands, at least: the test listens slowly
BEGINNING = 10  # in which the first answers may come late
# without real time no state is late
SHORT = {'reach__duration': 0.15, 'bend__duration': 0.15, 'watchdog_periods': 4000}
AS_FAST_AS_ANSWERED = {
    'real_time_factor': 0.0, 'command_timing': 'lockstep', 'wait_for_commands': 'true',
    'command_timeout_periods': 10_000,
}  # fmt: skip

PAIR = {
    'command_topics': ['one', 'other'],
    'commands__one__actuators': ['left'],
    'commands__one__type': 'joint_trajectory',
    'commands__other__actuators': ['right'],
    'commands__other__type': 'multi_array',
    'commands__other__unit': 'mN',
}


@pytest.fixture(scope='module')
def compiled():
    """Let this process compile what the nodes then find compiled."""
    values = controller_values(sd.load_robot(ROBOT), [FILE])[0]
    build.controlled(values | {'robot': ROBOT})
    build.simulated({row.name: row.default for row in OF_SIMULATION} | {'robot': ROBOT})


def hear(observer, **topics):
    """Return {topic: messages}, which go on growing, of topics by their types of messages."""
    heard = {name.replace('__', '/'): [] for name in topics}
    for topic, kind in zip(heard, topics.values()):
        observer.listen(kind, topic, heard[topic].append)
    return heard


def run(observer, folder, **parameters):
    """Return the simulation's recording of some ticks of the closed loop with parameters."""
    folder.mkdir()
    record = folder / 'simulation.mcap'
    with starting(folder, NODES, (), robot=ROBOT, rate=SECOND / PERIOD) as start:
        options = ('--ros-args', '--params-file', str(FILE))
        start('controller', *options, autostart='true', **SHORT, **parameters)
        planned = 'waiting for the first state'  # a robot would say meanwhile what nobody answers
        observer.until(lambda: observer.mode(CONTROLLER) == planned, 'all plans')
        simulation = start('simulation', record=record, **AS_FAST_AS_ANSWERED, **parameters)
        log = folder / 'simulation.log'
        observer.until(lambda: 'driven by commands' in log.read_text(), 'a command', every=0.05)
        observer.states.clear()  # those of the run before
        observer.until(lambda: observer.states, 'a state')
        first = stamp_of(observer.states[-1])
        end = first + (TICKS + LATE[-1]) * PERIOD
        observer.until(lambda: stamp_of(observer.states[-1]) > end, 'all phases')
        simulation.send_signal(signal.SIGINT)
        assert simulation.wait(PATIENCE) == 0
    return read_recording(record)


def apart(one, other):
    """Return the greatest distances (n,) of two motions; either may begin some ticks late."""
    shifted = [(one[late:], other) for late in LATE] + [(one, other[late:]) for late in LATE]
    found = [np.abs(a[:TICKS] - b[:TICKS]).max(axis=0) for a, b in shifted]
    return min(found, key=np.max)


@pytest.mark.usefixtures('compiled')
def test_three_drivers_get_their_parts_and_the_robot_moves_as_with_one(observer, tmp_path):
    """
    An arm by names, tendons in mN and a regulator in kPa move the robot as one topic does.

    Each gets what acts, with the stamp of the state answered if its messages have one.
    """
    whole = run(observer, tmp_path / 'whole')
    heard = hear(
        observer,
        arm__joint_commands=JointState,
        tendons__commands=Float64MultiArray,
        gripper__joint_trajectory=JointTrajectory,
    )
    parts = run(observer, tmp_path / 'parts', **HYBRID)
    arm, tendons, gripper = heard.values()
    assert min(len(whole), len(parts)) > TICKS + LATE[-1]
    assert not np.isnan(parts['round_trip'][BEGINNING:]).any()  # every state is answered whole
    assert (np.ptp(whole['u'][:TICKS], axis=0)[7:] > 0.1).all()  # all drivers have work
    scale = np.ptp(whole['q'][:TICKS], axis=0)  # [rad] and so on
    off = apart(parts['q'] / scale, whole['q'] / scale)
    assert (off < 0.02).all()
    answered = enumerate(parts['stamp'][BEGINNING:], BEGINNING)
    rows = {stamp: row for row, stamp in answered}
    known = [(rows[stamp_of(x)], x) for x in arm if stamp_of(x) in rows]
    assert len(known) > HEARD
    for row, message in known[::10]:
        assert message.name[0] == 'ur_shoulder_pan_joint' and len(message.name) == 6
        assert list(message.effort) == parts['u'][row, :6].tolist()
    mine = {tuple(u) for u in np.round(parts['u'][:, 6:9] * 1e3, 6)}
    assert sum(tuple(np.round(x.data, 6)) in mine for x in tendons) > HEARD
    point = gripper[-1].points[0]
    assert gripper[-1].joint_names == ['p'] and point.time_from_start.nanosec == PERIOD
    assert stamp_of(gripper[-1]) == 0
    assert max(x.points[0].effort[0] for x in gripper) == pytest.approx(2000.0)  # kPa


def last(heard):
    """Return [what each part was told last in SI units], nan for nothing."""
    one, other = heard.values()
    return [
        one[-1].points[0].effort[0] if one else np.nan,
        other[-1].data[0] * 1e-3 if other else np.nan,
    ]


def test_the_safe_command_reaches_every_part(observer, start):
    """Every part gets the safe command after the robot died and at the end; gains change live."""
    heard = hear(
        observer, one__joint_trajectory=JointTrajectory, other__commands=Float64MultiArray
    )
    simulation = start('simulation', **PAIR)
    controller = start('controller', autostart='true', **PAIR)
    observer.until_running()
    assert observer.set(reference__type='setpoint', reference__setpoint=[1.0, -2.0]).successful
    assert observer.set(gains__p=150).successful and observer.get('gains.p') == 150.0
    assert not observer.set(commands__one__unit='mN').successful
    rest = pytest.approx([0.4, -0.8], abs=0.02)  # what the springs ask for
    observer.until(lambda: last(heard) == rest, 'the set-point')
    simulation.kill()
    observer.until(lambda: observer.mode(CONTROLLER) == 'no valid state', 'the watchdog')
    observer.until(lambda: last(heard) == SAFE, 'the safe command')
    for each in heard.values():
        each.clear()
    controller.terminate()
    assert controller.wait(PATIENCE) == 0
    observer.until(lambda: last(heard) == SAFE, 'a last command')


def test_a_robot_names_the_part_that_stays_away(observer, start):
    """If one driver's commands stop, the robot makes itself safe and says whose they are."""
    start('simulation', **PAIR)
    controller = start('controller', autostart='true', **PAIR)
    observer.until_running()
    controller.kill()
    late = 'safe command: the last command is too old'
    observer.until(lambda: observer.mode(SIMULATION) == f'{late} (one, other)', 'the time-out')
    publisher = observer.node.create_publisher(Float64MultiArray, 'other/commands', 1)

    def told_one():
        publisher.publish(Float64MultiArray(data=[500.0]))
        return observer.mode(SIMULATION) == f'{late} (one)'

    observer.until(told_one, 'the other part', every=0.05)
    assert f'{late} (one)' in observer.words()[SIMULATION]


@pytest.mark.parametrize(
    'name, changes, words',
    [
        ('controller', {'commands__other__unit': 'kPa'}, 'one of N, mN, kN for right'),
        ('simulation', {'commands__one__actuators': ['lefd']}, 'did you mean left'),
        ('simulation', {'commands__one__topic': 'no topic'}, 'commands.one.topic'),
    ],
)
def test_wrong_parts_end_the_process_in_words(start, tmp_path, name, changes, words):
    """A part that cannot be ends the node with the parameter and what would be right."""
    process = start(name, **{'autostart': 'true', **PAIR, **changes})
    assert process.wait(PATIENCE) == 1
    log = (tmp_path / f'{name}.log').read_text(encoding='utf-8')
    assert words in log and 'Traceback' not in log
