# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The report of a demo from the records of both nodes: figures and failures."""

import csv
from dataclasses import replace
import json

import numpy as np
import pytest
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.evaluation import records, tracking, tracking_files
from softrobot_dynamics.evaluation.targets import targets_of, time_along
from softrobot_dynamics.evaluation.units import in_words
from softrobot_dynamics.loops.command_timing import timing_in_words
from softrobot_dynamics.references.piecewise import spline
from support.recorded import parameters, PERIOD, RADIUS, recordings, TURN

pytestmark = pytest.mark.quick

LIMITS = np.zeros(2), np.full(2, 5.9)
TASK = tracking.Task(
    names=('a0', 'a1'), controlled=[0, 1], kinds=('tendon', 'tendon'), units=('m', 'm'),
    default_scales=np.ones(2), limits=LIMITS, ramps=np.ones(2),
)  # fmt: skip


def judged(simulation, controller, duration=np.inf, task=TASK, **options):
    """Return (Run, Figures) of records."""
    run = records.join(simulation, controller, duration)
    return run, tracking.evaluate(run, task, **options)


@pytest.mark.parametrize(('value', 'unit', 'words'), [
    (0.0123, 'm', '12.3 mm'), (2.5e-6, 'm^3', '2.5 cm³'), (4e4, 'Pa', '40 kPa'),
    (0.25, '', '0.25 -'), (-1.5, 'rad', '-1.5 rad'),
])  # fmt: skip
def test_values_are_shown_in_handy_units(value, unit, words):
    """Values in handy units are equal to those in SI units."""
    assert in_words(value, unit) == words


def test_records_are_joined_by_their_stamps():
    """The run is from the first state answered to the last; each tick has both nodes' values."""
    simulation, controller = recordings(ticks=300, before=50)
    run = records.join(simulation, controller)
    assert len(run.t) == 300
    assert run.t == pytest.approx(PERIOD * np.arange(300))
    assert np.array_equal(run.q, controller['q'])
    assert np.array_equal(run.y, controller['y'])
    assert run.lapses == ()


def test_times_are_those_of_the_stamps_where_a_step_is_no_whole_period():
    """A state 2.26 periods after the one before is that much later along the reference."""
    pair = recordings()
    first = pair[1]['stamp'][pair[1]['mode'] == pair[1].facts['modes'].index('running')][0]

    def late(recording):
        stamps = recording['stamp']
        later = np.where(stamps > first, stamps + round(1.26 * PERIOD * 1e9), stamps)
        return replace(recording, columns={**recording.columns, 'stamp': later})

    run = records.join(*map(late, pair))
    assert run.t[0] == 0.0
    assert run.t[1] == pytest.approx(2.26 * PERIOD, rel=1e-6)


def test_only_the_duration_asked_for_counts():
    """States beyond the duration are left out."""
    assert len(records.join(*recordings(), duration=1.0).t) == round(1.0 / PERIOD)


def test_states_that_the_controller_never_saw_have_no_output():
    """A missing row of the controller's record is nan, and all other rows stay in place."""
    simulation, controller = recordings()
    kept = np.delete(np.arange(300), [7, 8])
    columns = {name: values[kept] for name, values in controller.columns.items()}
    run = records.join(simulation, replace(controller, columns=columns))
    assert np.flatnonzero(np.isnan(run.y[:, 0])).tolist() == [7, 8]
    assert np.array_equal(run.y[9:], controller['y'][9:])


def test_the_figures_of_a_good_run():
    """Errors count from the end of the ramp on; rate, times and saturation are as recorded."""
    simulation, controller = recordings()
    controller['y_d'][:50] += 1.0
    simulation['u'][60, 0] = LIMITS[1][0]
    simulation['u'][61, 1] = LIMITS[0][1]
    _, figures = judged(simulation, controller, expected=300)
    assert figures.held and figures.lapses == ()
    assert figures.y_rms == pytest.approx(1e-3) and figures.y_peak == pytest.approx(1e-3)
    assert figures.tip_rms_m is None
    assert figures.rate_hz == pytest.approx(1.0 / PERIOD)
    assert figures.round_trip_us == pytest.approx({'p50': 200.0, 'p99': 200.0, 'max': 200.0})
    assert (figures.missed_ticks, figures.ticks) == (0, 300)
    beyond = (simulation['u'][50:350] >= 5.9 - 1e-9) | (simulation['u'][50:350] <= 1e-9)
    assert figures.saturated_share == pytest.approx(beyond.any(axis=1).mean())


def test_time_lost_by_slipping_lowers_the_rate():
    """A simulation that woke late by more than a period has sent fewer states per second."""
    simulation, controller = recordings()
    simulation['late'][100] = 1.0
    _, figures = judged(simulation, controller)
    assert figures.rate_hz == pytest.approx(300 / (300 * PERIOD + 1.0))


def test_tip_errors_are_distances_to_the_target_at_the_same_time():
    """A tip that goes round the circle, late by some time, is off by the chord."""
    targets = targets_of(parameters())
    run, _ = judged(*recordings())
    wanted, lag = targets.points(run.t), 0.01
    tips = tracking.Tips(targets.points(run.t - lag), wanted, targets.sizes())
    chord = 2.0 * RADIUS * np.sin(np.pi * lag / TURN)
    figures = tracking.evaluate(run, TASK, tips=tips)
    assert figures.tip_rms_m == pytest.approx(chord)
    assert figures.tip_peak_m == pytest.approx(chord)
    assert figures.tip_share == pytest.approx(np.sin(np.pi * lag / TURN))


def test_shares_are_of_the_root_mean_square():
    """Shares are of the root mean square of errors."""
    targets = targets_of(parameters())
    run, _ = judged(*recordings())
    wanted = targets.points(run.t)
    off = 1e-3 * (np.arange(len(run.t)) % 2)[:, None, None] * [1.0, 0.0, 0.0]
    tips = tracking.Tips(wanted + off, wanted, targets.sizes())
    figures = tracking.evaluate(run, TASK, tips=tips)
    assert figures.tip_rms_m == pytest.approx(1e-3 / np.sqrt(2.0), rel=1e-6)
    assert figures.tip_share == pytest.approx(figures.tip_rms_m / (2.0 * RADIUS), rel=1e-6)


@pytest.mark.parametrize('share, held', [(0.039, True), (0.041, False)])
def test_a_tip_must_follow_its_path(share, held):
    """After the ramp a tip must stay within a share of its path's size, as the report says."""
    targets = targets_of(parameters())
    run, _ = judged(*recordings())
    wanted = targets.points(run.t)
    off = np.where(run.t[:, None, None] < 1.0, 1.0, share * 2.0 * RADIUS)
    tips = tracking.Tips(wanted + off * [1.0, 0.0, 0.0], wanted, targets.sizes())
    figures = tracking.evaluate(run, TASK, tips=tips)
    assert figures.held is held
    assert held or 'the tip does not follow: RMS 16.4 mm' in figures.lapses[0]
    wide = tracking.evaluate(run, TASK._replace(tolerance=0.05), tips=tips)
    assert wide.held


@pytest.mark.parametrize('of, share, held', [
    (0, 0.039, True), (0, 0.041, False), (1, 0.039, True), (1, 0.041, False)])  # fmt: skip
def test_every_output_must_follow_in_its_own_unit(of, share, held):
    """Errors of outputs of different units are each relative to their own travel."""
    simulation, controller = recordings()
    scales = np.array([1.0, 1e-6])
    y_d = scales * np.sin(7.0 * controller['t'][:, None])
    error = 2.0 * scales * np.where(np.arange(2) == of, share, 0.0)
    controller.columns.update(y_d=y_d, y=y_d + error)
    task = TASK._replace(kinds=('joint', 'chamber'), units=('rad', 'm^3'))
    task = task._replace(default_scales=np.array([1.0, np.inf]))
    _, figures = judged(simulation, controller, task=task)
    assert figures.held is held
    assert figures.y_share == pytest.approx(share, rel=1e-2)
    assert held or f'the output of a{of} does not follow' in figures.lapses[0]


@pytest.mark.parametrize('y_d, size', [
    (lambda t: 0.0 * t, 1.0),  # nothing moves: `default_scales`
    (lambda t: 3.0 * np.clip(t, 0.0, 1.0), 3.0),  # a set-point: the travel to it
    (lambda t: np.where(t < 1.0, 9.0 * t, 9.0 + np.sin(7.0 * t)), 2.0),  # a path: itself
    (lambda t: np.where(t < 1.0, 9.0 * t, 9.0 + 1e-6 * np.sin(7.0 * t)), 9.0),  # rounding of one
])  # fmt: skip
def test_the_travel_of_an_output(y_d, size):
    """The travel of an output is found if it moves continually, once or never."""
    simulation, controller = recordings()
    y_d = y_d(controller['t'])[:, None] + np.zeros((1, 2))
    controller.columns.update(y_d=y_d, y=y_d + 0.01)
    _, figures = judged(simulation, controller)
    assert figures.y_share == pytest.approx(0.01 / size, rel=1e-2)


def test_an_output_that_hardly_moves_is_compared_with_its_kind():
    """The error of an output that hardly moves is relative to a tenth of its unit's travel."""
    simulation, controller = recordings()
    y_d = np.sin(7.0 * controller['t'][:, None]) * [1.0, 0.0]
    controller.columns.update(y_d=y_d, y=y_d + [0.0, 0.001])
    _, figures = judged(simulation, controller)
    assert figures.y_share == pytest.approx(0.005, rel=1e-2)


def test_only_controlled_actuators_are_at_a_limit():
    """An uncontrolled actuator at its limit is not reported."""
    simulation, controller = recordings()
    simulation['u'][:] = [1.0, 0.0]
    controller.columns['y_d'] = controller['y_d'][:, :1]
    task = TASK._replace(
        names=('a0',), controlled=[0], kinds=('tendon',), units=('m',), default_scales=np.ones(1),
        limits=(LIMITS[0][:1], LIMITS[1][:1]),
    )  # fmt: skip
    assert judged(simulation, controller, task=task)[1].saturated_share == 0.0


def test_a_state_that_only_the_controller_recorded_is_left_out():
    """A state that only the controller recorded, as before a divergence, is left out."""
    simulation, controller = recordings(before=0)
    fewer = {name: values[:-1] for name, values in simulation.columns.items()}
    run = records.join(replace(simulation, columns=fewer), controller)
    assert len(run.t) == 299 and np.array_equal(run.y, controller['y'][:299])


def test_a_loop_that_fails_from_its_first_tick_is_reported():
    """A loop that fails from its first tick is reported with its mode."""
    simulation, controller = recordings()
    controller['mode'][:] = 2
    run, figures = judged(simulation, controller)
    assert len(run.t) == 0 and not figures.held
    assert set(figures.lapses) == {
        'no state was answered by the law',
        'controller: no valid state',
    }


@pytest.mark.parametrize('share, held', [(0.04, True), (0.06, False)])
def test_a_loop_holds_with_fewer_than_five_percent_missed(share, held):
    """A tick without a command before the next state is missed."""
    simulation, controller = recordings()
    simulation['round_trip'][50 : 50 + round(share * 300)] = np.nan
    _, figures = judged(simulation, controller)
    assert figures.held is held
    assert figures.missed_ticks == round(share * 300)
    assert held or 'no command in time' in figures.lapses[0]


@pytest.mark.parametrize('share, advice', [(0.1, 50), (0.5, 25)])
def test_a_machine_that_is_too_slow_is_the_first_reason(share, advice):
    """A slow machine is the first reason, with half or a quarter of the rate to try."""
    simulation, controller = recordings()
    simulation['round_trip'][50 : 50 + round(share * 300)] = np.nan
    simulation['mode'][100] = 2
    simulation.columns['q'][:, 0] += 100.0
    _, figures = judged(simulation, controller, expected=300)
    assert figures.lapses[0].startswith('this machine did not keep up with 100 Hz')
    assert f'try --rate {advice}' in figures.lapses[0] and f'{share:.1%}' in figures.lapses[0]
    assert len(figures.lapses) > 1


def test_states_never_published_mean_a_slow_machine():
    """States never published mean a slow machine, unless a process died."""
    _, figures = judged(*recordings(), expected=400)
    assert 'did not keep up with 100 Hz' in figures.lapses[0]
    assert '300 of 400 states' in figures.lapses[0]
    _, figures = judged(*recordings(), expected=400, lapses=('a process died',))
    assert figures.lapses[0] == 'a process died'
    assert not any('keep up' in lapse for lapse in figures.lapses)


def test_a_loop_without_real_time_blames_no_machine():
    """Without real time, missing commands are not blamed on the machine."""
    simulation, controller = recordings()
    simulation['round_trip'][50:200] = np.nan
    run = records.join(simulation, controller)._replace(live=False)
    assert tracking.evaluate(run, TASK).lapses == ('50.0% of the ticks had no command in time',)


def test_a_tick_without_a_state_is_not_missed():
    """With sensors slower than the simulation, ticks without a state are not missed."""
    simulation, controller = recordings()
    asked = np.arange(len(simulation['round_trip'])) % 5 == 0
    simulation['round_trip'][~asked] = np.nan
    simulation.columns['asked'] = asked.astype(int)
    simulation['round_trip'][100] = np.nan  # of all that were asked the only one
    _, figures = judged(simulation, controller)
    assert figures.held and figures.missed_ticks == 1


@pytest.mark.parametrize('change, words', [
    (lambda s, c: s['q'].__setitem__((100, 0), np.nan), 'not a number'),
    (lambda s, c: s['u'].__setitem__((100, 0), np.inf), 'not a number'),
    (lambda s, c: s['mode'].__setitem__(100, 2), 'simulation: stale'),
    (lambda s, c: c['mode'].__setitem__(100, 2), 'controller: no valid state'),
])  # fmt: skip
def test_failures_of_a_loop_are_reasons(change, words):
    """Non-finite values and either watchdog are reasons of failure, and all are reported."""
    simulation, controller = recordings()
    change(simulation, controller)
    _, figures = judged(simulation, controller)
    assert not figures.held
    assert any(words in lapse for lapse in figures.lapses)


def test_a_loop_that_ended_early_does_not_hold():
    """Fewer states than expected are a reason, and so is what the demo itself has noticed."""
    _, figures = judged(*recordings(), expected=400, lapses=('a process died',))
    assert figures.lapses == ('a process died', 'only 300 of 400 states')
    assert not figures.held


def test_nothing_recorded_is_not_held():
    """A controller that never ran leaves figures without values."""
    simulation, controller = recordings()
    controller['mode'][:] = 0
    run, figures = judged(simulation, controller)
    assert len(run.t) == 0 and not figures.held
    assert figures.lapses == ('no state was answered by the law', 'controller: waiting')
    assert figures.rate_hz is None and figures.round_trip_us['p99'] is None


def test_modes_before_the_first_command_are_no_lapse():
    """Modes of the simulation before the first command do not count as lapses."""
    simulation, controller = recordings()
    simulation['mode'][50:53] = 0
    assert judged(simulation, controller)[1].held


def test_json_has_the_keys_and_no_nan(tmp_path):
    """The JSON report has its documented keys, with null for missing values."""
    _, figures = judged(*recordings())
    for some in (figures, tracking.nothing(('killed',))):
        tracking_files.write_json(tmp_path / 'figures.json', some)
        text = (tmp_path / 'figures.json').read_text(encoding='utf-8')
        assert 'NaN' not in text
        content = json.loads(text)
        assert {'tip_rms_m', 'tip_peak_m', 'rate_hz', 'round_trip_us', 'missed_ticks', 'ticks',
                'saturated_share', 'held'} <= set(content)  # fmt: skip
        assert set(content['round_trip_us']) == {'p50', 'p99', 'max'}
        assert content['held'] is some.held


def test_figures_say_when_commands_acted():
    """The figures show when commands acted, by the simulation's record, and bus cycles."""
    simulation, controller = recordings()
    for told, words in (
        ({}, None),
        ({'command_timing': 'arrival', 'bus_rate': 0.0}, 'acting when they arrive'),
        ({'command_timing': 'arrival', 'bus_rate': 50.0}, 'the newest taken by the drives at 50'),
    ):
        facts = {key: x for key, x in simulation.facts.items() if key != 'command_timing'}
        _, figures = judged(replace(simulation, facts={**facts, **told}), controller)
        assert figures.command_timing == told.get('command_timing')
        if words:
            assert words in timing_in_words(figures.command_timing, figures.bus_rate_hz)


def test_csv_has_a_line_for_every_tick(tmp_path):
    """Columns are named after coordinates and actuators, in the order of the record."""
    simulation, controller = recordings()
    run = records.join(simulation, controller)
    targets = targets_of(parameters())
    tips = tracking.Tips(targets.points(run.t), targets.points(run.t), targets.sizes())
    tracking_files.write_csv(tmp_path / 'ticks.csv', run, [0, 1], tips)
    with open(tmp_path / 'ticks.csv', encoding='utf-8') as file:
        header, *rows = csv.reader(file)
    assert header == ['t', 'q/q0', 'q/q1', 'u/a0', 'u/a1', 'y/a0', 'y/a1', 'y_d/a0', 'y_d/a1',
                      'tip/x', 'tip/y', 'tip/z', 'tip_error', 'round_trip']  # fmt: skip
    table = np.array(rows, dtype=float)
    assert table.shape == (300, len(header))
    assert table[:, 1:3] == pytest.approx(run.q, rel=1e-8)


def test_a_folder_without_records_is_refused(tmp_path):
    """The error says what folder would be right."""
    with pytest.raises(ArgumentError, match='softrobot demo'):
        records.read(tmp_path)


def test_targets_of_a_path_and_of_none():
    """A path of several bodies gives a point for each, a periodic one again and again."""
    values = {
        'reference.type': 'path', 'reference.path.bodies': ['a', 'b'],
        'reference.path.times': [0.0, 1.0, 2.0], 'reference.path.periodic': True,
        'reference.path.points': [0, 0, 0, 1, 1, 1, 0, 0, 2, 1, 1, 3, 0, 0, 0, 1, 1, 1],
    }  # fmt: skip
    targets = targets_of(values)
    assert targets.bodies == ('a', 'b')
    assert targets.points([3.0])[0] == pytest.approx(np.array([[0, 0, 2], [1, 1, 3]]))
    assert targets_of({'reference.type': 'setpoint'}) is None


def test_the_time_along_a_reference_is_found_from_its_value():
    """The time along a reference is found from a near guess; points off it have none."""
    times = np.linspace(0.0, 5.0, 65)
    y = np.column_stack([np.cos(2 * np.pi * times / 5.0), np.sin(2 * np.pi * times / 5.0)])
    y[-1] = y[0]
    reference = spline(times, y, periodic=True)
    exact = spline(times, y, periodic=True)
    value = exact.coefficients[0, 20]
    assert time_along(reference, value, guess=times[20] - 0.3) == pytest.approx(times[20])
    assert time_along(reference, value, guess=times[20] + 5.2) == pytest.approx(times[20] + 5.0)
    assert time_along(reference, 0.5 * value, guess=times[20]) is None
