# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Statics with friction along routes: rods integrated by hand, the simulator, and the tangent."""

import numpy as np
import pytest
from scipy.integrate import solve_bvp, solve_ivp
from scipy.optimize import fsolve
import softrobot_dynamics as sd
from softrobot_dynamics.dynamics.static_residual import Statics
from softrobot_dynamics.recursion.finite_differences import by_fourth_order, by_second_order
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator
from support.robots import compiled, rod, states
from support.servos import servo

MU, R, L, YOUNG, RADIUS = 0.4, 0.015, 0.2, 6e5, 0.02
EI, EA = YOUNG * np.pi * RADIUS**4 / 4.0, YOUNG * np.pi * RADIUS**2
WAYS = {'in': 1.0, 'out': -1.0}


def arc(*names, mu=MU, **body):
    """Return rods of constant curvature, one after the other, with one tendon along all."""
    path = [{'body': name, 'offset': [R, 0.0]} for name in names]
    own = {**rod(L, RADIUS), 'young_modulus': YOUNG, **body}
    bodies = [{'name': name, 'joint': {'type': 'fixed'}, 'body': own} for name in names]
    tendon = {'name': 't', 'type': 'tendon', 'path': path, 'friction': mu}
    robot = {'name': 'arc', 'gravity': [0.0] * 3, 'bodies': bodies, 'actuators': [tendon]}
    return sd.compile_model(sd.load_robot(robot))


@pytest.mark.parametrize('way', WAYS)
def test_two_arcs_bend_as_those_integrated_by_hand(way):
    """Two arcs under tendon friction bend as an ODE of dT/ds = -mu (theta / L) T says."""
    T0 = 20.0

    def tensions(hessians):
        """Return the integral of T over each arc, [N m]."""
        T, found = T0, []
        for bend in hessians:
            derivative = [-WAYS[way] * MU * abs(bend) / L, 1.0]
            end = solve_ivp(
                lambda s, y, k=derivative: y[0] * np.array(k), (0.0, L), [T, 0.0], **FINE
            )
            T = end.y[0, -1]
            found.append(end.y[1, -1])
        return np.array(found)

    hessians = fsolve(lambda x: EI * x / R - tensions(x), np.full(2, R * T0 * L / EI), xtol=1e-12)
    found = sd.equilibrium(arc('near', 'far'), u=[T0], sliding=way)
    assert found.q[[0, 3]] == pytest.approx(hessians, rel=1e-9)
    assert found.q[[2, 5]] == pytest.approx(-tensions(hessians) / EA, rel=1e-9)
    assert abs(hessians[1] - hessians[0]) > 0.1 * hessians[0]  # friction matters


FINE = {'rtol': 1e-11, 'atol': 1e-13}


@pytest.mark.parametrize('way', WAYS)
@pytest.mark.parametrize('order, points, error', [(4, 10, 1e-6), (6, 40, 1e-8)])
def test_a_rod_with_a_load_is_that_of_a_boundary_value_problem(way, order, points, error):
    """E I kappa = r T + moment of a dead load at the tip, T' = -mu kappa T; by collocation."""
    T0, F = 12.0, np.array([-0.25, 0.0, -0.2])  # against the bend [N]
    strains = {'kappa_y': {'basis': 'legendre', 'order': order}}
    section = {'type': 'circular', 'radius': RADIUS}
    body = {
        'type': 'cosserat', 'length': L, 'section': section, 'density': 1070.0,
        'young_modulus': YOUNG, 'poisson_ratio': 0.5, 'strains': strains, 'quadrature': points,
    }  # fmt: skip
    robot = {
        'name': 'finger', 'gravity': [0.0] * 3,
        'bodies': [{'name': 'rod', 'joint': {'type': 'fixed'}, 'body': body}],
        'actuators': [{
            'name': 't', 'type': 'tendon', 'friction': MU,
            'path': [{'body': 'rod', 'offset': [R, 0.0]}],
        }],
    }  # fmt: skip
    model = sd.compile_model(sd.load_robot(robot))
    push = {'rod': sd.Wrench([0.0, 0.0, 0.0, *F], frame='base')}
    found = sd.equilibrium(model, u=[T0], sliding=way, wrenches=push)
    tip = sd.forward_kinematics(model, q=found.q)[-1][:3, 3]

    def derivatives(s, y, end):
        angle, x, z, T = y
        kappa = (R * T + (end[1] - z) * F[0] - (end[0] - x) * F[2]) / EI
        return np.stack([kappa, np.sin(angle), np.cos(angle), -WAYS[way] * MU * np.abs(kappa) * T])

    def ends(a, b, end):
        return np.array([a[0], a[1], a[2], a[3] - T0, b[1] - end[0], b[2] - end[1]])

    s = np.linspace(0.0, L, 81)
    guess = np.stack([2.0 * s, s**2, s, np.full_like(s, T0)])
    solved = solve_bvp(derivatives, ends, s, guess, p=[0.03, L], tol=1e-11, max_nodes=100_000)
    assert solved.success and abs(solved.y[3, -1] - T0) > 0.1 * T0
    assert tip == pytest.approx([solved.p[0], 0.0, solved.p[1]], abs=error * L)


@pytest.mark.parametrize('way', WAYS)
def test_a_wound_tendon_loses_tension_by_its_turns(way):
    """
    Tension of a helix falls with its length by dphi/ds = r w^2 / (1 + r^2 w^2).

    Only the elongation is free: its force is the integral of T dl/d(elongation).
    """
    turns, T0 = 6.0, 3.0
    body = {**rod(L, RADIUS), 'young_modulus': YOUNG}
    path = [{'body': 'b', 'offset': {'radius': R, 'turns': turns}}]
    tendon = {'name': 't', 'type': 'tendon', 'path': path, 'friction': MU}
    bodies = [{'name': 'b', 'joint': {'type': 'fixed'}, 'body': body}]
    robot = {'name': 'wound', 'gravity': [0.0] * 3, 'bodies': bodies, 'actuators': [tendon]}
    statics = Statics(sd.compile_model(sd.load_robot(robot)))
    q, w = np.array([0.0, 0.0, 0.01]), 2.0 * np.pi * turns / L
    free = statics.residual(q, np.array([T0]))[0]
    statics.slide(np.array([WAYS[way]]))
    with_friction = statics.residual(q, np.array([T0]))[0]
    along = 1.0 + q[2] / L
    speed = np.hypot(along, R * w)
    exponent = WAYS[way] * MU * L * R * w**2 / speed  # in all: |r' x r''| / |r'|^2
    mean = -np.expm1(-exponent) / exponent
    wanted = T0 * (mean - 1.0) * along / speed
    assert abs(with_friction - free)[2] == pytest.approx(abs(wanted), rel=1e-7)


def test_drawn_in_and_paid_out_slowly_the_simulated_robot_rests_there():
    """
    Slow pulling and releasing leads the simulated robot to the equilibria with friction.

    It rests there for a short time only, as held friction creeps (recursion/capstan.py).
    """
    model = arc('arm', damping=0.02)
    robot, u = ActuatedSimulator(model), 20.0
    truth = sd.equilibrium(model, u=[u]).q
    up, most = np.linspace(0.0, u, 2000), 45.0  # N: far enough that it slides well before u
    down = np.r_[np.linspace(u, most, 1000), np.linspace(most, u, 2500)]
    for way, ramp in (('in', up), ('out', down)):
        for tension in ramp:
            robot.step([tension], 1e-3)
        rest = sd.equilibrium(model, u=[u], sliding=way).q
        gap = rest[0] - truth[0]
        assert gap * WAYS[way] < -0.1 * truth[0]  # the true one is between the two
        # in motion, friction is what damping leaves of the balance
        statics = Statics(model)
        statics.slide(np.array([WAYS[way]]))
        left = statics.residual(robot.q, np.array([u]))[0] + model.damping @ robot.qd
        assert abs(left[0]) < 4e-3 * abs(model.stiffness[0, 0] * gap)
        for _ in range(60):
            robot.step([u], 1e-3)
        assert robot.q[0] == pytest.approx(rest[0], abs=0.1 * abs(gap))


def test_the_tangent_is_the_derivative_of_the_residual():
    """Routes over joints, lines and soft bodies, each way, half of the load, wrenches besides."""
    model = compiled('hand')
    model = sd.compile_model(sd.vary(model.description, {'friction': MU}))
    u, ways = np.linspace(2.0, 9.0, model.m), np.resize([1.0, -1.0, 0.0, 1.0], model.m)
    statics = Statics(model)
    statics.slide(ways)
    statics.set_load_factor(0.5)
    for q, _, _ in states(model, 2, seed=4, size=0.5):
        K = statics.tangent(q, u)
        steps = 1e-4 * model.scales.units
        expected = by_fourth_order(lambda x: statics.residual(x, u)[0], q, steps, range(model.n))
        assert np.abs(K - expected).max() < 1e-7 * np.abs(expected).max()
        statics.slide(0.0 * ways)
        assert np.abs(K - statics.tangent(q, u)).max() > 1e-3 * np.abs(K).max()
        statics.slide(ways)


@pytest.mark.parametrize('way', WAYS)
def test_friction_of_position_drives_uses_their_tensions(way):
    """The equilibrium has friction by the drives' tensions, and the tangent includes it."""
    drive = {'compliance': 2e-4, 'pretension': 5.0, 'radius': 0.01}
    model = sd.compile_model(sd.load_robot(servo(drive, friction=MU)))
    command = np.array([2.0, -0.3, -2.0])  # the last one is slack
    found = sd.equilibrium(model, command=command, sliding=way)
    tensions = sd.efforts(model, q=found.q, command=command)
    assert tensions.min() == 0.0 and tensions.max() > 10.0
    same = sd.equilibrium(model, u=tensions, sliding=way, q0=found.q)
    assert same.q == pytest.approx(found.q, abs=1e-9)
    assert np.abs(found.q - sd.equilibrium(model, command=command).q).max() > 1e-3
    statics = Statics(model, commanded=True)
    statics.slide(np.full(3, WAYS[way]))
    q = found.q + 0.01
    expected = by_second_order(lambda x: statics.residual(x, command)[0], q)
    assert np.abs(statics.tangent(q, command) - expected).max() < 1e-7 * np.abs(expected).max()


def test_without_sliding_directions_there_is_no_friction():
    """Without sliding directions the postures are bit by bit those without friction."""
    u = [20.0]
    plain = sd.equilibrium(arc('near', 'far', mu=0.0), u=u)
    for sliding in (None, 'none', [0.0], {}):
        found = sd.equilibrium(arc('near', 'far'), u=u, sliding=sliding)
        assert found.q.tobytes() == plain.q.tobytes() and found.stability == plain.stability
    assert sd.equilibrium(arc('near', 'far', mu=0.0), u=u, sliding='in').q.tobytes() == (
        plain.q.tobytes()
    )


def test_sliding_directions_may_be_numbers_or_words():
    """Sliding directions are numbers or words, for all actuators or by name."""
    model = arc('near', 'far')
    found = sd.equilibrium(model, u=[20.0], sliding='out').q.tobytes()
    for sliding in ([-1], {'t': 'out'}):
        assert sd.equilibrium(model, u=[20.0], sliding=sliding).q.tobytes() == found


@pytest.mark.parametrize('sliding, error, words', [
    ('inwards', sd.errors.ArgumentError, 'inwards.*in, out, none'),
    ([0.5], sd.errors.ArgumentError, 'sliding: 0.5.*1 .in., -1 .out. or 0'),
    ([1.0, 1.0], sd.errors.ArgumentError, r'sliding.*shape \(1,\)'),
    ({'t2': 'in'}, sd.errors.UnknownNameError, 't2'),
    ({'t': 'up'}, sd.errors.ArgumentError, r'sliding\.t: .*up.*in, out, none'),
])  # fmt: skip
def test_wrong_sliding_directions_are_refused(sliding, error, words):
    """A wrong sliding direction is refused with its value and what would be right."""
    with pytest.raises(error, match=words):
        sd.equilibrium(arc('near', 'far'), u=[1.0], sliding=sliding)
