# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Drives that take positions or velocities follow the law's acceleration, within their limits."""

import functools

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.contract import CONTROLLERS
from softrobot_dynamics.controllers.safe_command import SafeCommand
from softrobot_dynamics.controllers.setpoints import DriveSetpoints
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.loops.driver import Driver
from softrobot_dynamics.loops.orders import HoldOrder, Orders
from softrobot_dynamics.references.piecewise import constant, spline
from support.joint_drives import compiled, link

T = 2e-3  # [s]
CUBIC = spline(np.array([0.0, 1.0]), np.array([[0.0], [1.0]]))  # [rad], 1.5 rad/s at most
REST = np.zeros(1)


@functools.cache
def robot(*given):
    """Return the compiled link with such a drive."""
    return compiled(*given)


def law(model, period=T, **parameters):
    """Return PFBL for a link."""
    kind = CONTROLLERS.get('pfbl')
    return kind(model, period=period, settings=kind.make_settings(model, **parameters))


def followed(model, plant=None, reference=CUBIC, seconds=1.5, period=T, **given):
    """Return the closed loop of a link from rest at zero."""
    start = sd.Start(q=given.pop('q', REST), ramp=given.pop('ramp', 0.0))
    parameters = {'p': 100.0, 'd': 20.0, **given.pop('parameters', {})}
    own = sd.Law('pfbl', period=period, parameters=parameters)
    plant = sd.Plant(plant, **given)
    return sd.closed_loop(model, own, reference, seconds, start=start, plant=plant)


def off(run):
    """Return how far the joint is from the reference in each tick [rad]."""
    return np.abs(run.q[:, 0] - run.y_d[:, 0])


@pytest.mark.parametrize('command', ['position', 'velocity'])
@pytest.mark.parametrize('bandwidth', [5.0, 50.0])
@pytest.mark.parametrize('period, most', [(1e-3, 4e-4), (1e-2, 3e-3)])
def test_a_joint_follows_a_reference_through_a_drive_of_its_own(command, bandwidth, period, most):
    """A joint follows a reference at 100 Hz and 1 kHz: the lag of its drive is compensated."""
    run = followed(robot(command, bandwidth), period=period)
    assert run.ok.all() and off(run).max() < most and off(run)[-1] < 2e-4


@pytest.mark.parametrize('command', ['position', 'velocity'])
@pytest.mark.parametrize('share', [0.7, 1.4])
def test_a_drive_that_is_faster_or_slower_than_known_leaves_a_lag_and_no_oscillation(
    command, share
):
    """A drive of another lag than known leaves an error of that lag times speed, none at rest."""
    said, true = robot(command, 10.0), robot(command, 10.0 * share)
    run = followed(said, true)
    lag = 2.0 / said.servos.rate[0] * abs(1.0 / share - 1.0)
    assert off(run).max() < 1.2 * 1.5 * lag
    assert off(run)[-1] < 2e-4 and np.abs(run.qd).max() < 1.6


def test_set_points_run_ahead_by_the_lag_of_the_drive():
    """Without acceleration a position is ahead by 2/w, half a period and the delay times speed."""
    model, speed, delay = robot('position', 10.0), 1.5, 4e-3
    run = followed(model, delay=delay, parameters={'delay': delay})
    k = round(0.5 / T)  # where the cubic has no acceleration
    ahead = speed * (2.0 / model.servos.rate[0] + 0.5 * T + delay)
    assert run.commands_sent[k, 0] - run.q[k, 0] == pytest.approx(ahead, rel=0.02)


@pytest.mark.parametrize('command', ['position', 'velocity'])
def test_speed_and_position_stay_within_the_limits_of_the_joint(command):
    """A step far beyond the limits is approached at the speed limit and ends at the range."""
    model = robot(command, 10.0)
    run = followed(
        model, reference=constant([5.0]), seconds=2.5, parameters={'p': 400.0, 'd': 20.0}
    )
    assert np.abs(run.qd).max() < 3.0 * 1.01 and run.qd.max() > 2.5
    assert run.q.max() < 2.0 + 1e-6 and run.q[-1, 0] == pytest.approx(2.0, abs=1e-2)
    low, high = model.sent_lower[0], model.sent_upper[0]
    assert low <= run.commands_sent.min() and run.commands_sent.max() <= high


def test_the_acceleration_keeps_the_limits_of_the_force():
    """The commanded motion accelerates no faster than the force limits allow."""
    model = robot('position', 10.0)
    run = followed(model, seconds=0.3, reference=constant([1.0]), parameters={'upper': 4.0})
    assert run.u.max() <= 4.0
    inertia = 0.02 + 2.0 * 0.3**2
    most = (4.0 + 2.0 * 9.81 * 0.3) / inertia  # downwards its weight helps
    assert 0.5 * most < np.diff(run.qd[:, 0]).max() / T < 1.05 * most


class Joint:
    """A driver for a link that a test moves by hand."""

    def __init__(self, model, reference=None):
        self.model, own = model, law(model, p=100.0, d=20.0)
        safe = SafeCommand.of_model(model)
        safe.choose('auto', 0.0, 1.0)
        self.orders = Orders(own.settings, HoldOrder() if reference is None else reference)
        self.driver, self.t = Driver(model, own, safe, self.orders), 0.0

    def answer(self, q=0.0, qd=0.0):
        """Return the command of the drive at a state."""
        self.driver.answer(self.orders, self.t, np.array([q]), np.array([qd]), T)
        self.t += T
        return self.driver.sent[0]


def test_a_joint_that_is_held_fast_winds_nothing_up():
    """The set-point stays near a blocked joint; once free, the joint comes to its aim as ever."""
    model = robot('position', 10.0)
    joint, w = Joint(model, constant([1.0])), model.servos.rate[0]
    told = [joint.answer() for _ in range(1000)]
    assert told[-1] == pytest.approx(told[200], abs=1e-3)
    ahead = told[-1] - 2.0 / w * 3.0  # of the farthest commanded position
    assert 0.0 < ahead < 40.0 / 0.2 / w**2 * 1.1
    q, qd, farthest, fastest, steps = 0.0, 0.0, 0.0, 0.0, 10
    for _ in range(1000):
        s = joint.answer(q, qd)
        for _ in range(steps):
            qd += T / steps * (w * w * (s - q) - 2.0 * w * qd)
            q += T / steps * qd
        farthest, fastest = max(farthest, q), max(fastest, abs(qd))
    assert q == pytest.approx(1.0, abs=1e-3)
    assert farthest < 1.001 and fastest < 3.0 * 1.15  # it was told to be ahead by its lag at 3.0


def test_a_change_of_gains_makes_no_jump():
    """The set-point changes by no more than the greatest speed allows in a period."""
    model = robot('position', 10.0)
    kind = law(model)
    stiff = kind.settings.replace(p=np.full(1, 900.0), d=np.full(1, 60.0))
    own = sd.Law(law(model, p=50.0, d=10.0), changes=[(0.5, stiff)])
    run = sd.closed_loop(model, own, CUBIC, 1.5, start=sd.Start(q=[0.1]))
    assert np.abs(np.diff(run.commands_sent[:, 0])).max() <= 3.0 * T * (1.0 + 1e-6)
    assert off(run)[-1] < 1e-3


@pytest.mark.parametrize('command, stopped', [('position', True), ('velocity', False)])
def test_the_safe_command_stops_the_joint(command, stopped):
    """A position drive keeps what it was told last, a velocity drive is told zero."""
    joint = Joint(robot(command, 10.0), CUBIC)
    last = [joint.answer(0.01, 0.2) for _ in range(3)][-1]
    joint.driver.begin_safe(np.array([0.01]), joint.t)
    sent = joint.driver.limit(joint.driver.safe_command(joint.t + 5.0), T)[0]
    assert sent[0] == (last if stopped else 0.0)
    assert joint.driver.limiter.last[0] == pytest.approx(-5.885, abs=0.01)  # its weight


def test_no_set_point_is_known_before_a_state():
    """Before a state no set-point is known; from the first state on it is the joint's position."""
    joint = Joint(robot('position', 10.0))
    joint.driver.begin_safe(None, 0.0)
    joint.driver.limit(joint.driver.safe_command(0.0), T)
    assert not joint.driver.sendable
    joint.driver.forget_safe()
    joint.driver.begin_safe(np.array([0.3]), 0.0)
    assert joint.driver.limit(joint.driver.safe_command(0.0), T)[0][0] == 0.3
    assert joint.driver.sendable


@pytest.mark.parametrize('command, first', [('position', 0.7), ('velocity', 0.0)])
def test_set_points_begin_at_the_measured_position_after_the_safe_command(command, first):
    """After the safe command the set-point begins at the measured position."""
    joint = Joint(robot(command, 10.0))
    for _ in range(5):
        joint.answer(0.1)
    joint.driver.begin_safe(np.array([0.1]), joint.t)
    joint.driver.limit(joint.driver.safe_command(joint.t), T)
    assert joint.answer(0.7) == pytest.approx(first, abs=1e-6)
    assert joint.answer(0.7) == pytest.approx(first, abs=1e-6)


def test_a_joint_beyond_a_limit_is_led_back_no_faster_than_it_may_move():
    """Setpoints of a joint beyond its limit begin there and return at its greatest speed."""
    joint = Joint(robot('position', 10.0))
    sent = np.array([joint.answer(2.3) for _ in range(200)])
    assert sent[0] > 2.3 - 3.0 * T * 1.01 and sent[-1] == pytest.approx(2.0, abs=1e-6)
    assert np.abs(np.diff(sent)).max() <= 3.0 * T * (1.0 + 1e-6)


def test_outputs_are_reported_where_the_joint_is():
    """The reported y is that of the measured state, though the law uses the commanded motion."""
    run = followed(robot('position', 10.0), robot('position', 7.0))
    assert run.y[:, 0] == pytest.approx(run.q[:, 0], abs=1e-12)
    assert run.velocity[:, 0] == pytest.approx(run.qd[:, 0], abs=1e-12)
    assert off(run).max() > 5e-3


def test_laws_that_need_forces_refuse_such_drives_by_name():
    """Impedance and plants of other drives name the joint or what is expected."""
    model = robot('position', 10.0)
    kind = CONTROLLERS.get('impedance')
    with pytest.raises(ArgumentError, match='hip.*impedance needs'):
        kind(model, period=T)
    with pytest.raises(ArgumentError, match='drives that take the same'):
        followed(model, robot('force', 10.0))


class Instant(CONTROLLERS.get('pfbl')):
    """A law of a user's that does not say how the robot answers a held command."""

    response = None


def test_a_law_without_a_response_is_followed_by_the_instant():
    """A law without a held response is followed by the acceleration of the mass matrix."""
    model, u, found = robot('position', 10.0), np.array([7.0]), []
    for kind in (CONTROLLERS.get('pfbl'), Instant):
        own = kind(model, period=T, settings=kind.make_settings(model))
        own.start(REST, REST, 0.0)
        own.compute(0.0, REST, REST)
        setpoints = DriveSetpoints(model, own)
        setpoints.follow(0.0, REST, REST, restart=True)
        setpoints.advance(u, T)
        found.append(setpoints._motion.a[0])
    assert found[1] == pytest.approx(sd.forward_dynamics(model, q=REST, qd=REST, u=u)[0])
    assert found[0] == pytest.approx(found[1], rel=0.05)


def test_forces_cost_no_setpoints():
    """Robots whose drives take forces have no set-points, and are sent the force itself."""
    model = sd.compile_model(sd.load_robot(link('force')))
    joint = Joint(model)
    assert joint.driver._setpoints is None and joint.answer() == joint.driver.limiter.last[0]
