# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Optimisation over a horizon: steps, their derivatives, and solutions, by independent means."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.predictive.distances import allocate_distances
from softrobot_dynamics.controllers.predictive.horizon import (
    allocate_horizon,
    COST,
    DONE,
    FIRST,
    RESIDUAL,
    ROLL_OUTS,
)
from softrobot_dynamics.controllers.predictive.implicit_step import NEWTON_TOLERANCE, single_step
from softrobot_dynamics.controllers.predictive.iteration import (
    iteration,
    MIN_ACCEPTED_FRACTION,
    SUFFICIENT_DECREASE,
)
from softrobot_dynamics.controllers.predictive.roll_out import BOUND, FRACTION, roll_out, WORK
from softrobot_dynamics.controllers.predictive.stage_cost import single_cost
from softrobot_dynamics.controllers.predictive.step_workspace import allocate_steps
from softrobot_dynamics.controllers.predictive.warm_start import shift
from softrobot_dynamics.dynamics.command_conversion import HeldCables
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator
from support.kernel_calls import by_address
from support.robots import compiled

STEP = 0.01


def stepping(model):
    """Return a function (state, command, duration) of the next state and its derivatives."""
    room, kept, _ = allocate_steps(model, 1)
    kernel = single_step(room, kept)

    def step(x, u, h=STEP):
        kept.A[:], end = 0.0, np.zeros(2 * model.n)
        assert kernel(0, x, u, h, end, 1, 1, NEWTON_TOLERANCE) == 0
        return end, kept.F[0].copy()

    return step


def moving(model, seed=1):
    """Return a state and a command somewhere."""
    rng = np.random.default_rng(seed)
    units = model.scales.units
    x = np.r_[model.q0 + 0.1 * units * rng.normal(size=model.n), units * rng.normal(size=model.n)]
    return x, 1.0 + rng.random(model.m)


@pytest.mark.parametrize('name', ['double_pendulum', 'pcc_arm', 'servo_arm'])
def test_derivatives_of_a_step_are_those_of_its_differences(name):
    """The derivatives of a step by q, qd and u equal central differences to 1e-7."""
    model = compiled(name)
    step, (x, u) = stepping(model), moving(model)
    _, F = step(x, u)
    sizes = np.r_[model.scales.units, model.scales.units, np.ones(model.m)]
    for i, size in enumerate(sizes):
        change = np.zeros(len(sizes))
        change[i] = 1e-4 * size
        dx, du = change[: len(x)], change[len(x) :]
        ends = [step(x + sign * dx, u + sign * du)[0] for sign in (1, -1)]
        slope = (ends[0] - ends[1]) / (2e-4 * size)
        assert F[:, i] == pytest.approx(slope, abs=1e-7 * np.abs(F).max())


def test_steps_are_of_second_order():
    """Half the step makes a quarter of the error, against a simulation with a tolerance."""
    model = compiled('double_pendulum')
    step, (x, u) = stepping(model), moving(model)
    exact = sd.Simulator(model, q=x[:2], qd=x[2:], tolerance=1e-10)
    exact.step(u, 0.08)
    errors = []
    for count in (8, 16):
        state = x
        for _ in range(count):
            state = step(state, u, 0.08 / count)[0]
        errors.append(np.abs(state - np.r_[exact.q, exact.qd]).max())
    assert errors[0] < 1e-2 and errors[0] / errors[1] == pytest.approx(4.0, rel=0.15)


def test_steps_in_which_cables_become_slack_are_those_of_a_simulation():
    """Where motors let go of cables, which become slack, steps end where a simulation does."""
    model, u = compiled('servo_arm'), np.array([2.5, -2.0, 1.5, -2.5])
    x = np.zeros(2 * model.n)
    room, kept, _ = allocate_steps(model, 1)
    kernel, end, slack = single_step(room, kept), x.copy(), 0
    evaluate = model.evaluator()
    cables = HeldCables(model, evaluate.robot)
    exact = ActuatedSimulator(model, q=x[: model.n], tolerance=1e-9)
    exact.step(u, 0.1)
    for _ in range(20):
        kept.A[:] = 0.0
        assert kernel(0, x, u, 5e-3, end, 0, 1, NEWTON_TOLERANCE) == 0
        x = end.copy()
        evaluate(*np.split(x, 2))
        pulls = cables.pulls(x[: model.n], u)
        slack = max(slack, (np.abs(pulls).max(axis=1) == 0.0).sum())
    assert slack == 4 and np.abs(exact.q).max() > 0.1
    assert x[: model.n] == pytest.approx(exact.q, abs=5e-3 * np.abs(exact.q).max())


def problem(model, count, weights, x, before=0.0):
    """Return a horizon with weights, from a state, and a function that iterates."""
    p = allocate_horizon(model, count)
    for name, value in weights.items():
        getattr(p.weights, name)[:] = value
    p.limits.rate[:] = np.inf
    p.now.x[0], p.now.u[:], p.last[:] = x, before, before
    kernel = iteration(p)

    def solve(iterations=1, tolerance=0.0):
        return kernel(-1, STEP, count, iterations, tolerance)

    return p, solve


def cart(**surroundings):
    """Return the model of a mass on a slide, linear, with what may be around it."""
    robot = {
        'name': 'cart',
        'gravity': [0.0, 0.0, 0.0],
        'bodies': [
            {
                'name': 'cart',
                'joint': {'name': 'slide', 'type': 'prismatic', 'axis': [1.0, 0.0, 0.0]},
                'body': {'type': 'rigid', 'mass': 2.0},
            }
        ],
        'actuators': [{'name': 'force', 'type': 'joint', 'joint': 'slide'}],
        **surroundings,
    }
    if surroundings:
        robot['bodies'][0]['collision'] = {'type': 'sphere', 'radius': 0.05}
    return sd.compile_model(sd.load_robot(robot))


LINEAR = {'output': 1e4, 'effort': 0.1, 'change': 1e-6, 'speed': 1.0}


def test_a_linear_problem_is_solved_in_one_iteration_as_by_riccati():
    """Commands and gains of one iteration are those of Riccati's recursion, to rounding."""
    model, count = cart(), 15
    x = np.array([0.3, -0.2])
    p, solve = problem(model, count, LINEAR, x)
    assert solve() == 0
    F = p.steps.F[0]
    A = np.block([[F[:, :2], np.zeros((2, 1))], [np.zeros((1, 3))]])  # the last state: u before
    B = np.r_[F[:, 2], 1.0][:, None]
    weigh, rate = STEP * p.weights.output[0], p.weights.change[0] / STEP
    Q = np.diag([weigh, STEP * p.weights.speed[0], 0.0])
    P, gains = Q.copy(), []
    for k in range(count - 1, -1, -1):
        S = B.T @ P @ B + STEP * p.weights.effort[0] + rate
        gain = -np.linalg.solve(S, B.T @ P @ A - np.array([[0.0, 0.0, rate]]))
        stage = Q if k else np.zeros((3, 3))
        P = stage + np.diag([0, 0, rate]) + A.T @ P @ A - gain.T @ S @ gain
        gains.insert(0, gain)
    state, commands = np.r_[x, 0.0], []
    for gain in gains:
        u = gain @ state
        commands.append(u[0])
        state = A @ state + B @ u
    assert p.now.u[:, 0] == pytest.approx(np.array(commands), rel=1e-7)
    assert p.policy.gain[0] == pytest.approx(gains[0], rel=1e-7)


@pytest.mark.parametrize('rate', [np.inf, 400.0])
def test_a_bounded_problem_is_solved_as_by_another_solver(rate):
    """With limits of commands and of their rates the cost is that which SLSQP finds, to 1e-6."""
    model, count = compiled('double_pendulum'), 6
    weights = {'output': 300.0, 'effort': 1e-3, 'change': 1e-6, 'speed': 0.1}
    x = np.r_[model.q0, 1.0, -0.5]
    p, solve = problem(model, count, weights, x)
    p.limits.lower[:], p.limits.upper[:], p.limits.rate[:] = -8.0, 8.0, rate
    p.aims.y[:] = [0.9, -0.6]
    solve(60)
    step = stepping(model)

    def cost(flat):
        state, u, total = x, flat.reshape(count, 2), 0.0
        for before, command in zip(np.vstack([[0.0, 0.0], u]), u):
            state, _ = step(state, command)
            off = state[:2] - [0.9, -0.6]
            total += STEP * (300.0 * off @ off + 0.1 * state[2:] @ state[2:])
            total += STEP * 1e-3 * command @ command
            total += 1e-6 / STEP * ((command - before) ** 2).sum()
        return 0.5 * total

    def room(flat):
        change = np.diff(np.vstack([[0.0, 0.0], flat.reshape(count, 2)]), axis=0)
        return np.r_[(400.0 * STEP - change).ravel(), (400.0 * STEP + change).ravel()]

    others = [] if np.isinf(rate) else [{'type': 'ineq', 'fun': room}]
    found = minimize(
        cost,
        np.zeros(2 * count),
        bounds=[(-8.0, 8.0)] * (2 * count),
        constraints=others,
        method='SLSQP',
        options={'ftol': 1e-12, 'maxiter': 500},
    )
    assert p.report[COST] == pytest.approx(found.fun, rel=1e-6)
    assert p.report[COST] == pytest.approx(cost(p.now.u.ravel()), rel=1e-7)
    assert np.abs(p.now.u).max() <= 8.0 and (np.abs(p.now.u) == 8.0).any()
    change = np.diff(np.vstack([[0.0, 0.0], p.now.u]), axis=0)
    assert np.abs(change).max() <= rate * STEP * (1.0 + 1e-12)


def test_a_warm_start_needs_fewer_iterations():
    """From the solution shifted by a step the residual is far below that of a cold start."""
    model, count = compiled('double_pendulum'), 20
    x = np.r_[model.q0, 0.0, 0.0]
    p, solve = problem(model, count, {'output': 300.0, 'effort': 1e-3, 'change': 1e-6}, x)
    p.aims.y[:] = [0.9, -0.6]
    solve()
    cold = p.report[RESIDUAL]
    solve(20)
    p.last[:], begin = p.now.u[0], p.now.x[1].copy()
    shift(p, 1.0, count, count)
    p.now.x[0] = begin
    solve()
    assert p.report[RESIDUAL] < 1e-3 * cold


def by_parts(p, count):
    """Return the cost of the commands in p, a function of shares to costs, the predicted one."""
    whatever = np.inf  # of tolerances: it ends once it has gone backward
    assert iteration(p)(-1, STEP, count, 1, whatever) == 0 and p.report[RESIDUAL] > 0.0
    attempt, found = by_address(roll_out, p=p), np.zeros(1)
    arguments = np.array([-1.0, STEP, count, 0.0, 0.0, 0.0])

    def cost(share, bound=np.inf, work=np.inf):
        arguments[FRACTION], arguments[BOUND], arguments[WORK] = share, bound, work
        attempt(arguments, found)
        return found[0]

    return p.report[COST], cost, p.backward.predicted_decrease[0]


def test_a_quadratic_cost_falls_as_it_promises():
    """On a linear robot full steps gain what the quadratic cost predicts, without line search."""
    p, _ = problem(cart(), 15, LINEAR, np.array([0.3, -0.2]))
    begun, cost, predicted = by_parts(p, 15)
    assert begun - cost(1.0) == pytest.approx(predicted, rel=1e-6) and predicted > 0.1 * begun
    p, solve = problem(cart(), 15, LINEAR, np.array([0.3, -0.2]))
    assert solve() == 0 and p.report[ROLL_OUTS] == 1.0


def test_a_roll_out_ends_where_its_cost_or_its_work_is_above_a_bound():
    """A roll-out above a bound of cost or work returns the cost so far or inf, with less work."""
    p, _ = problem(cart(), 15, LINEAR, np.array([0.3, -0.2]))
    begun, cost, _ = by_parts(p, 15)
    before = p.step.work[0]
    whole, spent = cost(1.0), p.step.work[0] - before
    before = p.step.work[0]
    assert 0.5 * whole < cost(1.0, bound=0.5 * whole) < whole
    assert 0.0 < p.step.work[0] - before < 0.9 * spent
    before = p.step.work[0]
    assert cost(1.0, work=before + 0.5 * spent) == np.inf
    assert p.step.work[0] - before < 0.9 * spent


def test_a_search_begins_with_the_share_that_is_asked_for_and_the_next_with_all():
    """Where the last one found little, the first share is MIN_ACCEPTED_FRACTION, and alone."""
    model, count = cart(), 15
    p, _ = problem(model, count, LINEAR, np.array([0.3, -0.2]))
    _, cost, _ = by_parts(p, count)
    expected = cost(MIN_ACCEPTED_FRACTION)
    p, solve = problem(model, count, LINEAR, np.array([0.3, -0.2]))
    p.report[FIRST] = MIN_ACCEPTED_FRACTION
    assert solve() == 0 and p.report[ROLL_OUTS] == 1.0
    assert p.report[COST] == pytest.approx(expected, rel=1e-9)
    assert p.report[FIRST] == 1.0


def test_half_a_move_is_taken_where_it_gains_more_than_one_that_overshoots():
    """Where whole moves gain little of what is promised, an iteration takes the better half."""
    model, count = compiled('double_pendulum'), 20
    weights = {'output': 3e4, 'effort': 1e-3, 'change': 1e-6}

    def begin():
        p, solve = problem(model, count, weights, np.r_[model.q0, -1.8, 2.5])
        p.aims.y[:] = [-0.6, -1.5]
        return p, solve

    p, _ = begin()
    begun, cost, predicted = by_parts(p, count)
    whole, half = cost(1.0), cost(0.5)
    assert half < whole < begun and begun - whole < SUFFICIENT_DECREASE * predicted
    p, solve = begin()
    assert solve() == 0 and p.report[ROLL_OUTS] == 2.0
    assert p.report[COST] == pytest.approx(half, rel=1e-9)


def test_the_cost_of_an_output_goes_on_in_a_straight_line_with_its_exact_gradient():
    """Beyond its threshold the cost of an error is linear, without a step; so is its gradient."""
    model, weight, threshold, x = cart(), 2.0, 0.1, np.zeros(2)
    p, _ = problem(model, 1, {'output': weight, 'huber_threshold': threshold}, x)
    step, end = single_step(p.step, p.steps), np.zeros(2)
    cost = single_cost(p.step, p.weights, p.aims, p.costs)
    assert step(0, x, np.zeros(1), STEP, end, 1, 1, NEWTON_TOLERANCE) == 0
    places, found, slopes = np.linspace(-0.3, 0.3, 61), [], []
    for place in places:
        p.aims.y[0] = -place
        found.append(cost(-1, 0, end, STEP, 1))
        slopes.append(p.costs.gradient[0, 0])
    expected = STEP * weight * np.clip(places, -threshold, threshold)
    assert np.array(slopes) == pytest.approx(expected, abs=1e-12)
    middle = 0.5 * (expected[1:] + expected[:-1])
    assert np.diff(found) == pytest.approx(0.01 * middle, abs=1e-12)


def test_soft_limits_hold_coordinates_and_rates_back():
    """Rates and coordinates beyond soft limits stay near them, and would not without."""
    model, count = cart(), 30
    p, solve = problem(model, count, {**LINEAR, 'speed': 0.0}, np.zeros(2))
    p.aims.y[:] = 1.0
    solve(5)
    assert p.now.x[:, 1].max() > 2.0 and p.now.x[:, 0].max() > 0.5
    p.weights.limit[:], p.aims.speed[:], p.aims.upper[:] = 1e8, 1.0, 0.2
    solve(30)
    assert p.now.x[:, 1].max() < 1.01 and p.now.x[:, 0].max() < 0.201


def test_a_clearance_holds_surfaces_apart():
    """A mass that is sent beyond a wall stays short of it by the clearance, not so without."""
    wall = {'name': 'wall', 'type': 'plane', 'point': [0.35, 0.0, 0.0], 'normal': [-1.0, 0.0, 0.0]}
    model, count = cart(environment=[wall]), 30
    p, solve = problem(model, count, {**LINEAR, 'speed': 0.0}, np.zeros(2))
    p.aims.y[:] = 1.0
    solve(5)
    assert p.now.x[:, 0].max() > 0.5
    distances = allocate_distances(model, p.step.robot, 0.02)
    p = p._replace(costs=p.costs._replace(distances=distances))
    p.weights.distance[:], p.aims.clearance[:] = 1e8, 0.02
    iteration(p)(-1, STEP, count, 50, 0.0)
    gaps = 0.35 - 0.05 - p.now.x[:, 0]
    assert gaps.min() == pytest.approx(0.02, abs=5e-4)


@pytest.mark.parametrize('begin', [0.0, 0.1])
def test_an_obstacle_is_predicted_along_its_motion(begin):
    """A mass gives way to a wall that comes, at each knot as the wall is then, not before."""
    wall = {
        'name': 'wall',
        'type': 'plane',
        'point': [0.35, 0.0, 0.0],
        'normal': [-1.0, 0.0, 0.0],
        'motion': {'velocity': [-1.0, 0.0, 0.0]},
    }
    model, count = cart(environment=[wall]), 30
    p, _ = problem(model, count, {**LINEAR, 'speed': 0.0, 'distance': 1e8}, np.zeros(2))
    distances = allocate_distances(model, p.step.robot, 0.02)
    p = p._replace(costs=p.costs._replace(distances=distances))
    p.aims.clearance[:], p.aims.time[:] = 0.02, begin
    iteration(p)(-1, STEP, count, 60, 0.0)
    wall_at = 0.35 - begin - STEP * np.arange(1, count + 1)
    gaps = wall_at - 0.05 - p.now.x[1:, 0]
    assert gaps.min() == pytest.approx(0.02, abs=1e-3) and gaps.argmin() > 15
    assert p.now.x[-1, 0] < 0.0


def test_a_clearance_holds_parts_of_the_robot_apart():
    """Two masses that are sent through each other stay apart by the clearance, each moved."""
    bodies = [
        {
            'name': name,
            'parent': 'base',
            'joint': {'name': name, 'type': 'prismatic', 'axis': [1.0, 0.0, 0.0]},
            'body': {'type': 'rigid', 'mass': 2.0},
            'collision': {
                'type': 'sphere',
                'radius': 0.05,
                'centre': [place, 0.0, 0.0],
                'group': name,
                'collides_with': ['left', 'right'],
            },
        }
        for name, place in (('left', 0.0), ('right', 0.5))
    ]
    drives = [{'name': f'{x}_force', 'type': 'joint', 'joint': x} for x in ('left', 'right')]
    robot = {'name': 'two', 'gravity': [0.0] * 3, 'bodies': bodies, 'actuators': drives}
    model, count = sd.compile_model(sd.load_robot(robot)), 30
    p, _ = problem(model, count, {**LINEAR, 'speed': 0.0, 'distance': 1e7}, np.zeros(4))
    distances = allocate_distances(model, p.step.robot, 0.02)
    p = p._replace(costs=p.costs._replace(distances=distances))
    p.aims.clearance[:], p.aims.y[:] = 0.02, [0.25, -0.25]
    iteration(p)(-1, STEP, count, 60, 0.0)
    gaps = 0.5 + p.now.x[:, 1] - p.now.x[:, 0] - 0.1
    assert gaps.min() == pytest.approx(0.02, abs=1e-3)
    assert p.now.x[-1, 0] > 0.15 and p.now.x[-1, 1] < -0.15


@pytest.mark.parametrize('seed, most', [(2, 8), (25, 20), (26, 15)])
def test_iterations_converge_where_whole_moves_overshoot(seed, most):
    """
    A tip is led to a residual of 1e-9 of the cost in few iterations: 6, 16 and 12.

    Near these solutions whole moves of Gauss and Newton gain next to nothing, half of them most.
    """
    model, rng = compiled('double_pendulum'), np.random.default_rng(seed)
    q, qd, change = rng.normal(size=(3, 2))
    weights = {'tip': 1e4, 'speed': 0.1, 'effort': 1e-3, 'change': 1e-6}
    p, _ = problem(model, 20, weights, np.r_[q, 3.0 * qd])
    p.aims.tip[:] = sd.forward_kinematics(model, q=q + change)[-1][:3, 3]
    p.report[FIRST] = 1.0
    assert iteration(p)(1, STEP, 20, 100, 1e-9) == 0
    assert p.report[RESIDUAL] <= 1e-9 * p.report[COST] and p.report[DONE] <= most


def test_derivatives_that_are_renewed_in_parts_lead_to_the_same_solution():
    """Steps that are differentiated in turns give the cost of all in each iteration, to 1e-9."""
    model, count, costs = compiled('double_pendulum'), 10, []
    for renewal in (1, 3):
        x = np.r_[model.q0, 1.0, -0.5]
        p, solve = problem(model, count, {'output': 300.0, 'effort': 1e-3, 'change': 1e-6}, x)
        p.aims.y[:], p.renewal[:] = [0.9, -0.6], renewal
        solve(1)
        first = p.report[COST]
        solve(60)
        costs.append(p.report[COST])
    assert costs[1] < 0.9 * first
    assert costs[1] == pytest.approx(costs[0], rel=1e-9)


def test_the_axes_of_a_tip_are_led_and_their_gradient_is_exact():
    """Axes come to those that are wanted; the gradient of their cost is that of differences."""
    model, count = compiled('double_pendulum'), 20
    x = np.r_[model.q0, 0.0, 0.0]
    p, _ = problem(model, count, {'rotation': 1e4, 'effort': 1e-3, 'change': 1e-6}, x)
    angle = -0.3  # of both joints, about -y
    p.aims.rotation[:] = Rotation.from_rotvec([0.0, -angle, 0.0]).as_matrix().ravel()
    kernel = iteration(p)
    kernel(1, STEP, count, 1, 0.0)
    cost = single_cost(p.step, p.weights, p.aims, p.costs)
    step, end = single_step(p.step, p.steps), np.zeros(4)
    slopes = []
    for i, u in enumerate(1e-3 * np.eye(2)):
        costs = []
        for sign in (1.0, -1.0):
            assert step(0, x, sign * u, STEP, end, 1, 1, NEWTON_TOLERANCE) == 0
            costs.append(cost(1, 0, end, STEP, 1))
            gradient = p.costs.gradient[0] @ p.steps.F[0][:, 4 + i]
        slopes.append((gradient, (costs[0] - costs[1]) / 2e-3))
    for gradient, slope in slopes:
        assert gradient == pytest.approx(slope, rel=1e-4)
    kernel(1, STEP, count, 40, 0.0)
    assert p.now.x[-1, :2].sum() == pytest.approx(angle, abs=0.02)
