# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Parameters of tendon routes from postures, without compilation."""

import numba.core.event
import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError, UnknownNameError
from softrobot_dynamics.identification.fit_parameters import read_parameters
from softrobot_dynamics.identification.fitting import identify
from softrobot_dynamics.identification.postures import Marker, postures
from softrobot_dynamics.identification.prediction import Predictor
from softrobot_dynamics.identification.robot_files import write_fitted
from support.servos import servo, tips_under

DRIVE = {'compliance': 2e-4, 'pretension': 20.0, 'radius': 0.01}
TRUTH = {'path.radius': 0.0162, 't1.path.phase': 2.0, 't2.path.arm.phase': 4.35}
FIT = ['path.radius', 't1.path.phase=1.5..2.5', 't2.path.arm.phase=3.5..5']
TIP = Marker('tip', 'arm', (0.0, 0.0, 0.2))
U = np.random.default_rng(2).uniform(-1.0, 1.5, (5, 3))

FILE = """\
name: arm
bodies:
  - name: first
    joint: {type: fixed}
    body: {type: pcc, length: 0.2, radius: 0.02, density: 1070.0, young_modulus: 6.0e+5}
  - name: second
    joint: {type: fixed}
    body: {type: pcc, length: 0.2, radius: 0.02, density: 1070.0, young_modulus: 6.0e+5}
actuators:
  - name: straight
    type: tendon
    path:
      - {body: first, offset: [0.010, 0.0]}   # measured by eye
  - name: long
    type: tendon
    path:                                     # from the drawing
      - {body: first, offset: {radius: 0.010, phase: 2.0}}
      - {body: second, offset: {x: [-0.010, 0.002], y: [0.0]}}   # converges
"""


def test_radius_and_angles_are_found():
    """Fits find the common radius of three tendons, two of their angles, and the modulus."""
    robot = sd.load_robot(servo(DRIVE))
    truth = {**TRUTH, 'young_modulus': 5e5}
    data = postures(robot, U, [TIP], tips_under(sd.vary(robot, truth), U))
    found = identify(robot, data, [*FIT, 'young_modulus'], loss='linear')
    assert {e.name: e.value for e in found.estimates} == pytest.approx(truth, rel=1e-4)
    assert not found.unidentifiable and found.rms < 1e-8
    paths = [entry.actuator.path[0].offset for entry in found.robot.actuators]
    assert len({p.radius for p in paths}) == 1 and paths[0].phase == 0.0


def test_derivatives_are_those_of_whole_solves_and_nothing_is_compiled():
    """Derivatives equal differences of equilibria, and no kernel is compiled."""
    robot = sd.load_robot(servo(DRIVE))
    parameters = read_parameters(robot, [*FIT, 't0.path.phase=-1..1'])
    predictor = Predictor(parameters, postures(robot, U, [TIP], tips_under(robot, U)))
    x, h = parameters.start, 1e-4
    predictor.derivatives(x)
    with numba.core.event.install_recorder('numba:compile') as recorder:
        derivatives = predictor.derivatives(x + 0.01)
        for k, step in enumerate(h * np.eye(len(x))):
            ends = [predictor.points(x + 0.01 + s) for s in (step, -step)]
            difference = (ends[0] - ends[1]) / (2.0 * h)
            assert np.abs(derivatives[..., k] - difference).max() < 1e-4 * np.abs(difference).max()
    assert not recorder.buffer


def test_routes_are_written_in_place(tmp_path):
    """Numbers of routes are written into each form of an offset; other lines stay."""
    source, output = tmp_path / 'arm.yaml', tmp_path / 'fitted.yaml'
    source.write_text(FILE, encoding='utf-8')
    changes = {
        'straight.path.x': 0.011,
        'long.path.radius': 0.012,
        'long.path.first.phase': 2.1,
        'path.second.x.1': 0.003,
    }
    robot = sd.vary(sd.load_robot(source), changes)
    write_fitted(source, output, robot, list(changes), [])
    expected = (
        FILE.replace('[0.010, 0.0]', '[0.011, 0.0]')
        .replace('radius: 0.010, phase: 2.0', 'radius: 0.012, phase: 2.1')
        .replace('[-0.010, 0.002]', '[-0.010, 0.003]')
    )
    assert output.read_text(encoding='utf-8') == expected
    assert sd.load_robot(output).digest == robot.digest
    with pytest.raises(ArgumentError, match='long.path.turns'):
        write_fitted(source, output, sd.vary(robot, {'path.turns': 0.1}), ['long.path.turns'], [])


@pytest.mark.quick
@pytest.mark.parametrize('fit, error, words', [
    (['path.radios'], UnknownNameError, 'did you mean path.radius'),
    (['t1.path.leg.phase'], UnknownNameError, 't1.path.leg.phase'),
    (['path.radius.2'], UnknownNameError, 'path.radius.2'),
    (['t0.path.phase'], ArgumentError, r'bounds, t0\.path\.phase=A\.\.B'),
])  # fmt: skip
def test_wrong_names_are_refused(fit, error, words):
    """Wrong names of routes are refused as of any other number."""
    with pytest.raises(error, match=words):
        read_parameters(sd.load_robot(servo(DRIVE)), fit)
