# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Simulators, laws and estimators that are pickled or copied go on from the state they had."""

import copy
import functools
from pathlib import Path
import pickle
import subprocess
import sys

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.composition import Composition
from softrobot_dynamics.controllers.contract import CONTROLLERS
from softrobot_dynamics.controllers.phases import Phase
from softrobot_dynamics.estimation.estimator import Estimator
from softrobot_dynamics.estimation.sensors.joint import JointSensor
from softrobot_dynamics.references.piecewise import spline
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator
from softrobot_dynamics.simulation.integrators.contract import INTEGRATORS

PERIOD = 2e-3


@functools.cache
def model(name='servo_arm'):
    """Return the model of a shipped robot."""
    return sd.compile_model(sd.load_robot(name))


def stepped(robot, steps=7):
    """Return q and qd (n,) of a simulator after some steps under changing commands."""
    middle = 0.5 * (np.maximum(robot.model.lower, -1.0) + np.minimum(robot.model.upper, 1.0))
    for k in range(steps):
        robot.step(middle * (1.0 + 0.1 * np.sin(k)), PERIOD)
    return np.array([robot.q, robot.qd])


def answers(law, steps=6):
    """Return commands (steps, m) of a law to states that change, from t = 0.1 s on."""
    n, found = law.model.n, []
    for k in range(steps):
        wave = 1e-3 * np.sin(k + np.arange(n))
        found.append(law.compute(0.1 + k * law.period, law.model.q0 + wave, wave).u.copy())
    return np.array(found)


def estimated(estimator):
    """Return x of an estimator that hears some more measurements."""
    n = estimator.model.n
    for k in range(3):
        estimator.measure(0.11 + 0.01 * k, 'encoders', estimator.model.q0 + 1e-3 * k)
    estimate = estimator.estimate(0.15)
    return np.concatenate([estimate.q, estimate.qd, np.zeros(n)])


def simulator(kind, robot='servo_arm', **options):
    """Return a simulator by a kind of integrator that has made some steps."""
    tolerance = 1e-7 if INTEGRATORS.get(kind).keeps_tolerance else None
    made = ActuatedSimulator(model(robot), integrator=kind, tolerance=tolerance, **options)
    stepped(made, 5)
    return made


def law(kind, robot='double_pendulum', **given):
    """Return a law of a kind that follows a reference and has answered some states."""
    found, own = CONTROLLERS.get(kind), model(robot)
    settings = found.make_settings(own, None, **given)
    made = found(own, period=PERIOD, settings=settings)
    made.start(own.q0, np.zeros(own.n), 0.0)
    knots = np.linspace(0.0, 1.0, 5)
    waves = 0.1 * np.sin(knots)[:, None] * np.ones(len(made.controlled))
    made.follow(spline(knots, waves), 0.0, 0.05)
    for k in range(4):
        made.compute(k * PERIOD, own.q0 + 1e-4 * k, np.full(own.n, 1e-3))
    return made


def composition():
    """Return two laws in two phases, in the second of them."""
    own = model('double_pendulum')
    laws = [
        CONTROLLERS.get('pfbl')(own, period=PERIOD, controlled=[own.actuator_names[0]]),
        CONTROLLERS.get('pd_plus')(own, period=PERIOD, controlled=[own.actuator_names[1]]),
    ]
    phases = [Phase('one', 10.0, (0,)), Phase('both', 10.0, (0, 1))]
    made = Composition(laws, phases=phases)
    made.start(own.q0, np.zeros(own.n), 0.0)
    for k in range(4):
        made.compute(k * PERIOD, own.q0 + 1e-4 * k, np.full(own.n, 1e-3))
    return made


def estimator():
    """Return an estimator that has heard of commands and measurements."""
    own = model('double_pendulum')
    names = own.coordinate_names
    made = Estimator(own, [JointSensor(name='encoders', rate=100.0, names=names, noise=1e-3)])
    made.command(0.02, np.full(own.m, 0.5))
    for k in range(1, 11):
        made.measure(0.01 * k, 'encoders', own.q0 + 1e-3 * k)
    return made


CASES = {
    **{f'simulator by {kind}': (functools.partial(simulator, kind), stepped)
       for kind in INTEGRATORS.names()},
    'simulator of soft bodies': (functools.partial(simulator, 'exponential', 'pcc_arm'), stepped),
    'simulator at joint limits': (functools.partial(simulator, 'exponential', 'ur10e'), stepped),
    'simulator with a payload': (
        functools.partial(simulator, 'exponential', 'ur10e', carrier='wrist_3_link'), stepped,
    ),
    **{f'law {kind}': (functools.partial(law, kind), answers) for kind in CONTROLLERS.names()},
    'law with a known delay': (functools.partial(law, 'pfbl', delay=1e-3), answers),
    'composition': (composition, answers),
    'estimator': (estimator, estimated),
}  # fmt: skip
every_case = pytest.mark.parametrize('case', CASES)


@every_case
@pytest.mark.parametrize('copied', [copy.copy, copy.deepcopy], ids=['copy', 'deepcopy'])
def test_a_copy_goes_on_as_the_original_does_and_leaves_it_alone(case, copied):
    """Copy and original, each by itself, do the same from the same state, bit for bit."""
    make, go = CASES[case]
    original = make()
    other, third = copied(original), copied(original)
    expected = go(other)
    np.testing.assert_array_equal(go(original), expected)
    np.testing.assert_array_equal(go(third), expected)
    assert np.isfinite(expected).all()


ELSEWHERE = """
import pickle, sys
sys.path[:] = {paths!r}
import {module} as cases
made, file = pickle.load(open({file!r}, 'rb')), {file!r}
found = {{case: cases.CASES[case][1](each) for case, each in made.items()}}
pickle.dump(found, open(file, 'wb'))
"""
SENT = [name for name in CASES if name.startswith('simulator')]
SENT += ['law feed_forward', 'law pd_plus']


def test_in_another_process_everything_goes_on_as_here(tmp_path):
    """An object pickled for another process gives the same there as here, bit for bit."""
    file, made = tmp_path / 'sent', {case: CASES[case][0]() for case in SENT}
    file.write_bytes(pickle.dumps(made))
    paths = [str(Path(__file__).parent), *sys.path]
    text = ELSEWHERE.format(paths=paths, module=Path(__file__).stem, file=str(file))
    subprocess.run([sys.executable, '-c', text], check=True, timeout=600)
    for case, found in pickle.loads(file.read_bytes()).items():
        np.testing.assert_array_equal(CASES[case][1](made[case]), found, err_msg=case)


POOL = """
import concurrent.futures, multiprocessing
import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.composition import Composition
from softrobot_dynamics.controllers.contract import CONTROLLERS

def go_on(made):
    model = made.model
    if hasattr(made, 'compute'):
        return made.compute(0.002, model.q0, np.zeros(model.n)).u
    if hasattr(made, 'step'):
        made.step(np.zeros(model.m), 0.01)
        return np.concatenate([made.q, made.qd])
    return made.estimate(0.2).q

def objects():
    model = sd.compile_model(sd.load_robot('double_pendulum'))
    law, other = (CONTROLLERS.get('pfbl')(model, period=2e-3) for _ in range(2))
    laws = [law, Composition([other])]
    for each in laws:
        each.start(model.q0, np.zeros(model.n), 0.0)
    encoder = {'name': 'e', 'type': 'joint', 'names': [model.coordinate_names[0]], 'noise': 1e-3}
    estimator = sd.Estimator(model, {'sensors': [encoder]})
    estimator.begin(0.0)
    return [*laws, estimator, sd.Simulator(model)]

if __name__ == '__main__':
    context = multiprocessing.get_context('spawn')
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        found = list(pool.map(go_on, objects()))
    for own, there in zip(map(go_on, objects()), found, strict=True):
        assert np.array_equal(own, there)
"""


def test_objects_go_through_a_pool_of_new_processes(tmp_path):
    """New processes of a ProcessPoolExecutor compute what is computed here, bit for bit."""
    script = tmp_path / 'script.py'
    script.write_text(POOL, encoding='utf-8')
    subprocess.run([sys.executable, str(script)], check=True, timeout=600)


def test_settings_and_reference_go_with_a_law():
    """A copied law has the settings and the reference in force, also those given while it ran."""
    original = law('pfbl')
    original.use(original.settings.replace(lower=original.settings.lower * 0.5 - 1.0))
    other = pickle.loads(pickle.dumps(original))
    np.testing.assert_array_equal(other.settings.lower, original.settings.lower)
    np.testing.assert_array_equal(other.desired(0.37), original.desired(0.37))
    assert other.period == original.period and other.plan.start == original.plan.start


def test_time_and_payload_go_with_a_simulator():
    """A copied simulator has time, steps and payload of the original, and its own arrays."""
    original = simulator('exponential', 'ur10e', carrier='wrist_3_link')
    original.carry(2.0)
    other = copy.deepcopy(original)
    assert (other.time, other.substeps) == (original.time, original.substeps)
    assert other.q.tolist() == original.q.tolist() and other.q is not original.q
    np.testing.assert_array_equal(stepped(other), stepped(original))
    original.reset()
    assert other.q.tolist() != original.q.tolist()
