# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Laws on one robot together: each counts on the others, none steps, none takes another's."""

import numpy as np
import pytest
from robots import compiled
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.composition import Composition
from softrobot_dynamics.controllers.contract import CONTROLLERS
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.references.piecewise import constant, spline

PERIOD = 1e-3
TENDONS = ('t1', 't2', 't3')


def law_of(model, name, controlled, period=PERIOD, **parameters):
    law = CONTROLLERS.get(name)
    settings = law.make_settings(model, controlled, **parameters)
    return law(model, period=period, controlled=controlled, settings=settings)


def test_one_law_alone_is_that_law():
    model = compiled('pcc_arm')
    names, reference = model.actuator_names, constant(np.full(model.m, -1e-3))
    alone = sd.closed_loop(model, law_of(model, 'pfbl', names), reference, 0.05, ramp=0.02)
    law = Composition([law_of(model, 'pfbl', names)])
    found = sd.closed_loop(model, law, reference, 0.05, ramp=0.02)
    for field in ('q', 'u', 'y_d', 'velocity_d'):
        assert np.array_equal(getattr(found, field), getattr(alone, field)), field


GOAL = -33.757e-3, 7.029e-3, -20.533e-3  # [m] where the soft arm rests under 20, 4 and 10 N


def hybrid(soft, duration, untold=False):
    """Return errors (K, 9) of motors, then tendons, and the run: an arm on its way, two soft."""
    model = compiled('hybrid_arm')
    motors = [n for n in model.actuator_names if n not in (*TENDONS, 'p')]
    law = Composition([soft(model), law_of(model, 'pfbl', motors, observer=1e-3)])
    if untold:  # the law of the motors believes that the tendons are slack
        law.laws[1].use(law.laws[1].settings.replace(feed_forward=np.zeros(model.m)))
    goal = np.array([*GOAL, 0.2, -0.1, -0.1, -0.1, 0.1, -0.2])
    way = spline([0.0, 0.6], np.array([0.0 * goal, goal]))
    inflate = law.settings.replace(feed_forward=np.eye(model.m)[-1] * 1e6)
    changes = [] if untold else [(0.4, inflate)]
    found = sd.closed_loop(model, law, way, duration, u0=np.zeros(model.m), changes=changes)
    assert found.ok.all()
    error = np.empty((len(found.t), 9))
    error[:, law.controlled] = found.y[:, law.controlled] - found.y_d
    return error, found


def test_two_laws_and_a_feed_forward_on_one_robot():
    """Motors keep to their way while tendons pull; no command steps, of whatever law."""
    model = compiled('hybrid_arm')
    error, found = hybrid(lambda m: law_of(m, 'pd_plus', TENDONS, p=4.0, d=4.0), 2.5)
    assert np.abs(error[:, :5]).max() < 1e-4 and np.abs(error[:, 5]).max() < 1e-3  # [rad]
    assert np.abs(error[-1, 6:]).max() < 1.5e-3  # [m], of 34 mm: such gains are slow
    step = np.abs(np.diff(found.u, axis=0, prepend=0.0 * found.u[:1]))
    assert (step <= model.rate_limit * PERIOD * (1 + 1e-9)).all()
    assert found.u[399, -1] == 0.0 and found.u[-1, -1] == 1e6
    assert found.u[400, -1] == pytest.approx(model.rate_limit[-1] * PERIOD)


def test_a_law_counts_on_what_the_others_push_with():
    """Told of the tendons, it has nothing to find out; untold, the motors are pushed away."""
    error, found = hybrid(lambda m: law_of(m, 'pfbl', TENDONS), 1.2)
    assert np.abs(error[-1, 6:]).max() < 1e-5  # [m]
    untold, _ = hybrid(lambda m: law_of(m, 'pfbl', TENDONS), 1.2, untold=True)
    assert np.abs(untold[:, 3:5]).max() > 3.0 * np.abs(error[:, 3:5]).max()


def test_it_begins_with_the_command_in_force():
    """Started anew at another command, every law's limits of rates count from there."""
    model = compiled('pcc_arm')
    names, u = model.actuator_names, np.full(model.m, 5.0)
    law = Composition([law_of(model, 'pfbl', names[:5]), law_of(model, 'feed_forward', names[5:])])
    law.follow(constant(np.full(model.m, -1e-3)), 0.0, 0.1)
    law.start(model.q0, np.zeros(model.n), 0.0, u)
    sent = law.compute(0.0, model.q0, np.zeros(model.n)).u
    assert (np.abs(sent - u) <= model.rate_limit * PERIOD * (1 + 1e-9)).all()
    assert sent[5:] == pytest.approx(u[5:] - model.rate_limit[5:] * PERIOD)
    state = law.desired(0.0)
    assert state[0] == pytest.approx(law.outputs(model.q0, np.zeros(model.n))[0], abs=1e-12)


def test_what_cannot_run_together_is_refused():
    model = compiled('pcc_arm')
    a, b = model.actuator_names[:2], model.actuator_names[1:]
    first = law_of(model, 'feed_forward', a)
    with pytest.raises(ArgumentError, match=rf'laws\[1\].controlled.*{b[0]}'):
        Composition([first, law_of(model, 'feed_forward', b)])
    with pytest.raises(ArgumentError, match=r'laws\[1\].period'):
        Composition([first, law_of(model, 'feed_forward', b[1:], period=2e-3)])
    with pytest.raises(ArgumentError, match='at least one law'):
        Composition([])
    law = Composition([first])
    with pytest.raises(ArgumentError, match=r'settings.laws'):
        law.use(law.settings.replace(laws=()))
