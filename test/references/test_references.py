# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""References: twice differentiable functions of time, made of points and set-points."""

from dataclasses import asdict, replace
import functools

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.blending import BlendedReference, sample_plan
from softrobot_dynamics.errors import (
    ArgumentError,
    DescriptionError,
    InfeasibleReferenceError,
    ReferenceJumpError,
    UnknownNameError,
)
from softrobot_dynamics.references import periodic_paths
from softrobot_dynamics.references.circle import Circle, tip_circle
from softrobot_dynamics.references.contract import trajectory
from softrobot_dynamics.references.inverse_statics import actuation_coordinates, PathPostures
from softrobot_dynamics.references.piecewise import braking, constant, Reference, select, spline
from softrobot_dynamics.references.tips import tip_path
from support.references import at
from support.robots import compiled

CIRCLE = Circle('segment3', (0.0, 0.0, 0.57), (0.0, 0.0, 1.0), 0.1, 8.0)
M = 3  # coordinates of the references made here


def blended(plan, t):
    """Return the same of a plan that turns from one reference to another."""
    out = np.empty((3, M))
    sample_plan(plan, float(t), out, np.empty((3, M)))
    return out


def random_spline(seed=1, periodic=False):
    """Return a spline through random points at uneven times, and its times."""
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.2, 0.6, 8))
    y = rng.normal(size=(8, M))
    y[-1] = y[0] if periodic else y[-1]
    return spline(times, y, periodic), times, y


def random_state(seed):
    """y, rate and acceleration, (3, M)."""
    return np.random.default_rng(seed).normal(size=(3, M))


def check_derivatives(function, times, tolerance=1e-6):
    """Rows one and two of ``function(t)`` are the derivatives of rows zero and one."""
    h = 1e-5
    for t in times:
        derivative = (function(t + h) - function(t - h)) / (2.0 * h)
        scale = 1.0 + np.abs(derivative).max()
        np.testing.assert_allclose(function(t)[1:], derivative[:2], atol=tolerance * scale)


def check_smooth(function, times):
    """Value and both derivatives do not jump at the times."""
    for t in times:
        h = 1e-9 * (1.0 + abs(t))
        before, after = function(t - h), function(t + h)
        scale = 1.0 + np.abs(before).max()
        np.testing.assert_allclose(after, before, atol=1e-5 * scale)


@pytest.mark.quick
def test_sampled_derivatives_are_derivatives():
    """Rate and acceleration are the first and second derivative of y_d."""
    for reference in (random_spline()[0], random_spline(2, periodic=True)[0]):
        inner = np.linspace(reference.breaks[0] + 0.01, reference.breaks[-1] - 0.01, 37)
        check_derivatives(lambda t: at(reference, t), inner)  # noqa: B023


@pytest.mark.quick
def test_splines_pass_their_points_smoothly():
    """A spline passes its points, and two derivatives are continuous there."""
    reference, times, y = random_spline()
    np.testing.assert_allclose([at(reference, t)[0] for t in times], y, atol=1e-14)
    check_smooth(lambda t: at(reference, t), times[1:-1])


@pytest.mark.quick
def test_splines_rest_before_and_after():
    """Outside its times a reference stays at its end points, at rest; it also arrives at rest."""
    reference, times, y = random_spline()
    for t, end in ((times[0] - 1.0, y[0]), (times[-1] + 1.0, y[-1])):
        np.testing.assert_allclose(at(reference, t), [end, 0.0 * end, 0.0 * end], atol=1e-14)
    np.testing.assert_allclose(at(reference, times[0])[1], 0.0, atol=1e-14)
    np.testing.assert_allclose(at(reference, times[-1])[1], 0.0, atol=1e-13)


@pytest.mark.quick
def test_periodic_splines_repeat_smoothly():
    """A periodic reference repeats, before and after, and does not jump where it closes."""
    reference, times, _ = random_spline(2, periodic=True)
    period = times[-1] - times[0]
    for t in np.linspace(times[0], times[-1], 11)[:-1] + 0.01:
        for k in (-3, -1, 1, 100):
            np.testing.assert_allclose(at(reference, t + k * period), at(reference, t), atol=1e-9)
    check_smooth(lambda t: at(reference, t), times[0] + period * np.array([0, 1, 2]))


@pytest.mark.quick
def test_constant_stays():
    """A constant reference is at rest at all times."""
    for t in (-1.0, 0.0, 0.5, 1.0, 1e6):
        assert np.array_equal(
            at(constant([1.0, 2.0, 3.0]), t), [[1.0, 2.0, 3.0], [0.0] * 3, [0.0] * 3]
        )


@pytest.mark.quick
@pytest.mark.parametrize('duration', [0.1, 2.0])
def test_braking_continues_and_ends_at_rest(duration):
    """Braking begins with the given value, rate and acceleration, and ends at rest for good."""
    state = random_state(3)
    reference = braking(state, 5.0, duration)
    np.testing.assert_allclose(at(reference, 5.0), state, rtol=1e-12)
    end = at(reference, 5.0 + duration)
    scale = np.abs(state).max() / duration**2
    np.testing.assert_allclose(end[1:], 0.0, atol=1e-12 * (1.0 + scale))
    np.testing.assert_allclose(at(reference, 6.0 + duration), [end[0], 0 * end[0], 0 * end[0]])
    check_derivatives(lambda t: at(reference, t), 5.0 + duration * np.array([0.1, 0.5, 0.9]))


def test_braking_at_once_is_no_division_by_zero():
    """A duration of zero brakes as fast as can be represented."""
    assert np.isfinite(at(braking(random_state(4), 0.0, 0.0), 0.5)).all()


@pytest.mark.quick
def test_blending_is_twice_differentiable():
    """A plan starts as the previous reference, ends as the current one, and never jumps."""
    previous, current = braking(random_state(5), 0.0, 1.5), random_spline(6)[0]
    plan = BlendedReference(previous, current, 10.0, 2.0)
    assert np.array_equal(blended(plan, 10.0), at(previous, 0.0))
    for t in (12.0, 12.5, 20.0):
        assert np.array_equal(blended(plan, t), at(current, t - 10.0))
    times = np.linspace(10.05, 11.95, 20)
    jumps = np.concatenate([current.breaks, previous.breaks]) + 10.0  # of the third derivative
    away = np.abs(times[:, None] - jumps).min(axis=1) > 1e-3
    check_derivatives(lambda t: blended(plan, t), times[away])
    check_smooth(lambda t: blended(plan, t), [12.0])


def test_a_plan_without_ramp_is_the_current_reference():
    """With a ramp of zero the current reference holds from the start."""
    current = random_spline(7)[0]
    plan = BlendedReference(constant(np.zeros(M)), current, 1.0, 0.0)
    for t in (1.0, 1.7):
        assert np.array_equal(blended(plan, t), at(current, t - 1.0))


@pytest.mark.quick
@pytest.mark.parametrize('normal', [(0, 0, 1), (0, 0, -2), (1, 0, 0), (1, 2, -3), (0.9, 0.3, 0)])
def test_a_circle_has_its_radius_and_normal(normal):
    """Points of a circle are at its radius, normal to its axis, in right-handed order."""
    circle = Circle('segment3', (0.1, -0.2, 0.3), normal, 0.25, 4.0)
    phases = np.linspace(0.0, 2.0 * np.pi, 9)
    spokes = circle.points(phases) - circle.center
    unit = np.array(normal) / np.linalg.norm(normal)
    np.testing.assert_allclose(np.linalg.norm(spokes, axis=1), 0.25, rtol=1e-14)
    np.testing.assert_allclose(spokes @ unit, 0.0, atol=1e-15)
    turns = np.cross(spokes[:-1], spokes[1:]) @ unit
    np.testing.assert_allclose(turns, 0.25**2 * np.sin(np.pi / 4.0), rtol=1e-12)
    start = np.array([0.0, 1.0, 0.0]) if normal == (1, 0, 0) else np.array([1.0, 0.0, 0.0])
    assert spokes[0] @ start > 0.0
    np.testing.assert_allclose(np.cross(spokes[0], unit) @ start, 0.0, atol=1e-15)


@pytest.fixture(scope='module')
def arm():
    """Return the shipped soft arm."""
    return compiled('pcc_arm')


@pytest.fixture(scope='module')
def on_circle(arm):
    """Return the reference and the postures of the shipped circle."""
    return tip_circle(arm, CIRCLE)


def test_circle_passes_its_postures(arm, on_circle):
    """The reference of a tip's circle is periodic and passes the y of postures on the circle."""
    reference, postures = on_circle
    count = len(postures.q)
    assert reference.period == CIRCLE.period
    for k in range(0, count, 16):
        t = CIRCLE.period * k / count
        np.testing.assert_allclose(at(reference, t)[0], postures.y[k], atol=1e-12)
        wanted = CIRCLE.points(np.array([2.0 * np.pi * k / count]))[0]
        tip = sd.forward_kinematics(arm, q=postures.q[k])[-1, :3, 3]
        np.testing.assert_allclose(tip, wanted, atol=1e-6)
    check_smooth(lambda t: at(reference, t), [0.0, 0.25 * CIRCLE.period, CIRCLE.period])


def test_circle_between_its_postures(arm, on_circle):
    """Between two postures the spline is where a finer circle is, to some micrometres."""
    finer = tip_circle(arm, CIRCLE, samples=256)[0]
    for t in np.linspace(0.0, CIRCLE.period, 61):
        difference = at(finer, t)[0] - at(on_circle[0], t)[0]
        assert np.abs(difference).max() < 5e-6


def test_path_visits_its_points(arm):
    """A tip's path visits its points at their times, and starts and ends at rest."""
    times = [0.0, 1.0, 2.5]
    points = np.array([[[0.05, 0.0, 0.58]], [[0.0, 0.06, 0.58]], [[-0.04, 0.02, 0.585]]])
    reference, postures = tip_path(arm, ['segment3'], times, points)
    fine = np.linspace(0.0, 2.5, len(postures.q))
    for t, point in zip(times, points[:, 0]):
        k = np.abs(fine - t).argmin()
        if abs(fine[k] - t) < 1e-12:
            tip = sd.forward_kinematics(arm, q=postures.q[k])[-1, :3, 3]
            np.testing.assert_allclose(tip, point, atol=1e-6)
    assert not at(reference, -1.0)[1:].any()
    np.testing.assert_allclose(at(reference, 2.5)[1], 0.0, atol=1e-12)


@functools.cache
def turntable(*limits):
    """Return an arm of two rods with three tendons each, on a motor that turns about z."""
    rod = {
        'type': 'pcc', 'length': 0.25, 'radius': 0.02, 'density': 1000.0, 'young_modulus': 6e5,
    }  # fmt: skip
    inertia = {'ixx': 0.01, 'iyy': 0.01, 'izz': 0.01}
    turn = {'type': 'revolute', 'limits': {'position': list(limits)}} if limits else {
        'type': 'revolute'
    }  # fmt: skip
    bodies = [
        {'name': 'turn', 'joint': turn, 'body': {'type': 'rigid', 'mass': 1.0, 'inertia': inertia}}
    ]
    bodies += [{'name': f's{i}', 'joint': {'type': 'fixed'}, 'body': rod} for i in range(2)]
    actuators = [{'name': 'motor', 'type': 'joint', 'joint': 'turn', 'limits': [-50.0, 50.0]}]
    for i in range(6):
        angle = 2.0 * np.pi * i / 3.0
        offset = [0.015 * np.cos(angle), 0.015 * np.sin(angle)]
        path = [{'body': f's{k}', 'offset': offset} for k in range(1 + i // 3)]
        actuators.append({'name': f't{i}', 'type': 'tendon', 'path': path, 'limits': [0.0, 30.0]})
    robot = {'name': 'turntable', 'gravity': [0.0, 0.0, 9.81]}
    return sd.compile_model(sd.load_robot({**robot, 'bodies': bodies, 'actuators': actuators}))


def check_lap(model, circle, samples):
    """Return reference and postures of a circle: on it, in balance, without a jump anywhere."""
    reference, postures = tip_circle(model, circle, samples=samples)
    steps = np.diff(np.vstack([postures.q, postures.q[:1]]), axis=0)
    steps[-1] += reference.drift @ model.per_thread.evaluator(model.q0, 0.0 * model.q0).J
    assert np.abs(steps).max() < 2.0 * np.median(np.abs(steps).max(axis=1)) + 1e-9
    tips = [sd.forward_kinematics(model, q=q)[-1, :3, 3] for q in postures.q]
    wanted = circle.points(2.0 * np.pi * np.arange(samples) / samples)
    np.testing.assert_allclose(tips, wanted, atol=1e-6)
    check_smooth(lambda t: at(reference, t), circle.period * np.array([0.5, 1.0, 2.0]))
    return reference, postures


def test_a_turntable_turns_on_and_on():
    """A lap that ends a whole turn farther goes on there, and the tendons repeat."""
    model, circle = turntable(), Circle('s1', (0.0, 0.0, 0.47), (0.0, 0.0, 1.0), 0.08, 4.0)
    reference, postures = check_lap(model, circle, 32)
    np.testing.assert_allclose(reference.drift, 2.0 * np.pi * np.eye(7)[0], atol=1e-12)
    assert np.ptp(postures.q[:, 0]) > 6.0
    for t in (0.3, 3.9, -1.0):
        jump = at(reference, t + 3.0 * circle.period) - at(reference, t)
        np.testing.assert_allclose(
            jump, [3.0 * reference.drift, np.zeros(7), np.zeros(7)], atol=1e-9
        )
    # planned anew after some turns it does not unwind
    q = postures.q[0] + 10.0 * np.pi * np.eye(7)[0]
    later = circle.plan(model, [0, 1], q).reference
    np.testing.assert_allclose(at(later, 0.0)[0, 0], 10.0 * np.pi + postures.y[0, 0], atol=1e-6)


def test_a_turntable_with_limits_stays():
    """A joint that must not go on turning stays, the soft arm goes round, and none jumps."""
    circle = Circle('s1', (0.0, 0.0, 0.47), (0.0, 0.0, 1.0), 0.08, 4.0)
    reference, postures = check_lap(turntable(-np.pi, np.pi), circle, 16)
    assert not reference.drift.any() and np.abs(postures.q[:, 0]).max() < 0.1


def found_on_laps(monkeypatch, turn):
    """Return the error of planning a lap where the search finds turntables at ``turn`` (33,)."""
    model = turntable(-np.pi, np.pi)
    q = turn[:, None] * np.eye(7)[0] + 0.1 * np.sin(np.linspace(0.0, 2.0 * np.pi, 33))[:, None]
    y = np.array([actuation_coordinates(model, each) for each in q])
    monkeypatch.setattr(
        periodic_paths, 'hold_points', lambda *_, **__: PathPostures(q, 0.0 * y, y)
    )
    circle = Circle('s1', (0.0, 0.0, 0.47), (0.0, 0.0, 1.0), 0.08, 4.0)
    with pytest.raises(ReferenceJumpError) as caught:
        tip_circle(model, circle, samples=32)
    return caught.value


def test_a_lap_that_does_not_close_is_refused(monkeypatch):
    """If no lap closes, the error names coordinate and actuator with both gaps."""
    error = found_on_laps(monkeypatch, np.linspace(0.0, 1.5, 33))
    assert (error.time, error.coordinate, error.actuator) == (4.0, 'turn', 'turn')
    assert error.jump == pytest.approx(1.5) and error.change == pytest.approx(1.5)
    # a whole turn is no gap, but for a joint with limits it is one
    error = found_on_laps(monkeypatch, np.linspace(-np.pi, np.pi, 33))
    assert error.jump == pytest.approx(2.0 * np.pi) and 'turn by 6.28' in str(error)


def test_a_lap_that_jumps_is_refused(monkeypatch):
    """If neighbouring postures of a lap are far apart, the error names the time."""
    back = np.interp(np.arange(33), [0, 20, 21, 32], [0.0, 0.5, -0.5, 0.0])
    error = found_on_laps(monkeypatch, back)
    assert error.time == pytest.approx(4.0 * 20 / 32) and error.jump == pytest.approx(
        -1.0, abs=0.05
    )


def test_selected_coordinates_are_unchanged(on_circle):
    """Selected coordinates of a reference are unchanged, in the order asked for."""
    reference = on_circle[0]
    np.testing.assert_array_equal(
        at(select(reference, [4, 1]), 1.3), at(reference, 1.3)[:, [4, 1]]
    )


def settings(**changed):
    """Return the values of a node's parameters, those of a reference without its prefix."""
    circle = {f'circle.{name}': value for name, value in asdict(CIRCLE).items()}
    path = {'path.bodies': ['segment3'], 'path.times': [0.0, 1.0, 2.0], 'path.periodic': True}
    corners = [0.05, 0.0, 0.58, 0.0, 0.05, 0.58, 0.05, 0.0, 0.58]
    own = {'type': 'hold', 'setpoint': [0.01], **circle, **path, 'path.points': corners, **changed}
    return {'robot': 'pcc_arm', **{f'reference.{name}': value for name, value in own.items()}}


def test_settings_give_their_reference(arm, on_circle):
    """Each type of reference in the settings gives that reference of controlled outputs."""
    q = np.full(arm.n, 0.01)

    def planned(kind):
        motion = trajectory(settings(type=kind)).plan(arm, [3], q)
        return motion and motion.reference

    assert planned('hold') is None  # whatever they are when it begins
    assert at(planned('setpoint'), 7.0)[0] == 0.01
    np.testing.assert_allclose(
        at(planned('circle'), 1.1), at(on_circle[0], 1.1)[:, [3]], atol=1e-9
    )
    path = planned('path')
    assert isinstance(path, Reference) and path.period == 2.0


@pytest.mark.parametrize(
    'changed, argument',
    [
        ({'type': 'setpoint', 'setpoint': [0.1, 0.2]}, 'reference.setpoint'),
        ({'type': 'setpoint', 'setpoint': []}, 'reference.setpoint'),
        ({'type': 'circle', 'circle.radius': 0.0}, 'radius'),
        ({'type': 'circle', 'circle.normal': (0.0, 0.0, 0.0)}, 'normal'),
        ({'type': 'circle', 'circle.body': 'hand'}, 'body'),
        ({'type': 'path', 'path.points': [0.0]}, 'reference.path.points'),
        ({'type': 'path', 'path.times': [0.0, 2.0, 1.0]}, 'times'),
        ({'type': 'path', 'path.times': [0.5, 1.0, 2.0]}, 'times'),
        ({'type': 'path', 'path.bodies': ['hand']}, 'body'),
    ],
    ids=lambda value: str(value)[:50],
)
def test_wrong_settings_are_named(arm, changed, argument):
    """Settings that describe no reference are an ArgumentError naming what is wrong."""
    with pytest.raises(ArgumentError) as caught:
        trajectory(settings(**changed)).plan(arm, [3], np.zeros(arm.n))
    assert caught.value.argument == argument


@pytest.mark.quick
def test_settings_that_no_reference_can_have_are_named():
    """All impossible settings are named; those of other kinds are ignored."""
    with pytest.raises(UnknownNameError, match='spiral'):
        trajectory(settings(type='spiral'))
    wrong = {'circle.period': -1.0, 'circle.center': (0.0, 0.0), 'setpoint': [np.nan]}
    with pytest.raises(DescriptionError) as caught:
        trajectory(settings(type='circle', **wrong))
    named = [problem.path for problem in caught.value.problems]
    assert named == ['reference.circle.center', 'reference.circle.period']
    with pytest.raises(DescriptionError, match=r'reference\.setpoint\[0\]: nan'):
        trajectory(settings(type='setpoint', **wrong))


def test_a_circle_out_of_reach_is_refused(arm):
    """A circle that leads out of reach is an error with the time of the first bad point."""
    away = replace(CIRCLE, center=(0.15, 0.0, 0.55), radius=0.15)
    with pytest.raises(InfeasibleReferenceError) as caught:
        tip_circle(arm, replace(away, normal=(0.0, 0.0, -1.0)))
    assert 0.0 <= caught.value.time < away.period and caught.value.actuators


def test_a_circle_far_out_of_reach_draws_no_warning():
    """A circle out of reach, however far, is refused without a warning of numpy."""
    chain = sd.compile_model(sd.load_robot('planar_cc_chain'))
    with pytest.raises(InfeasibleReferenceError):
        tip_circle(chain, replace(CIRCLE, body='tip', center=(0.0, 0.0, -5.0), radius=1.0))
