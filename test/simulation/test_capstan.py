# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Friction of tendons along their routes: the capstan's closed form, and that it only brakes."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.compiling.addresses import EMPTY_ENTRY, run
from softrobot_dynamics.compiling.binding import cached, entry
from softrobot_dynamics.model.routes import capstan_of
from softrobot_dynamics.recursion.capstan import damping_with_friction, evaluate_with_friction
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator
from support.robots import compiled, link, rod, states

MU, SPEED = 0.4, 1e-4  # -; [m/s], more than where friction is viscous
FAST = 1e3 * SPEED


def rubbing(name_or_robot, mu=MU):
    """Return a robot whose tendons all rub."""
    robot = name_or_robot
    robot = compiled(robot).description if isinstance(robot, str) else sd.load_robot(robot)
    return sd.compile_model(sd.vary(robot, {'friction': mu}))


def friction(model, q, qd, u):
    """Return the force (n,) of friction at (q, qd) under tensions u (m,), and its Capstan."""
    q, qd, u = (np.array(x, dtype=float) for x in (q, qd, u))
    evaluate = model.evaluator()
    capstan = capstan_of(model, evaluate.robot, model.signs * u)
    without = evaluate(q, qd).h.copy()
    with_friction = entry(
        evaluate_with_friction, evaluate=evaluate.entry, capstan=capstan, h=evaluate.terms.h
    )
    cached(run, entry=with_friction)(q, qd)
    return without - evaluate.terms.h, capstan


def arc(*names, **fields):
    """Return rods of constant curvature, one after the other, with one tendon along all."""
    names = names or ('arm',)
    path = [{'body': name, 'offset': [0.015, 0.0]} for name in names]
    bodies = [{'name': name, 'joint': {'type': 'fixed'}, 'body': rod()} for name in names]
    tendon = {'name': 't', 'type': 'tendon', 'path': path, **fields}
    return {'name': 'arc', 'gravity': [0.0, 0.0, 0.0], 'bodies': bodies, 'actuators': [tendon]}


def finger():
    """Return three links that turn about x, and a tendon over points of theirs."""
    path = [
        {'body': 'a', 'points': [[0.0, 0.01, 0.0], [0.0, 0.02, 0.1]]},
        {'body': 'b', 'points': [[0.0, 0.015, 0.02], [0.0, 0.03, 0.05], [0.0, 0.015, 0.12]]},
        {'body': 'c', 'points': [[0.0, 0.02, 0.08]]},
    ]
    joint = {'type': 'revolute', 'axis': [1.0, 0.0, 0.0]}
    bodies = [
        {'name': name, 'joint': {**joint, 'name': f'j{name}'}, 'body': link()} for name in 'abc'
    ]
    tendon = {'name': 't', 'type': 'tendon', 'path': path}
    return {'name': 'finger', 'bodies': bodies, 'actuators': [tendon]}


@pytest.mark.parametrize('bend', [1e-3, -0.8, 2.5])
@pytest.mark.parametrize('rate', [1.0, -1.0])
def test_along_an_arc_tension_falls_by_its_angle(bend, rate):
    """
    Tension changes by exp(-mu theta) when pulled, and exp(mu theta) when released.

    A tendon that pushes is pressed against the other side as much: dT = -mu |T| dtheta.
    """
    model = rubbing(arc('near', 'far'))
    q, qd = np.zeros((2, 6))
    q[0], qd[3] = bend, 1e2 * FAST * rate  # only the far rod moves, and all slides
    J = sd.actuation(model, q=q, qd=0.0 * q).jacobian[0]
    for pull in (20.0, -20.0):
        force, capstan = friction(model, q, qd, [pull])
        x = MU * abs(bend) * rate * np.sign(pull)  # a bend to the tendon's side makes it shorter
        far = len(capstan.tension) // 2 + 1
        assert capstan.tension[0] == pull
        assert capstan.tension[far:] == pytest.approx(pull * np.exp(-x), rel=1e-6)
        mean = -np.expm1(-x) / x
        lost = np.repeat([1.0 - mean, -np.expm1(-x)], 3)
        assert force == pytest.approx(pull * lost * J, rel=2e-3, abs=1e-12)


def test_over_points_tension_falls_by_the_sum_of_angles():
    """Over guide points the tension is T exp(-mu sum of angles)."""
    model, tendon = rubbing(finger()), finger()['actuators'][0]
    q = np.array([0.3, -0.7, 0.5])
    _, capstan = friction(model, q, [0.0, 0.0, 50.0 * FAST], [8.0])
    poses = sd.forward_kinematics(model, q=q)
    joints, tip = [], np.eye(4)
    for k, angle in enumerate(q):
        c, s = np.cos(angle), np.sin(angle)
        turn = np.eye(4)
        turn[1:3, 1:3] = [[c, -s], [s, c]]
        joints.append(tip @ turn)
        tip = poses[k]
    points = [
        (joints['abc'.index(part['body'])] @ [*point, 1.0])[:3]
        for part in tendon['path']
        for point in part['points']
    ]
    steps = np.diff(points, axis=0)
    steps /= np.linalg.norm(steps, axis=1)[:, None]
    turns = np.arccos(np.clip((steps[1:] * steps[:-1]).sum(axis=1), -1.0, 1.0))
    v = capstan.sliding[-1]
    assert abs(v) > 100.0 * SPEED and len(turns) == 4
    assert capstan.tension[-1] == pytest.approx(
        8.0 * np.exp(-MU * turns @ np.sign(capstan.sliding[1:])), rel=1e-5
    )


def test_near_rest_friction_is_a_damper():
    """Well below SPEED friction is smooth and proportional to the speed."""
    model, q = rubbing(arc()), [1.2, 0.0, 0.0]
    forces = [friction(model, q, [s, 0.0, 0.0], [20.0])[0][0] / s for s in (-1e-9, 1e-9, 1e-6)]
    assert forces == pytest.approx([forces[0]] * 3, rel=1e-4) and forces[0] < 0.0
    assert not friction(model, q, [0.0, 0.0, 0.0], [20.0])[0].any()


@pytest.mark.parametrize('scale', [0.01, 100.0])
def test_friction_scales_with_the_robot(scale):
    """Friction moments scale with the robot, as lengths, speeds and its own rate do."""

    def moments(size):
        robot = arc()
        robot['bodies'][0]['body'] = rod(0.2 * size, 0.02 * size)
        robot['actuators'][0]['path'][0]['offset'] = [0.015 * size, 0.0]
        model = rubbing(robot)
        rate = model.scales.rate
        return [
            friction(model, [1.2, 0.3, 0.01 * size], [s * rate, 0.0, 0.0], [20.0])[0][0] / size
            for s in (1e-4, 1e-3, 1e-2)
        ]

    assert moments(scale) == pytest.approx(moments(1.0), rel=1e-9)


def test_friction_never_gains_energy():
    """Friction never gains power, with partly sliding and with pushing tendons."""
    model = rubbing('hand')
    rng, mixed = np.random.default_rng(1), 0
    for q, qd, _ in states(model, 20, seed=5):
        u = rng.uniform(-10.0, 30.0, model.m)
        force, capstan = friction(model, q, qd, u)
        lost = capstan.resistance @ capstan.sliding**2
        assert force @ qd == pytest.approx(-lost, rel=1e-9) and lost > 0.0
        own = [capstan.sliding[capstan.tendons == k] for k in range(model.m - 1)]
        mixed += sum(v.min() < -SPEED and v.max() > SPEED for v in own)
        matrix = np.zeros((model.n, model.n))
        given = {'follow': EMPTY_ENTRY, 'capstan': capstan, 'D': model.damping, 'damping': matrix}
        cached(run, entry=entry(damping_with_friction, **given))(q, qd)
        assert (matrix - model.damping) @ qd == pytest.approx(-force, rel=1e-9, abs=1e-9)
    assert mixed > 5


def test_stretches_make_up_the_route():
    """Lengths and gradients of the stretches add up to those of the route."""
    model = rubbing('hand')
    q, qd, _ = next(iter(states(model, 1, seed=3)))
    _, capstan = friction(model, q, qd, np.ones(model.m))
    J = sd.actuation(model, q=q, qd=0.0 * q).jacobian
    for k in range(model.m - 1):
        first = int(np.flatnonzero(capstan.tendons == k)[0])
        assert capstan.routes.G[first] == pytest.approx(J[k], rel=1e-7, abs=1e-9)


def pulled(model, tensions, seconds=0.6, **options):
    """Return q[0] after each of the tensions, held one after the other."""
    robot, found = ActuatedSimulator(model, **options), []
    for tension in tensions:
        for _ in range(round(seconds * 1e3)):
            robot.step([tension], 1e-3)
        found.append(robot.q[0])
    return found


def test_slow_pulling_and_releasing_equals_statics():
    """Slow pulling gives K q + D q' = r T (1 - exp(-mu q)) / (mu q), releasing -mu."""
    model = rubbing(arc())
    robot = ActuatedSimulator(model)
    up, down = np.linspace(0.0, 30.0, 2000), np.linspace(30.0, 10.0, 1500)
    for way, sign in ((up[:1500], 1.0), (up[1500:], 1.0), (down, -1.0)):
        for tension in way:
            robot.step([tension], 1e-3)
        x = sign * MU * robot.q[0]
        moment = model.stiffness[0, 0] * robot.q[0] + model.damping[0, 0] * robot.qd[0]
        assert abs(x) > 0.1
        assert moment / (0.015 * -np.expm1(-x) / x) == pytest.approx(way[-1], rel=5e-3)


def test_steps_of_any_length_agree():
    """Steps of a control period, tiny steps and steps by tolerance agree."""
    model, tensions = rubbing(arc()), [10.0, 3.0]
    fine = pulled(model, tensions, 0.05, substep=2e-5)
    assert pulled(model, tensions, 0.05, substep=1e-3) == pytest.approx(fine, rel=0.02)
    assert pulled(model, tensions, 0.05, substep=2.5e-4) == pytest.approx(fine, rel=4e-3)
    assert pulled(model, tensions, 0.05, tolerance=1e-6) == pytest.approx(fine, rel=1e-3)


def test_friction_acts_beside_payload_and_wrenches():
    """With a payload and wrenches every evaluation of a step includes friction."""
    model = rubbing(arc())
    push = {'arm': sd.Wrench([0.0, 0.0, 0.0, 0.2, 0.0, 0.0])}
    loaded = ActuatedSimulator(model, carrier='arm')
    loaded.carry(0.05)
    bare = ActuatedSimulator(model)
    for _ in range(100):
        loaded.step([6.0], 1e-3, push)
        bare.step([6.0], 1e-3)
    smooth = ActuatedSimulator(rubbing(arc(), 0.0), carrier='arm')
    smooth.carry(0.05)
    for _ in range(100):
        smooth.step([6.0], 1e-3, push)
    assert abs(loaded.q[0] - bare.q[0]) > 1e-3 and abs(loaded.q[0] - smooth.q[0]) > 1e-3


def test_without_friction_the_simulator_is_unchanged():
    """Without friction the motion is unchanged bit by bit, and no such kernel compiles."""
    model = compiled('hand')
    assert capstan_of(model, model.robot(), np.zeros(model.m)) is None
    plain, actuated = sd.Simulator(model), ActuatedSimulator(model)
    for robot in (plain, actuated):
        robot.step(np.full(model.m, 0.1), 7e-3)
    assert plain.q.tobytes() == actuated.q.tobytes()
    plain = sd.Simulator(rubbing('hand'))
    plain.step(np.full(model.m, 0.1), 7e-3)
    assert plain.q.tobytes() == actuated.q.tobytes()


@pytest.mark.parametrize('value', [-0.1, np.nan, np.inf])
def test_wrong_values_are_refused(value):
    """Wrong values are refused with the place in the robot."""
    with pytest.raises(sd.errors.DescriptionError, match='friction: .*expected a number >= 0'):
        sd.load_robot(arc(friction=value))
