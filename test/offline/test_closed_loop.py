# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The offline loop equals law and simulator called by hand, with delays and failures."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.contract import Controller
from softrobot_dynamics.controllers.pfbl import PartialFeedbackLinearization
from softrobot_dynamics.controllers.safe_command import SafeCommand
from softrobot_dynamics.dynamics.statics import equilibrium
from softrobot_dynamics.errors import (
    ArgumentError,
    DescriptionError,
    SimulationDivergedError,
    UnknownNameError,
)
from softrobot_dynamics.offline import closed_loop as module
from softrobot_dynamics.offline import progress
from softrobot_dynamics.references.piecewise import constant, spline
from support.robots import compiled

PERIOD = 1e-3
FIELDS = 'q', 'qd', 'u', 'y'


def by_hand(model, law, reference, ticks, delay=0.0, u0=None):
    """Return rows of q, qd, u, y: what a law and a simulator do that are called one by one."""
    robot, rows = sd.Simulator(model), []
    law.follow(reference, 0.0, 0.1)
    law.start(robot.q, robot.qd, 0.0, u0)
    sent = [u0] * (1 + int(delay / PERIOD))
    late = delay % PERIOD
    for k in range(ticks):
        command = law.compute(k * PERIOD, robot.q, robot.qd)
        sent.append(command.u.copy())
        rows.append([robot.q.copy(), robot.qd.copy(), sent[-1], command.y.copy()])
        before = sent.pop(0)
        if late:
            robot.step(before, late)
        robot.step(sent[0], PERIOD - late)
    return [np.array(column) for column in zip(*rows)]


@pytest.mark.parametrize('name', ['pcc_arm', 'double_pendulum'])
def test_a_closed_loop_is_law_and_simulator_bit_by_bit(name):
    """A closed loop equals law and simulator called in turn, also for a law given by name."""
    model = compiled(name)
    reference = constant(np.full(model.m, -1e-3))
    settings = PartialFeedbackLinearization.make_settings(model, p=80.0, d=15.0)
    law = PartialFeedbackLinearization(model, period=PERIOD, settings=settings)
    named, start = sd.Law('pfbl', parameters={'p': 80.0, 'd': 15.0}), sd.Start(ramp=0.1)
    found = sd.closed_loop(model, named, reference, 0.1, start=start)
    assert found.ok.all() and len(found.t) == 101 and found.t[-1] == pytest.approx(0.1)
    for field, expected in zip(FIELDS, by_hand(model, law, reference, 101)):
        assert np.array_equal(getattr(found, field), expected), field
    again = PartialFeedbackLinearization(model, period=PERIOD, settings=settings)
    assert np.array_equal(sd.closed_loop(model, again, reference, 0.1, start=start).q, found.q)


@pytest.mark.quick
@pytest.mark.parametrize('delay', [4e-4, 1e-3, 2.3e-3])
def test_a_command_acts_when_it_arrives(delay):
    """A command acts from its arrival within a step, and the one before until then."""
    model = compiled('pcc_arm')
    u0, reference = np.full(model.m, 2.0), constant(np.full(model.m, -1e-3))
    settings = PartialFeedbackLinearization.make_settings(model, delay=delay)
    law = PartialFeedbackLinearization(model, period=PERIOD, settings=settings)
    named = sd.Law('pfbl', parameters={'delay': delay})
    given = {'start': sd.Start(u=u0, ramp=0.1), 'plant': sd.Plant(delay=delay)}
    found = sd.closed_loop(model, named, reference, 0.03, **given)
    for field, expected in zip(FIELDS, by_hand(model, law, reference, 31, delay, u0)):
        assert np.allclose(getattr(found, field), expected, rtol=1e-9, atol=1e-12), field


@pytest.mark.parametrize('name', ['pcc_arm', 'trimmed_helicoid'])
def test_errors_fall_as_they_should_with_a_known_delay(name):
    """
    With a known delay of 2 ms errors obey E'' + d E' + p E = 0 to a tenth.

    Without knowledge of the delay and without an observer they do not.
    """
    model, late = compiled(name), 2e-3
    u = 0.3 * np.minimum(model.upper, 100.0)
    q = equilibrium(model, u=u).q
    y = sd.actuation(model, q=q, qd=0.0 * q).coordinates
    way, wide = np.full(model.m, -5e-4), {'lower': -1e3, 'upper': 1e3, 'rate': np.inf}
    given = {'start': sd.Start(q=q, u=u), 'plant': sd.Plant(delay=late)}
    worst = {}
    for known, observer in ((late, 0.0), (late, 1e-3), (0.0, 0.0), (0.0, 1e-3)):
        parameters = {'p': 100.0, 'd': 20.0, 'delay': known, 'observer': observer, **wide}
        reference = constant(y + way)
        law = sd.Law('pfbl', parameters=parameters)
        found = sd.closed_loop(model, law, reference, 0.4, **given)
        assert found.ok.all() and not found.saturated.any()
        there = [sd.actuation(model, q=each, qd=0.0 * q).coordinates for each in found.q[::5]]
        x = 10.0 * np.maximum(0.0, found.t[::5] - late)  # nothing can happen before
        error = (y + way - np.array(there)) / way
        worst[known, observer] = np.abs(error.T - (1.0 + x) * np.exp(-x)).max()
    assert max(worst[late, 0.0], worst[late, 1e-3]) < 0.1 < worst[0.0, 0.0]


def test_a_plant_of_its_own_and_its_limits():
    """The law's model is not the robot: a weaker one gets less than is sent."""
    model = compiled('double_pendulum')
    plant = sd.compile_model(sd.load_robot('double_pendulum'))
    plant.upper[:] = 0.5
    plant.lower[:] = -0.5
    reference = constant(np.array([0.8, 0.3]))
    same = sd.closed_loop(model, 'pfbl', reference, 0.3)
    weak = sd.closed_loop(model, 'pfbl', reference, 0.3, plant=plant)
    assert np.abs(weak.u).max() > 0.5 and np.abs(weak.q[-1] - same.q[-1]).max() > 0.05
    robot = sd.Simulator(plant, q=weak.q[100], qd=weak.qd[100])
    robot.step(np.clip(weak.u[100], -0.5, 0.5), PERIOD)
    assert np.allclose(robot.q, weak.q[101], rtol=1e-9)
    with pytest.raises(ArgumentError, match='argument plant'):
        sd.closed_loop(model, 'pfbl', reference, 0.1, plant=compiled('pcc_arm'))


def test_wrenches_act_on_the_plant():
    """Wrenches as functions of time act on the plant as in a simulator."""
    model = compiled('pcc_arm')
    tip, y0 = model.body_names[-1], np.zeros(model.m)

    def push(t):
        return {tip: [0.0, 0.0, 0.0, 0.5, 0.0, 0.0]} if 0.05 < t < 0.1 else None

    pushed = sd.closed_loop(model, 'pfbl', constant(y0), 0.2, plant=sd.Plant(wrenches=push))
    left = sd.closed_loop(model, 'pfbl', constant(y0), 0.2)
    assert np.array_equal(pushed.q[:51], left.q[:51])
    assert np.abs(pushed.y - left.y)[51:].max() > 10.0 * np.abs(left.y[51:]).max()
    robot = sd.Simulator(model, q=pushed.q[60], qd=pushed.qd[60])
    robot.step(pushed.u[60], PERIOD, push(0.06))
    np.testing.assert_allclose(robot.qd, pushed.qd[61], atol=1e-9)


class Moody(Controller):
    """Pulls with 2 everywhere, but for some ticks has no command."""

    type_name = 'moody'

    def compute(self, t, q, qd):
        """Return the Command."""
        y, velocity = self.outputs(q, qd)
        u = np.full(self.model.m, 2.0)
        command = self.answer(u, y, velocity, self.desired(t))
        return command._replace(ok=not 0.0095 < t < 0.0145)


def test_without_a_command_the_safe_one_is_sent_and_the_law_restarts():
    """Without a command the safe one is sent within rate limits, and the law restarts."""
    model = compiled('pcc_arm')
    starts, law = [], Moody(model, period=PERIOD)
    start = law.start
    law.start = lambda *given: (starts.append(given[2]), start(*given))
    found = sd.closed_loop(model, law, constant(np.zeros(model.m)), 0.03)
    assert np.flatnonzero(~found.ok).tolist() == [10, 11, 12, 13, 14]
    assert np.isnan(found.y[~found.ok]).all() and np.isfinite(found.y[found.ok]).all()
    safe = SafeCommand.of_model(model)
    safe.choose(*module.SAFE_COMMAND)
    safe.begin(found.q[10], found.u[9])
    reach = model.rate_limit * PERIOD * (1.0 + 1e-6)
    assert (np.abs(np.diff(found.u, axis=0)) <= reach).all()
    goal = safe.at(0.0)
    assert (np.abs(found.u[14] - goal) < np.abs(found.u[9] - goal)).all()
    assert starts == pytest.approx([0.0, 0.011, 0.012, 0.013, 0.014, 0.015])


def test_settings_change_during_a_run():
    """New settings apply from the tick of their time on."""
    model = compiled('double_pendulum')
    make = PartialFeedbackLinearization.make_settings
    softer = make(model, p=10.0, d=2.0)
    reference = constant(np.array([0.5, 0.2]))
    plain = sd.closed_loop(model, 'pfbl', reference, 0.1)
    changed = sd.closed_loop(model, sd.Law('pfbl', changes=[(0.05, softer)]), reference, 0.1)
    assert np.array_equal(plain.u[:50], changed.u[:50])
    assert not np.array_equal(plain.u[50], changed.u[50])


def test_progress_is_shown_on_terminals_only(monkeypatch, capsys):
    """Progress is called now and then and at the end, and shown on terminals only."""
    model, told = compiled('double_pendulum'), []
    reference = constant(np.zeros(2))
    monkeypatch.setattr(progress, '_REPORT_PERIOD', 0.0)
    sd.closed_loop(model, 'pfbl', reference, 0.01, progress=lambda *now: told.append(now))
    assert told[-1] == pytest.approx((0.01, 0.01)) and len(told) > 1
    sd.closed_loop(model, 'pfbl', reference, 0.01)
    assert capsys.readouterr().err == ''
    monkeypatch.setattr(progress.sys.stderr, 'isatty', lambda: True, raising=False)
    sd.closed_loop(model, 'pfbl', reference, 0.01)
    assert capsys.readouterr().err.endswith('closed loop: 0.0 of 0.01 s\n')


def test_invalid_arguments_are_refused():
    """An invalid argument is refused by name, and a divergence is the simulator's error."""
    model = compiled('double_pendulum')
    reference = constant(np.zeros(2))
    law = PartialFeedbackLinearization(model, period=PERIOD)
    for argument, given in {
        'reference': (model, 'pfbl', constant(np.zeros(3)), 1.0),
        'duration': (model, 'pfbl', reference, -1.0),
        'controller': (compiled('pcc_arm'), law, reference, 1.0),
    }.items():
        with pytest.raises(ArgumentError, match=f'argument {argument}'):
            sd.closed_loop(*given)
    with pytest.raises(ArgumentError, match='argument period'):
        sd.closed_loop(model, sd.Law(law, period=0.01), reference, 1.0)
    with pytest.raises(ArgumentError, match='argument delay'):
        sd.closed_loop(model, law, reference, 1.0, plant=sd.Plant(delay=np.nan))
    with pytest.raises(UnknownNameError, match='pfbl'):
        sd.closed_loop(model, 'pfbbl', reference, 1.0)
    with pytest.raises(SimulationDivergedError):
        sd.closed_loop(model, law, reference, 1.0, start=sd.Start(qd=[1e200, 0.0]))


def test_a_wave_is_followed():
    """A periodic reference is followed, and y_d and its rate are in the result."""
    model, times = compiled('pcc_arm'), np.linspace(0.0, 1.0, 9)
    u = 0.4 * model.upper
    q = equilibrium(model, u=u).q
    y = sd.actuation(model, q=q, qd=0.0 * q).coordinates
    waves = 1e-3 * np.sin(2.0 * np.pi * times[:, None] + np.arange(9))
    waves[-1] = waves[0]
    wave = spline(times, y + waves, periodic=True)
    found = sd.closed_loop(model, 'pfbl', wave, 2.0, start=sd.Start(q=q, u=u, ramp=1.0))
    assert found.saturated[1000:].max() == 0
    assert np.abs(found.y - found.y_d)[1000:].max() < 1e-5
    derivatives = np.gradient(found.y_d[1000:], PERIOD, axis=0)[1:-1]
    np.testing.assert_allclose(derivatives, found.velocity_d[1001:-1], atol=1e-5)
    names = model.actuator_names[:6]
    found = sd.closed_loop(
        model, sd.Law('pfbl', controlled=names), constant(y[:6]), 0.01, start=sd.Start(q=q, u=u)
    )
    assert found.y.shape == (11, 9) and found.y_d.shape == found.velocity_d.shape == (11, 6)


@pytest.mark.parametrize('factor', [0.8, 1.2])
def test_a_plant_whose_mass_is_off_by_a_fifth_is_held(factor):
    """Heavier or lighter than the model: errors do not grow; none is left if that is found out."""
    model = compiled('pcc_arm')
    plant = sd.compile_model(sd.vary(model.description, {'density': f'×{factor}'}))
    u = 0.4 * model.upper
    q = equilibrium(model, u=u).q
    y = sd.actuation(model, q=q, qd=0.0 * q).coordinates
    errors = {}
    for observer in (0.0, 1e-3):
        law, start = sd.Law('pfbl', parameters={'observer': observer}), sd.Start(q=q, u=u)
        found = sd.closed_loop(model, law, constant(y), 3.0, start=start, plant=plant)
        assert found.ok.all()
        errors[observer] = np.abs(found.y - found.y_d).max(axis=1)
    assert 1e-5 < errors[0.0][-1] < 0.02 and np.ptp(errors[0.0][-500:]) < 1e-3 * errors[0.0][-1]
    assert errors[1e-3][-1] < 1e-9


NOISY = {'noise': 2e-5, 'velocity_noise': 5e-4, 'delay': 1e-3, 'jitter': 1e-3, 'dropout': 0.1}


def test_a_law_gets_the_sensors_values_and_seeds_repeat_them():
    """The law gets the sensors' values, which one seed repeats bit by bit."""
    model = compiled('pcc_arm')
    reference = constant(np.full(model.m, -1e-3))

    def run(seed):
        sensors = {**NOISY, 'seed': seed}
        return sd.closed_loop(
            model,
            'pfbl',
            reference,
            0.2,
            start=sd.Start(ramp=0.1),
            feedback=sd.Feedback(sensors=sensors),
        )

    one, again, other = run(4), run(4), run(5)
    for field in one._fields:
        assert getattr(one, field).tobytes() == getattr(again, field).tobytes(), field
    assert not np.array_equal(one.q, other.q)
    silent = np.isnan(one.q_heard[:, 0])
    assert np.array_equal(silent, ~one.ok) and 0.1 < silent.mean() < 0.5
    kept = np.flatnonzero(silent[1:]) + 1
    assert len(kept) > 20 and np.array_equal(one.u[kept], one.u[kept - 1])


def test_a_loop_holds_under_noise_and_delay_and_losses():
    """Lengths stay within 0.3 mm under noise, delay and losses, within 0.02 without noise."""
    model = compiled('pcc_arm')
    law = sd.Law('pfbl', parameters={'delay': 2e-3, 'observer': 0.02})
    exact = {**NOISY, 'noise': 0.0, 'velocity_noise': 0.0}
    for sensors, error in ((NOISY, 3e-4), (exact, 2e-5)):
        reference = constant(np.full(model.m, -1e-3))
        given = {'start': sd.Start(ramp=0.2), 'feedback': sd.Feedback(sensors=sensors)}
        run = sd.closed_loop(model, law, reference, 1.0, **given)
        states = zip(run.q[-200:], run.qd[-200:])
        y = np.array([sd.actuation(model, q=q, qd=qd).coordinates for q, qd in states])
        assert abs(y + 1e-3).max() < error


@pytest.mark.parametrize(
    'sensors, error, words',
    [
        ({'dropout': 2.0}, DescriptionError, 'sensors.dropout: 2'),
        ({'drop': 0.1}, UnknownNameError, 'dropout'),
    ],
)
def test_wrong_sensors_are_refused(sensors, error, words):
    """Wrong sensors are refused by name."""
    model = compiled('double_pendulum')
    with pytest.raises(error, match=words):
        sd.closed_loop(
            model, 'pfbl', constant(np.zeros(model.m)), 0.1, feedback=sd.Feedback(sensors=sensors)
        )


def test_lag_and_delay_of_the_actuators_are_a_delay_to_the_law():
    """With lag and delay known as one delay, errors fall to a fiftieth; unknown, tenfold."""
    model = compiled('pcc_arm')
    plant = sd.compile_model(sd.vary(model.description, {'lag': 2e-3, 'delay': 1e-3}))
    u = np.full(model.m, 12.0)
    q = equilibrium(model, u=u).q
    y = sd.actuation(model, q=q, qd=0.0 * q).coordinates
    given = {'start': sd.Start(q=q, u=u), 'plant': plant}
    way, wide = -5e-4, {'lower': -1e3, 'upper': 1e3, 'rate': np.inf, 'observer': 0.0}
    worst = []
    for known in (3e-3, 0.0):
        parameters = {'p': 100.0, 'd': 20.0, 'delay': known, **wide}
        law = sd.Law('pfbl', parameters=parameters)
        found = sd.closed_loop(model, law, constant(y + way), 0.4, **given)
        there = [sd.actuation(model, q=each, qd=0.0 * q).coordinates for each in found.q[::5]]
        x = 10.0 * np.maximum(0.0, found.t[::5] - 3e-3)
        error = (y + way - np.array(there)) / way
        worst.append(np.abs(error.T - (1.0 + x) * np.exp(-x)).max())
    assert worst[0] < 0.02 and worst[1] > 0.2
