# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The momentum observer estimates external forces with a known lag and nothing else."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError
from support.robots import compiled, SHIPPED, states

RATES = np.array([1.0, 1.3, 1.7, 2.1, 2.5, 3.0])  # [rad/s] of the arm's motions
TIP = np.array([0.0, 0.0, 0.0, 10.0, -20.0, 5.0])


class Held(sd.Simulator):
    """A robot whose motors hold the positions that they are told."""

    commanded = True


def rigid_motion(t):
    """Return (q, qd, qdd) of six joints that move fast."""
    angle = RATES * t + np.arange(6)
    return np.sin(angle), RATES * np.cos(angle), -(RATES**2) * np.sin(angle)


def rigid_run(period, span, time=0.02, wrench=None):
    """Let a rigid arm move under a law; return the forces found, and those that act (K, n)."""
    model, (q, qd, _) = compiled('ur10e'), rigid_motion(0.0)
    robot = sd.Simulator(model, q=q, qd=qd, substep=1e-4)
    own = sd.MomentumObserver(model, time=time)
    own.begin(0.0, q, qd)
    load = None if wrench is None else {'wrist_3_link': sd.Wrench(wrench, None, 'base')}
    found, true = [], [force_of(model, robot.q, 'wrist_3_link', wrench)]
    for k in range(round(span / period)):
        r, rd, rdd = rigid_motion(k * period)
        qdd = rdd + 20.0 * (rd - robot.qd) + 100.0 * (r - robot.q)
        u = sd.inverse_dynamics(model, q=robot.q, qd=robot.qd, qdd=qdd)
        robot.step(u, period, load)
        found.append(own((k + 1) * period, robot.q, robot.qd, u))
        true.append(force_of(model, robot.q, 'wrist_3_link', wrench))
    return np.array(found), np.array(true)


def force_of(model, q, body, wrench):
    """Return the generalized force (n,) of a wrench on a tip, axes of the base; None: none."""
    J = sd.jacobian(model, q=q, body=body, frame='base')
    return J.T @ (np.zeros(6) if wrench is None else wrench)


def lagged(true, period, time):
    """Return what a lag of first order makes of forces (K + 1, n), from nothing on."""
    r, out, keep = np.zeros(true.shape[1]), [], np.exp(-period / time)
    for before, after in zip(true, true[1:]):
        r = keep * r + (1.0 - keep) * 0.5 * (before + after)
        out.append(r)
    return np.array(out)


@pytest.mark.parametrize('name', ['ur10e', 'pcc_arm', 'servo_arm', 'trimmed_helicoid'])
def test_momentum_changes_as_the_mass_matrix_does(name):
    """The change of M along the motion equals differences, with any damping."""
    model, step = compiled(name), 1e-6
    own = sd.MomentumObserver(model)
    for q, qd, _ in states(model, 3, seed=2, size=0.3):
        ends = [
            sd.mass_inverse_dynamics(model, q=q + side * step * qd, qd=qd, qdd=0.0 * q)[1]
            for side in (1.0, -1.0)
        ]
        wanted = (ends[0] - ends[1]) @ qd / (2.0 * step)
        h = sd.inverse_dynamics(model, q=q, qd=qd, qdd=0.0 * q)
        found = own._evaluate_at(0.0, q, qd).change + h - model.damping @ qd
        size = np.abs(wanted).max() + 1e-9 * np.abs(h).max()
        assert np.abs(found - wanted).max() < 1e-5 * size


def test_without_a_push_none_is_estimated():
    """Without a push the estimate is zero up to the integration error, 0.03 mN m of 100 N m."""
    sizes = [np.abs(rigid_run(period, 0.5)[0]).max() for period in (4e-3, 2e-3, 1e-3)]
    assert sizes[2] < 1e-4
    assert 3.5 < sizes[0] / sizes[1] < 4.5 and 3.5 < sizes[1] / sizes[2] < 4.5


def test_a_push_is_found_with_the_given_lag():
    """In motion the estimate is J^T w behind a first-order lag, to a ten-thousandth."""
    found, true = rigid_run(1e-3, 0.3, wrench=TIP)
    size = np.abs(true).max()
    assert np.abs(found - lagged(true, 1e-3, 0.02)).max() < 1e-4 * size
    assert np.abs(found[19] - (1.0 - np.exp(-1.0)) * true[0]).max() < 0.02 * size


def test_no_period_is_too_long():
    """With periods ten times the lag the estimate is the mean force of a period."""
    found, true = rigid_run(1e-2, 0.3, time=1e-3, wrench=TIP)
    assert np.abs(found - lagged(true, 1e-2, 1e-3)).max() < 2e-3 * np.abs(true).max()


@pytest.mark.parametrize('name', SHIPPED)
def test_without_contact_robots_of_every_kind_have_no_push(name):
    """A released robot has no external force but for the error of the period squared."""
    model = compiled(name)
    u, sizes = np.clip(np.zeros(model.m), model.lower, model.upper), []
    q, qd, _ = next(iter(states(model, 1, seed=1, size=0.2)))
    start = sd.mass_inverse_dynamics(model, q=q, qd=qd, qdd=0.0 * q)
    scale = np.sqrt(np.diag(start[1]))
    for period in (2e-3, 1e-3):
        robot, own = Held(model, q=q, qd=qd, substep=1e-4), sd.MomentumObserver(model)
        own.begin(0.0, q, qd)
        found = []
        for k in range(round(0.2 / period)):
            robot.step(u, period)
            found.append(own((k + 1) * period, robot.q, robot.qd, u) / scale)
        sizes.append(np.abs(found[len(found) // 2 :]).max() / np.abs(start[0] / scale).max())
    assert sizes[1] < 1e-4
    assert sizes[1] < 0.5 * sizes[0] or sizes[0] < 1e-6


@pytest.mark.parametrize('name, body, u', [
    ('pcc_arm', 'segment3', 2.0 + np.arange(9) % 4),
    ('servo_arm', 'segment2', np.array([0.6, -0.4, 0.3, 0.5])),
])  # fmt: skip
def test_soft_arms_with_more_damping_than_a_period_resolves(name, body, u):
    """A soft arm under jumping tensions or positions has no false push, and true ones in time."""
    model, time, wrench = compiled(name), 0.02, np.array([0.0, 0.0, 0.0, 0.3, -0.4, 0.1])
    worst = {}
    for pushed in (False, True):
        robot, own = Held(model, substep=1e-4), sd.MomentumObserver(model, time=time)
        own.begin(0.0, robot.q, robot.qd)
        load = {body: sd.Wrench(wrench, None, 'base')} if pushed else None
        found, true = [], [force_of(model, robot.q, body, wrench if pushed else None)]
        for k in range(300):
            now = u if k < 150 else 0.5 * u
            robot.step(now, 1e-3, load)
            found.append(own(1e-3 * (k + 1), robot.q, robot.qd, now))
            true.append(force_of(model, robot.q, body, wrench if pushed else None))
        scale = np.sqrt(np.diag(sd.mass_inverse_dynamics(
            model, q=robot.q, qd=robot.qd, qdd=robot.qd)[1]))  # fmt: skip
        error = (np.array(found) - lagged(np.array(true), 1e-3, time)) / scale
        settled = np.r_[50:150, 200:300]
        worst[pushed] = (
            np.abs(error[settled]).max()
            / np.abs(force_of(model, robot.q, body, wrench) / scale).max()
        )
        if pushed:
            assert own.push(body) == pytest.approx(wrench[3:], abs=0.01)
    assert max(worst.values()) < 0.01


def test_the_push_that_explains_a_force():
    """The wrench that explains a force is exact for any place, and only for such forces."""
    model, (q, *_) = compiled('ur10e'), next(iter(states(compiled('ur10e'), 1, seed=5)))
    own = sd.MomentumObserver(model)
    own.begin(0.0, q)
    for frame in ('base', 'body'):
        for point in (None, (0.1, 0.0, 0.2)):
            J = sd.jacobian(model, q=q, body='wrist_3_link', point=point, frame=frame)
            own.force = J.T @ TIP
            found = own.push('wrist_3_link', point=point, moment=True, frame=frame)
            assert found == pytest.approx(TIP, abs=1e-6)
            for covariance in (None, np.diag(np.arange(1.0, 7.0))):
                own.force = J[3:].T @ TIP[3:]
                found = own.push(point=point, frame=frame, covariance=covariance)
                assert found == pytest.approx(TIP[3:], abs=1e-8)
    J = sd.jacobian(model, q=q, body='shoulder_link', frame='base')  # turns about an axis only
    own.force = J.T @ TIP
    found = own.push('shoulder_link', moment=True)
    assert J.T @ found == pytest.approx(own.force) and np.linalg.norm(found) <= np.linalg.norm(TIP)


@pytest.mark.quick
def test_wrong_input_is_refused():
    """Wrong input is refused by name, and the estimate stays."""
    model = compiled('ur10e')
    rest, wrong = np.zeros(6), np.r_[np.nan, np.zeros(5)]
    for time in (0.0, -1.0, np.inf, np.nan, 'soon', True):
        with pytest.raises(ArgumentError, match='time'):
            sd.MomentumObserver(model, time=time)
    own = sd.MomentumObserver(model)
    for name, given in {
        't': (0.0, rest, rest, rest),
        'q': (0.1, wrong, rest, rest),
        'qd': (0.1, rest, wrong, rest),
        'u': (0.1, rest, rest, wrong),
        'shape': (0.1, rest[:5], rest, rest),
        'finite time': (np.nan, rest, rest, rest),
    }.items():
        with pytest.raises(ArgumentError, match=name):
            own(*given)
    for given in ({'covariance': np.zeros((6, 6))}, {'covariance': np.eye(5)}):
        with pytest.raises(ArgumentError, match='covariance'):
            own.push(**given)
    with pytest.raises(ArgumentError, match='body'):
        own.push('thumb')
    weight = sd.inverse_dynamics(model, q=rest, qd=rest, qdd=rest)
    own.begin(0.0, rest)
    assert own(0.1, rest, rest, weight) == pytest.approx(rest, abs=1e-9)
