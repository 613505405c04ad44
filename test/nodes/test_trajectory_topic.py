# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Trajectories on a topic of the controller, over real DDS: replaced, refused."""

import signal

import numpy as np
import pytest

pytest.importorskip('rclpy')

from rclpy.qos import QoSProfile  # noqa: E402
import softrobot_dynamics as sd  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402
from support.node_processes import RATE  # noqa: E402
from support.observer import PATIENCE  # noqa: E402
from support.trajectory_messages import trajectory  # noqa: E402
from trajectory_msgs.msg import JointTrajectory  # noqa: E402

pytestmark = pytest.mark.realtime

PERIOD, FIRST, LATER, END = 1.0 / RATE, 1.2, 3.2, 6.0  # [s]


def lengths(arm, u):
    """Return the outputs (m,) of the arm at rest under tensions [N]."""
    q = sd.equilibrium(arm, u=u).q
    return sd.actuation(arm, q=q, qd=np.zeros(arm.n)).coordinates


@pytest.fixture
def say(observer):
    """Return a function that publishes a trajectory."""
    publisher = observer.node.create_publisher(
        JointTrajectory, 'controller/trajectory', QoSProfile(depth=1)
    )

    def say(given):
        observer.until(publisher.get_subscription_count, 'a subscriber')
        publisher.publish(given)

    return say


def test_a_trajectory_is_replaced_at_speed_without_a_jump(arm, observer, start_arm, say, tmp_path):
    """A trajectory replaces another in motion without a jump; a wrong one changes nothing."""
    here, there = lengths(arm, np.full(arm.m, 8.0)), lengths(arm, np.linspace(4.0, 12.0, arm.m))
    away, zero, names = there - here, np.zeros(arm.m), arm.actuator_names
    record, log = tmp_path / 'controller.mcap', tmp_path / 'controller.log'
    start_arm('simulation')
    controller = start_arm(
        'controller', autostart='true', record=record, reference__type='setpoint',
        reference__setpoint=here.tolist(), reference__ramp_time='0.5',
    )  # fmt: skip
    observer.until_running()
    observer.until(
        lambda: np.allclose(observer.reference('positions'), here, rtol=0.0, atol=1e-9), 'it'
    )
    backwards = slice(None, None, -1)
    say(trajectory(names[backwards], (0.0, here[backwards]), (8.0, there[backwards])))
    fast = 0.12 * np.abs(away).max()  # of 0.19 away per second, at half the time
    observer.until(lambda: np.abs(observer.reference('velocities')).max() > fast, 'speed')
    for wrong, words in (
        (trajectory(('nobody', *names[1:]), (0.0, there)), "'nobody' is unknown"),
        (trajectory(names, (0.0, there), (4.0, there + 5.0)), 'effort of t1 [N] would have to be'),
    ):
        say(wrong)
        observer.until(lambda words=words: words in log.read_text(), 'the refusal')
    assert np.abs(observer.reference('velocities')).max() > 0.0  # it goes on
    say(trajectory(
        names,
        (FIRST, here + 0.6 * away, -0.1 * away, zero),
        (LATER, here + 0.3 * away, -0.125 * away, zero),
        (END, here, zero, zero),
    ))  # fmt: skip
    observer.set_pace(3.0)  # no order has to come in time any more
    observer.until(
        lambda: np.allclose(observer.reference('positions'), here, rtol=0.0, atol=1e-9), 'the end'
    )
    assert observer.call(Trigger, 'controller/hold', Trigger.Request()).success
    controller.send_signal(signal.SIGTERM)
    assert controller.wait(PATIENCE) == 0
    check_record(sd.read_recording(record), here, away)


def check_record(data, here, away):
    """Check what was recorded from the first trajectory to the end of the second."""
    keep = np.isfinite(data['y_d']).all(axis=1) & np.isfinite(data['t'])
    t, y, rate, acceleration = (
        data[name][keep] for name in ('t', 'y_d', 'y_d_rate', 'y_d_acceleration')
    )
    there = np.abs(y - here).max(axis=1) < 1e-9
    rest = np.flatnonzero(there)[0]
    begin = rest + np.flatnonzero(~there[rest:])[0]
    end = begin + np.flatnonzero(there[begin:])[0]  # what is held afterwards is what y is by then
    # passed at the times it gave, counted back from its end
    for before, share, speed in ((END - LATER, 0.3, -0.125), (END - FIRST, 0.6, -0.1)):
        k = np.searchsorted(t, t[end] - before)
        missed = max(t[k] - t[k - 1], t[end] - t[end - 1])  # whose values nobody knows
        off = (PERIOD + missed) * np.abs(away).max()
        np.testing.assert_allclose(y[k], here + share * away, atol=off)
        np.testing.assert_allclose(rate[k], speed * away, atol=0.02 * np.abs(away).max())
    # neither value nor rate nor acceleration jumps
    window = slice(begin - 5, end + 5)
    steps = np.diff(t[window])[:, None]
    values, rates, hessians = y[window], rate[window], acceleration[window]
    scale = np.abs(away).max()
    assert np.abs(rates).max() > 0.12 * scale
    missed = (steps / PERIOD).clip(1.0)  # of means over several ticks, the error in both grows
    mean = 0.5 * (rates[1:] + rates[:-1])
    off = np.abs(np.diff(values, axis=0) - steps * mean) / missed**3
    assert off.max() < 2e-4 * scale
    mean = 0.5 * (hessians[1:] + hessians[:-1])
    off = np.abs(np.diff(rates, axis=0) - steps * mean) / missed**2
    assert off.max() < 4e-3 * scale
    jumps = np.abs(np.diff(hessians, axis=0)) * PERIOD / steps  # where ticks were missed, of one
    assert jumps.max() < 0.08 * np.ptp(hessians)
