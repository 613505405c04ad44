# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Touches found by the estimator of a robot whose environment is known."""

import functools

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.estimation.sensor_simulation import SimulatedSensors
from support.contacts import arm as rods

PERIOD = 1e-3  # [s]
CERTAIN = 1e-6
GIVEN = {
    'sensors': [
        {'name': f'camera{i}', 'type': 'pose', 'body': f's{i}', 'position_noise': 2e-4}
        for i in range(3)
    ],
    'disturbance': {'force': 0.05, 'moment': 5e-4},
}
PEG = {'name': 'peg', 'type': 'sphere', 'centre': [0.056, 0.0, 0.33], 'radius': 0.03}


@functools.cache
def arm(x=0.056, z=0.33):
    """Return the model of an arm that may touch a peg, by default beside its second segment."""
    return rods([{**PEG, 'centre': [x, 0.0, z]}], friction=0.0)


def touched(pull, seconds=0.5, **peg):
    """Return the estimator of an arm that rests under a pull towards the peg, and the arm."""
    model = arm(**peg)
    u = np.array([pull])
    robot = sd.Simulator(model, q=sd.equilibrium(model, u=u).q)
    estimator = sd.Estimator(model, GIVEN)
    eyes = SimulatedSensors(model, estimator.settings.sensors, seed=1)
    estimator.begin(0.0, q=model.q0, u=u)
    for k in range(round(seconds / PERIOD) + 1):
        for reading in eyes.look(k * PERIOD, robot.q, robot.qd, u):
            estimator.measure(*reading)
        robot.step(u, PERIOD)
    return estimator, robot


def test_a_touch_is_told_by_the_shape_and_the_place_along_the_arm():
    """The force on the estimate is that of contact; its place is that of the simulated one."""
    estimator, robot = touched(15.0)
    real = sd.contacts(arm(), q=robot.q, qd=robot.qd)
    assert real.force.sum() > 0.3
    found = estimator.contact()
    assert (
        found.touched_shape == 'peg' and found.body == 's1' and found.wrench.probability < CERTAIN
    )
    where = (real.force @ real.points) / real.force.sum()
    assert abs(found.position[2] - where[2]) < 0.01
    force = real.force @ real.normals
    assert found.wrench.value == pytest.approx(force, abs=0.25 * np.linalg.norm(force))


@pytest.mark.parametrize('z', [0.09, 0.13, 0.17])
def test_where_all_places_of_a_segment_explain_alike_that_nearest_to_the_shape_is_told(z):
    """A force across the first segment bends it alike from anywhere: the gap says where it is."""
    estimator, robot = touched(15.0, x=0.0505, z=z)
    real = sd.contacts(robot.model, q=robot.q)
    assert {one for (one, _), force in zip(real.bodies, real.force) if force > 0.0} == {'s0'}
    found = estimator.contact()
    assert found.touched_shape == 'peg' and found.body == 's0'
    where = (real.force @ real.points) / real.force.sum()
    assert abs(found.position[2] - where[2]) < 0.006
    force = real.force @ real.normals
    assert found.wrench.value[0] == pytest.approx(force[0], rel=0.3)


@pytest.mark.parametrize(('x', 'z'), [(0.0505, 0.13), (0.056, 0.33), (0.07, 0.5)])
def test_the_momentum_observer_tells_a_touch_by_shape_and_place(x, z):
    """On each segment of an arm that is drawn against a peg, body, place and force are right."""
    model, u = arm(x, z), np.array([15.0])
    robot = sd.Simulator(model)
    for _ in range(500):  # near the rest that the arm is drawn to, which is then found at once
        robot.step(u, PERIOD)
    robot.reset(sd.equilibrium(model, u=u, q0=robot.q).q)
    observer = sd.MomentumObserver(model)
    observer.begin(0.0, robot.q, robot.qd)
    for k in range(1, 301):
        robot.step(u, PERIOD)
        observer(PERIOD * k, robot.q, robot.qd, u)
    real = sd.contacts(model, q=robot.q)
    force = real.force @ real.normals
    where = (real.force @ real.points) / real.force.sum()
    found = observer.contact()
    (body,) = {one for (one, _), f in zip(real.bodies, real.force) if f > 0.0}
    assert (found.body, found.touched_shape) == (body, 'peg') and found.share > 0.98
    axis = where + 0.02 * force / np.linalg.norm(force)  # a radius into the arm
    assert np.linalg.norm(found.position - axis) < 0.004
    assert found.force == pytest.approx(force, abs=0.1 * np.linalg.norm(force))
    elsewhere = observer.contact([('s2', None)])
    assert elsewhere.touched_shape is None and elsewhere.share < 0.95 or body == 's2'


def test_a_push_far_from_every_shape_is_told_where_it_is_by_the_momentum_observer():
    """A force on the tip is not put to a peg that the first segment is near."""
    model, pull = arm(0.052, 0.13), {'s2': sd.Wrench([0, 0, 0, 0.0, 0.3, 0], None, 'base')}
    robot, observer = sd.Simulator(model), sd.MomentumObserver(model)
    observer.begin(0.0, robot.q, robot.qd)
    for k in range(1, 201):
        robot.step([0.0], PERIOD, pull)
        observer(PERIOD * k, robot.q, robot.qd, [0.0])
    found = observer.contact()
    assert found.body == 's2' and found.point is None and found.touched_shape is None
    assert found.force == pytest.approx([0.0, 0.3, 0.0], abs=0.02)
    for given in ({'places': []}, {'within': -1.0}):
        with pytest.raises(ArgumentError, match=next(iter(given))):
            observer.contact(**given)


def test_an_arm_that_hits_a_wall_is_followed_if_contact_is_predicted():
    """A camera on its tip loses it by 5 mm without contact, with it by less than 1 mm."""
    wall = {'name': 'wall', 'type': 'plane', 'point': [0.06, 0.0, 0.0], 'normal': [-1.0, 0.0, 0.0]}
    model, u = rods([wall], friction=0.0), np.array([15.0])
    worst, wrong = {}, {}
    for contact in (False, True):
        robot = sd.Simulator(model)
        given = {'sensors': GIVEN['sensors'][2:], 'disturbance': GIVEN['disturbance']}
        estimator = sd.Estimator(model, {**given, 'contact': contact})
        eyes = SimulatedSensors(model, estimator.settings.sensors, seed=1)
        estimator.begin(0.0, u=u)
        off = []
        for k in range(1001):
            for reading in eyes.look(k * PERIOD, robot.q, robot.qd, u):
                estimator.measure(*reading)
            if k % 20 == 0:
                tips = estimator.estimate(k * PERIOD).q, robot.q
                there = [sd.forward_kinematics(model, q=q)[-1][:3, 3] for q in tips]
                off.append(np.linalg.norm(there[0] - there[1]))
            robot.step(u, PERIOD)
        real = sd.contacts(model, q=robot.q, qd=robot.qd).generalized_force
        found = estimator.estimate(1.0).force
        worst[contact] = max(off)
        wrong[contact] = np.abs(found - real).max() / np.abs(real).max()
    assert worst[True] < 1e-3 and worst[False] > 5e-3
    assert wrong[True] < 0.2 < wrong[False]


WALL = {'name': 'wall', 'type': 'plane', 'point': [0.06, 0, 0], 'normal': [-1, 0, 0]}
IMU = {'name': 'imu', 'type': 'imu', 'body': 's2'}


@pytest.mark.parametrize('friction', [0.0, 0.5])
@pytest.mark.parametrize('motion', [None, {'amplitude': [-0.02, 0, 0], 'frequency': 1.0}])
def test_contact_is_predicted_with_friction_moving_walls_and_an_inertial_unit(friction, motion):
    """With contact the tip is known to 1 mm and no reading is doubted after impacts, else lost."""
    model, u = rods([{**WALL, 'motion': motion} if motion else WALL], friction=friction), [15.0]
    worst, doubted = {}, {}
    for contact in (False, True):
        given = {'sensors': [GIVEN['sensors'][2], IMU], 'disturbance': GIVEN['disturbance']}
        robot = sd.Simulator(model)
        estimator = sd.Estimator(model, {**given, 'contact': contact})
        eyes = SimulatedSensors(model, estimator.settings.sensors, seed=1)
        estimator.begin(0.0, u=u)
        off, doubted[contact] = [], 0
        for k in range(601):
            touching = robot.contact_force
            for reading in eyes.look(k * PERIOD, robot.q, robot.qd, np.array(u), touching):
                doubted[contact] += bool(estimator.measure(*reading).outliers)
            if k % 20 == 0:
                states = estimator.estimate(k * PERIOD).q, robot.q
                there = [sd.forward_kinematics(model, q=q)[-1][:3, 3] for q in states]
                off.append(np.linalg.norm(there[0] - there[1]))
            robot.step(u, PERIOD)
        assert robot.contact_force.any()
        worst[contact] = max(off)
    assert worst[True] < 1e-3 and worst[False] > 5e-3
    assert doubted[True] <= 5 and doubted[False] > 20


def test_an_inertial_unit_on_an_arm_that_rests_on_a_wall_feels_gravity_alone():
    """The wall holds the arm, by friction too, in the accelerations that are simulated."""
    model, u = rods([WALL], friction=0.5), np.array([15.0])
    robot = sd.Simulator(model)
    for _ in range(3000):
        robot.step(u, PERIOD)
    assert np.abs(robot.qd).max() < 1e-3
    imu = {**IMU, 'acceleration_noise': 1e-3, 'angular_velocity_noise': 1e-4}
    sensors = sd.Estimator(model, {'sensors': [imu]}).settings.sensors
    eyes = SimulatedSensors(model, sensors)
    (reading,) = eyes.look(0.0, robot.q, robot.qd, u, robot.contact_force)
    R = sd.forward_kinematics(model, q=robot.q)[-1][:3, :3]
    np.testing.assert_allclose(reading.value[4], -R.T @ [0.0, 0.0, 9.81], atol=0.02)


def test_an_arm_that_is_far_from_everything_touches_no_shape():
    """Without a shape nearby the usual places are tried, and none is named."""
    estimator, robot = touched(0.0)
    assert sd.contacts(arm(), q=robot.q).gap.size == 0
    found = estimator.contact(within=0.0)
    assert found.touched_shape is None and found.wrench.probability > CERTAIN


def test_places_that_are_given_are_tried_alone():
    """A caller who names the places is not told of others."""
    estimator, _ = touched(15.0)
    found = estimator.contact([('s2', None)])
    assert found.body == 's2' and found.touched_shape is None


@pytest.mark.parametrize('within', [-1.0, float('nan'), True, 'near'])
def test_a_distance_that_is_none_is_refused(within):
    """The gap within which a posture may touch is a length."""
    estimator = sd.Estimator(arm(), GIVEN)
    estimator.begin(0.0)
    with pytest.raises(ArgumentError, match='within'):
        estimator.contact(within=within)


def test_points_near_an_obstacle_that_moves_are_those_at_the_time_of_the_estimate():
    """A peg that has come to the arm since the beginning is the one that a touch names."""
    away = {**PEG, 'centre': [0.3, 0.0, 0.33], 'motion': {'velocity': [-0.5, 0.0, 0.0]}}
    model = rods([away], friction=0.0)
    estimator = sd.Estimator(model, GIVEN)
    tips = sd.forward_kinematics(model, q=model.q0)
    for time, other in ((0.0, None), (0.5, 'peg')):
        estimator.begin(time, q=model.q0, u=[0.0])
        for i in range(3):
            estimator.measure(time, f'camera{i}', tips[i])
        assert estimator.contact().touched_shape == other
