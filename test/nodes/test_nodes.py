# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Both nodes as processes over real DDS, with a plant that needs no compilation."""

import contextlib
import math
import os
from pathlib import Path
import signal
import time

import numpy as np
import pytest

pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticStatus  # noqa: E402
from lifecycle_msgs.msg import Transition  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
import softrobot_dynamics as sd  # noqa: E402
from softrobot_dynamics.loops import realtime  # noqa: E402
from softrobot_dynamics.loops.message_fields import SECOND, stamp_of  # noqa: E402
from softrobot_dynamics.nodes.messaging.message_values import stamped  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402
from support.linear_plant import ACTUATORS, COORDINATES  # noqa: E402
from support.node_processes import closed_loop, RATE, SAFE  # noqa: E402
from support.observer import CONTROLLER, PATIENCE, SIMULATION  # noqa: E402


def message(position=(0.0, 0.0), names=COORDINATES, velocity=(0.0, 0.0)):
    """Return a state that somebody else might publish."""
    state = JointState(name=list(names), position=list(position), velocity=list(velocity))
    state.header.stamp = stamped(time.time_ns())
    return state


@pytest.mark.realtime
def test_the_loop_closes_follows_and_can_be_tuned(observer, start):
    """A set-point is reached, gains and references change live, wrong ones are refused."""
    closed_loop(observer, start)
    assert observer.set(reference__type='setpoint', reference__setpoint=[1.0, -2.0]).successful
    observer.until(
        lambda: (
            'state' in observer.heard
            and np.allclose(observer.heard['state'].position, [1.0, -2.0], atol=0.02)
        ),
        'the set-point',
    )
    assert observer.heard['state'].name == list(ACTUATORS)
    observer.until(
        lambda: np.array_equal(observer.reference('positions'), [1.0, -2.0]), 'the reference'
    )
    assert observer.set(gains__p=150).successful and observer.get('gains.p') == 150.0
    answer = observer.set(gains__p=50.0, gains__left__d=-1.0)
    assert not answer.successful and 'gains.left.d: -1.0' in answer.reason
    assert observer.get('gains.p') == 150.0  # all or none
    answer = observer.set(gains__p=3e5)
    assert not answer.successful and answer.reason.count(f'eigenvalue at {1e3 / RATE:g} ms')
    assert observer.get('gains.p') == 150.0
    answer = observer.set(reference__setpoint=[9.0, 9.0])
    assert not answer.successful and 'two numbers within 4' in answer.reason
    answer = observer.set(robot='another')
    assert not answer.successful and 'read-only' in answer.reason
    assert observer.value(CONTROLLER, 'watchdog trips') == 0


def test_bad_messages_change_nothing(observer, start):
    """Bad messages are counted by cause in both nodes, and the loop goes on."""
    closed_loop(observer, start)
    bad_states = {
        'wrong size': message((0.0,), velocity=(0.0,)),
        'wrong name': message(names=('x', 'who')),
        'not a number': message((math.nan, 0.0)),
    }
    for cause, state in bad_states.items():
        _say_until_refused(observer, 'joint_states', state, CONTROLLER, cause)
    observer.until(
        lambda: '2 publishers of /joint_states: /observer, /sim' in observer.words()[CONTROLLER],
        'a word on two senders',
    )
    observer.hush('joint_states')
    command = JointState(name=list(ACTUATORS), effort=[1.0, math.nan])
    _say_until_refused(observer, 'joint_commands', command, SIMULATION, 'not a number')
    observer.until_running()
    assert np.isfinite(observer.states[-1].position).all()


def _say_until_refused(observer, topic, message, listener, cause):
    """Say it until it was heard: of two messages at a time the listener takes the newer only."""

    def refused():
        if observer.value(listener, f'refused: {cause}') >= 1:
            return True
        observer.say(topic, message)
        return False

    observer.until(refused, cause, every=0.05)


@pytest.mark.realtime
def test_the_controller_survives_the_simulation(observer, start):
    """Without states the controller sends the safe command and logs an error, then resumes."""
    simulation, controller = closed_loop(observer, start)
    simulation.kill()
    simulation.wait()
    observer.until(
        lambda: observer.commands and observer.commands[-1].effort.tolist() == SAFE,
        'the safe command',
    )
    observer.until(lambda: observer.status[CONTROLLER].level == DiagnosticStatus.ERROR, 'ERROR')
    assert 'no valid state' in observer.words()[CONTROLLER]
    start('simulation')
    observer.until_running()
    assert controller.poll() is None and observer.value(CONTROLLER, 'watchdog trips') == 1


def test_the_simulation_survives_the_controller(observer, start):
    """Without commands the simulation applies its safe command and later takes new ones."""
    _, controller = closed_loop(observer, start)
    controller.kill()
    controller.wait()
    observer.until(lambda: 'too old' in observer.words()[SIMULATION], 'its own safe command')
    observer.until(lambda: observer.states[-1].position[0] > 0.3, 'the pretension to act')
    answer = observer.call(Trigger, 'simulation/reset', Trigger.Request())
    assert answer.success
    observer.until(lambda: observer.states[-1].position[0] < 0.1, 'the initial state')
    start('controller', autostart='true')
    observer.until_running()


@pytest.mark.realtime
@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_the_safe_command_and_the_record(observer, start, tmp_path, number):
    """The last command is the safe one, the exit status 0, and nothing recorded is lost."""
    path = tmp_path / 'deep' / 'run.mcap'
    simulation, controller = closed_loop(observer, start, record=path)
    observer.until(lambda: observer.value(CONTROLLER, 'ticks') > RATE, 'a second of ticks')
    controller.send_signal(number)
    assert controller.wait(PATIENCE) == 0
    observer.until(lambda: observer.commands[-1].effort.tolist() == SAFE, 'the safe command')
    record = sd.read_recording(path)
    assert record.complete and len(record) > RATE and set(record['mode']) == {1}
    assert record.facts['actuator_names'] == list(ACTUATORS)
    assert record.facts['command_units'] == ['N', 'N']
    assert record.facts['output_units'] == ['m', 'm']
    simulation.send_signal(number)
    assert simulation.wait(PATIENCE) == 0


@pytest.mark.realtime
def test_every_activation_has_its_record_and_kill_9_leaves_it(observer, start, tmp_path):
    """Each activation has its own record, of which kill -9 loses at most the last second."""
    start('simulation')
    controller = start('controller', record=tmp_path / 'run.mcap', autostart='true')
    observer.until_running()
    assert observer.change(Transition.TRANSITION_DEACTIVATE)
    observer.status.clear()
    assert observer.change(Transition.TRANSITION_ACTIVATE)
    observer.until_running()
    assert observer.set(gains__p=150.0).successful
    heard = len(observer.commands)
    observer.until(lambda: len(observer.commands) > heard + 2 * RATE, 'two seconds of commands')
    controller.kill()
    controller.wait()
    last = stamp_of(observer.commands[-1])
    first, second = (sd.read_recording(tmp_path / name) for name in ('run.mcap', 'run_2.mcap'))
    assert first.complete and not second.complete
    assert first['stamp'][-1] < second['stamp'][0]
    assert last - second['stamp'][-1] < SECOND
    assert len(second) > RATE and (np.diff(second['stamp']) > 0).all()
    assert first.parameters[0][1]['gains.p'] == 100.0
    assert second.parameters[-1][1] == {'gains.p': 150.0}
    assert second.facts['digest'] == 'two masses'


def test_a_record_is_put_into_a_folder_that_exists(observer, start, tmp_path):
    """Named after the node and the time; where none can be made, nothing is configured."""
    simulation = start('simulation', record=tmp_path)
    observer.until(lambda: observer.states, 'a state')
    simulation.send_signal(signal.SIGTERM)
    assert simulation.wait(PATIENCE) == 0
    (file,) = tmp_path.glob('simulation_2*.mcap')
    assert sd.read_recording(file).facts['robot'] == 'pcc_arm'
    assert start('simulation', record=tmp_path / 'simulation.log' / 'x').wait(PATIENCE) == 1
    log = (tmp_path / 'simulation.log').read_text(encoding='utf-8')
    assert 'a file in a folder that can be written to' in log


@pytest.mark.realtime
def test_life_cycle_and_emergency(observer, start):
    """Configure, activate, stop, release, hold, deactivate, activate again, clean up."""
    start('simulation')
    start('controller')
    assert not observer.call(Trigger, 'controller/hold', Trigger.Request()).success
    assert observer.change(Transition.TRANSITION_CONFIGURE)
    assert observer.commands == []
    assert observer.change(Transition.TRANSITION_ACTIVATE)
    observer.until_running()
    stop = SetBool.Request(data=True)
    assert observer.call(SetBool, 'controller/emergency_stop', stop).success
    observer.until(lambda: observer.mode(CONTROLLER) == 'emergency stop', 'the stop')
    assert observer.commands[-1].effort.tolist() == SAFE
    assert observer.change(Transition.TRANSITION_DEACTIVATE)
    assert observer.change(Transition.TRANSITION_ACTIVATE)
    observer.until(lambda: observer.mode(CONTROLLER) == 'emergency stop', 'still the stop')
    assert observer.call(SetBool, 'controller/emergency_stop', SetBool.Request()).success
    observer.until_running()
    assert observer.call(Trigger, 'controller/hold', Trigger.Request()).success
    assert observer.change(Transition.TRANSITION_DEACTIVATE)
    observer.until(lambda: observer.commands[-1].effort.tolist() == SAFE, 'the safe command')
    observer.until(lambda: 'too old' in observer.words()[SIMULATION], 'no more commands')
    assert observer.change(Transition.TRANSITION_CLEANUP)
    assert observer.change(Transition.TRANSITION_CONFIGURE)
    assert observer.change(Transition.TRANSITION_ACTIVATE)
    observer.until_running()


def test_a_reference_that_cannot_be_had_is_not_activated(observer, start, tmp_path):
    """With autostart an impossible reference ends the process with the reason in its log."""
    controller = start(
        'controller',
        autostart='true',
        reference__type='setpoint',
        reference__setpoint='[7.0, 7.0]',
    )
    assert controller.wait(PATIENCE) == 1
    assert 'two numbers within 4' in (tmp_path / 'controller.log').read_text(encoding='utf-8')


@pytest.mark.parametrize(
    'parameter, words',
    [({'gains__p': -1.0}, 'gains.p'), ({'rate': 0.0}, 'rate'), ({'robot': 5}, 'robot')],
)
def test_wrong_parameters_end_the_process_in_words(start, tmp_path, parameter, words):
    """Naming the parameter, not with a traceback."""
    controller = start('controller', autostart='true', **parameter)
    assert controller.wait(PATIENCE) == 1
    log = (tmp_path / 'controller.log').read_text(encoding='utf-8')
    assert f'{words}: ' in log and 'Traceback' not in log


def test_commands_as_an_array_close_the_loop_too(observer, start):
    """The loop also closes on commands as arrays, which a forward_command_controller takes."""
    start('simulation', command_type='multi_array')
    start('controller', command_type='multi_array', autostart='true')
    observer.until_running()
    assert len(observer.heard['array'].data) == 2 and observer.commands == []


@pytest.mark.parametrize('name', ['controller', 'simulation'])
def test_a_signal_ends_the_loading_of_a_robot(start, tmp_path, name):
    """A signal ends a node while it compiles."""
    process = start(name, robot='slow', autostart='true')
    log, end = tmp_path / f'{name}.log', time.monotonic() + PATIENCE
    while 'loading slow' not in log.read_text(encoding='utf-8') and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0
    assert 'Traceback' not in log.read_text(encoding='utf-8')


@pytest.mark.skipif(not Path('/proc/self/task').exists(), reason='threads are read from /proc')
def test_with_priority_a_node_keeps_to_its_processor(observer, start):
    """With priority the loop and DDS run on the node's processor at their priorities."""
    processor = realtime.processors()[-1]
    process = start('simulation', '--priority', '10', '--processor', str(processor))
    observer.until(lambda: observer.states, 'a state')
    if os.sched_getscheduler(process.pid) != os.SCHED_FIFO:
        pytest.skip('no right to real-time priority here')
    folder = Path(f'/proc/{process.pid}/task')

    def threads():
        """Return name, priority (0: an ordinary thread) and processors of each thread."""
        found = []
        for task in folder.iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended
                name, number = (task / 'comm').read_text(encoding='utf-8'), int(task.name)
                real_time = os.sched_getscheduler(number) == os.SCHED_FIFO
                priority = os.sched_getparam(number).sched_priority if real_time else 0
                found.append((name, priority, os.sched_getaffinity(number)))
        return found

    def slow():  # those that hear what is rare are started last, after the loop
        return [name for name, priority, _ in threads() if priority == 7]

    observer.until(lambda: len(slow()) == 2, 'the last threads')
    found = threads()
    assert all(where == {processor} for _, priority, where in found if priority)
    assert os.sched_getparam(process.pid).sched_priority == 8
    assert {priority for _, priority, _ in found} - {0} == {7, 8, 9, 10}
    for name, priority, _ in found:
        if name.startswith('dds.'):  # of Fast DDS
            assert (priority > 0) == (not name.startswith('dds.asyn')), name


def test_a_processor_that_is_not_there_is_refused(start, tmp_path):
    """A processor that does not exist is refused with those that do."""
    assert start('simulation', '--processor', '5000').wait(PATIENCE) == 2
    log = (tmp_path / 'simulation.log').read_text(encoding='utf-8')
    assert "'5000' is not a processor of this process, expected one of own, first, second, " in log


def test_misspelt_parameters_are_reported(start, tmp_path, observer):
    """A warning names each misspelt parameter and its probable name."""
    start('controller', gains__lefd__p=3.0)
    assert observer.change(Transition.TRANSITION_CONFIGURE)
    log = (tmp_path / 'controller.log').read_text(encoding='utf-8')
    assert 'gains.lefd.p (did you mean gains.left.p?)' in log
