# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Prediction under held commands against derivatives and matrix exponentials."""

import numpy as np
from oracles.held import exponential
import pytest
from scipy.integrate import solve_ivp
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.sampled_data import command, linearisation_schedule
from softrobot_dynamics.controllers.sampled_data.command import HeldCommand
from softrobot_dynamics.controllers.sampled_data.linearisation_schedule import CYCLE_SHARES
from support.robots import compiled, states

PERIOD = 1e-3


def exact(model, q, qd, u, damping_alone=False):
    """
    Return G and R K (n, n) by analytical derivatives and the exponential, symmetric in G.

    D is the symmetric part of all that rates do, or ``damping_alone``.
    """
    qdd = sd.forward_dynamics(model, q=q, qd=qd, u=u)
    change = sd.inverse_dynamics_derivatives(model, q=q, qd=qd, qdd=qdd)

    def pull(q):
        return sd.actuation(model, q=q, qd=0.0 * q).matrix @ u

    steps = 1e-6 * np.eye(model.n)
    K = change.by_q - np.array([(pull(q + s) - pull(q - s)) / 2e-6 for s in steps]).T
    at_rest = sd.inverse_dynamics_derivatives(model, q=q, qd=0.0 * q, qdd=qdd)
    D = (at_rest if damping_alone else change).by_qd
    G, R = exponential(change.by_qdd, (D + D.T) / 2.0, (K + K.T) / 2.0, PERIOD)
    return G, R @ K


def assert_close(found, wanted, tolerance):
    """Compare arrays relative to the largest entry of the wanted one."""
    assert np.abs(found - wanted).max() <= tolerance * np.abs(wanted).max()


@pytest.mark.parametrize('name', ['pcc_arm', 'planar_cc_chain', 'hand', 'hybrid_arm', 'steel_rod'])
def test_the_linearisation_is_that_at_the_present_state(name):
    """The linearisation includes tension, gravity, straight lines, energies and acceleration."""
    model = compiled(name)
    held = HeldCommand(model, PERIOD)
    for q, qd, _ in states(model, 3, seed=1, size=0.3):
        q, qd = model.q0 + q, 0.3 * qd
        u = 0.1 * np.minimum(np.linspace(10.0, 30.0, model.m), model.upper)
        held.begin(q, qd, u)
        for found, wanted in zip(held.extrapolation.present, exact(model, q, qd, u)):
            assert_close(found, wanted, 1e-4)


@pytest.mark.parametrize('speed, error', [(1.0, 1e-3), (5.0, 5e-3)])
def test_velocities_after_a_period(speed, error):
    """
    Predicted velocities after a period are those of the robot under a held command.

    With damping alone in place of the symmetric part of all derivatives by rates, the
    prediction is no better.
    """
    model, errors = compiled('pcc_arm'), []
    for q, qd, qdd in states(model, 4, seed=1, size=0.4):
        qd, u = speed / 0.4 * qd, 5.0 + np.resize(qdd, model.m)
        held = HeldCommand(model, PERIOD)
        held.begin(q, qd, u)
        J, change = sd.actuation(model, q=q, qd=qd).jacobian, gained(model, q, qd, u)
        force = sd.actuation(model, q=q, qd=qd).matrix @ u
        force -= sd.inverse_dynamics(model, q=q, qd=qd, qdd=0.0 * q)
        lines = held.extrapolation.present, exact(model, q, qd, u, damping_alone=True)
        off = [J @ (G @ force - RK @ qd - change) for G, RK in lines]
        errors.append([np.abs(each).max() / np.abs(J @ change).max() for each in off])
    ours, other = np.max(errors, axis=0)
    assert ours < error and ours < 1.2 * other


def gained(model, q, qd, u):
    """Return what the velocities gain in a period, by a method with a tolerance."""

    def rates(_, state):
        q, qd = np.split(state, 2)
        return np.concatenate([qd, sd.forward_dynamics(model, q=q, qd=qd, u=u)])

    start = np.concatenate([q, qd])
    found = solve_ivp(rates, (0.0, PERIOD), start, 'Radau', rtol=1e-8, atol=1e-11)
    return np.split(found.y[:, -1] - start, 2)[1]


def test_straight_lines_follow_the_motion():
    """On a robot in even motion, an extrapolated response is better than one a cycle old."""
    model = compiled('pcc_arm')
    (q, qd, _), u = states(model, 1, seed=2, size=0.5)[0], np.full(model.m, 2.0)
    held, ticks = HeldCommand(model, PERIOD), 3 * CYCLE_SHARES
    held.begin(q, qd, u)
    for k in range(1, ticks + 1):
        held.advance(q + k * PERIOD * qd, qd, u)
    wanted = exact(model, q + ticks * PERIOD * qd, qd, u)
    lines = held.extrapolation
    errors = [np.abs(each[0] - wanted[0]).max() for each in (lines.last, lines.present)]
    assert 0.5 < ahead(lines) < command.MAX_EXTRAPOLATION and errors[1] < 0.3 * errors[0]


def test_a_slow_tick_works_for_as_long_as_fast_ones_do():
    """A response is no older, in time, at 50 Hz than at 1 kHz."""
    model, slow = compiled('pcc_arm'), 20 * PERIOD
    (q, qd, _), u = states(model, 1, seed=2, size=0.5)[0], np.full(model.m, 2.0)
    held = HeldCommand(model, slow)
    held.begin(q, qd, u)
    for k in range(1, 7):
        held.advance(q + k * slow * qd, qd, u)
        assert (
            held.clock[command.TICK] - held.clock[command.LINEARISED]
        ) * slow <= 3 * CYCLE_SHARES * PERIOD
    assert held.clock[command.LINEARISED] > 0


def ahead(lines):
    """Return how far straight lines are followed, in spans between the two responses."""
    span = lines.last - lines.previous
    return ((lines.present - lines.last) * span).sum() / (span**2).sum()


def test_an_invalid_response_is_not_adopted():
    """After invalid states the law goes on with the last valid response."""
    model = compiled('pcc_arm')
    held, u = HeldCommand(model, PERIOD), np.zeros(model.m)
    held.begin(model.q0, np.ones(model.n), u)
    before = held.extrapolation.last.copy()
    for _ in range(4 * CYCLE_SHARES):
        held.advance(np.full(model.n, np.nan), np.ones(model.n), u)
    assert np.array_equal(held.extrapolation.last, before)
    np.testing.assert_allclose(ahead(held.extrapolation), command.MAX_EXTRAPOLATION)


def test_it_restarts_after_a_non_finite_state():
    """A start from a state that is not finite leaves no extrapolation behind."""
    model = compiled('pcc_arm')
    (q, qd, _), u = states(model, 1, seed=2, size=0.5)[0], np.full(model.m, 2.0)
    held = HeldCommand(model, PERIOD)
    for k in range(10 * CYCLE_SHARES):
        held.advance(q + k * PERIOD * qd, qd, u)
    held.begin(np.full(model.n, np.nan), qd, u)
    held.advance(q, qd, u)
    assert 0.0 <= ahead(held.extrapolation) < 0.1


def test_work_can_be_shared_out_more_finely(monkeypatch):
    """Matrices of many coordinates are worked on row by row, with the same result."""
    model, found = compiled('pcc_arm'), []
    for bit in (linearisation_schedule.MAX_SHARE_MULTIPLICATIONS, 1):
        monkeypatch.setattr(linearisation_schedule, 'MAX_SHARE_MULTIPLICATIONS', bit)
        held = HeldCommand(model, PERIOD)
        held.begin(model.q0, 0.0 * model.q0, np.zeros(model.m))
        found.append(held.extrapolation.last.copy())
    np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-15)
