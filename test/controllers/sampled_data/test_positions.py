# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Laws for tendons with position drives, which act as springs until the next command."""

import functools

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.pfbl import PartialFeedbackLinearization
from softrobot_dynamics.references.piecewise import constant, spline
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator
from support.servos import servo

PERIOD = 1e-3
DRIVE = {'compliance': 5e-5, 'pretension': 25.0, 'radius': 0.01}
POSTURE = np.array([0.3, 0.1, -5e-3])


@functools.cache
def arm(pairs=False, **more):
    """Return an arm of which motor angles are commanded."""
    return sd.compile_model(sd.load_robot(servo(DRIVE, pairs=pairs, **more)))


def outputs(model, q):
    """Return y (m,)."""
    return sd.actuation(model, q=q, qd=0.0 * q).coordinates


def law_of(model, **parameters):
    """Return pfbl with its default gains of 100 and 20, without an observer."""
    settings = PartialFeedbackLinearization.make_settings(model, observer=0.0, **parameters)
    return PartialFeedbackLinearization(model, period=PERIOD, settings=settings)


def falling(law, model, to_command, time=0.3):
    """Return errors of y (K, m), one a tick, that began with some, the simulator being exact."""
    rest = sd.equilibrium(model, command=np.full(model.m, 0.2), q0=POSTURE).q
    goal = outputs(model, rest)
    simulator = ActuatedSimulator(model, q=rest + [2e-3, -1e-3, 1e-5], substep=1e-4)
    u = sd.efforts(model, q=rest, command=np.full(model.m, 0.2))
    simulator.begin_under(np.full(model.m, 0.2))
    law.follow(constant(goal), 0.0, 0.0)
    law.start(simulator.q, simulator.qd, 0.0, None if to_command else np.full(model.m, 0.2))
    found = []
    for k in range(round(time / PERIOD)):
        command = law.compute(k * PERIOD, simulator.q.copy(), simulator.qd.copy())
        assert command.ok and np.isfinite(u).all()
        found.append(command.y - goal)
        told = to_command(simulator.q, command.u) if to_command else command.u
        simulator.step(told, PERIOD)
    return np.array(found)


@pytest.mark.parametrize('pairs', [False, True])
def test_errors_fall_as_the_gains_say(pairs):
    """Errors fall as (1 + 10 t) exp(-10 t) for gains 100 and 20, though cables are springs."""
    model = arm(pairs)
    errors = falling(law_of(model), model, None)
    t = PERIOD * np.arange(len(errors))
    wanted = errors[0] * ((1.0 + 10.0 * t) * np.exp(-10.0 * t))[:, None]
    assert np.abs(errors - wanted).max() < 0.02 * np.abs(errors[0]).max()


def test_a_law_of_tensions_does_not_account_for_held_cables():
    """A law of tensions, converted to positions afterwards, lacks the decay of its gains."""
    model, plain = arm(), servo(DRIVE)
    for tendon in plain['actuators']:
        del tendon['command'], tendon['drive']
    law = law_of(sd.compile_model(sd.load_robot(plain)))
    errors = falling(law, model, lambda q, u: sd.commands(model, q=q, u=u))
    t = PERIOD * np.arange(len(errors))
    wanted = errors[0] * ((1.0 + 10.0 * t) * np.exp(-10.0 * t))[:, None]
    assert np.abs(errors - wanted).max() > 0.1 * np.abs(errors[0]).max()


@pytest.mark.parametrize('pairs', [False, True])
def test_the_reported_growth_is_that_of_the_gains(pairs):
    """The reported rate of the slowest error is that of the gains."""
    model = arm(pairs)
    law, u = law_of(model), np.full(model.m, 0.2)
    rest = sd.equilibrium(model, command=u, q0=POSTURE).q
    assert law.growth(rest, u, law.settings) == pytest.approx(-10.0, rel=0.15)


def test_limits_of_motor_and_tension_are_both_kept():
    """Limits of motors and tensions hold at every tick of a reference that asks for more."""
    drive = {**DRIVE, 'tension': [2.0, 12.0]}
    limits = {'limits': [-0.4, 0.5], 'rate_limit': 6.0}
    model = sd.compile_model(sd.load_robot(servo(drive, **limits)))
    q0 = sd.equilibrium(model, command=np.zeros(3)).q
    y = np.array([outputs(model, q0), outputs(model, np.array([1.0, 0.5, -0.02]))])
    there = spline(np.array([0.0, 0.1, 0.2, 0.4]), np.vstack([y[:1], y[1:], y[1:], y[:1]]))
    run = sd.closed_loop(model, 'pfbl', there, 0.4, start=sd.Start(q=q0))
    assert run.ok.all() and (run.saturated > 0).any()
    assert run.u.min() >= -0.4 and run.u.max() <= 0.5
    assert np.abs(np.diff(run.u, axis=0)).max() <= 6e-3 * (1.0 + 1e-6)
    T = np.array([sd.efforts(model, q=q, command=u) for q, u in zip(run.q, run.u)])
    assert T.min() >= 2.0 * (1.0 - 1e-9) and T.max() <= 12.0 * (1.0 + 1e-9)
    assert T.max() > 11.9 and run.u.max() > 0.499 and T.min() < 2.1  # all were in the way


def test_a_known_delay_is_compensated():
    """Prediction under the positions under way compensates a known delay of position drives."""
    model = arm()
    u = np.full(3, 0.2)
    rest = sd.equilibrium(model, command=u, q0=POSTURE).q
    y = outputs(model, rest)
    moved = outputs(model, rest + [0.1, 0.05, 0.0])
    there = spline(np.array([0.0, 0.2, 0.4]), np.array([y, moved, y]))
    left = []
    for delay, known in ((0.0, 0.0), (3e-3, 3e-3), (3e-3, 0.0)):
        run = sd.closed_loop(
            model,
            sd.Law('pfbl', parameters={'delay': known, 'observer': 0.0}),
            there,
            0.4,
            start=sd.Start(q=rest, u=u),
            plant=sd.Plant(delay=delay),
        )
        at = np.array([outputs(model, q) for q in run.q])
        wanted = run.y_d.copy()
        late = round(known / PERIOD)
        left.append(np.abs(at[late:] - wanted[: len(at) - late]).max())
    assert left[1] < 0.1 * left[2] and left[0] < left[1]
