# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Partial feedback linearization: the law, its limits, and the loop it closes."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.contract import Controller, CONTROLLERS
from softrobot_dynamics.controllers.pfbl import PartialFeedbackLinearization
from softrobot_dynamics.dynamics.statics import equilibrium
from softrobot_dynamics.references.circle import Circle, tip_circle
from softrobot_dynamics.references.piecewise import braking, constant, spline
from softrobot_dynamics.references.tips import tip_path
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator
from softrobot_dynamics.simulation.simulator import Simulator
from support.robots import compiled, rod, SHIPPED, states

PERIOD = 1e-3
INSTANT = 1e-20
"""A period in which nothing settles."""
ARMS = ('planar_cc_chain', 'pcc_arm')


def wide_open(model, **changed):
    """Return settings without limits, with gains that differ from one actuator to the next."""
    m, free = model.m, np.full(model.m, np.inf)
    open_ = PartialFeedbackLinearization.make_settings(
        model,
        p=50.0 + 10.0 * np.arange(m),
        d=5.0 + np.arange(m),
        lower=-free,
        upper=free,
        rate=free,
    )
    return open_.replace(**changed)


def controller(model, settings, controlled=None, seed=1, period=INSTANT):
    """Return a controller on a reference with value, rate and acceleration."""
    made = PartialFeedbackLinearization(
        model, period=period, settings=settings, controlled=controlled
    )
    state = 0.01 * np.random.default_rng(seed).normal(size=(3, len(made.controlled)))
    made.follow(braking(state, 0.0, 10.0), 0.0, 0.0)
    return made


def wanted_acceleration(made, command):
    """Return the acceleration a of the controlled coordinates that the law asks for."""
    k, s = made.controlled, made.settings
    error, rate = command.desired[0] - command.y[k], command.desired[1] - command.velocity[k]
    return command.desired[2] + s.d[k] * rate + s.p[k] * error


def acceleration(model, q, qd, u):
    """Y'' (m,) under the command u."""
    found = sd.actuation(model, q=q, qd=qd)
    return found.jacobian @ sd.forward_dynamics(model, q=q, qd=qd, u=u) + found.bias


def assert_close(found, wanted, tolerance=1e-10):
    """Compare arrays relative to the largest entry of the wanted one."""
    assert np.abs(found - wanted).max() <= tolerance * max(1.0, np.abs(wanted).max())


def copy(command):
    """Command with arrays of its own."""
    return command._replace(**{k: np.copy(v) for k, v in command._asdict().items() if np.ndim(v)})


@pytest.mark.parametrize('name', [*ARMS, 'ur10e', 'double_pendulum', 'hand'])
def test_actuation_coordinates_accelerate_as_asked(name):
    """Without limits y'' = a to 1e-10 in random states of any actuation, bias included."""
    model = compiled(name)
    made = controller(model, wide_open(model))
    for q, qd, _ in states(model, 20, seed=2):
        made.start(q, qd, 0.0)
        command = made.compute(0.0, q, qd)
        assert command.ok and command.saturated == 0
        a = wanted_acceleration(made, command)
        assert_close(acceleration(model, q, qd, command.u), a)
        scale = max(1.0, np.abs(a).max())
        assert np.abs(command.unmet).max() < 1e-9 * scale


@pytest.mark.parametrize('name', [*ARMS, 'steel_rod'])
def test_the_demanded_rate_is_reached_in_a_period(name):
    """Over a held period the simulated y' changes by T (a - Jdot qd)."""
    model = compiled(name)
    made = controller(model, wide_open(model), period=PERIOD)
    for q, qd, _ in states(model, 3, seed=8, size=0.2):
        q, qd = model.q0 + q, 0.1 * qd
        made.start(q, qd, 0.0)
        command = copy(made.compute(0.0, q, qd))
        simulator = Simulator(model, q=q, qd=qd, tolerance=1e-9)
        simulator.step(command.u, PERIOD)
        found = sd.actuation(model, q=q, qd=qd)
        gained = found.jacobian @ (simulator.qd - qd) / PERIOD + found.bias
        assert_close(gained, wanted_acceleration(made, command), 0.02)


@pytest.mark.parametrize('gains', [(10.0, 1.0), (100.0, 20.0), (400.0, 40.0)])
@pytest.mark.parametrize('name', [*SHIPPED, 'steel_rod'])
def test_errors_decay_as_the_gains_say(name, gains):
    """The p and d fitted to a small step of y in a loaded posture are the gains."""
    model, (p, d) = compiled(name), gains
    if name == 'steel_rod' and d < 20.0:
        pytest.skip('what rings undamped is more than so small a d')
    q, u = loaded(model)
    free = np.full(model.m, np.inf)
    settings = PartialFeedbackLinearization.make_settings(
        model, p=p, d=d, lower=-free, upper=free, rate=free
    )
    made = PartialFeedbackLinearization(model, period=PERIOD, settings=settings)
    y, _ = made.outputs(q, 0.0 * q)
    step = sd.actuation(model, q=q, qd=0.0 * q).jacobian @ small_shift(model)
    made.follow(constant(y + step), 0.0, 0.0)
    ticks = list(close_loop(model, made, 3.0 / max(d, p**0.5), q, u=u, tolerance=1e-8))
    errors = np.array([step + y - c.y for _, c, _ in ticks])
    rates = np.array([-c.velocity for _, c, _ in ticks])
    change = np.diff(rates, axis=0).ravel() / PERIOD
    middle = [0.5 * (x[1:] + x[:-1]).ravel() for x in (errors, rates)]
    fitted = np.linalg.lstsq(-np.array(middle).T, change)[0]
    np.testing.assert_allclose(fitted, gains, rtol=0.05)


def loaded(model):
    """Return a posture (n,) and the commands (m,) that hold it."""
    if model.positioned.any():
        u = np.linspace(0.1, 0.3, model.m)
        return equilibrium(model, command=u).q, u
    turning = model.lower < 0.0
    u = np.where(turning, 0.0, 0.1 * np.minimum(np.linspace(10.0, 30.0, model.m), model.upper))
    if not turning.any():
        return equilibrium(model, u=u).q, u
    q = model.q0 + small_shift(model)
    weight = sd.inverse_dynamics(model, q=q, qd=0.0 * q, qdd=0.0 * q)
    matrix = sd.actuation(model, q=q, qd=0.0 * q).matrix
    return q, np.linalg.lstsq(matrix, weight)[0]


def small_shift(model):
    """Return a small change of posture (n,), 1e-3 in its units."""
    return 1e-3 * np.cos(np.arange(model.n))


@pytest.mark.parametrize('name', ARMS)
def test_outputs_are_those_of_the_model(name):
    """The reported y and its rate are the model's, and the desired values the reference's."""
    model = compiled(name)
    made = controller(model, wide_open(model))
    for q, qd, _ in states(model, 3, seed=3):
        command = made.compute(0.7, q, qd)
        found = sd.actuation(model, q=q, qd=qd)
        np.testing.assert_allclose(command.y, found.coordinates, atol=1e-14)
        np.testing.assert_allclose(command.velocity, found.velocities, atol=1e-14)
        np.testing.assert_allclose(command.desired, made.desired(0.7), atol=0.0)


@pytest.mark.parametrize('controlled', [['t9', 't2', 't4'], ['t5']])
def test_uncontrolled_actuators_feed_forward(controlled):
    """The others apply their feed-forward, which the law takes into account, in any order."""
    model = compiled('pcc_arm')
    settings = wide_open(model, feed_forward=1.0 + np.arange(model.m))
    made = controller(model, settings, controlled)
    others = [k for k in range(model.m) if k not in made.controlled]
    for q, qd, _ in states(model, 5, seed=4):
        made.start(q, qd, 0.0)
        command = made.compute(0.0, q, qd)
        assert np.array_equal(command.u[others], settings.feed_forward[others])
        a = wanted_acceleration(made, command)
        assert_close(acceleration(model, q, qd, command.u)[made.controlled], a)
        assert not command.unmet[others].any()


@pytest.mark.parametrize('name', ARMS)
def test_limits_as_in_weighted_least_squares(name):
    """Within limits u is scipy's minimiser of |S^1/2 (w - w*)|; `unmet` has the rest."""
    model = compiled(name)
    made = controller(
        model, PartialFeedbackLinearization.make_settings(model, rate=np.full(model.m, np.inf))
    )
    hit = 0
    for q, qd, _ in states(model, 20, seed=5, size=0.4):
        made.start(q, qd, 0.0)
        made.follow(constant(np.zeros(model.m)), 0.0, 0.0)
        command = copy(made.compute(0.0, q, qd))
        assert command.ok
        assert (model.lower <= command.u).all() and (command.u <= model.upper).all()
        w = least_squares(model, q, qd, wanted_acceleration(made, command))
        np.testing.assert_allclose(-command.u, w, atol=2e-6)
        unmet = wanted_acceleration(made, command) - acceleration(model, q, qd, command.u)
        assert_close(command.unmet, unmet, 1e-8)
        at_limit = (command.u <= model.lower) | (command.u >= model.upper)
        assert command.saturated == at_limit.sum()
        hit += command.saturated
    assert hit > 20


def least_squares(model, q, qd, a):
    """Return forces w = -u along y within the limits, by scipy."""
    zero = np.zeros(model.n)
    h, M = sd.mass_inverse_dynamics(model, q=q, qd=qd, qdd=zero)
    found = sd.actuation(model, q=q, qd=qd)
    X = np.linalg.solve(np.linalg.cholesky(M), found.jacobian.T)
    free = np.linalg.lstsq(X.T @ X, a - found.bias + found.jacobian @ np.linalg.solve(M, h))[0]
    return lsq_linear(X, X @ free, (-model.upper, -model.lower), method='bvls', tol=1e-15).x


def test_commands_keep_rate_limits():
    """From tick to tick u changes by at most rate * period, from the start's u on."""
    model = compiled('pcc_arm')
    settings = PartialFeedbackLinearization.make_settings(model, rate=np.full(model.m, 200.0))
    made = controller(model, settings, period=PERIOD)
    q, qd, before = model.q0, np.zeros(model.n), np.full(model.m, 3.0)
    made.start(q, qd, 0.0, u=before)
    made.follow(constant(np.full(model.m, -0.02)), 0.0, 0.0)
    for k in range(30):
        command = made.compute(k * PERIOD, q, qd)
        assert np.abs(command.u - before).max() <= 200.0 * PERIOD * (1.0 + 1e-12)
        before = command.u.copy()
    assert np.abs(before - 3.0).max() > 5 * 200.0 * PERIOD


def test_limits_come_before_rate_limits():
    """If the last command is beyond new limits, u obeys the new limits at once."""
    model = compiled('pcc_arm')
    settings = PartialFeedbackLinearization.make_settings(model, rate=np.full(model.m, 100.0))
    made = controller(model, settings.replace(upper=np.full(model.m, 2.0)))
    made.start(model.q0, np.zeros(model.n), 0.0, u=np.full(model.m, 3.0))
    command = made.compute(0.0, model.q0, np.zeros(model.n))
    assert command.ok and (command.u >= 0.0).all() and (command.u <= 2.0).all()


def test_redundant_tendons_give_finite_commands():
    """With more tendons than coordinates u is finite, and feasible demands are met."""
    ring = 2.0 * np.pi * np.arange(5) / 5.0
    tendons = [
        {
            'name': f't{i}',
            'type': 'tendon',
            'path': [{'body': 'b', 'offset': [0.01 * np.cos(a), 0.01 * np.sin(a)]}],
            'limits': [0.0, 30.0],
        }
        for i, a in enumerate(ring)
    ]
    body = {'name': 'b', 'joint': {'type': 'fixed'}, 'body': rod()}
    model = sd.compile_model(
        sd.load_robot({'name': 'redundant', 'bodies': [body], 'actuators': tendons})
    )
    for settings in (
        wide_open(model, p=np.full(5, 50.0), d=np.full(5, 5.0)),
        PartialFeedbackLinearization.make_settings(model),
    ):
        made = PartialFeedbackLinearization(model, period=INSTANT, settings=settings)
        for q, qd, _ in states(model, 10, seed=6, size=0.5):
            y = sd.actuation(model, q=0.5 * q, qd=qd).coordinates  # a y that some posture has
            made.follow(constant(y), 0.0, 0.0)
            made.start(q, qd, 0.0)
            command = made.compute(0.0, q, qd)
            assert command.ok and np.isfinite(command.u).all()
            if np.isinf(settings.upper).all():
                a = wanted_acceleration(made, command)
                assert_close(acceleration(model, q, qd, command.u), a, 1e-5)
                assert np.abs(command.u).max() < 1e3
            else:
                assert (command.u >= 0.0).all() and (command.u <= 30.0).all()


@pytest.mark.parametrize('wrong', [np.nan, np.inf, 1e200])
def test_an_invalid_state_gives_no_command(wrong):
    """A state that is not finite, or no posture of the model, makes the command invalid."""
    model = compiled('pcc_arm')
    made = controller(model, PartialFeedbackLinearization.make_settings(model))
    made.start(model.q0, np.zeros(model.n), 0.0, u=np.full(model.m, 1.0))
    q = model.q0.copy()
    q[4] = wrong
    assert not made.compute(0.0, q, np.zeros(model.n)).ok
    assert np.array_equal(made.last, np.full(model.m, 1.0))  # rate limits count from there still
    assert made.compute(1e-3, model.q0, np.zeros(model.n)).ok


def close_loop(model, made, duration, q, u=None, **options):
    """
    Run controller and simulator for ``duration`` [s]; yields (t, command, q) of each tick.

    ``u`` (m,) is the command in force before, ``options`` are the Simulator's.
    """
    simulator = ActuatedSimulator(model, q=q, **options)
    made.start(simulator.q, simulator.qd, 0.0, u)
    for k in range(round(duration / made.period)):
        command = copy(made.compute(k * made.period, simulator.q, simulator.qd))
        assert command.ok
        yield k * made.period, command, simulator.q
        simulator.step(command.u, made.period)


def test_the_arm_follows_its_circle():
    """In closed loop the tip of the shipped arm stays on its circle to a millimetre."""
    model = compiled('pcc_arm')
    circle = Circle('segment3', (0.0, 0.0, 0.57), (0.0, 0.0, 1.0), 0.1, 5.0)
    reference, postures = tip_circle(model, circle, samples=32)
    made = PartialFeedbackLinearization(model, period=PERIOD)
    made.follow(reference, 0.0, 2.0)
    errors = []
    for t, command, q in close_loop(model, made, 7.0, postures.q[0]):
        if t > 2.0 and round(t / PERIOD) % 20 == 0:
            tip = sd.forward_kinematics(model, q=q)[-1, :3, 3]
            errors.append(tip - circle.points(np.array([2.0 * np.pi * t / 5.0]))[0])
        assert command.saturated == 0 or t < 2.0
    assert np.sqrt(np.mean(np.sum(np.square(errors), axis=1))) < 1e-3
    assert np.abs(errors).max() < 2e-3


def test_the_underactuated_chain_follows_its_reference():
    """The three tendons of a chain of six bodies follow a smooth reference in closed loop."""
    model, times = compiled('planar_cc_chain'), np.linspace(0.0, 16.0, 17)
    q = equilibrium(model, u=[4.0, 8.0, 4.0]).q
    y = sd.actuation(model, q=q, qd=0.0 * q).coordinates
    waves = 1e-3 * np.sin(np.pi * times[:, None] / 8.0 + [0.0, 0.5, 1.0])
    waves[-1] = waves[0]
    settings = PartialFeedbackLinearization.make_settings(model)
    pushing = settings.replace(lower=-model.upper)  # tendons that never slacken
    made = PartialFeedbackLinearization(model, period=PERIOD, settings=pushing)
    made.follow(spline(times, y + waves, periodic=True), 0.0, 1.0)
    errors = [
        command.y - command.desired[0]
        for t, command, _ in close_loop(model, made, 4.0, q)
        if t > 2.0
    ]
    assert np.abs(errors).max() < 5e-3 * 1e-3


@pytest.fixture(scope='module')
def papers_circle():
    """Return (reference, postures) of the paper's circle on the helicoid, one turn in 5 s."""
    model, times = compiled('trimmed_helicoid'), np.linspace(0.0, 5.0, 13)
    turns = 2.0 * np.pi * times / 5.0
    rings = [(0.020, 0.08), (0.025, 0.15), (0.030, 0.24)]
    points = np.array([[(r * np.cos(a), r * np.sin(a), z) for r, z in rings] for a in turns])
    points[-1] = points[0]
    bodies = ['segment1', 'segment2', 'segment3']
    return tip_path(model, bodies, times, points, periodic=True, samples=24)


@pytest.mark.parametrize('gains, most', [((10.0, 1.0), 3e-3), ((100.0, 20.0), 1e-4)])
def test_the_papers_circle_with_the_papers_gains(papers_circle, gains, most):
    """The helicoid, set out on its circle at the circle's own speed: y stays, no limit is met."""
    model, (reference, postures) = compiled('trimmed_helicoid'), papers_circle
    q = postures.q[0]
    rate = (postures.q[1] - postures.q[-2]) / (10.0 / (len(postures.q) - 1))
    made = PartialFeedbackLinearization(
        model,
        period=PERIOD,
        settings=PartialFeedbackLinearization.make_settings(model, p=gains[0], d=gains[1]),
    )
    made.follow(reference, 0.0, 0.0)
    simulator, errors = Simulator(model, q=q, qd=rate, tolerance=1e-5), []
    made.start(q, rate, 0.0)
    for k in range(500):
        command = made.compute(k * PERIOD, simulator.q, simulator.qd)
        assert command.ok and command.saturated == 0
        errors.append(np.abs(command.y - command.desired[0]).max())
        simulator.step(command.u.copy(), PERIOD)
    assert max(errors) < most


@pytest.mark.parametrize('late', [1.0, 1.5])
def test_a_known_delay_is_compensated(late):
    """With a known delay y moves as it would without delay."""
    model, u = compiled('planar_cc_chain'), np.array([4.0, 8.0, 4.0])
    q, moved = equilibrium(model, u=u).q, {}
    for known in (None, 0.0, late * PERIOD):
        settings = PartialFeedbackLinearization.make_settings(
            model, p=400.0, d=40.0, delay=known or 0.0
        )
        made = PartialFeedbackLinearization(model, period=PERIOD, settings=settings)
        y, _ = made.outputs(q, 0.0 * q)
        made.follow(constant(y + 1e-3), 0.0, 0.0)
        moved[known] = y_in_closed_loop(made, q, u, 0.0 if known is None else late, 100)
    ticks = round(2 * late)
    there = moved[None][: len(moved[None]) - ticks]
    unknown, known = (np.abs(moved[k][ticks:] - there).max() for k in (0.0, late * PERIOD))
    assert known < 0.1 * unknown


def y_in_closed_loop(made, q, u, late, ticks):
    """Return y (2 ticks, m), twice a period; commands are ``late`` by periods."""
    simulator, half, y = Simulator(made.model, q=q, substep=1e-4), [u] * round(2 * late), []
    made.start(q, 0.0 * q, 0.0, u)
    for k in range(ticks):
        command = made.compute(k * PERIOD, simulator.q, simulator.qd)
        half += [command.u.copy()] * 2
        for _ in range(2):
            y.append(made.outputs(simulator.q, simulator.qd)[0])
            simulator.step(half.pop(0), PERIOD / 2.0)
    return np.array(y)


def test_a_replay_gives_the_same_commands():
    """Two controllers that are told the same answer the same, bit by bit."""
    model = compiled('pcc_arm')
    runs = []
    for _ in range(2):
        made = PartialFeedbackLinearization(model, period=PERIOD)
        made.follow(constant(np.full(model.m, -2e-3)), 0.0, 0.1)
        runs.append([c.u for _, c, _ in close_loop(model, made, 0.1, model.q0)])
    assert np.array_equal(*runs)


@pytest.mark.parametrize('name, controlled', [('double_pendulum', 1), ('planar_cc_chain', 2)])
def test_the_law_reports_unstable_zero_dynamics(name, controlled):
    """Upright, the law reports the growth while outputs are held, as another method does."""
    model = compiled(name)
    names = model.actuator_names[controlled:]
    made = PartialFeedbackLinearization(model, period=PERIOD, controlled=names)
    for q in (model.q0, model.q0 + np.eye(model.n)[0] * np.pi):
        rates = sd.zero_dynamics(model, q=q, controlled=names)
        wanted = rates[rates.real > 0.1]
        assert np.array(made.unstable_zero_dynamics(q)) == pytest.approx(wanted, rel=1e-4)
    if name == 'double_pendulum':
        assert len(wanted) == 1


@pytest.mark.parametrize('name', [name for name in CONTROLLERS.names() if name != 'feed_forward'])
def test_every_controller_holds_a_posture(name):
    """Every registered controller holds a rigid robot at its set-point or start."""
    model = compiled('double_pendulum')
    made = CONTROLLERS.get(name)(model, period=PERIOD)
    assert isinstance(made, Controller)
    made.warm()
    q = np.array([0.4, 0.3])
    made.follow(constant(q), 0.0, 0.0)
    begun = q + [0.05, -0.05]
    *_, (_, _, last) = close_loop(model, made, 1.0, begun)
    assert np.abs(last - (begun if name == 'impedance' else q)).max() < 5e-3
