# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Growth of errors about rest under the law `predictive`, beside what simulations do."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.predictive.growth import RestAnalysis
from softrobot_dynamics.controllers.predictive.law import Predictive
from softrobot_dynamics.controllers.predictive.settings import problem_of
from softrobot_dynamics.controllers.predictive.solution_cycle import knot_gains
from support.robots import compiled

PERIOD = 1e-3


def loop_of(name, **given):
    """Return a law, and where its robot is at rest without commands."""
    model = compiled(name)
    settings = Predictive.make_settings(model, None, **given)
    law = Predictive(model, period=PERIOD, settings=settings)
    return law, sd.equilibrium(model, command=np.zeros(model.m)).q


def measured(law, q, duration, error, delay=0.0):
    """Return the rate [1/s] at which an error, in units, goes on in the second half of a run."""
    model, u = law.model, np.zeros(law.model.m)
    off = error * model.scales.units * np.random.default_rng(0).normal(size=model.n)
    start = sd.Start(q=q + off, u=u, ramp=0.0)
    plant = sd.Plant(model, delay=delay)
    stay = law.stay(q, 0.0 * q)
    found = sd.closed_loop(model, law, stay, duration, start=start, plant=plant)
    assert found.ok.all()
    size = np.abs((found.q - q) / model.scales.units).max(axis=1)
    late = found.t > 0.5 * duration
    return np.polyfit(found.t[late], np.log(size[late]), 1)[0]


@pytest.mark.parametrize(
    'name, given, duration, error',
    [
        ('servo_arm', {}, 0.6, 1e-6),
        ('servo_arm', {'interval': 3e-3}, 0.6, 1e-6),
        ('servo_arm', {'delay': 3e-3}, 0.6, 1e-6),
        ('servo_arm', {'tip': 'segment2'}, 0.8, 1e-6),
        ('double_pendulum', {'interval': 0.02}, 0.26, 1e-10),
    ],
)
def test_errors_grow_or_fade_as_fast_as_is_said(name, given, duration, error):
    """The growth about rest is that of small errors in closed loop, stable or not."""
    law, q = loop_of(name, **given)
    said = law.growth(q, np.zeros(law.model.m), law.settings)
    found = measured(law, q, duration, error, given.get('delay', 0.0))
    assert found == pytest.approx(said, rel=0.1) and abs(said) > 1.0


def test_a_robot_that_is_off_the_model_is_no_more_stable():
    """With stiffness and damping off the model the growth is the largest of those around it."""
    law, q = loop_of('servo_arm')
    u = np.zeros(law.model.m)
    rates = [law.growth(q, u, law.settings, off) for off in (0.0, 0.1, 0.2)]
    assert rates[0] < rates[1] < rates[2] < 0.0


def test_a_robot_is_looked_at_as_at_rest_where_its_command_does_not_hold_it():
    """For joints without springs growth is that under holding torques, whatever is commanded."""
    law, q = loop_of('double_pendulum')
    model, place = law.model, q + [0.9, -0.4]
    hold = sd.inverse_dynamics(model, q=place, qd=0.0 * q, qdd=0.0 * q)
    rates = [law.growth(place, u, law.settings) for u in (hold, 0.0 * hold)]
    assert np.abs(hold).max() > 1.0 and rates[1] == pytest.approx(rates[0], rel=1e-5)


def test_it_is_not_said_where_there_is_no_state():
    """At a place that is no number growth is nan."""
    law, q = loop_of('servo_arm')
    assert np.isnan(law.growth(np.nan * q, np.zeros(law.model.m), law.settings))


@pytest.mark.parametrize('name', ['double_pendulum', 'servo_arm'])
def test_gains_are_those_of_the_solutions(name):
    """The gains that the analysis goes by are those of the law's plan at rest, to 1e-5."""
    law, q = loop_of(name)
    model, u, zero = law.model, np.zeros(law.model.m), 0.0 * q
    stay = law.stay(q, zero)
    law.follow(stay, 0.0, 0.0)
    law.start(q, zero, 0.0, u)
    for k in range(60):
        law.compute(k * PERIOD, q, zero)
    problem = problem_of(model, law.controlled, -1, law.settings)
    analysis = RestAnalysis(model, False)
    robot, Q, weights = analysis.measure(q, u, problem)
    policy = knot_gains(robot.step(problem.knot), Q, *weights, problem.knot, problem.steps)
    for k in (0, 5):
        gain = law.schedule.now.gain[k]
        assert policy[k].by_x == pytest.approx(gain, abs=1e-5 * np.abs(gain).max())
