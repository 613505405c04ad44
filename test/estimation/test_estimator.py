# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The estimator of an arm with a camera and cable lengths: consistency, pushes, loops, rest."""

import functools

import numpy as np
import pytest
from scipy.stats import chi2
import softrobot_dynamics as sd
from softrobot_dynamics.errors import (
    ArgumentError,
    DescriptionError,
    SimulationDivergedError,
    UnknownNameError,
)
from softrobot_dynamics.estimation.command_history import CommandHistory
from softrobot_dynamics.estimation.contact_places import places_along
from softrobot_dynamics.estimation.sensor_simulation import SimulatedSensors
from softrobot_dynamics.references.piecewise import constant
from support.robots import compiled

PERIOD, FORCE, MOMENT = 1e-3, 0.05, 5e-4
CAMERA = {'name': 'camera', 'type': 'pose', 'body': 'segment3'}
CABLES = {
    'name': 'cables',
    'type': 'joint',
    'names': [f't{k}' for k in range(1, 10)],
    'noise': 2e-4,
}
ARM = {'sensors': [CAMERA, CABLES], 'disturbance': {'force': FORCE, 'moment': MOMENT}}
HESSIANS = [0, 1, 3, 4, 6, 7, 9, 10, 12, 13, 15, 16]  # and their rates
TENSIONS = 1.0 + np.arange(9) % 4


@functools.cache
def arm():
    """Return an estimator of the shipped arm."""
    return sd.Estimator(compiled('pcc_arm'), ARM)


def drawn(own, rng):
    """Return a state (q, qd) from what the estimator believes at first, and its covariance."""
    own.begin(0.0, u=TENSIONS)
    P = own.estimate(0.0, covariance=True).covariance
    x = np.linalg.cholesky(P) @ rng.standard_normal(len(P))
    return x[:9], x[9:18]


def follow(own, robot, instruments, span, push=None):
    """Let a robot move, be measured and be estimated; yield (time, innovations) every period."""
    for k in range(round(span / PERIOD)):
        t = k * PERIOD
        told = [own.measure(*r) for r in instruments.look(t, robot.q, robot.qd, TENSIONS)]
        robot.step(TENSIONS, PERIOD, push and push(t))
        yield t + PERIOD, told


def test_the_filter_is_consistent():
    """Squared innovations and errors match their covariances, external forces included."""
    own, rng, squares, errors, inside = arm(), np.random.default_rng(7), [], [], []
    model, keep = own.model, np.exp(-PERIOD)
    spread = np.repeat([MOMENT, FORCE], 3)
    for seed in range(6):
        q, qd = drawn(own, rng)
        robot, wrench = sd.Simulator(model, q=q, qd=qd), [spread * rng.standard_normal((3, 6))]

        def push(t, wrench=wrench):
            fresh = spread * rng.standard_normal((3, 6))
            wrench[0] = keep * wrench[0] + np.sqrt(1.0 - keep**2) * fresh
            pairs = zip(model.body_names, wrench[0])
            return {body: sd.Wrench(w, None, 'base') for body, w in pairs}

        eyes = SimulatedSensors(model, own.settings.sensors, seed=seed)
        for t, told in follow(own, robot, eyes, 0.3, push):
            squares += [(each.square, each.numbers) for each in told if t > 0.1]
        found = own.estimate(t, covariance=True)
        axes = [sd.jacobian(model, q=robot.q, body=b, frame='base') for b in model.body_names]
        force = sum(J.T @ w for J, w in zip(axes, wrench[0]))
        error = np.concatenate([found.q - robot.q, found.qd - robot.qd, found.force - force])
        P = found.covariance[np.ix_(HESSIANS, HESSIANS)]
        errors.append(error[HESSIANS] @ np.linalg.solve(P, error[HESSIANS]))
        inside.append(np.abs(error) < 1.96 * np.sqrt(np.diag(found.covariance)))
    total, count = np.array(squares).sum(axis=0)
    assert chi2.ppf(1e-4, count) < total < chi2.ppf(1.0 - 1e-4, count)
    assert chi2.ppf(1e-4, 12 * 6) < np.sum(errors) < chi2.ppf(1.0 - 1e-4, 12 * 6)
    assert 0.88 < np.mean(inside)


def test_a_push_is_found_and_how_large_it_is():
    """A push across the tip is found with its size within a second, and none without one."""
    own, model, value = arm(), compiled('pcc_arm'), np.array([0.0, 0.0, 0.0, 0.3, -0.4, 0.0])
    rest = sd.equilibrium(model, u=TENSIONS).q
    robot, eyes = (
        sd.Simulator(model, q=rest),
        SimulatedSensors(model, own.settings.sensors, seed=3),
    )
    own.begin(0.0, q=rest, u=TENSIONS)
    chances = {False: [], True: []}
    wrench = {'segment3': sd.Wrench(value, None, 'base')}
    for t, told in follow(own, robot, eyes, 1.2, lambda t: wrench if t > 0.3 else None):
        if told and not 0.3 < t < 0.45:
            chances[t > 0.3].append(own.push().probability)
    found = own.push('segment3')
    error = found.value - value[3:]
    assert error @ np.linalg.solve(found.covariance, error) < chi2.ppf(1.0 - 1e-4, 3)
    assert np.sqrt(np.diag(found.covariance)).max() < 0.2
    assert min(chances[False]) > 1e-4 and max(chances[True]) < 1e-4
    whole = own.push('segment3', moment=True)
    assert whole.rank == 6 and whole.value.shape == (6,)
    assert np.linalg.eigvalsh(whole.covariance).min() > 0.0


@pytest.mark.parametrize('body, at', [('segment3', None), ('segment3', 0.1), ('segment2', 0.1)])
def test_the_place_of_a_push_is_found(body, at):
    """A push is located within the distance of the tried places, with its size."""
    own, model, value = arm(), compiled('pcc_arm'), np.array([0.0, 0.0, 0.0, 0.6, -0.8, 0.0])
    rest = sd.equilibrium(model, u=TENSIONS).q
    robot, eyes = (
        sd.Simulator(model, q=rest),
        SimulatedSensors(model, own.settings.sensors, seed=3),
    )
    own.begin(0.0, q=rest, u=TENSIONS)
    point = None if at is None else (0.0, 0.0, at)
    wrench = {body: sd.Wrench(value, point, 'base')}
    for _ in follow(own, robot, eyes, 1.2, lambda t: wrench if t > 0.3 else None):
        pass
    found = own.contact()
    true = sd.frame(model, q=robot.q, body=body, point=point)[:3, 3]
    assert np.linalg.norm(found.position - true) < 0.06  # places are 5 cm apart
    assert found.wrench.probability < 1e-6
    assert np.linalg.norm(found.wrench.value - value[3:]) < 0.5
    only = own.contact([(body, point)])
    assert (only.body, only.wrench.square) == (body, own.push(body, point=point).square)
    with pytest.raises(ArgumentError, match='at least one'):
        own.contact([])


def test_places_of_pushes_are_along_segments_and_links():
    """Candidate places of pushes are along soft segments and along links."""
    arm = places_along(compiled('pcc_arm'))
    assert len(arm) == 12 and arm[:2] == [
        ('segment1', (0.0, 0.0, 0.05)),
        ('segment1', (0.0, 0.0, 0.1)),
    ]
    own = [point for body, point in places_along(compiled('ur10e')) if body == 'shoulder_link']
    model = compiled('ur10e')
    elbow = sd.frame(model, q=model.q0, body='upper_arm_link', point=(0.0, 0.0, 0.0))
    there = sd.frame(model, q=model.q0, body='shoulder_link', point=own[1])[:3, 3]
    start = sd.frame(model, q=model.q0, body='shoulder_link', point=(0.0, 0.0, 0.0))[:3, 3]
    assert there == pytest.approx(0.5 * (start + elbow[:3, 3])) and own[-1] is None


def test_a_force_that_no_sensor_shows_is_reported_as_unknown():
    """A force along an axis that no sensor shows is reported as unknown."""
    model = compiled('double_pendulum')
    names = list(model.coordinate_names)
    given = {'name': 'encoders', 'type': 'joint', 'names': names, 'noise': 1e-4}
    own = sd.Estimator(model, {'sensors': [given]})
    own.begin(0.0, q=[0.3, 0.4])
    for k in range(1, 20):
        own.measure(0.01 * k, 'encoders', own.estimate(0.01 * k).q)
    found = own.push(frame='base')
    assert found.rank == 2
    assert np.isinf(np.diag(found.covariance)).sum() == 1


def test_the_loop_closes_on_estimates():
    """With a wrong model, late and lost values the tip stays near its path under true states."""
    model = compiled('pcc_arm')
    plant = sd.compile_model(sd.vary(model.description, {'density': '×1.1'}))
    sensors = [{**CAMERA, 'delay': 0.01}, CABLES]
    own = sd.Estimator(model, {'sensors': sensors, 'disturbance': {'force': 0.2, 'moment': 2e-3}})
    reference = constant(np.full(9, -2e-3))
    law = sd.Law('pfbl', parameters={'p': 50.0, 'd': 15.0})
    given = {'start': sd.Start(ramp=0.3), 'plant': plant}
    best = sd.closed_loop(model, law, reference, 0.8, **given)
    given['feedback'] = sd.Feedback(sensors={'seed': 4, 'dropout': 0.1}, estimator=own)
    run = sd.closed_loop(model, law, reference, 0.8, **given)
    again = sd.closed_loop(model, law, reference, 0.8, **given)
    assert run.ok.all() and np.array_equal(run.q, again.q)
    tips = [sd.forward_kinematics(model, q=each.q[-1])[-1][:3, 3] for each in (run, best)]
    assert np.linalg.norm(tips[0] - tips[1]) < 5e-3
    assert not np.array_equal(run.q_heard, run.q)
    with pytest.raises(ArgumentError, match='noise'):
        sd.closed_loop(
            model,
            'pfbl',
            reference,
            0.1,
            feedback=sd.Feedback(estimator=own, sensors={'noise': 1e-3}),
        )
    other = sd.closed_loop, (plant, 'pfbl', reference, 0.1)
    with pytest.raises(ArgumentError, match='estimator'):
        other[0](*other[1], feedback=sd.Feedback(estimator=own))


def test_a_posture_at_rest_is_found_from_one_set_of_values():
    """One set of values gives the posture at rest, as exactly as its covariance says."""
    model = compiled('pcc_arm')
    fit, wanted = sd.ShapeFit(model, ARM), sd.equilibrium(model, u=TENSIONS).q
    tip = sd.frame(model, q=wanted)
    y = sd.actuation(model, q=wanted, qd=np.zeros(9)).coordinates
    found = fit({'camera': tip, 'cables': y}, u=TENSIONS)
    assert found.q == pytest.approx(wanted, abs=1e-6) and found.numbers == 15
    rng, squares = np.random.default_rng(0), []
    for _ in range(20):  # the robot is as the statics say: only what is measured is off
        moved = y + 2e-4 * rng.standard_normal(9)
        one = fit({'cables': moved}, u=TENSIONS, q0=wanted)
        off = one.q - wanted
        squares.append(off @ np.linalg.solve(one.covariance, off))
    assert np.mean(squares) < 9.0
    with pytest.raises(UnknownNameError, match='camera'):
        fit({'radar': 1.0}, u=TENSIONS)


def test_unobservable_coordinates_are_named():
    """Coordinates that the cables of the first segment do not show are named."""
    model = compiled('pcc_arm')
    first = {**CABLES, 'names': ['t1', 't2', 't3']}
    wide = {'disturbance': {'force': 1.0, 'moment': 0.02}}
    few = sd.Estimator(model, {'sensors': [first], **wide}).observability(u=TENSIONS)
    all_ = sd.Estimator(model, {'sensors': [CAMERA, CABLES], **wide}).observability(u=TENSIONS)
    assert all_.unobservable == () and all_.rank > few.rank
    assert set(few.unobservable) >= {'segment3/bend_x', 'segment3/bend_y'}
    assert not set(few.unobservable) & {'segment1/bend_x', 'segment1/bend_y'}
    assert (all_.deviations <= few.deviations * (1.0 + 1e-9)).all()


def test_an_outlier_changes_nothing():
    """A single outlier of a camera is reported and rejected."""
    own = arm()
    own.begin(0.0, u=TENSIONS)
    T = sd.frame(own.model, q=own.model.q0)
    own.measure(0.0, 'camera', T)
    before = own.estimate(0.1, covariance=True)
    far = T.copy()
    far[0, 3] += 0.5
    found = own.measure(0.01, 'camera', far)
    assert (found.outliers, found.numbers) == (1, 0)
    after = own.estimate(0.1, covariance=True)
    assert after.q == pytest.approx(before.q, abs=1e-6)


def test_a_wrong_model_does_not_lose_the_robot():
    """Consistent sensors correct the estimate though none passes its gate."""
    softer = sd.compile_model(sd.vary(sd.load_robot('pcc_arm'), {'young_modulus': '×0.75'}))
    phases = 2.0 * np.pi * (np.arange(9) % 3) / 3.0

    def farthest(without_priority):
        own, robot = sd.Estimator(compiled('pcc_arm'), ARM), sd.Simulator(softer)
        own._patience = own._patience if without_priority else np.inf
        instruments, far, coarse = SimulatedSensors(softer, own.settings.sensors, seed=2), 0.0, 0
        own.begin(0.0, u=TENSIONS)
        for k in range(3000):
            t = k * PERIOD
            u = TENSIONS + 10.0 * np.maximum(0.0, np.sin(3.0 * t + phases))
            for reading in instruments.look(t, robot.q, robot.qd, u):
                coarse += own.measure(*reading).coarse > 0.0
            own.command(t, u)
            robot.step(u, PERIOD)
            if not k % 20:
                tips = (sd.frame(own.model, q=q) for q in (own.estimate(t).q, robot.q))
                far = max(far, np.linalg.norm(np.subtract(*tips)[:3, 3]))
        return far, coarse

    (near, often), (lost, never) = (
        farthest(without_priority=True),
        farthest(without_priority=False),
    )
    assert near < 0.015 and often > 100
    assert lost > 4.0 * near and never == 0


@pytest.mark.parametrize('alone', [False, True])
def test_a_camera_that_sees_another_arm_for_long_is_not_followed(alone):
    """A camera that contradicts the cables is ignored; alone it corrects little and is flagged."""
    model = compiled('pcc_arm')
    own = sd.Estimator(model, {**ARM, 'sensors': [CAMERA] if alone else [CAMERA, CABLES]})
    robot, q = (
        SimulatedSensors(model, own.settings.sensors, seed=1),
        sd.equilibrium(model, u=TENSIONS).q,
    )
    own.begin(0.0, q=q, u=TENSIONS)
    found = []
    for k in range(300):
        for time, sensor, value in robot.look(k * PERIOD, q, 0.0 * q, TENSIONS):
            if sensor == 'camera' and k > 100:
                value[0, 3] += 1.0
                found.append(own.measure(time, sensor, value).coarse)
            else:
                own.measure(time, sensor, value)
    tip, seen = (sd.frame(model, q=x)[0, 3] for x in (q, own.estimate(0.3).q))
    if alone:
        assert max(found) > 20.0 and abs(seen - tip) < 0.1
    else:
        assert max(found) == 0.0 and abs(seen - tip) < 2e-3


def test_the_command_of_a_step_is_the_mean_of_those_in_force():
    """The command of a step is the mean of those in force: no impulse is lost or invented."""
    commands = CommandHistory(span=1.0)
    commands.begin(np.array([1.0]))
    for time, u in ((0.1, 2.0), (0.25, 3.0), (0.25, 5.0), (0.15, 4.0)):
        commands.add(time, np.array([u]))
    parts = list(commands.between(0.0, 0.4, 0.2))
    assert [until for until, _ in parts] == pytest.approx([0.2, 0.4])
    assert parts[0][1] == pytest.approx([(0.1 * 1 + 0.05 * 2 + 0.05 * 4) / 0.2])
    assert parts[1][1] == pytest.approx([(0.05 * 4 + 0.15 * 5) / 0.2])
    assert commands.at(-1.0) == 1.0 and commands.at(9.0) == 5.0


@pytest.mark.parametrize(
    'call, error, words',
    [
        (lambda own: own.measure(0.0, 'radar', 0.0), UnknownNameError, 'camera, cables'),
        (lambda own: own.measure(np.nan, 'cables', [0.0] * 9), ArgumentError, 'time'),
        (lambda own: own.command(0.0, [1.0]), ArgumentError, 'u'),
        (lambda own: own.estimate(-1.0), ArgumentError, 'time'),
        (lambda own: own.begin(0.0, covariance=-np.eye(27)), ArgumentError, 'positive'),
        (lambda own: own.begin(0.0, q=[0.0]), ArgumentError, 'q'),
        (lambda own: sd.Estimator(own.model, 5), ArgumentError, 'list'),
        (
            lambda own: sd.Estimator(own.model, {'sensors': [CAMERA, CAMERA]}),
            DescriptionError,
            r'sensors\[1\].name',
        ),
        (
            lambda own: sd.Estimator(own.model, {**ARM, 'disturbance': {'force': -1.0}}),
            DescriptionError,
            'disturbance.force',
        ),
    ],
)
def test_wrong_arguments_are_refused(call, error, words):
    """Wrong arguments are refused by name, and the estimate stays."""
    arm().begin(0.0)
    with pytest.raises(error, match=words):
        call(arm())


def test_a_non_finite_state_is_an_error():
    """A state that is not finite is an error, after which the estimator starts again."""
    own = arm()
    own.begin(0.0, qd=np.full(9, 1e200))
    with pytest.raises(SimulationDivergedError, match='segment'):
        own.estimate(1.0)
    own.begin(0.0)
    assert np.isfinite(own.estimate(0.1).q).all()


def test_the_estimator_handles_position_drives():
    """With cables on position drives, state and posture at rest are estimated."""
    model = compiled('servo_arm')
    plant = sd.compile_model(sd.vary(model.description, {'density': '×1.1'}))
    given = {'sensors': [{**CAMERA, 'body': 'segment2'}], 'disturbance': {'force': 0.05}}
    u = np.array([0.5, -0.3, 0.4, 0.2])
    q = sd.equilibrium(model, command=u).q
    fit = sd.ShapeFit(model, given)({'camera': sd.frame(model, q=q)}, u=u)
    assert fit.q == pytest.approx(q, abs=1e-6)
    y = sd.actuation(model, q=q, qd=0.0 * q).coordinates
    run = sd.closed_loop(
        model,
        sd.Law('pfbl', parameters={'p': 100.0, 'd': 20.0}),
        constant(y),
        0.5,
        start=sd.Start(ramp=0.2),
        plant=plant,
        feedback=sd.Feedback(estimator=sd.Estimator(model, given), sensors={'seed': 1}),
    )
    tip = sd.forward_kinematics(plant, q=run.q[-1])[-1][:3, 3]
    assert run.ok.all() and np.linalg.norm(tip - sd.frame(model, q=q)[:3, 3]) < 2e-3
