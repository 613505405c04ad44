# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The offline loop with different rates of states, law and drives."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.contract import Controller
from softrobot_dynamics.dynamics.statics import equilibrium
from softrobot_dynamics.errors import ArgumentError, DescriptionError, UnknownNameError
from softrobot_dynamics.references.piecewise import constant
from support.robots import compiled

PERIOD, MASS, FIRST = 1e-3, 2.0, 3.0
SLED = {
    'name': 'sled',
    'gravity': [0.0, 0.0, 0.0],
    'bodies': [
        {
            'name': 'sled',
            'joint': {'name': 'rail', 'type': 'prismatic', 'axis': [1.0, 0.0, 0.0]},
            'body': {
                'type': 'rigid', 'mass': MASS, 'com': [0.0, 0.0, 0.0],
                'inertia': {'ixx': 1.0, 'iyy': 1.0, 'izz': 1.0},
            },
        }
    ],
    'actuators': [{'name': 'push', 'type': 'joint', 'joint': 'rail', 'limits': [-1e3, 1e3]}],
}  # fmt: skip


class Counting(Controller):
    """Commands the number of its call."""

    type_name = 'counting'
    count = -1

    def compute(self, t, q, qd):
        """Return the Command."""
        self.count += 1
        y, velocity = self.outputs(q, qd)
        return self.answer(np.full(1, float(self.count)), y, velocity, self.desired(t))


@pytest.fixture(scope='module')
def sled():
    """Return the compiled sled."""
    return sd.compile_model(sd.load_robot(SLED))


def counted(model, ticks, sensors=None, **path):
    """Return what was found in a loop with the law that counts."""
    law = Counting(model, period=PERIOD)
    start, feedback = sd.Start(u=[FIRST]), sd.Feedback(sensors=sensors or {})
    reference, duration = constant(np.zeros(1)), ticks * PERIOD
    return sd.closed_loop(
        model, law, reference, duration, start=start, plant=sd.Plant(**path), feedback=feedback
    )


def moved(schedule, t):
    """Return (q, qd) at times t of a sled that each (time, force) pushes from then on, exactly."""
    starts, forces = (np.array(column) for column in zip(*schedule))
    ends = np.append(starts[1:], np.inf)
    pushed = np.clip(t[:, None], starts, ends) - starts
    qd = pushed @ forces / MASS
    after = np.maximum(0.0, t[:, None] - ends)
    return (0.5 * pushed**2 + pushed * after) @ forces / MASS, qd


@pytest.mark.quick
@pytest.mark.parametrize(
    'given, schedule',
    [
        ({'bus': {'rate': 200.0}}, [(0, 0.0), (5, 5.0), (10, 10.0), (15, 15.0)]),
        ({'bus': {'rate': 200.0}, 'delay': 4e-4}, [(0, FIRST), (5, 4.0), (10, 9.0), (15, 14.0)]),
        (
            {'bus': {'rate': 200.0, 'phase': 2e-3}, 'delay': 2.4e-3},
            [(0, FIRST), (7, 4.0), (12, 9.0), (17, 14.0)],
        ),
        (
            {'bus': {'rate': 250.0, 'phase': 1.3e-3}},
            [(0, FIRST), (1.3, 1.0), (5.3, 5.0), (9.3, 9.0), (13.3, 13.0), (17.3, 17.0)],
        ),
        (
            {'bus': {'rate': 250.0}, 'sensors': {'rate': 500.0, 'delay': 1e-3}},
            [(0, FIRST), (4, 1.0), (8, 3.0), (12, 5.0), (16, 7.0)],
        ),
        ({'sensors': {'rate': 250.0}}, [(0, 0.0), (4, 1.0), (8, 2.0), (12, 3.0), (16, 4.0)]),
    ],
)
def test_a_robot_moves_as_the_commands_that_are_held_push_it(sled, given, schedule):
    """The robot moves exactly as commands held by a schedule in ms move it."""
    found = counted(sled, 20, **given)
    q, qd = moved([(1e-3 * start, force) for start, force in schedule], found.t)
    np.testing.assert_allclose(found.qd[:, 0], qd, atol=1e-12)
    np.testing.assert_allclose(found.q[:, 0], q, atol=1e-12)
    if 'sensors' not in given:
        assert found.u[:, 0].tolist() == list(range(21))


@pytest.mark.quick
def test_the_last_command_stays_between_states_that_come_seldom(sled):
    """Between rare states the last command stays, and no tick counts as the law's failure."""
    found = counted(sled, 20, sensors={'rate': 200.0})
    assert np.flatnonzero(found.ok).tolist() == [0, 5, 10, 15, 20]
    assert found.u[:, 0].tolist() == np.repeat(np.arange(5.0), 5)[:21].tolist()[:20] + [4.0]


def test_drives_that_hold_for_longer_are_a_delay_of_half_of_what_they_do():
    """
    With drives at 100 Hz known as a delay of half their period, errors follow the gains.

    A law without that knowledge and without an observer is off by a third of the travel.
    """
    model, slow = compiled('pcc_arm'), 100.0
    u = np.full(model.m, 12.0)
    q = equilibrium(model, u=u).q
    y = sd.actuation(model, q=q, qd=0.0 * q).coordinates
    way, wide = -5e-4, {'lower': -1e3, 'upper': 1e3, 'rate': np.inf, 'observer': 0.0}
    plant, worst = sd.Plant(bus={'rate': slow, 'phase': 5e-4}), []
    half = 0.5 * (1.0 / slow - PERIOD)
    for known in (half, 0.0):
        parameters = {'p': 100.0, 'd': 20.0, 'delay': known, **wide}
        law, start = sd.Law('pfbl', parameters=parameters), sd.Start(q=q, u=u)
        found = sd.closed_loop(model, law, constant(y + way), 0.4, start=start, plant=plant)
        there = [sd.actuation(model, q=each, qd=0.0 * q).coordinates for each in found.q[::5]]
        x = 10.0 * np.maximum(0.0, found.t[::5] - half)
        error = (y + way - np.array(there)) / way
        worst.append(np.abs(error.T - (1.0 + x) * np.exp(-x)).max())
    assert worst[0] < 0.05 and worst[1] > 0.2


@pytest.mark.parametrize(
    'given, error, words',
    [
        ({'bus': {'rate': -1.0}}, DescriptionError, 'bus.rate: -1'),
        ({'bus': {'phase': 1e-3}}, DescriptionError, 'bus.phase: 0.001, expected 0'),
        ({'bus': {'rat': 1.0}}, UnknownNameError, 'rate'),
        ({'sensors': {'rate': 2000.0}}, ArgumentError, 'sensors.rate: 2000.0, .* 1000 Hz'),
    ],
)
def test_impossible_rates_are_refused(sled, given, error, words):
    """An impossible rate is refused by name with what would be right."""
    with pytest.raises(error, match=words):
        counted(sled, 1, **given)
