# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Unwrapping of angles and rotation vectors of drivers that wrap them."""

import json

import numpy as np
import pytest

pytest.importorskip('rclpy')

from sensor_msgs.msg import JointState  # noqa: E402
import softrobot_dynamics as sd  # noqa: E402
from softrobot_dynamics.configuration import build, declared_parameters  # noqa: E402
from softrobot_dynamics.controllers.pfbl import PartialFeedbackLinearization  # noqa: E402
from softrobot_dynamics.dynamics.periodic_coordinates import (  # noqa: E402
    FULL_TURN,
    PeriodicCoordinates,
    RotationVectors,
)
from softrobot_dynamics.errors import MessageError  # noqa: E402
from softrobot_dynamics.loops.control_loop import ControlLoop  # noqa: E402
from softrobot_dynamics.loops.orders import Orders  # noqa: E402
from softrobot_dynamics.loops.state_reader import StateReader  # noqa: E402
from softrobot_dynamics.loops.state_validation import (  # noqa: E402
    bounds_of,
    FOLLOWS,
    MOVED,
    StateBounds,
    StateValidator,
    UNCONFIRMED,
)
from softrobot_dynamics.nodes.messaging.message_values import stamped  # noqa: E402
from softrobot_dynamics.references.piecewise import spline  # noqa: E402
from softrobot_dynamics.simulation.simulator import Simulator  # noqa: E402
from support.loops import Clock, Outlet  # noqa: E402

PERIOD = 5_000_000  # [ns]
ANGLE = StateBounds(
    ('angle',), np.array([np.inf]), np.ones(1), PeriodicCoordinates(np.array([FULL_TURN]))
)


class Sent:
    """States that are sent to a judge, every period; ``refused`` has the reasons."""

    def __init__(self, bounds, period=PERIOD):
        self.validator, self.k, self.period, self.refused = StateValidator(bounds), 0, period, []

    def send(self, q, qd):
        """Return (verdict, q, qd as unwrapped), the last two None where it is not believed."""
        self.k += 1
        q, qd = np.atleast_1d(np.array(q, dtype=float)), np.atleast_1d(np.array(qd, dtype=float))
        try:
            verdict = self.validator.check(q, qd, self.k * self.period, self.k * self.period)
        except MessageError as error:
            self.refused.append(error.reason)
            return None, None, None
        if verdict == UNCONFIRMED:
            return verdict, None, None
        return verdict, *self.validator.unwrapped(q, qd)

    def settle(self, q, rate=0.0):
        """Send a robot that moves from q at a rate until it is believed; return the unwrapped."""
        for _ in range(100):
            verdict, found, _ = self.send(wrapped(q), rate)
            if found is not None:
                self.refused.clear()
                return verdict, found[0]
            q += rate * self.period * 1e-9
        raise AssertionError('never believed')


def wrapped(angle):
    """Return an angle in [-pi, pi), as drivers report it."""
    return (angle + np.pi) % FULL_TURN - np.pi


@pytest.mark.quick
@pytest.mark.parametrize('rate', [30.0, -30.0, 2.0])
def test_an_angle_that_is_reported_within_a_turn_goes_on(rate):
    """Over several turns no wrapped angle is refused, and the law sees the unwrapped one."""
    sent, q = Sent(ANGLE), 0.3
    sent.settle(q)
    for speed in np.r_[np.linspace(0.0, rate, 100), np.full(1500, rate)]:
        q += speed * PERIOD * 1e-9
        verdict, found, qd = sent.send(wrapped(q), speed)
        assert verdict == FOLLOWS, sent.refused
        assert found[0] == pytest.approx(q, abs=1e-9) and qd[0] == speed
    assert abs(q) > 2.0 * FULL_TURN


@pytest.mark.quick
@pytest.mark.parametrize('jump', [0.7, 3.0, FULL_TURN + 0.7, -2.0 * FULL_TURN + 3.0])
def test_a_jump_by_no_whole_turn_is_refused(jump):
    """A jump by no whole turn is refused, and accepted as moved if it stays."""
    sent = Sent(ANGLE)
    sent.settle(0.2)
    assert sent.send(0.2 + jump, 0.0)[0] is None and 'contradiction' in sent.refused[0]
    verdict = None
    while verdict is None or verdict == UNCONFIRMED:
        verdict, found, _ = sent.send(0.2 + jump, 0.0)
        assert sent.k < 100
    assert verdict == MOVED and found[0] == pytest.approx(0.2 + jump)


@pytest.mark.quick
def test_a_wrapped_angle_keeps_its_turns_through_a_pause():
    """A wrapped angle keeps its whole turns through a pause; an unwrapped one is kept."""
    sent = Sent(ANGLE)
    sent.settle(0.0)
    for q in np.arange(0.0, 5.0, 0.01):
        found = sent.send(wrapped(q), 2.0 if q else 0.0)[1]
    assert found[0] == pytest.approx(4.99)
    sent.validator.forget()
    assert sent.settle(5.2)[1] == pytest.approx(5.2)


@pytest.mark.quick
def test_only_the_outlier_by_half_a_turn_is_refused():
    """States before and after an outlier of half a turn are accepted in the same turn."""
    sent = Sent(ANGLE)
    sent.settle(0.2)
    for outlier in (3.5, -3.0, 0.2 + 5.0 * FULL_TURN + 3.0):
        assert sent.send(outlier, 0.0)[0] is None
        verdict, found, _ = sent.send(0.2, 0.0)
        assert verdict == FOLLOWS and found[0] == 0.2


@pytest.mark.quick
def test_only_the_outlier_of_a_rotation_vector_is_refused():
    """An outlier of a rotation vector is refused alone, also after a zero vector."""
    turns = PeriodicCoordinates(np.zeros(3), (RotationVectors(slice(0, 3), 1.5 * np.pi),))
    bounds = StateBounds(('rx', 'ry', 'rz'), np.full(3, np.inf), np.ones(3), turns)
    sent = Sent(bounds)
    small = np.array([1e-12, 0.0, 0.0])
    while sent.send(small, np.zeros(3))[0] is not FOLLOWS:
        assert sent.k < 100
    assert sent.send([5.0, 1.0, 0.0], np.zeros(3))[0] is None
    assert sent.send(small, np.zeros(3))[0] == FOLLOWS


def spinning():
    """Return a body on a ball joint that turns and nutates, with an arm that a motor moves."""
    heavy = {'ixx': 0.02, 'iyy': 0.03, 'izz': 0.05}
    return sd.load_robot(
        {
            'name': 'satellite',
            'gravity': [0.0, 0.0, 0.0],
            'bodies': [
                {
                    'name': 'hub',
                    'joint': {'name': 'ball', 'type': 'spherical'},
                    'body': {'type': 'rigid', 'mass': 2.0, 'inertia': heavy},
                },
                {
                    'name': 'arm',
                    'joint': {'name': 'hinge', 'type': 'revolute', 'axis': [0.0, 1.0, 0.0]},
                    'body': {'type': 'rigid', 'mass': 0.3, 'com': [0.1, 0.0, 0.0],
                             'inertia': {'ixx': 1e-3, 'iyy': 1e-3, 'izz': 1e-3}},
                },
            ],
            'actuators': [{'name': 'motor', 'type': 'joint', 'joint': 'hinge'}],
            'initial': {'ball/rx': [0.2, 1.5], 'ball/ry': [-0.1, 0.7], 'ball/rz': [0.3, 6.0]},
        }
    )  # fmt: skip


def swinging(model):
    """Return a law that swings the arm; it knows no forces but those of the model."""
    settings = PartialFeedbackLinearization.make_settings(model, p=100.0, d=20.0, observer=0.0)
    law = PartialFeedbackLinearization(model, period=PERIOD * 1e-9, settings=settings)
    t = np.linspace(0.0, 6.0, 25)
    law.follow(spline(t, np.sin(2.0 * t)[:, None]), 0.0, 0.0)
    law.start(model.q0, model.qd0, 0.0, None)
    return law


def test_a_ball_joint_turns_several_times_without_a_state_refused():
    """Our simulation shortens its rotation vectors; states follow, and the law's command, too."""
    model = sd.compile_model(spinning())
    simulator, sent = Simulator(model), Sent(bounds_of(model))
    law, driving = (swinging(model) for _ in range(2))
    commands, raw, seen = [], [], []
    for k in range(1200):
        t = k * PERIOD * 1e-9
        u = driving.compute(t, simulator.q, simulator.qd).u.copy()
        verdict, q, qd = sent.send(simulator.q, simulator.qd)
        if q is not None:
            assert verdict == FOLLOWS or not commands
            commands.append(law.compute(t, q, qd).u[0])
            raw.append(simulator.q[:3].copy())
            seen.append(np.linalg.norm(q[:3]))
        simulator.step(u, PERIOD * 1e-9)
    jumps = np.linalg.norm(np.diff(raw, axis=0), axis=1) > np.pi
    assert not sent.refused and jumps.sum() >= 5 and max(seen) <= 1.5 * np.pi
    steps = np.abs(np.diff(commands))
    assert steps[jumps].max() < 1.5 * steps[~jumps].max()


TURNTABLE = {
    'name': 'turn',
    'gravity': [0.0, 0.0, 0.0],
    'bodies': [
        {
            'name': 'a',
            'joint': {'name': 'j', 'type': 'revolute', 'damping': 0.1},
            'body': {'type': 'rigid', 'mass': 1.0, 'com': [0.2, 0.0, 0.0],
                     'inertia': {'ixx': 0.01, 'iyy': 0.01, 'izz': 0.01}},
        }
    ],
    'actuators': [{'name': 'j', 'type': 'joint', 'joint': 'j', 'limits': [-5.0, 5.0]}],
}  # fmt: skip


def reached(monkeypatch, plant, values, report):
    """Return (angle, refusals) after 8 s, of a joint whose driver reports what `report` says."""
    clock, publisher, q, qd, u = Clock(monkeypatch), Outlet(), 0.0, 0.0, 0.0
    planned = build.plan_of(plant.model, values, plant.model.q0)
    orders = Orders(plant.settings(values), planned.reference, values['reference.ramp_time'])
    loop = ControlLoop(
        plant, clock, StateReader(('j',)), publisher, orders,
        period=PERIOD, watchdog=50 * PERIOD,
    )  # fmt: skip
    loop._begin()
    for _ in range(1600):
        qd += (u - 0.1 * qd) / 0.05 * PERIOD * 1e-9
        q += qd * PERIOD * 1e-9
        message = JointState(name=['j'], position=[report(q)], velocity=[qd])
        message.header.stamp = stamped(clock.time + PERIOD)
        clock.bring(message, PERIOD)
        loop._cycle()
        u = publisher.commands[-1][0][0] if publisher.commands else 0.0
    return q, dict(loop.statistics.refused)


def test_a_set_point_beyond_half_a_turn_is_come_to_whatever_the_driver_reports(
    monkeypatch, tmp_path
):
    """A set-point of 5 rad is reached with a driver that reports angles within a turn."""
    robot = tmp_path / 'turn.yaml'
    robot.write_text(json.dumps(TURNTABLE), encoding='utf-8')
    values = {row.name: row.default for row in declared_parameters.controller_rows()}
    values |= {'robot': str(robot), 'rate': 200.0, 'controller': 'computed_torque'}
    values |= {'reference.type': 'setpoint', 'reference.ramp_time': 3.0}

    def declare(rows):
        values.update({row.name: row.default for row in rows if row.name not in values})
        return values | {'reference.setpoint': [5.0]}

    plant = build.controlled(values, declare)
    values['reference.setpoint'] = [5.0]
    for report in (float, wrapped):
        q, refused = reached(monkeypatch, plant, values, report)
        assert q == pytest.approx(5.0, abs=1e-6) and not refused
