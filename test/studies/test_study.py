# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Studies: variations, runs, results and resumption."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics import cli
from softrobot_dynamics.errors import ArgumentError, SoftRobotError, UnknownNameError
from softrobot_dynamics.studies import command, run_table, study, trial
from softrobot_dynamics.studies.factors import read_factors, RunSampling
from softrobot_dynamics.studies.study import plan_study, run_study
from support.robots import soft_arm

joblib = pytest.importorskip('joblib')

CONTROLLER = """
controller:
  ros__parameters:
    gains: {p: 100.0, d: 20.0}
    reference: {type: setpoint, ramp_time: 0.2, setpoint: [0.5, 0.3]}
"""
VARY = {'mass': '0.9..1.1', 'delay': '0..3ms'}


@pytest.fixture
def controller(tmp_path):
    """Return a file of parameters for the pendulum, with a task of half a second."""
    file = tmp_path / 'controller.yaml'
    file.write_text(CONTROLLER, encoding='utf-8')
    return file


def planned(controller, vary=None, **options):
    """Return an Experiment on the double pendulum of a few short runs."""
    given = {'runs': 4, 'seconds': 0.5, 'tolerance': 0.5, **options}
    sampling = RunSampling(
        **{name: given.pop(name) for name in RunSampling._fields if name in given}
    )
    vary = vary or VARY
    return plan_study('double_pendulum', vary, controller=controller, sampling=sampling, **given)


def alike(one, other):
    """Tell whether two studies came to the same, bit by bit."""
    return all(
        np.array_equal(a, b, equal_nan=True) if isinstance(a, np.ndarray) else a == b
        for a, b in zip(one, other)
    )


def test_the_simulated_robot_is_that_of_the_parameter_file(controller):
    """A study uses the file's plant, sensors, bus and sub-step, and reports a payload."""
    block = """
simulation:
  ros__parameters:
    {plant: ['mass=×1.1'], sensors: {noise: 1.0e-4}, bus.rate: 250.0, substep: 1.0e-3,
     payload: {body: forearm, mass: 0.1}, robot: toy}
"""
    text = CONTROLLER.replace('ros__parameters:', 'ros__parameters:\n    robot: toy')
    controller.write_text(text + block, encoding='utf-8')
    experiment = planned(controller, {'delay': '0..1ms'}, runs=1)
    said = '\n'.join(experiment.given.remarks)
    assert 'payload.mass: 0.1 of the simulation' in said and 'robot: toy' in said
    (share,) = run_study(experiment, jobs=1).error_ratio
    model = sd.compile_model(sd.load_robot('double_pendulum'))
    loop = sd.closed_loop(
        model,
        sd.Law('pfbl', parameters={'p': 100.0, 'd': 20.0}),
        experiment.reference,
        0.5,
        start=sd.Start(ramp=0.2),
        plant=sd.Plant(
            sd.compile_model(sd.vary(model.description, {'mass': '×1.1'})),
            delay=float(experiment.values[0, 0]),
            bus={'rate': 250.0},
            substep=1e-3,
        ),
        feedback=sd.Feedback(sensors={'noise': 1e-4}),
    )
    errors = (loop.y - loop.y_d)[loop.t > 0.1999][::5]
    ways = np.maximum(np.ptp(loop.y_d, axis=0), 0.1 * np.ptp(loop.y_d, axis=0).max())
    assert share == pytest.approx((np.sqrt((errors**2).mean(axis=0)) / ways).max(), rel=0.05)
    other = planned(controller, {'delay': '0..1ms'}, runs=1, plant='mass=×1.3')
    assert other.plant.digest != experiment.plant.digest  # the flag goes before the file


def test_a_run_is_the_closed_loop_with_these_numbers(controller):
    """The robot's factors change the simulated one alone, the law keeps its model."""
    experiment = planned(controller, runs=1)
    mass, delay = experiment.values[0]
    found = run_study(experiment, jobs=1)
    model = sd.compile_model(sd.load_robot('double_pendulum'))
    plant = sd.compile_model(sd.vary(model.description, {'mass': f'×{mass}'}))
    loop = sd.closed_loop(
        model,
        sd.Law('pfbl', parameters={'p': 100.0, 'd': 20.0}),
        experiment.reference,
        0.5,
        start=sd.Start(ramp=0.2),
        plant=sd.Plant(plant, delay=delay),
    )
    errors = (loop.y - loop.y_d)[loop.t > 0.1999][::5]
    ways = np.maximum(np.ptp(loop.y_d, axis=0), 0.1 * np.ptp(loop.y_d, axis=0).max())
    expected = (np.sqrt((errors**2).mean(axis=0)) / ways).max()
    assert found.error_ratio[0] == pytest.approx(expected, rel=0.02)
    assert found.unanswered[0] == 0.0 and found.reason == ('',) and found.state[0] == 0


def test_the_simulated_robot_may_be_of_another_body_model(tmp_path):
    """Factors are then of its numbers, and a folder of the one is none of the other's."""
    files = {name: tmp_path / f'{name}.yaml' for name in ('own', 'rods', 'controller')}
    for name, order in (('own', None), ('rods', 1)):
        files[name].write_text(json.dumps(soft_arm(order)))
    files['controller'].write_text("""
controller:
  ros__parameters:
    gains: {p: 100.0, d: 20.0}
    pfbl: {observer: 0.02}
    reference: {type: setpoint, ramp_time: 1.0,
      setpoint: [0.2, -0.003, 0.001, 0.002, -0.001, 0.002, -0.001]}
""")
    given = {'controller': files['controller'], 'seconds': 1.6, 'tolerance': 0.1}
    given['sampling'] = RunSampling(2)
    vary, found = {'a.density': '0.9..1.1'}, []
    for plant, folder in (((), None), (str(files['rods']), tmp_path / 'out')):
        experiment = plan_study(str(files['own']), vary, plant=plant, **given)
        found.append(run_study(experiment, folder=folder, jobs=1))
    assert experiment.plant.n == 13 and experiment.description.n == 7
    assert found[0].state.tolist() == [0, 0] and found[1].state.max() < trial.FAILED
    assert (found[1].error_ratio > 2.0 * found[0].error_ratio).all()
    with pytest.raises(ArgumentError, match='digest of another plant differ'):
        run_study(plan_study(str(files['own']), vary, **given), folder=tmp_path / 'out', jobs=1)


PREDICTIVE = """
controller:
  ros__parameters:
    controller: predictive
    predictive: {tip: lower_bar}
    reference:
      type: circle
      ramp_time: 0.3
      circle: {body: lower_bar, center: [0.9, 0.0, -1.2], normal: [0.0, -1.0, 0.0],
        radius: 0.2, period: 1.0}
"""


def test_a_predictive_law_that_leads_a_tip_is_judged_by_it(controller):
    """A led tip stays within 2 % of its travel with a fifth more mass, if the force is learnt."""
    controller.write_text(PREDICTIVE, encoding='utf-8')
    vary = {'mass': '1,1.2', 'predictive.observer': '0,5ms'}
    experiment = planned(controller, vary, seconds=0.9, tolerance=0.02, runs=None)
    found = run_study(experiment, jobs=1)
    (mass, observer), tip = experiment.values.T, found.tip_rms_m
    learns = observer > 0.0
    assert (found.state[learns | (mass == 1.0)] == trial.FOLLOWED).all()
    assert (found.unanswered == 0.0).all() and tip[learns].max() < 1e-3
    assert tip[~learns & (mass > 1.0)] > 5.0 * tip[learns & (mass > 1.0)]


PHASES = """
controller:
  ros__parameters:
    phases: [first, both]
    first: {duration: 0.3, parts: [upper]}
    both: {duration: 0.3, parts: [upper, lower]}
    upper: {controlled: [shoulder], gains: {p: 100.0, d: 20.0},
      reference: {type: setpoint, ramp_time: 0.2, setpoint: [0.5]}}
    lower: {controlled: [elbow], gains: {p: 100.0, d: 20.0},
      reference: {type: setpoint, ramp_time: 0.2, setpoint: [0.3]}}
"""


@pytest.mark.parametrize('name, values', [
    ('upper.reference.ramp_time', [0.1, 0.29]), ('first.duration', [0.25, 0.4]),
    ('lower.gains.p', [20.0, 200.0]), ('mass', [1.0, 1.2]),
])  # fmt: skip
def test_a_study_over_phases(controller, name, values):
    """A study applies each variation, and a law in phases runs them in every run."""
    controller.write_text(PHASES)
    experiment = planned(controller, {name: values}, runs=None, seconds=0.8)
    found = run_study(experiment, jobs=1)
    assert found.unanswered.tolist() == [0.0, 0.0]
    assert abs(found.error_ratio[1] - found.error_ratio[0]) > 1e-3 * found.error_ratio[0]
    assert command._under(experiment) == 'in first, both'
    with pytest.raises(ArgumentError, match='seconds: 0.45, .*0.5, when all .* blended in'):
        planned(controller, {name: values}, runs=None, seconds=0.45)


def test_a_delay_that_the_law_knows_is_the_loops(controller):
    """The law knows the loop's delay unless the delay is varied."""
    controller.write_text(f'{CONTROLLER}    delay: 0.004\n')
    given = {'runs': None, 'tolerance': 0.5}
    known, told = (
        run_study(planned(controller, vary, **given), jobs=1).error_ratio
        for vary in ({'mass': [1.0]}, {'delay': [0.004, 0.0]})
    )
    assert known[0] == told[0] < told[1]


def test_a_back_end_that_gives_back_all_at_the_end(controller, tmp_path):
    """A back end that returns runs in rounds has them in the folder after each."""

    class Rounds(joblib.parallel.ThreadingBackend):
        supports_return_generator = False

    joblib.register_parallel_backend('rounds', Rounds)
    experiment, seen = planned(controller, runs=6), []
    with joblib.parallel_config(backend='rounds'):
        found = run_study(
            experiment,
            folder=tmp_path / 'out',
            jobs=1,
            progress=lambda _, state: seen.append(int((state >= 0).sum())),
        )
    assert alike(found, run_study(experiment, jobs=1)) and seen == [1, 2, 3, 4, 5, 6]
    assert len((tmp_path / 'out' / run_table.RUNS_FILE).read_text().splitlines()) == 7


def test_the_worse_the_numbers_the_worse_the_state(controller):
    """Runs follow, degrade and fail in this order as the numbers get worse."""
    vary = {'mass': [1.0, 1.7, 6.0]}
    found = run_study(planned(controller, vary, runs=None, tolerance=0.02), jobs=1)
    assert found.state.tolist() == [0, 1, 2]
    assert found.error_ratio[0] < 0.02 < found.error_ratio[1] < 1.0
    assert 'does not follow' in found.reason[1] and found.reason[2]


def test_outputs_of_the_law_task_are_studied_as_those_of_pfbl(controller):
    """A file that says `task` is a study of that law, which follows outputs as `pfbl` does."""
    given = {'vary': {'mass': [1.0, 1.1]}, 'runs': None}
    shares = [run_study(planned(controller, **given), jobs=1).error_ratio]
    text = CONTROLLER.replace('gains: {p: 100.0, d: 20.0}', 'controller: $0')
    for law in ('task', 'task\n    task: {outputs: {level: 0}, posture: {level: 1}}'):
        controller.write_text(text.replace('$0', law), encoding='utf-8')
        shares.append(run_study(planned(controller, **given), jobs=1).error_ratio)
    assert shares[1] == pytest.approx(shares[0], rel=0.2)
    assert (shares[2] > 10.0 * shares[0]).all()  # a posture is kept, so nothing is followed


def test_a_run_that_raises_has_failed(controller, monkeypatch):
    """A run that raises counts as failed with the reason, and the study goes on."""
    loop = trial.closed_loop

    def fragile(*given, plant, **options):
        if plant.delay > 0.0015:
            raise sd.SoftRobotError('too\n late')
        return loop(*given, plant=plant, **options)

    monkeypatch.setattr(trial, 'closed_loop', fragile)
    found = run_study(planned(controller, {'delay': '0..3ms'}), jobs=1)
    late = found.values[:, 0] > 0.0015
    assert late.any() and (found.state[late] == 2).all() and (found.state[~late] == 0).all()
    assert {r for r, x in zip(found.reason, late) if x} == {'SoftRobotError: too late'}
    assert np.isnan(found.error_ratio[late]).all()


def test_a_run_in_which_nothing_can_be_judged_has_failed(controller):
    """A run that ends before the reference is blended in counts as failed."""
    experiment = planned(controller, {'reference.ramp_time': '0.2,0.6'}, runs=None)
    found = run_study(experiment, jobs=1)
    assert found.state.tolist() == [0, 2] and 'before the reference' in found.reason[1]


def test_parameters_of_the_controller_and_its_reference(controller):
    """Varied gains change the law, and varied references are planned in each run."""
    vary = {'gains.p': '50,100,200', 'reference.ramp_time': '0.1,0.3'}
    experiment = planned(controller, vary, runs=None)
    found = run_study(experiment, jobs=1)
    assert experiment.design == 'grid' and found.values.tolist() == [
        [p, t] for p in (50.0, 100.0, 200.0) for t in (0.1, 0.3)
    ]
    assert len(set(found.error_ratio)) == 6
    both = planned(controller, {'delay': '0,2ms', 'controller.delay': '0,2ms'}, runs=None)
    assert both.changes([1e-3, 2e-3], 'controller') == {'delay': 2e-3}
    assert len(set(run_study(both, jobs=1).error_ratio)) == 4
    circle = plan_study('pcc_arm', {'reference.circle.radius': '0.05,0.1'}, seconds=2.1)
    assert circle.reference is None
    assert (run_study(circle, jobs=1).state == 0).all()


def test_faults_of_sensors_are_what_the_law_sees(controller):
    """Larger sensor faults cause larger errors, and unknown ones are refused."""
    vary = {'sensors.noise': '0,1e-4,1e-2', 'sensors.delay': '0,3ms'}
    found = run_study(planned(controller, vary, runs=None), jobs=1)
    ratios = found.error_ratio.reshape(3, 2)
    assert (np.diff(ratios[:, 0]) > 0.0).all() and len(set(found.error_ratio)) == 6
    for name, given in {
        'sensors.nose': '0,1',
        'sensors.noise': '-1..0',
        'sensors.x.noise': '0,1',
    }.items():
        with pytest.raises(SoftRobotError, match=name.split('.')[1]):
            planned(controller, {name: given})


def test_rates_of_states_and_drives_are_varied_unknown_to_the_law(controller):
    """Rates of states and drives vary without the law's knowledge; impossible ones fail."""
    vary = {'bus.rate': '0,50,120Hz', 'bus.phase': '0', 'sensors.rate': '0,100'}
    with pytest.raises(SoftRobotError, match='bus.phase: 0.002, expected 0, .* no bus.rate'):
        planned(controller, {'bus.phase': '0..2ms'})
    experiment = planned(controller, vary, runs=None)
    found = run_study(experiment, jobs=1)
    assert len(set(found.error_ratio)) == 6 and not found.unanswered.any()
    assert (found.state == 0).all() and found.error_ratio.argmin() == 0
    lossy = planned(controller, {'sensors.rate': '100', 'sensors.dropout': '0.3'}, runs=None)
    found = run_study(lossy, jobs=1)
    assert 0.1 < found.unanswered[0] < 0.5 and found.state[0] == 2
    for name, given, words in (
        ('sensors.rate', '100,2000', 'sensors.rate: 2000.0, .* 1000 Hz'),
        ('bus.rate', '-1..5', 'bus.rate: -1'),
        ('bus.rat', '1,2', 'bus.rate'),
        ('bus.rate', '1..5ms', 'Hz'),
    ):
        with pytest.raises(SoftRobotError, match=words):
            planned(controller, {name: given})


def test_the_same_seed_is_the_same_study(controller, tmp_path):
    """Bit by bit, in one process or two, kept in a folder or not."""
    one = run_study(planned(controller, seed=3), jobs=1)
    assert alike(one, run_study(planned(controller, seed=3), jobs=2, folder=tmp_path / 'out'))
    other = run_study(planned(controller, seed=4), jobs=1)
    assert not np.array_equal(one.values, other.values)


def test_finished_runs_are_not_repeated(controller, tmp_path, monkeypatch):
    """Finished runs are not repeated, also after a line that was cut off."""
    experiment, folder = planned(controller), tmp_path / 'out'
    whole = run_study(experiment, jobs=1, folder=folder)
    file = folder / run_table.RUNS_FILE
    text = file.read_bytes()
    lines = text.splitlines(keepends=True)
    file.write_bytes(b''.join(lines[:3]) + lines[3][:9])
    made, run = [], study.run_trial
    monkeypatch.setattr(study, 'run_trial', lambda e, v: made.append(v) or run(e, v))
    told = []
    again = run_study(experiment, jobs=1, folder=folder, progress=lambda *now: told.append(now))
    assert len(made) == 2 and alike(whole, again) and file.read_bytes() == text
    assert [(before, (state >= 0).sum()) for before, state in told] == [(2, 3), (2, 4)]
    assert alike(whole, run_study(experiment, jobs=1, folder=folder)) and len(made) == 2


def test_a_folder_belongs_to_one_study(controller, tmp_path):
    """The folder of another study, or one in use, is refused with the difference."""
    experiment, folder = planned(controller), tmp_path / 'out'
    run_study(experiment, jobs=1, folder=folder)
    other = planned(controller, seconds=0.6)
    with pytest.raises(ArgumentError, match='output.*seconds differ'):
        run_study(other, jobs=1, folder=folder)
    with pytest.raises(ArgumentError, match='runs differ'):
        run_study(planned(controller, seed=1), jobs=1, folder=folder)
    with (
        run_table.open_run_table(experiment, folder),
        pytest.raises(ArgumentError, match='no other study'),
    ):
        run_study(experiment, jobs=1, folder=folder)
    with pytest.raises(ArgumentError, match='a folder to write to'):
        run_study(experiment, jobs=1, folder=controller)


@pytest.mark.parametrize('vary, words', [
    ({}, 'vary'),
    ({'masss': '0.9..1.1'}, 'mean mass'),
    ({'dealy': '0..1ms'}, 'mean delay'),
    ({'gains.q': '1..2'}, 'mean gains.p'),
    ({'mass': '1.1..0.9'}, 'vary mass.*smaller to a greater'),
    ({'mass': '0.9'.join('..')}, 'a range such as'),
    ({'mass': '0.9..1.1ms'}, 'vary mass'),
    ({'mass': '1,1'}, 'values that differ'),
    ({'mass': 'heavy'}, 'heavy'),
    ({'mass': [1.0, np.inf]}, 'vary mass'),
    ({'mass': '-1..1'}, 'mass.*-'),
    ({'delay': '-1..1ms'}, 'vary delay.*>= 0'),
    ({'gains.p': '-1..1'}, 'gains.p: -1'),
    ({'rate': '0..1000'}, 'rate: 0'),
], ids=str)  # fmt: skip
def test_an_impossible_variation_is_refused(vary, words, controller):
    """An impossible variation is refused before any run, with the place and the value."""
    with pytest.raises(SoftRobotError, match=words):
        planned(controller, vary) if vary else plan_study('double_pendulum', vary)


@pytest.mark.parametrize('options, words', [
    ({'runs': 0}, 'runs'), ({'seed': -1}, 'seed'), ({'design': 'sobel'}, 'mean sobol'),
    ({'design': 'grid'}, 'vary mass.*values, for a grid'), ({'seconds': 0.1}, 'blended in'),
    ({'tolerance': np.nan}, 'tolerance'),
], ids=str)  # fmt: skip
def test_an_invalid_study_is_refused(options, words, controller):
    """An invalid study is refused by name."""
    with pytest.raises(ArgumentError, match='jobs'):
        run_study(planned(controller), jobs=0)
    with pytest.raises((ArgumentError, UnknownNameError), match=words):
        planned(controller, **options)


def test_an_unknown_controller_parameter_is_refused(controller):
    """A controller file with an unknown parameter is refused, as its value would not count."""
    controller.write_text(CONTROLLER.replace('gains', 'gians'), encoding='utf-8')
    with pytest.raises(ArgumentError, match='did you mean'):
        planned(controller)


def test_a_zero_is_varied_by_values():
    """Numbers that are zero are varied by values, as a factor would change nothing."""
    robot = sd.load_robot('ur10e')
    given = {'shoulder_pan_joint.damping': '0..2', 'mass': '0.5,2'}
    damping, mass = read_factors(given, robot, {})
    assert (damping.unit, mass.unit) == ('', '×')
    assert (damping.change(1.5), mass.change(0.5)) == (1.5, '×0.5')
    changed = sd.vary(robot, {damping.name: damping.change(1.5)})
    assert changed.modules[0].joint.damping == 1.5


@pytest.mark.parametrize('design', ['sobol', 'latin', 'random'])
def test_designs_fill_the_ranges(design, controller):
    """Each factor evenly over its range, or over its values."""
    vary = {'mass': (0.5, 1.5), 'delay': '0,1,2,3ms'}
    values = planned(controller, vary, runs=64, design=design).values
    assert values.shape == (64, 2)
    counts = np.histogram(values[:, 0], bins=8, range=(0.5, 1.5))[0]
    assert counts.sum() == 64 and (counts > 1).all()
    if design != 'random':
        assert (counts == 8).all()
    levels, each = np.unique(values[:, 1], return_counts=True)
    assert levels.tolist() == [0.0, 1e-3, 2e-3, 3e-3] and each.min() > 5


def test_an_experiment_can_be_pickled(controller):
    """An experiment is the same after a trip to another process."""
    import pickle

    experiment = planned(controller)
    again = pickle.loads(pickle.dumps(experiment))
    for field in dataclasses.fields(experiment):
        if field.name not in ('values', 'reference', 'parameters'):
            assert getattr(again, field.name) == getattr(experiment, field.name)
    assert trial.run_trial(again, again.values[0]) == trial.run_trial(
        experiment, experiment.values[0]
    )


def test_a_dask_cluster_makes_the_runs(controller):
    """A dask cluster, joblib's back end, makes the same runs."""
    distributed = pytest.importorskip('distributed')
    experiment = planned(controller)
    one = run_study(experiment, jobs=1)
    local = {'n_workers': 1, 'threads_per_worker': 2, 'processes': False}
    with distributed.Client(**local, dashboard_address=None):
        with joblib.parallel_config(backend='dask'):
            assert alike(one, run_study(experiment))


def arguments(controller, folder, *more):
    """Return the command line of a short study."""
    return [
        'study', 'double_pendulum', '--vary', 'mass=0.5..1.5', '--vary', 'delay=0..60ms',
        '--controller', str(controller), '--seconds', '0.5', '--runs', '12',
        '--output', str(folder), *more,
    ]  # fmt: skip


def test_the_command_prints_draws_and_writes(controller, tmp_path, capsys):
    """The command prints counts and boundaries, shows progress on stderr and draws a picture."""
    image = pytest.importorskip('matplotlib.image')
    folder = tmp_path / 'out'
    assert cli.main(arguments(controller, folder, '--jobs', '1')) == 0
    out, err = capsys.readouterr()
    assert 'followed' in out and 'for delay above' in out and str(folder) in out
    assert err.endswith('failed\n') and '12 of 12 runs' in err
    pixels = image.imread(folder / command.PICTURE_FILE)[..., :3]
    share = (np.abs(pixels - 1.0).max(axis=2) > 0.2).mean()
    assert pixels.shape[0] > 500 and 0.005 < share < 0.5
    for color in ('#2a9d8f', '#c1272d'):
        rgb = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0
        assert (np.abs(pixels - rgb).max(axis=2) < 0.02).sum() > 20
    assert len((folder / run_table.RUNS_FILE).read_text().splitlines()) == 13


def test_a_study_resumes_after_ctrl_c(controller, tmp_path, capsys, monkeypatch):
    """Ctrl-C ends a study with the words that the same command resumes it."""
    folder, run = tmp_path / 'out', study.run_trial
    given, left = arguments(controller, folder, '--jobs', '1'), iter(range(5))

    def until_ctrl_c(*of_run):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return run(*of_run)

    monkeypatch.setattr(study, 'run_trial', until_ctrl_c)
    assert cli.main(given) == 130
    assert 'interrupted: 5 of 12 runs' in capsys.readouterr().err
    monkeypatch.setattr(study, 'run_trial', run)
    assert cli.main(given) == 0
    assert cli.main([*given, '--seed', '1']) == 2
    assert 'runs differ' in capsys.readouterr().err


def test_a_killed_study_loses_the_runs_under_way(controller, tmp_path):
    """A killed study loses only the runs in progress, and ends as one that was not killed."""
    folder, other = tmp_path / 'out', tmp_path / 'other'
    longer = '--jobs', '1', '--seconds', '3', '--runs', '6'
    given = arguments(controller, folder, *longer)
    process = subprocess.Popen(
        [sys.executable, '-m', 'softrobot_dynamics.cli', *given], stderr=subprocess.DEVNULL
    )
    file, deadline = folder / run_table.RUNS_FILE, time.monotonic() + 900.0
    while not (file.exists() and file.read_bytes().count(b'\n') >= 3):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    done = file.read_bytes()
    assert cli.main(given) == 0
    assert file.read_bytes().startswith(done[: done.rfind(b'\n') + 1])
    assert cli.main(arguments(controller, other, *longer)) == 0
    assert sorted(file.read_text().splitlines()) == sorted(
        (other / run_table.RUNS_FILE).read_text().splitlines()
    )


def test_a_missing_joblib_is_reported(controller, tmp_path, capsys, monkeypatch):
    """Without joblib a study ends with one line on how to install it."""
    monkeypatch.setitem(sys.modules, 'joblib', None)
    assert cli.main(arguments(controller, tmp_path / 'out')) == 2
    assert "pip install 'softrobot_dynamics[study]'" in capsys.readouterr().err
