# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The simulated soft arm under its controller, two processes over real DDS."""

import signal

import numpy as np
import pytest

pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticStatus  # noqa: E402
from scipy.optimize import curve_fit  # noqa: E402
import softrobot_dynamics as sd  # noqa: E402
from softrobot_dynamics.loops.message_fields import stamp_of  # noqa: E402
from std_srvs.srv import SetBool  # noqa: E402
from support.node_processes import ended, planner_of, RATE  # noqa: E402
from support.observer import CONTROLLER, PATIENCE, SIMULATION  # noqa: E402

pytestmark = pytest.mark.realtime

PRETENSION = 1.0
PERIOD = 1e9 / RATE  # [ns]


def _setpoints(arm):
    """Return two sets of lengths: those under 8 N a tendon, and a step of 0.2 mm from them."""
    q = sd.equilibrium(arm, u=np.full(arm.m, 8.0)).q
    first = sd.actuation(arm, q=q, qd=np.zeros(arm.n)).coordinates
    return first.tolist(), (first + 2e-4 * np.resize([1.0, -1.0], arm.m)).tolist()


def _set_point(arm):
    """Return parameters of a reference that no process has to plan."""
    return {'reference__type': 'setpoint', 'reference__setpoint': _setpoints(arm)[0]}


def _slow_rate(t, error):
    """
    Return the slower rate [1/s] of e'' + d e' + p e = 0 from rest, fitted to samples.

    From when on it falls is fitted, too: answers to a new order may come some ticks late.
    """

    def decay(t, p, d, late):
        t = np.maximum(t - late, 0.0)
        root = np.sqrt(0.25 * d * d - p + 1e-9 + 0j)
        return (
            np.exp(-0.5 * d * t) * (np.cosh(root * t) + 0.5 * d / root * np.sinh(root * t))
        ).real

    p, d, _ = curve_fit(decay, t, error / error[0], p0=(60.0, 16.0, 1.0 / RATE))[0]
    return 0.5 * d - np.sqrt(max(0.25 * d * d - p, 0.0))


def test_a_higher_gain_set_live_makes_steps_decay_as_it_should(arm, observer, start_arm, tmp_path):
    """With d = 25 the slow rate is 5 1/s for p = 100, and 10 1/s after p = 150 is set live."""
    first, second = _setpoints(arm)
    record = tmp_path / 'controller.mcap'
    start_arm('simulation')
    controller = start_arm(
        'controller', autostart='true', record=record, gains__d='25.0', reference__type='setpoint',
        reference__setpoint=first, reference__ramp_time='0.3',
    )  # fmt: skip
    observer.until_running()
    observer.until(lambda: _near(observer, first), 'the first set-point')
    assert observer.set(reference__ramp_time=0.0).successful
    assert observer.set(reference__setpoint=second).successful
    observer.until(lambda: _near(observer, second), 'the step')
    assert observer.set(gains__p=150.0).successful
    refused = observer.set(gains__p=-1.0)
    assert not refused.successful and 'gains.p' in refused.reason and '-1' in refused.reason
    assert observer.get('gains.p') == 150.0
    assert observer.set(reference__setpoint=first).successful
    observer.until(lambda: _near(observer, first), 'the step back')
    controller.send_signal(signal.SIGTERM)
    assert controller.wait(PATIENCE) == 0
    slow, fast = _rates(record)
    assert slow == pytest.approx(5.0, rel=0.1)
    assert fast == pytest.approx(10.0, rel=0.12)


def _near(observer, setpoint):
    """Tell whether the reference is there, and the outputs nearly."""
    if not {'state', 'reference'} <= set(observer.heard):
        return False
    wanted = np.array(observer.heard['reference'].points[0].positions)
    reached = np.array(observer.heard['state'].position)
    return np.allclose(wanted, setpoint, atol=1e-9) and np.allclose(reached, setpoint, atol=2e-6)


def _rates(record):
    """Return the slow rate after each step of the reference in a record."""
    data = sd.read_recording(record)
    t, error = data['t'], data['y_d'] - data['y']
    near = np.diff(data['stamp']) < 3 * PERIOD  # in a gap what is blended in goes on
    change = np.pad(np.abs(np.diff(data['y_d'][:, 0])), 1)
    alone = (change[:-2] < 1e-9) & (change[2:] < 1e-9)  # not one of those that blend in
    steps = np.flatnonzero((change[1:-1] > 1e-4) & alone & near) + 1
    rates = []
    for k in steps:
        window = slice(k, np.searchsorted(t, t[k] + 0.6))
        direction = np.sign(error[k])
        rates.append(_slow_rate(t[window] - t[k], error[window] @ direction))
    return rates


def test_killing_the_simulation_makes_the_controller_safe_until_another_comes(
    arm, observer, start_arm
):
    """Without a simulation the safe command goes out in time, until a new one comes."""
    simulation = start_arm('simulation')
    controller = start_arm('controller', autostart='true', **_set_point(arm))
    observer.until_running()
    observer.commands.clear()
    simulation.kill()
    simulation.wait()
    safe = [PRETENSION] * 9
    observer.until(
        lambda: observer.commands and list(observer.commands[-1].effort) == safe,
        'the safe command',
    )
    observer.until(lambda: observer.status[CONTROLLER].level == DiagnosticStatus.ERROR, 'ERROR')
    start_arm('simulation')
    observer.until_running()
    assert controller.poll() is None
    assert observer.value(CONTROLLER, 'watchdog trips') >= 1


def test_sigterm_leaves_the_robot_with_the_safe_command(arm, observer, start_arm, tmp_path):
    """The last command the simulation applied before its own time-out is the pretension."""
    record = tmp_path / 'simulation.mcap'
    simulation = start_arm('simulation', record=record, command_timeout_periods=100000)
    controller = start_arm('controller', autostart='true', **_set_point(arm))
    observer.until_running()
    controller.send_signal(signal.SIGTERM)
    assert controller.wait(PATIENCE) == 0
    observer.until(lambda: len(observer.states) > 0, 'states')
    observer.states.clear()
    observer.until(lambda: len(observer.states) > 50, 'the simulation to go on')
    simulation.send_signal(signal.SIGTERM)
    assert simulation.wait(PATIENCE) == 0
    assert sd.read_recording(record)['u'][-1].tolist() == [PRETENSION] * 9


def test_a_reference_is_planned_live_and_an_impossible_one_refused(observer, start_arm):
    """
    A new circle is planned beside the running loop, and one out of reach refused.

    A plan that an emergency stop cancels changes nothing, and the stop does not wait for it.
    """
    start_arm('simulation')
    controller = start_arm('controller', autostart='true')
    observer.until_running()
    trips = observer.value(CONTROLLER, 'watchdog trips')
    circle = {'reference__type': 'circle', 'reference__circle__radius': 0.08}
    assert observer.set(**circle).successful
    refused = observer.set(reference__circle__radius=0.25)
    assert not refused.successful and 'no admissible actuation' in refused.reason
    assert observer.get('reference.circle.radius') == 0.08
    refused = observer.set(reference__circle__period=0.05)
    assert not refused.successful and ' of t' in refused.reason and 'limits' in refused.reason
    metres = {'reference__type': 'setpoint', 'reference__setpoint': [5.0] * 9}
    refused = observer.set(**metres)
    assert not refused.successful and 'effort of t' in refused.reason
    observer.until_running()
    setting = observer.begin_to_set(reference__circle__radius=0.07)
    planner = planner_of(observer, controller)
    stop = SetBool.Request(data=True)
    assert observer.call(SetBool, 'controller/emergency_stop', stop).success
    assert 'cancelled by the emergency stop' in observer.answer(setting).result.reason
    assert observer.get('reference.circle.radius') == 0.08
    observer.until(lambda: ended(planner), 'the end of the planning process')
    observer.until(lambda: observer.mode(CONTROLLER) == 'emergency stop', 'the stop')
    observer.until(
        lambda: list(observer.commands[-1].effort) == [PRETENSION] * 9, 'the end of its ramp'
    )
    assert observer.value(CONTROLLER, 'watchdog trips') == trips


def test_the_loop_holds_under_noise_delay_and_losses(arm, observer, start_arm):
    """With late states and a fifth of them lost, no watchdog or time-out trips."""
    first, _ = _setpoints(arm)
    start_arm(
        'simulation', sensors__noise='2.0e-5', sensors__velocity_noise='5.0e-4',
        sensors__delay='8.0e-3', sensors__dropout='0.2', sensors__seed='7', real_time_factor=2.0,
    )  # fmt: skip
    start_arm(
        'controller', autostart='true', reference__type='setpoint', reference__setpoint=first,
        reference__ramp_time='1.0', delay='8.0e-3', pfbl__observer='0.2',
    )  # fmt: skip
    observer.until(lambda: 'state' in observer.heard, 'a law')

    def near():
        return np.allclose(observer.heard['state'].position, first, atol=5e-4)

    observer.until(near, 'the set-point, to what noise leaves')
    begin = len(observer.states)
    observer.until(lambda: len(observer.states) > begin + 500, 'five hundred states')
    stamps = np.array([stamp_of(state) for state in observer.states[begin:]])
    gaps = np.diff(stamps) / PERIOD
    assert (gaps > 0.5).all() and 1.1 < gaps.mean() < 1.5
    assert near() and observer.value(CONTROLLER, 'watchdog trips') == 0.0
    assert observer.value(SIMULATION, 'command time-outs') == 0.0


def test_a_loop_at_three_rates_follows(arm, observer, start_arm, tmp_path):
    """
    The loop follows with 500 Hz of simulation, 100 Hz of sensors and 50 Hz of drives.

    The controller runs at the rate of the sensors, and knows the period of the drives.
    """
    first, second = _setpoints(arm)
    record = tmp_path / 'simulation.mcap'
    simulation = start_arm(
        'simulation',
        rate=500.0,
        sensors__rate='100.0',
        bus__rate='50.0',
        bus__phase='0.002',
        record=record,
    )
    start_arm(
        'controller', delay='0.007', autostart='true', reference__type='setpoint',
        reference__setpoint=first, reference__ramp_time='0.5',
    )  # fmt: skip
    observer.until_running()
    observer.until(lambda: _near(observer, first), 'the first set-point')
    assert observer.set(reference__setpoint=second).successful
    observer.until(lambda: _near(observer, second), 'the second')
    assert 'rate' not in observer.words()[CONTROLLER]
    said = {each.key: each.value for each in observer.status[SIMULATION].values}
    assert 'taken by the drives at 50 Hz' in said['commands']
    steps = np.diff([stamp_of(state) for state in observer.states[-200:]])
    # but where the simulation slipped, as on a machine that stands still at times
    assert (steps % PERIOD == 0).mean() > 0.9 and np.median(steps) == PERIOD
    simulation.send_signal(signal.SIGTERM)
    assert simulation.wait(PATIENCE) == 0
    data = sd.read_recording(record)
    driven = data['mode'] == data.facts['modes'].index('driven by commands')
    changes = np.flatnonzero(np.diff(data['u'], axis=0).any(axis=1) & driven[1:] & driven[:-1])
    assert len(changes) > 50 and len(set(changes % 10)) == 1


def test_an_unknown_delay_is_reported_until_it_is_set(observer, start_arm):
    """States later than the law's delay are reported until the delay is set."""
    # two periods at most, as the nodes' clocks have it: one until it is sent, one until it is used
    start_arm('simulation', rate=400.0, sensors__delay='0.002')
    start_arm('controller', autostart='true', rate=400.0)
    observer.until_running()
    observer.until(lambda: 'delay' in observer.words()[CONTROLLER], 'a word of the delay')
    assert 'but `delay` is 0 ms' in observer.words()[CONTROLLER]
    late = observer.value(CONTROLLER, 'stamp to command [ms]')
    assert late > 2.0
    assert observer.set(delay=1e-3 * late).successful
    observer.until(lambda: 'delay' not in observer.words()[CONTROLLER], 'no word of it any more')
    assert observer.set(delay=0.01).successful
    observer.until(lambda: 'too far ahead' in observer.words()[CONTROLLER], 'a word of too much')


def test_limits_that_allow_no_solution_are_kept(arm, observer, start_arm):
    """A law that needs 8 N within a limit of 1 N sends at most 1 N and reports it."""
    first, _ = _setpoints(arm)
    start_arm('simulation')
    start_arm(
        'controller', autostart='true', reference__type='setpoint', reference__setpoint=first,
        reference__ramp_time='0.5',
    )  # fmt: skip
    observer.until_running()
    observer.until(lambda: _near(observer, first), 'the set-point')
    assert observer.set(limits__upper=1.0).successful
    observer.until(lambda: max(observer.commands[-1].effort) <= 1.0, 'the limit')
    observer.commands.clear()
    observer.until(  # both are those of the last second or so
        lambda: (
            observer.value(CONTROLLER, 'unmet acceleration') > 0.1
            and observer.value(CONTROLLER, 'saturated share') > 0.5
        ),
        'what is unmet',
    )
    commands = np.array([command.effort for command in observer.commands])
    assert commands.min() >= 0.0 and commands.max() <= 1.0
    assert observer.set(limits__upper=float('nan')).successful
    observer.until(lambda: observer.value(CONTROLLER, 'unmet acceleration') < 1e-6, 'all met')
    assert np.isfinite(observer.states[-1].position).all()
