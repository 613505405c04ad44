# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Stops do not wait for planning or compilation: both nodes over real DDS.

References of the type `path` are planned here by a process that would take ten minutes, longer
than any test waits: whatever is answered meanwhile was answered beside the planning.
"""

import contextlib
from pathlib import Path
import signal
import subprocess

import pytest

pytest.importorskip('rclpy')

from lifecycle_msgs.msg import Transition  # noqa: E402
import softrobot_dynamics as sd  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402
from support.node_processes import closed_loop, ended, planner_of, SAFE, starting  # noqa: E402
from support.observer import CONTROLLER, PATIENCE  # noqa: E402

pytestmark = pytest.mark.skipif(not Path('/proc/self/stat').exists(), reason='reads /proc')


def _stop(observer, on):
    request = SetBool.Request(data=on)
    return observer.call(SetBool, 'controller/emergency_stop', request).success


def _hold(observer):
    return observer.call(Trigger, 'controller/hold', Trigger.Request())


def _refused_by(observer, setting, canceller, planner):
    """Check that a set was refused since somebody cancelled its planning, which has ended."""
    answer = observer.answer(setting).result
    assert not answer.successful and f'planning was cancelled by {canceller}' in answer.reason
    observer.until(lambda: ended(planner), 'the end of the planning process')
    return True


@pytest.mark.realtime
def test_nothing_that_makes_safe_waits_for_the_planning_of_a_parameter(observer, start):
    """Hold, emergency stop and deactivate act, and the set is refused with that reason."""
    _, controller = closed_loop(observer, start)
    setting = observer.begin_to_set(reference__type='path')
    planner = planner_of(observer, controller)
    assert _hold(observer).success
    assert _refused_by(observer, setting, 'hold', planner)
    setting = observer.begin_to_set(reference__type='path')
    planner = planner_of(observer, controller)
    assert _stop(observer, True)
    assert _refused_by(observer, setting, 'the emergency stop', planner)
    observer.until(lambda: observer.mode(CONTROLLER) == 'emergency stop', 'the stop')
    answer = _hold(observer)
    assert not answer.success and answer.message == 'emergency stop is on: release it first'
    assert _stop(observer, False)
    observer.until_running()
    setting = observer.begin_to_set(reference__type='path')
    planner = planner_of(observer, controller)
    observer.commands.clear()
    assert observer.change(Transition.TRANSITION_DEACTIVATE)
    assert _refused_by(observer, setting, 'deactivation', planner)
    observer.until(
        lambda: observer.commands and observer.commands[-1].effort.tolist() == SAFE,
        'the safe command',
    )
    assert observer.get('reference.ramp_time') == 2.0  # parameters are answered again
    assert observer.set(gains__p=150.0).successful


@pytest.mark.realtime
def test_nothing_that_makes_safe_waits_for_activation(observer, start):
    """A hold or an emergency stop ends the planning, and activation goes on from there."""
    start('simulation')
    controller = start('controller', reference__type='path')
    assert observer.change(Transition.TRANSITION_CONFIGURE)
    assert _hold(observer).message == 'not active'
    activating = observer.begin_to_change(Transition.TRANSITION_ACTIVATE)
    planner_of(observer, controller)
    assert _hold(observer).success
    assert observer.answer(activating).success
    observer.until_running()
    assert observer.change(Transition.TRANSITION_DEACTIVATE)
    activating = observer.begin_to_change(Transition.TRANSITION_ACTIVATE)
    planner_of(observer, controller)
    observer.commands.clear()
    assert _stop(observer, True)
    assert observer.answer(activating).success
    observer.until(lambda: observer.mode(CONTROLLER) == 'emergency stop', 'the stop')
    assert {tuple(command.effort) for command in observer.commands} == {tuple(SAFE)}


def test_a_signal_ends_the_planning_of_a_parameter(observer, start, tmp_path):
    """A signal while planning sends the safe command, keeps the record and ends the planner."""
    record = tmp_path / 'run.mcap'
    _, controller = closed_loop(observer, start, record=record)
    setting = observer.begin_to_set(reference__type='path')
    planner = planner_of(observer, controller)
    controller.send_signal(signal.SIGTERM)
    assert controller.wait(PATIENCE) == 0
    assert _refused_by(observer, setting, 'a signal', planner)
    observer.until(lambda: observer.commands[-1].effort.tolist() == SAFE, 'the safe command')
    recording = sd.read_recording(record)
    assert recording.complete and len(recording) > 0


def test_a_signal_ends_the_planning_of_an_activation(observer, start, tmp_path):
    """A signal during the planning of an activation ends the process in order."""
    controller = start('controller', autostart='true', reference__type='path')
    planner = planner_of(observer, controller)
    controller.send_signal(signal.SIGINT)
    assert controller.wait(PATIENCE) == 0
    observer.until(lambda: ended(planner), 'the end of the planning process')
    assert 'Traceback' not in (tmp_path / 'controller.log').read_text(encoding='utf-8')


def test_the_planning_ends_with_a_node_that_is_killed(observer, start):
    """The planning process ends when its node is killed."""
    controller = start('controller', autostart='true', reference__type='path')
    planner = planner_of(observer, controller)
    controller.kill()
    controller.wait()
    observer.until(lambda: ended(planner), 'the end of the planning process')


def test_more_signals_change_nothing(observer, tmp_path):
    """Repeated Ctrl-C leads to the same orderly end."""
    with starting(tmp_path, forked=False) as start:
        simulation, controller = closed_loop(observer, start)
        for process in (controller, simulation):
            while process.poll() is None:
                process.send_signal(signal.SIGINT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(0.002)
            assert process.returncode == 0
