# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Sensors against frames and actuation; derivatives against differences; wrong values."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
import softrobot_dynamics as sd
from softrobot_dynamics.compiling.addresses import EMPTY_ENTRY
from softrobot_dynamics.dynamics.derivatives import Differentiator
from softrobot_dynamics.errors import ArgumentError, DescriptionError, UnknownNameError
from softrobot_dynamics.estimation.sensors.contract import BoundRobot
from softrobot_dynamics.estimation.sensors.frames import require_frames, SensorFrame, SensorFrames
from softrobot_dynamics.schema.poses import Pose
from support.robots import compiled, states

pytestmark = pytest.mark.quick

MOUNT = {'xyz': [0.01, -0.02, 0.03], 'rpy': [0.3, -0.4, 0.5]}
SENSORS = (
    {'type': 'pose', 'body': 'segment3'},
    {'type': 'pose', 'body': 'segment2', 'mount': MOUNT},
    {'type': 'pose', 'body': 'segment2', 'point': [0.01, 0.005, 0.07], 'mount': MOUNT},
    {
        'type': 'markers',
        'points': [{'body': 'segment1'}, {'body': 'segment3', 'point': [0.02, 0.0, 0.1]}],
    },
    {'type': 'joint', 'names': ['t9', 'segment2/bend_y', 't1'], 'noise': 1e-3},
)
IDS = 'tip', 'mounted', 'point', 'markers', 'joint'


def bound(given):
    """Return a sensor, and its observation on the arm."""
    model = compiled('pcc_arm')
    (sensor,) = sd.load_estimator({'sensors': [{'name': 'own', **given}]}).sensors
    differentiate = Differentiator(model, np.zeros(model.n))
    return sensor, sensor.bind(BoundRobot(model, differentiate, np.zeros(model.m)))


def exact(given, q):
    """Return the value that a sensor should measure at q, by the calls of the library."""
    model = compiled('pcc_arm')
    if given['type'] == 'pose':
        mount = Pose(**given.get('mount', {})).matrix()
        return sd.frame(model, q=q, body=given['body'], point=given.get('point')) @ mount
    if given['type'] == 'markers':
        return [sd.frame(model, q=q, **point)[:3, 3] for point in given['points']]
    y = sd.actuation(model, q=q, qd=np.zeros(9)).coordinates
    return [y[8], q[4], y[0]]


@pytest.mark.parametrize('given', SENSORS, ids=IDS)
def test_a_sensor_predicts_what_the_library_computes(given):
    """A sensor predicts the library's value and has no residual for it."""
    (q, qd, _), *_ = states(compiled('pcc_arm'), 1, size=0.6)
    sensor, seen = bound(given)
    z = sensor.read(exact(given, q))
    seen.observe(q, qd, z)
    assert seen.observed.predicted == pytest.approx(z, abs=1e-12)
    assert np.abs(seen.observed.residual).max() < 1e-12
    assert np.array(sensor.value(z)) == pytest.approx(np.array(exact(given, q)), abs=1e-12)


@pytest.mark.parametrize('given', SENSORS, ids=IDS)
def test_derivatives_are_those_of_residuals(given):
    """H equals central differences of the residual at the time of the value."""
    (q, qd, _), *_ = states(compiled('pcc_arm'), 1, size=0.6)
    sensor, seen = bound(given)
    z, h = sensor.read(exact(given, q)), 1e-5
    found = np.zeros_like(seen.observed.H)
    for j, step in enumerate(h * np.eye(9)):
        for sign in (1.0, -1.0):
            seen.observe(q + sign * step, qd, z)
            found[:, j] -= sign * seen.observed.residual / (2.0 * h)
    seen.observe(q, qd, z)
    assert seen.observed.H == pytest.approx(found, abs=1e-7)


@pytest.mark.parametrize('given', SENSORS, ids=IDS)
def test_simulated_noise_has_the_assumed_size(given):
    """Simulated noise has the assumed covariance, for rotations as for numbers."""
    q = states(compiled('pcc_arm'), 1, size=0.6)[0][0]
    sensor, seen = bound(given)
    z = sensor.read(exact(given, q))
    error = np.random.default_rng(0).normal(0.0, 0.3, len(seen.noise))
    blurred = sensor.add_noise(z, error)
    assert sensor.read(sensor.value(blurred)) == pytest.approx(blurred, abs=1e-12)
    seen.observe(q, np.zeros(9), blurred)
    assert seen.observed.residual == pytest.approx(error, abs=1e-12)


def test_a_pose_may_be_turned_by_almost_half_a_turn():
    """The rotation vector of the residual is the one of another library."""
    sensor, seen = bound(SENSORS[0])
    q = np.zeros(9)
    T = exact(SENSORS[0], q)
    for angle in (1e-9, 1e-3, 2.0, 3.1):
        vector = angle * np.array([0.6, -0.48, 0.64])
        turned = T.copy()
        turned[:3, :3] = Rotation.from_rotvec(vector).as_matrix() @ T[:3, :3]
        seen.observe(q, q, sensor.read(turned))
        assert seen.observed.residual[:3] == pytest.approx(vector, rel=1e-6, abs=1e-15)


def test_a_marker_that_is_not_seen_is_left_out():
    """A marker with one NaN is left out entirely, and no other marker."""
    sensor, seen = bound(SENSORS[3])
    seen.observe(np.zeros(9), np.zeros(9), sensor.read([[0.0, np.nan, 0.2], [0.0, 0.0, 0.5]]))
    assert np.isnan(seen.observed.residual).tolist() == [True] * 3 + [False] * 3


@pytest.mark.parametrize(
    'given, value',
    [
        (SENSORS[0], np.eye(3)),
        (SENSORS[0], np.diag([1.0, 1.0, -1.0, 1.0])),
        (SENSORS[0], np.diag([1.0, 1.1, 1.0, 1.0])),
        (SENSORS[0], np.full((4, 4), np.nan)),
        (SENSORS[3], np.zeros((3, 3))),
        (SENSORS[3], [[np.inf, 0.0, 0.0], [0.0, 0.0, 0.0]]),
        (SENSORS[3], 'seen'),
        (SENSORS[4], [0.0, 1.0]),
        (SENSORS[4], [0.0, 1.0, np.inf]),
        (SENSORS[4], None),
    ],
)
def test_a_wrong_value_is_refused_by_the_name_of_the_sensor(given, value):
    """A wrong value is refused with the sensor's name and what would be right."""
    with pytest.raises(ArgumentError, match='own'):
        bound(given)[0].read(value)


@pytest.mark.parametrize(
    'given, error, words',
    [
        ({'type': 'pose', 'body': 'nobody'}, UnknownNameError, 'segment1'),
        (
            {'type': 'pose', 'body': 'segment1', 'position_noise': -1},
            DescriptionError,
            '3 of them',
        ),
        ({'type': 'joint', 'names': ['t1', 'x'], 'noise': 1.0}, UnknownNameError, 'bend_x'),
        ({'type': 'joint', 'names': [], 'noise': 1.0}, DescriptionError, 'names'),
        ({'type': 'joint', 'names': ['t1'], 'noise': 0.0}, DescriptionError, 'noise'),
        ({'type': 'sonar'}, DescriptionError, 'pose'),
        ({'type': 'joint', 'names': ['t1'], 'noise': 1.0, 'gate': 2.0}, DescriptionError, 'gate'),
    ],
)
def test_a_wrong_sensor_is_refused(given, error, words):
    """A wrong sensor is refused with the known names."""
    with pytest.raises(error, match=words):
        bound(given)


def test_a_point_must_have_a_frame():
    """A sensor at a point where the body has no frame is refused with the point."""
    frames, spots = np.zeros((2, 12)), [SensorFrame('foot'), SensorFrame('hand', (0.0, 0.0, 9.0))]
    placed = SensorFrames(EMPTY_ENTRY, frames, np.zeros((2, 6)))
    require_frames(placed, spots)
    frames[1, 3] = np.nan
    with pytest.raises(ArgumentError, match='hand'):
        require_frames(placed, spots)
