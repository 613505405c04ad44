# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Closed loops of the laws other than partial feedback linearization."""

import math

import numpy as np
import pytest
from scipy.optimize import root
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.contract import CONTROLLERS
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.dynamics.statics import equilibrium
from softrobot_dynamics.errors import ArgumentError, DescriptionError
from softrobot_dynamics.references.piecewise import braking, constant, spline
from softrobot_dynamics.simulation.simulator import Simulator
from support.robots import compiled
import yaml

PERIOD = 1e-3


def law(kind, model, controlled=None, **given):
    """Return a law for a model, with parameters."""
    cls = CONTROLLERS.get(kind)
    settings = cls.make_settings(model, controlled, **given)
    return cls(model, period=PERIOD, controlled=controlled, settings=settings)


def wide_open(model):
    """Return what takes the limits away."""
    free = np.full(model.m, np.inf)
    return {'lower': -free, 'upper': free, 'rate': free}


def closed(made, simulator, duration):
    """Close a loop for a while; return the commands (T, m) and outputs (T, m)."""
    commands, outputs = [], []
    for k in range(round(duration / PERIOD)):
        command = made.compute(k * PERIOD, simulator.q, simulator.qd)
        assert command.ok
        commands.append(command.u.copy())
        outputs.append(command.y.copy())
        simulator.step(commands[-1], PERIOD)
    return np.array(commands), np.array(outputs)


def held_by(model, u):
    """Return the posture (n,) that commands (m,) hold, and its outputs (m,)."""
    q = equilibrium(model, u=u, ramp=True).q
    return q, sd.actuation(model, q=q, qd=np.zeros(model.n)).coordinates


@pytest.mark.parametrize('name', ['pcc_arm', 'planar_cc_chain', 'double_pendulum'])
def test_pd_plus_settles_at_its_set_point(name):
    """Started at rest elsewhere, `pd_plus` settles at its set-point to 1e-6 for any gains."""
    model = compiled(name)
    y = np.array([0.7, -0.4])
    if name != 'double_pendulum':
        y = held_by(model, np.linspace(2.0, 6.0, model.m))[1]
    made = law('pd_plus', model, p=60.0 + np.arange(model.m), d=16.0, **wide_open(model))
    made.follow(constant(y), 0.0, 0.0)
    simulator = Simulator(model)
    made.start(simulator.q, simulator.qd, 0.0)
    outputs = closed(made, simulator, 8.0)[1]
    assert np.abs(outputs[-1] - y).max() <= 1e-6 * np.abs(y).max()


def test_pd_plus_near_q0_moves_as_its_gains_say():
    """A small error decays as that of a mass on a spring and damper, in mixed units too."""
    model = compiled('double_pendulum')
    made = law('pd_plus', model, p=100.0, d=20.0, **wide_open(model))
    start = equilibrium(model, u=np.zeros(model.m)).q
    place = made.outputs(start, 0.0 * start)[0]
    made.follow(constant(place + 1e-3), 0.0, 0.0)
    simulator = Simulator(model, q=start)
    made.start(start, 0.0 * start, 0.0)
    error = place + 1e-3 - closed(made, simulator, 0.3)[1]
    t = PERIOD * np.arange(300)
    assert error.T == pytest.approx(
        np.tile(1e-3 * (1.0 + 10.0 * t) * np.exp(-10.0 * t), (model.m, 1)), abs=4e-5
    )


@pytest.mark.parametrize('name', ['pcc_arm', 'ur10e'])
def test_a_tip_gives_way_as_its_spring_says(name):
    """A force of 1 N moves the tip by 1/k in its direction and not across, to 2 %."""
    model = compiled(name)
    u = np.linspace(1.0, 3.0, model.m) if name == 'pcc_arm' else np.zeros(model.m)
    q = equilibrium(model, u=u).q if name == 'pcc_arm' else np.linspace(-0.7, 0.4, 6)
    made = law('impedance', model, stiffness=(400.0, 300.0, 200.0), **wide_open(model))
    stay = made.outputs(q, 0.0 * q)[0]
    made.follow(constant(stay), 0.0, 0.0)
    made.start(q, 0.0 * q, 0.0)
    body = model.body_names[-1]
    home = sd.forward_kinematics(model, q=q)[-1]
    for axis, k in enumerate((400.0, 300.0, 200.0)):

        def unbalanced(x, axis=axis):
            command = made.compute(0.0, x, 0.0 * x)
            turned = sd.forward_kinematics(model, q=x)[-1][:3, :3]
            wrench = {body: np.concatenate([np.zeros(3), turned.T[:, axis]])}
            force = sd.actuation(model, q=x, qd=0.0 * x).matrix @ command.u
            return (
                sd.inverse_dynamics(model, q=x, qd=0.0 * x, qdd=0.0 * x, wrenches=wrench) - force
            )

        found = root(unbalanced, q, tol=1e-12)
        assert np.abs(unbalanced(found.x)).max() < 1e-7
        moved = sd.forward_kinematics(model, q=found.x)[-1][:3, 3] - home[:3, 3]
        assert moved == pytest.approx(np.eye(3)[axis] / k, abs=0.02 / k)


@pytest.mark.quick
def test_a_tip_is_braked_as_its_damper_says():
    """The damper of `impedance` adds the generalized force -J^T D x', which dissipates power."""
    model = compiled('double_pendulum')
    q, qd, more = np.array([0.4, -0.7]), np.array([1.0, -2.0]), np.array([3.0, 2.0, 4.0])
    commands = []
    for damping in (np.zeros(3), more):
        made = law('impedance', model, damping=damping, **wide_open(model))
        made.start(q, qd, 0.0)
        commands.append(made.compute(0.0, q, qd).u.copy())
    J = sd.jacobian(model, q=q, body=model.body_names[-1], frame='base')[3:]
    assert commands[1] - commands[0] == pytest.approx(-J.T @ (more * (J @ qd)))


def loaded(name, mass):
    """Return a model of a shipped robot with a point mass [kg] more at its last body's tip."""
    robot = yaml.safe_load(shipped('robots')[name].read_text())
    load = {'type': 'rigid', 'mass': mass, 'com': [0.0, 0.0, 0.0]}
    robot['bodies'].append({'name': 'load', 'joint': {'type': 'fixed'}, 'body': load})
    return sd.compile_model(sd.load_robot(robot))


@pytest.mark.parametrize(
    'name, load, delay',
    [('pcc_arm', 0.16, 0.0), ('pcc_arm', 0.16, 2e-3), ('pneumatic_arm', 0.11, 0.0)],
)
def test_an_observer_compensates_a_payload(name, load, delay):
    """With the observer a payload of a fifth of the arm's mass causes a tenth of the error."""
    model, plant, errors = compiled(name), loaded(name, load), {}
    u = np.linspace(3.0, 5.0, 9) if name == 'pcc_arm' else np.array([0, 6, 7, 8, 9, 8, 7]) * 1e4
    y = held_by(model, u)[1]
    for observer in (0.0, 0.1):
        found = sd.closed_loop(
            model,
            law('pfbl', model, observer=observer, delay=delay),
            constant(y),
            2.0,
            start=sd.Start(ramp=1.0),
            plant=sd.Plant(plant, delay=delay),
        )
        errors[observer] = np.abs(found.y[-1] - y).max()
    assert errors[0.1] < 0.1 * errors[0.0]
    assert found.ok.all() and found.saturated[-1] == 0


@pytest.mark.parametrize('name', ['pcc_arm', 'pneumatic_arm'])
@pytest.mark.parametrize('stiffness', [0.8, 1.2])
@pytest.mark.parametrize('density', [0.8, 1.2])
@pytest.mark.parametrize('loss', [0.8, 1.2])
def test_a_model_may_be_off_by_a_fifth(name, stiffness, density, loss):
    """With stiffness, mass and damping off by a fifth, outputs reach their references."""
    model = compiled(name)
    u = np.linspace(3.0, 5.0, 9) if name == 'pcc_arm' else np.array([0, 6, 7, 8, 9, 8, 7]) * 1e4
    y = held_by(model, u)[1]
    changes = {'young_modulus': stiffness, 'density': density, 'damping': loss}
    changes = {field: f'x{factor}' for field, factor in changes.items()}
    plant = sd.compile_model(sd.vary(sd.load_robot(name), changes))
    found = sd.closed_loop(
        model,
        law('pfbl', model),
        constant(y),
        2.0 if name == 'pcc_arm' else 2.5,
        start=sd.Start(ramp=1.0),
        plant=sd.Plant(plant, delay=3e-4),
    )
    errors, way = np.abs(found.y - found.y_d), np.abs(y - found.y[0])
    assert found.ok.all() and errors[-1].max() < 1e-4 * way.max()
    assert errors.max() < 0.1 * way.max()


@pytest.mark.parametrize('name, u', [('pcc_arm', 2.0), ('servo_arm', 0.2)])
@pytest.mark.parametrize('delay', [1e-3, 4.5e-3])
@pytest.mark.parametrize('stiffness', [0.9, 1.1])
def test_a_known_delay_is_compensated_with_a_wrong_model(name, u, delay, stiffness):
    """Prediction includes the force that the model lacks, and so predicts no false motion."""
    model = compiled(name)
    plant = sd.compile_model(sd.vary(model.description, {'young_modulus': f'x{stiffness}'}))
    y = held_by(model, np.full(model.m, u))[1] - 1e-3
    found = sd.closed_loop(
        model,
        law('pfbl', model, delay=delay),
        constant(y),
        1.8,
        start=sd.Start(ramp=1.0),
        plant=sd.Plant(plant, delay=delay),
    )
    errors, way = np.abs(found.y - found.y_d), np.abs(y - found.y[0])
    assert found.ok.all() and errors[-1].max() < 1e-3 * way.max()


def test_a_law_at_a_slow_rate_tracks_a_motion():
    """At a slow rate the law uses the response at the present state and tracks a motion."""
    model = compiled('ur10e')
    way = constant(np.array([1.5, -1.0, 1.0, 1.0, -1.0, 1.0]))
    found = sd.closed_loop(model, sd.Law('pfbl', period=0.02), way, 4.0, start=sd.Start(ramp=2.0))
    assert np.abs(found.y - found.y_d)[-1].max() < 1e-3 and np.abs(found.y - found.y_d).max() < 0.1


@pytest.mark.parametrize(
    'name, chosen, late', [('double_pendulum', 0.02, 5e-3), ('pcc_arm', 0.001, 1e-3)]
)
def test_an_observer_is_as_slow_as_the_robot_allows(name, chosen, late):
    """The observer is slow enough for the loop to withstand delays that the law ignores."""
    model = compiled(name)
    assert law('pfbl', model).observer == chosen
    way = constant(np.full(model.m, -2e-3))
    found = sd.closed_loop(
        model, 'pfbl', way, 2.0, start=sd.Start(ramp=0.5), plant=sd.Plant(delay=late)
    )
    assert np.abs(found.y - found.y_d)[-1].max() < 1e-6


@pytest.mark.parametrize('observer, softer', [(0.0, 0.1), (0.01, 0.2), (1e-3, 0.2)])
def test_growth_with_a_wrong_model_is_that_of_the_loop(observer, softer):
    """Small errors grow on a robot with scaled K and D at the predicted rate."""
    robot = {**yaml.safe_load(shipped('robots')['pcc_arm'].read_text()), 'gravity': [0, 0, 0]}
    model = sd.compile_model(sd.load_robot(robot))
    plant = sd.compile_model(sd.vary(model.description, {'young_modulus': f'x{1.0 - softer}'}))
    made, rest = law('pfbl', model, observer=observer, **wide_open(model)), np.zeros(model.n)
    said = made.growth(rest, np.zeros(model.m), made.settings, softer)
    duration = min(0.25, 20.0 / abs(said))
    away = 1e-12 * np.random.default_rng(1).standard_normal(model.n)
    simulator = Simulator(plant, q=away, qd=rest, tolerance=1e-10)
    made.follow(constant(np.zeros(model.m)), 0.0, 0.0)
    made.start(simulator.q, simulator.qd, 0.0, np.zeros(model.m))
    sizes = np.log(np.abs(closed(made, simulator, duration)[1]).max(axis=1))
    found = (sizes[-1] - sizes[-21]) / (20 * PERIOD)
    if observer == 1e-3:
        assert said < 0.0 and found < 0.0
    else:
        assert said > 1.0 and found == pytest.approx(said, rel=0.06)


def test_an_observer_does_not_wind_up():
    """After seconds at limits the law with an observer reverses as the one without it."""
    model = compiled('pcc_arm')
    y = held_by(model, np.linspace(3.0, 5.0, model.m))[1]
    errors = {}
    for observer in (0.0, 0.1):
        made = law('pfbl', model, observer=observer)
        simulator = Simulator(model)
        made.follow(constant(y + 0.05), 0.0, 0.5)
        made.start(simulator.q, simulator.qd, 0.0)
        commands = closed(made, simulator, 2.0)[0]
        assert (commands[-500:] == model.upper).any() or (commands[-500:] == model.lower).any()
        made.follow(constant(y), 0.0, 0.5)
        made.start(simulator.q, simulator.qd, 0.0, commands[-1])
        errors[observer] = np.abs(closed(made, simulator, 1.0)[1] - y).max(axis=1)
    assert (errors[0.1] < 1.2 * errors[0.0] + 1e-5).all()


def test_a_tip_comes_back_without_moving_on():
    """Under `impedance` a pushed arm comes to rest where it was, within its limits."""
    model = compiled('pcc_arm')
    u = np.linspace(2.0, 4.0, model.m)
    q, y = held_by(model, u)
    made = law('impedance', model)
    made.follow(constant(y), 0.0, 0.0)
    made.start(q, 0.0 * q, 0.0, u)
    simulator = Simulator(model, q=q, qd=0.3 * np.ones(model.n))
    home = sd.forward_kinematics(model, q=q)[-1][:3, 3]
    commands = closed(made, simulator, 5.0)[0]
    tip = sd.forward_kinematics(model, q=simulator.q)[-1][:3, 3]
    assert np.abs(tip - home).max() < 1e-5
    assert (commands >= model.lower).all() and (commands <= model.upper).all()


@pytest.mark.parametrize('name', ['pcc_arm', 'pneumatic_arm', 'double_pendulum'])
def test_computed_torque_gives_every_coordinate_its_own_gains(name):
    """The error of each coordinate decays by the coordinate's own p and d, and ends at zero."""
    model = compiled(name)
    q = model.q0 + 0.02 * np.cos(np.arange(model.n))
    y, rest = sd.actuation(model, q=q, qd=0.0 * q).coordinates, np.zeros(model.n)
    p = 40.0 + 20.0 * np.arange(model.n)
    made = law('computed_torque', model, p=p, d=20.0, **wide_open(model))
    simulator = Simulator(model, q=model.q0, qd=rest, tolerance=1e-8)
    made.follow(constant(y), 0.0, 0.0)
    made.start(simulator.q, rest, 0.0)
    errors = []
    for k in range(600):
        errors.append(simulator.q - q)
        simulator.step(made.compute(k * PERIOD, simulator.q, simulator.qd).u.copy(), PERIOD)
    t = PERIOD * np.arange(600)[:, None]
    root = np.sqrt(100.0 - p + 0j)
    root = np.where(root == 0.0, 1e-6, root)
    expected = np.exp(-10.0 * t) * (np.cosh(root * t) + 10.0 * np.sinh(root * t) / root)
    assert np.abs(errors / errors[0] - expected.real).max() < 0.02


@pytest.mark.quick
def test_computed_torque_on_its_way_is_partial_feedback_linearization():
    """On the reference `computed_torque` and `pfbl` send the same command."""
    robot = yaml.safe_load(shipped('robots')['double_pendulum'].read_text())
    body = robot['bodies'][-1]['name']
    pulls = {'x': [1.0, 0.0, 0.0], 'z': [0.0, 0.0, 1.0]}  # whose ways bend, unlike a motor's
    robot['actuators'] = [
        {'name': name, 'type': 'wrench', 'body': body, 'force': way} for name, way in pulls.items()
    ]
    model = sd.compile_model(sd.load_robot(robot))
    q, qd, qdd = np.array([[0.4, -0.7], [1.0, -2.0], [3.0, 1.0]])
    y, J = (moving := sd.actuation(model, q=q, qd=qd)).coordinates, moving.jacobian
    way, commands = braking(np.array([y, J @ qd, J @ qdd + moving.bias]), 0.0, 1.0), []
    for kind in ('computed_torque', 'pfbl'):
        made = law(kind, model, **wide_open(model))
        made.follow(way, 0.0, 0.0)
        made.start(q, qd, 0.0)
        commands.append(made.compute(0.0, q, qd).u.copy())
    assert commands[0] == pytest.approx(commands[1], rel=1e-6)


def test_computed_torque_needs_as_many_outputs_as_coordinates():
    """An underactuated robot is refused with the names and numbers."""
    with pytest.raises(ArgumentError, match='as many actuators as there are coordinates, 6'):
        law('computed_torque', compiled('planar_cc_chain'))


def test_feed_forward_sends_its_command():
    """`feed_forward` sends its command within limits and rate limits, whatever the state."""
    model = compiled('pcc_arm')
    made = law('feed_forward', model, command=1e9, rate=100.0)
    made.start(model.q0, model.q0, 0.0, np.zeros(model.m))
    first = made.compute(0.0, model.q0, model.q0).u.copy()
    assert first == pytest.approx(np.full(model.m, 0.1))
    for k in range(1, 1 + round(10.0 * model.upper.max())):  # it comes 0.1 nearer each time
        last = made.compute(k * PERIOD, model.q0 + 0.1, model.q0)
    assert np.array_equal(last.u, model.upper) and last.saturated == model.m


def test_commands_follow_a_reference_in_time():
    """The reference adds to the parameters' command of controlled actuators; a hold keeps it."""
    model = compiled('pcc_arm')
    own = model.actuator_names[:2]
    made = law('feed_forward', model, own, command=3.0)
    way = spline([0.0, 0.1], np.array([[0.0, 0.0], [4.0, -2.0]]))
    found = sd.closed_loop(
        model, made, way, 0.2, start=sd.Start(u=np.resize([3.0, 3.0] + [0.0] * 7, 9))
    )
    t = found.t[1:100]
    share = 3.0 * (t / 0.1) ** 2 - 2.0 * (t / 0.1) ** 3  # of a cubic from rest to rest
    assert found.u[1:100, 0] == pytest.approx(3.0 + 4.0 * share)
    assert found.u[-1, :3].tolist() == [7.0, 1.0, 0.0] and np.isnan(found.y_d).all()
    stay = made.outputs(model.q0, model.q0)[0][made.controlled]
    assert stay == pytest.approx([4.0, -2.0])
    made.follow(constant(stay), 0.2, 0.1)
    for k in range(200, 400):
        last = made.compute(k * PERIOD, model.q0, model.q0)
    assert last.u[:2] == pytest.approx([7.0, 1.0])


@pytest.mark.parametrize('kind', ['pfbl', 'pd_plus', 'impedance', 'computed_torque', 'task'])
def test_growth_is_that_of_the_loop(kind):
    """The reported growth is the largest eigenvalue of a simulated period, for each law."""
    model = compiled('pcc_arm' if kind == 'computed_torque' else 'planar_cc_chain')
    u, n = np.linspace(1.0, 3.0, model.m), model.n
    q, y = held_by(model, u)
    made = law(kind, model, **wide_open(model))

    def after(x):
        """Return the state (2 n,) a period after a state, begun anew there."""
        made.start(q, 0.0 * q, 0.0, u)
        made.follow(constant(y), 0.0, 0.0)
        simulator = Simulator(model, q=x[:n], qd=x[n:], tolerance=1e-11)
        simulator.step(made.compute(0.0, x[:n].copy(), x[n:].copy()).u.copy(), PERIOD)
        return np.concatenate([simulator.q, simulator.qd])

    rest, steps = np.concatenate([q, 0.0 * q]), np.repeat([1e-4, 1e-2], n)
    pairs = [(after(rest + e) - after(rest - e)) / (2.0 * e.sum()) for e in np.diag(steps)]
    found = math.log(np.abs(np.linalg.eigvals(np.transpose(pairs))).max()) / PERIOD
    for begun in (u, 0.5 * u):  # such as limits may have let through
        assert made.growth(q, begun, made.settings) == pytest.approx(found, rel=0.01)


def test_a_wrong_body_and_a_wrong_target_are_named():
    """A wrong body and a wrong target are refused with their parameter names."""
    model = compiled('pcc_arm')
    make = CONTROLLERS.get('impedance').make_settings
    with pytest.raises(DescriptionError, match=r"impedance.body.*'elbow'.*one of"):
        make(model, body='elbow')
    with pytest.raises(DescriptionError, match=r'impedance.target.*three numbers'):
        make(model, target=[0.1, 0.2])
    with pytest.raises(DescriptionError, match=r'impedance.stiffness.*>= 0'):
        make(model, stiffness=[1.0, -1.0, 1.0])


@pytest.mark.parametrize('kind', ['pfbl', 'pd_plus', 'impedance', 'task', 'predictive'])
def test_a_state_that_is_not_finite_has_no_command_and_one_of_another_size_is_refused(kind):
    """NaN or inf in any coordinate or rate: not ok; three numbers for nine: ArgumentError."""
    model = compiled('pcc_arm')
    zero, made = np.zeros(model.n), law(kind, model)
    made.start(model.q0, zero, 0.0, np.zeros(model.m))
    assert made.compute(0.0, model.q0, zero).ok
    for i, wrong in ((0, np.nan), (model.n - 1, np.inf)):
        bad = model.q0.copy()
        bad[i] = wrong
        assert not made.compute(PERIOD, bad, zero).ok
        assert not made.compute(PERIOD, model.q0, bad).ok
    for call in (made.start, lambda q, qd, t: made.compute(t, q, qd)):
        for q, qd in ((zero[:3], zero), (zero, zero[:3])):
            with pytest.raises(ArgumentError, match='expected (9 each|shape)'):
                call(q, qd, 0.0)
