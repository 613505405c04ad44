# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Topics and services of the simulation node other than commands, over real DDS."""

import json
import signal

import numpy as np
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import WrenchStamped  # noqa: E402
from rclpy.qos import qos_profile_sensor_data  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
import softrobot_dynamics as sd  # noqa: E402
from softrobot_dynamics.configuration import build  # noqa: E402
from softrobot_dynamics.configuration.node_parameters import OF_SIMULATION  # noqa: E402
from softrobot_dynamics.errors import MessageError  # noqa: E402
from softrobot_dynamics.loops.external_inputs import ExternalWrenches, InitialStateReader  # noqa: E402
from softrobot_dynamics.loops.message_fields import cause_of, CAUSES, stamp_of  # noqa: E402
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402
from support.closures import four_bar  # noqa: E402
from support.linear_plant import Model, Simulator  # noqa: E402
from support.node_processes import closed_loop, NODES, RATE, starting  # noqa: E402
from support.observer import CONTROLLER, PATIENCE, SIMULATION  # noqa: E402


def push(place, force=0.0, torque=0.0):
    """Return a wrench along x at a place."""
    message = WrenchStamped()
    message.header.frame_id = place
    message.wrench.force.x, message.wrench.torque.x = force, torque
    return message


def state(**given):
    """Return a JointState."""
    message = JointState()
    for name, values in given.items():
        setattr(message, name, values)
    return message


@pytest.mark.quick
def test_wrenches_at_several_places_act_together():
    """Wrenches act together, each until another at its place, as the log describes."""
    pushes = ExternalWrenches(Model())
    pushes.read(push('cart', 1.0))
    pushes.read(push('cart base', 2.0))
    found = pushes.read(push('cart 0 0.5 -1e-2 base', 3.0))['cart']
    assert [w.value[3] for w in found] == [1.0, 2.0, 3.0]
    assert [w.frame for w in found] == ['body', 'base', 'base']
    assert found[0].point is None and found[2].point.tolist() == [0.0, 0.5, -0.01]
    assert [w.value[3] for w in pushes.read(push('cart', 4.0))['cart']] == [2.0, 3.0, 4.0]
    pushes.read(push('cart base'))
    pushes.read(push('cart'))
    assert pushes.read(push('cart 0 0.5 -0.01 base', 5.0))['cart'][0].value[3] == 3.0
    pushes.clear()
    assert pushes.read(push('cart', 0.0, torque=1.0))['cart'][0].value[0] == 1.0


@pytest.mark.quick
@pytest.mark.parametrize(
    'place, force, words',
    [
        ('', 1.0, "expected a body, one of \\('cart',\\)"),
        ('base', 1.0, 'expected a body'),
        ('horse', 1.0, 'horse'),
        ('cart 0 0', 1.0, 'expected BODY or BODY X Y Z'),
        ('cart a b c', 1.0, 'expected BODY or BODY X Y Z'),
        ('cart 0 0 nan', 1.0, 'expected BODY or BODY X Y Z'),
        ('cart', np.nan, 'expected finite ones'),
    ],
)
def test_wrong_wrenches_are_refused(place, force, words):
    """A wrong wrench is refused with the reason, and those in force stay."""
    pushes = ExternalWrenches(Model())
    pushes.read(push('cart', 1.0))
    with pytest.raises(MessageError, match=words) as refusal:
        pushes.read(push(place, force))
    assert cause_of(refusal.value) in CAUSES
    assert len(pushes.read(push('cart base', 1.0))['cart']) == 2


@pytest.mark.quick
@pytest.mark.parametrize(
    'given, words',
    [
        ({'name': ['z'], 'position': [1.0]}, "name: \\['z'\\], expected different ones of"),
        ({'name': ['x', 'x'], 'position': [1.0, 1.0]}, 'expected different ones'),
        ({'name': ['x'], 'position': [1.0, 2.0]}, 'position: .* expected a number for each name'),
        ({'name': ['x'], 'velocity': [np.inf]}, 'velocity: .* expected a number for each name'),
        ({'name': ['x']}, 'position and velocity: .., expected a number for each name'),
        ({'position': [1.0]}, 'position: .* expected a number for each name'),
    ],
)
def test_wrong_states_are_refused(given, words):
    """A wrong state to start at is refused with name and value."""
    with pytest.raises(MessageError, match=words) as refusal:
        InitialStateReader(Model(), Simulator(), 1e-3).read(state(**given))
    assert cause_of(refusal.value) in CAUSES


@pytest.mark.realtime
def test_a_running_robot_is_pushed_put_elsewhere_and_reset(observer, start, tmp_path):
    """A running robot is pushed, moved and reset, and wrong requests change nothing."""
    closed_loop(observer, start)
    assert observer.set(reference__type='setpoint', reference__setpoint=[0.0, 0.0]).successful

    def at(x, tolerance=0.01):
        return lambda: abs(observer.states[-1].position[0] - x) < tolerance

    tell = {
        topic: observer.node.create_publisher(kind, f'simulation/{topic}', 10)
        for topic, kind in (('wrench', WrenchStamped), ('set_state', JointState))
    }
    observer.until(lambda: all(p.get_subscription_count() for p in tell.values()), 'the node')
    tell['wrench'].publish(push('cart', 5.0))
    observer.until(at(0.05), 'where the gains let 5 N push it')
    tell['wrench'].publish(push('horse', 5.0))
    tell['wrench'].publish(push('cart'))
    observer.until(at(0.0, 1e-3), 'where it was')
    tell['set_state'].publish(state(name=['x'], position=[1.5]))
    observer.until(at(1.5, 0.3), 'elsewhere')
    observer.until(at(0.0, 1e-2), 'where it shall be')
    tell['set_state'].publish(state(name=['nose'], position=[1.5]))
    log, said = tmp_path / 'simulation.log', ["frame_id: ('horse',)", "name: ['nose']"]
    observer.until(lambda: all(words in log.read_text() for words in said), 'both refusals')
    tell['set_state'].publish(state(name=['x', 'y'], position=[1e7, 0.0]))
    said.append('expected a state from which the robot can move on')
    observer.until(lambda: all(words in log.read_text() for words in said), 'one more')
    assert observer.call(Trigger, 'simulation/reset', Trigger.Request()).success
    observer.until_running()


def test_time_can_stand_still_and_pass_step_by_step(observer, start):
    """During a pause with single steps the controller is without states, then holds."""
    closed_loop(observer, start)
    refused = observer.call(Trigger, 'simulation/step', Trigger.Request())
    assert not refused.success and 'pause it first' in refused.message
    assert observer.call(SetBool, 'simulation/pause', SetBool.Request(data=True)).success
    observer.until(lambda: observer.words()[CONTROLLER].startswith('no valid state'), 'a trip')
    count = len(observer.states)
    for _ in range(3):
        assert observer.call(Trigger, 'simulation/step', Trigger.Request()).success
    observer.until(lambda: len(observer.states) >= count + 3, 'three states')
    stamps = [stamp_of(each) for each in observer.states[count - 1 :]]
    assert np.diff(stamps).tolist() == [round(1e9 / RATE)] * 3
    assert observer.call(SetBool, 'simulation/pause', SetBool.Request(data=False)).success
    observer.until_running()


@pytest.mark.parametrize('factor', [0.25, 2.0])
def test_time_may_pass_faster_or_slower(observer, start, factor):
    """Stamps and /clock have the simulated time at a factor that changes live."""
    times = []
    observer.node.create_subscription(
        Clock, '/clock', lambda m: times.append(stamp_of_clock(m)), qos_profile_sensor_data
    )
    simulation = {'publish_clock': 'true', 'real_time_factor': factor, 'rate': RATE}
    start('simulation', **simulation)
    start('controller', autostart='true')
    observer.until_running()
    begin = len(observer.states)
    observer.until(lambda: len(observer.states) > begin + 50, 'states')
    stamps = [stamp_of(each) for each in observer.states[begin:]]
    assert set(np.diff(stamps)) <= {10_000_000 * k for k in range(1, 40)}
    observer.until(
        lambda: set(map(stamp_of, observer.states[begin:])) & set(times), 'one time on both'
    )
    assert observer.value(SIMULATION, 'real-time factor asked for') == factor


def stamp_of_clock(message):
    """Return the time of a Clock [ns]."""
    return message.clock.sec * 1_000_000_000 + message.clock.nanosec


@pytest.mark.realtime
def test_as_fast_as_answers_come_the_motion_is_the_same(observer, start, tmp_path):
    """The motion without real time equals that at a slow pace bit by bit."""
    runs = (
        _records(observer, start, tmp_path / str(f), command_timing='lockstep', real_time_factor=f)
        for f in (0.0, 0.4, 0.1, 0.05)
    )
    fast = next(runs)
    # at a pace an answer may come too late for its tick, and the motion is another: then a slower
    paced = next(records for records in runs if _answered(records[0]))
    for column in ('q', 'qd', 'u'):
        assert np.array_equal(fast[0][column][:200], paced[0][column][:200])
    assert np.abs(fast[0]['q'][:200]).max() > 1.0
    assert np.abs(_behind(*fast, 0)).max() == 0.0  # u of the very tick
    following = _records(observer, start, tmp_path / 'next', command_timing='next_period')
    assert np.abs(_behind(*following, 1)).max() == 0.0
    assert np.abs(_behind(*following, 0)).max() > 0.01


@pytest.mark.realtime
def test_a_pause_of_the_simulation_does_not_end_a_loop_without_real_time(observer, start):
    """After a loss of states the controller needs some in a row, and gets them unanswered."""
    simulation = start(
        'simulation', rate=200.0, real_time_factor=0.0, command_timing='lockstep',
        wait_for_commands='true', command_timeout_periods=100_000,
    )  # fmt: skip
    start('controller', rate=200.0, autostart='true')
    observer.until_running()
    simulation.send_signal(signal.SIGSTOP)
    observer.until(lambda: observer.mode(CONTROLLER) == 'no valid state', 'the watchdog')
    simulation.send_signal(signal.SIGCONT)
    observer.until_running()
    begin = len(observer.states)
    observer.until(lambda: len(observer.states) > begin + 100, 'states')


def _answered(robot):
    """Tell whether all states of the first 200 ticks were answered in time."""
    driven = robot['mode'] == robot.facts['modes'].index('driven by commands')
    return not np.isnan(robot['round_trip'][:200][driven[:200]]).any()


def _records(observer, start, path, **given):
    """Return the records of the robot and of the law of 200 ticks, as fast as answers come."""
    settings = {'real_time_factor': 0.0, 'command_timeout_periods': 1000, 'rate': 200.0, **given}
    robot = start('simulation', record=f'{path}-robot', wait_for_commands='true', **settings)
    goal = {'reference__type': 'setpoint', 'reference__setpoint': '[1.0, -2.0]'}
    goal |= {'rate': 200.0, 'watchdog_periods': 1000, 'record': f'{path}-law'}
    law = start('controller', autostart='true', **goal)
    observer.until_running()
    observer.states.clear()
    observer.until(lambda: len(observer.states) > 200, 'states')
    for process in (robot, law):
        process.terminate()
        assert process.wait(PATIENCE) == 0
    observer.status.clear()
    return [sd.read_recording(f'{path}-{name}.mcap') for name in ('robot', 'law')]


def _behind(robot, law, periods):
    """Return what acted on the robot less the answers to states so many periods before."""
    answers = dict(zip(law['stamp'], law['u'], strict=True))
    driven = np.flatnonzero(robot['mode'] == robot.facts['modes'].index('driven by commands'))
    rows = driven[driven >= driven[0] + 5][:150]
    return np.array([robot['u'][k] - answers[robot['stamp'][k - periods]] for k in rows])


@pytest.mark.parametrize(
    'coordinate, value, rate, words',
    [
        ('segment3/elongation', 1e7, 0.0, 'the robot cannot start there .singular'),
        ('segment3/elongation', 1e100, 0.0, 'the robot cannot start there .singular'),
        ('segment1/bend_x', 40.0, 0.0, 'bend_x: 40, expected segment1: a bend of at most 8.* rad'),
        ('segment1/bend_x', 1e300, 0.0, 'bend_x: 1e.300, expected segment1: a bend of at most 8'),
        ('segment1/bend_x', 0.0, 1e150, 'the rate 1e.150, expected a state from which .* 0.001 s'),
        ('segment2/elongation', 0.0, 1e300, 'the rate 1e.300, expected a state from which'),
    ],
)
def test_absurd_states_are_refused_before_they_are_taken_up(arm, coordinate, value, rate, words):
    """A state beyond a body's range, without inertia or with infinite forces is refused."""
    reader = InitialStateReader(arm, ActuatedSimulator(arm), 1e-3)
    wrong = state(name=[coordinate], position=[value], velocity=[rate])
    with pytest.raises(MessageError, match=f'out of range: .*{words}') as refusal:
        reader.read(wrong)
    assert cause_of(refusal.value) in CAUSES and len(str(refusal.value)) < 300
    q, _ = reader.read(state(name=['segment3/elongation'], position=[10.0]))
    assert q[8] == 10.0  # far, but a robot as any other


@pytest.mark.realtime
def test_a_robot_sets_out_when_it_is_answered(observer, start):
    """With `wait_for_commands` the state does not change before a command answers it."""
    start('simulation', wait_for_commands='true')
    observer.until(lambda: len(observer.states) > 100, 'states')
    assert {tuple(each.position) for each in observer.states} == {(0.0, 0.0)}
    goal = {'reference__type': 'setpoint', 'reference__setpoint': '[1.0, -2.0]'}
    start('controller', autostart='true', **goal)
    observer.until_running()
    observer.until(lambda: tuple(observer.states[-1].position) != (0.0, 0.0), 'a motion')


def test_a_robot_with_a_closed_loop_swings_with_the_loop_closed(observer, tmp_path):
    """States of a four-bar that falls under its weight change, and all of them are closed."""
    file = tmp_path / 'four_bar.yaml'
    file.write_text(json.dumps(four_bar(damping=0.2)))
    build.simulated({row.name: row.default for row in OF_SIMULATION} | {'robot': str(file)})
    model = sd.compile_model(sd.load_robot(file))
    with starting(tmp_path, NODES, (), robot=str(file), rate=RATE) as start:
        start('simulation')
        observer.until(lambda: observer.states, 'a state')
        observer.states.clear()
        assert observer.call(Trigger, 'simulation/reset', Trigger.Request()).success
        observer.until(lambda: len(observer.states) > 50, 'states')
        states = np.array([each.position for each in observer.states])
    assert np.ptp(states, axis=0).max() > 0.01
    for q in states[::10]:
        assert np.abs(sd.closures(model, q=q).residual).max() < 1e-9
