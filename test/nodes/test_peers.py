# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Faults of other processes around a closed loop, over real DDS; docs/faults.md is the list."""

import contextlib
import signal
import time

import numpy as np
import pytest

pytest.importorskip('rclpy')

from sensor_msgs.msg import JointState  # noqa: E402
from softrobot_dynamics.loops.message_fields import SECOND, stamp_of  # noqa: E402
from softrobot_dynamics.nodes.messaging.message_values import stamped  # noqa: E402
from std_srvs.srv import SetBool  # noqa: E402
from support.linear_plant import ACTUATORS  # noqa: E402
from support.node_processes import RATE, SAFE, starting  # noqa: E402
from support.observer import CONTROLLER, Observer, SIMULATION  # noqa: E402
from support.policies import check_policy  # noqa: E402

PERIOD = round(SECOND / RATE)  # [ns]
AT_ONCE = 8  # requests; DDS keeps no more than ten of a client


@pytest.fixture(scope='module')
def loop(tmp_path_factory):
    """Return an Observer, the process of the simulation, and what starts further nodes."""
    folder, observer = tmp_path_factory.mktemp('peers'), Observer()
    with contextlib.ExitStack() as stack:
        stack.callback(observer.close)
        start = stack.enter_context(starting(folder))
        simulation = start('simulation', command_timeout_periods=200)
        start('controller', autostart='true', watchdog_periods=200)
        observer.until_running()
        yield observer, simulation, start


def test_a_second_controller_is_refused_what_the_first_has_answered(loop):
    """The simulation refuses a second answer to a state, until the first controller ends."""
    observer, _, start = loop
    other = '--priority', '0', '--ros-args', '-r', '__node:=second', '--'
    second = start('controller', *other, autostart='true')
    observer.until(
        lambda: observer.value(SIMULATION, 'refused: out of order') > RATE / 2, 'second answers'
    )
    assert 'a later state has been answered already' in observer.words()[SIMULATION]
    second.kill()
    second.wait()
    observer.until_running()
    commands = np.array([command.effort for command in observer.commands])
    assert np.isfinite(commands).all() and np.abs(commands).max() <= 10.0
    assert np.abs(observer.states[-1].velocity).max() < 0.1


def test_a_command_that_answers_a_state_of_long_ago_is_refused(loop):
    """A command for an old state is refused from any sender, and the newer one stays."""
    observer, *_ = loop
    old = JointState(name=list(ACTUATORS), effort=[9.0, 9.0])

    def refused():
        if observer.states:
            stamp = stamp_of(observer.states[-1]) - 300 * PERIOD  # half as long again as allowed
            old.header.stamp = stamped(stamp)
            observer.say('joint_commands', old)
        return observer.value(SIMULATION, 'refused: stale') >= 1

    observer.until(refused, 'a stale command')
    observer.hush('joint_commands')
    observer.until_running()


@pytest.mark.realtime
def test_a_simulation_that_slips_goes_on_where_it_was(loop):
    """After a SIGSTOP shorter than the watchdog, stamps and law go on without a gap."""
    observer, simulation, _ = loop
    slips = observer.value(SIMULATION, 'slips')
    observer.commands.clear()
    observer.states.clear()
    simulation.send_signal(signal.SIGSTOP)
    end = time.monotonic() + 0.2
    observer.until(lambda: time.monotonic() > end, 'time')
    simulation.send_signal(signal.SIGCONT)
    observer.until(lambda: observer.value(SIMULATION, 'slips') > slips, 'a slip')
    steps = np.diff([stamp_of(state) for state in observer.states])
    assert (steps % PERIOD == 0).all() and steps.max() < 0.2 * SECOND
    assert SAFE not in [command.effort.tolist() for command in observer.commands]


@pytest.mark.realtime
def test_a_storm_of_parameters_holds_up_neither_the_loop_nor_the_stop(loop):
    """Under many parameter requests the loop runs on and a stop acts."""
    observer, *_ = loop
    trips = observer.value(CONTROLLER, 'watchdog trips')
    waiting, answers, stop = [], [], None
    while stop is None or not stop.done() or len(answers) < 150:
        for k in range(len(answers), len(answers) + AT_ONCE - len(waiting)):
            p = -1.0 if k % 5 == 0 else 100.0 + k % 7
            waiting.append((p, observer.begin_to_set(gains__p=p)))
        if len(answers) > 50 and stop is None:
            request = SetBool.Request(data=True)
            stop = observer.ask(SetBool, 'controller/emergency_stop', request)
        futures = [future for _, future in waiting]
        observer.until(lambda futures=futures: any(f.done() for f in futures), 'an answer')
        answers += [(p, future.result().result) for p, future in waiting if future.done()]
        waiting = [(p, future) for p, future in waiting if not future.done()]
    assert stop.result().success
    assert all(answer.successful == (p > 0.0) for p, answer in answers)
    assert all('gains.p' in answer.reason for p, answer in answers if p < 0.0)
    observer.until(lambda: observer.commands[-1].effort.tolist() == SAFE, 'the safe command')
    release = SetBool.Request(data=False)
    assert observer.call(SetBool, 'controller/emergency_stop', release).success
    observer.until_running()
    assert observer.value(CONTROLLER, 'watchdog trips') == trips


@pytest.mark.parametrize('node', ['controller', 'simulation'])
def test_the_policy_of_sros_2_names_what_a_node_uses(loop, node):
    """The SROS 2 policy lists exactly the topics and services of each node."""
    check_policy(loop[0], node)
