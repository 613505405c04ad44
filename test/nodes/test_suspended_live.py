# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Laws that optimise go on after their process, or that of the robot, was suspended for 2 s."""

import os
import signal
import time

import numpy as np
import pytest

pytest.importorskip('rclpy')

from support.node_processes import compile_for_nodes, NODES, RATE, starting  # noqa: E402
from support.observer import CONTROLLER  # noqa: E402

pytestmark = pytest.mark.realtime

ROBOT, GOAL, SUSPENDED = 'double_pendulum', [0.8, -0.3], 2.0  # [s]


@pytest.mark.parametrize('law', ['task', 'predictive'])
def test_it_is_back_at_its_goal_after_a_suspension(observer, tmp_path, law):
    """The watchdog trips, commands are numbers throughout, and the outputs reach their goal."""
    compile_for_nodes(ROBOT, controller=law)

    def at_goal():
        found = observer.heard.get('state')
        return found and max(abs(a - b) for a, b in zip(found.position, GOAL)) < 1e-2

    with starting(tmp_path, NODES, (), robot=ROBOT, rate=RATE) as start:
        simulation = start('simulation')
        controller = start(
            'controller',
            autostart='true',
            controller=law,
            reference__type='setpoint',
            reference__setpoint=GOAL,
            reference__ramp_time=0.3,
        )
        observer.until_running()
        observer.until(at_goal, 'the goal')
        for process in (simulation, controller):
            trips = observer.value(CONTROLLER, 'watchdog trips')
            os.kill(process.pid, signal.SIGSTOP)
            time.sleep(SUSPENDED)
            os.kill(process.pid, signal.SIGCONT)
            observer.until(
                lambda trips=trips: observer.value(CONTROLLER, 'watchdog trips') > trips, 'a trip'
            )
            observer.heard.pop('state')
            observer.until_running()
            observer.until(at_goal, 'the goal again')
            assert all(np.isfinite(command.effort).all() for command in observer.commands)
