# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Equilibria, by Newton's method and by ramping the load."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, minimize
import softrobot_dynamics as sd
from softrobot_dynamics.dynamics import load_stepping, statics
from softrobot_dynamics.dynamics.newton import newton
from softrobot_dynamics.dynamics.statics import equilibrium
from softrobot_dynamics.errors import ArgumentError, NotConvergedError
from support.differences import gradient
from support.mechanics import unbalanced
from support.robots import compiled

L, RADIUS, E, OFFSET = 0.3, 0.02, 0.1e6, 0.015  # of the rod with a straight tendon, SI units


@pytest.mark.parametrize('name', ['pcc_arm', 'planar_cc_chain'])
def test_forces_balance_in_equilibrium(name):
    """Residual and stop: ID(q, 0, 0) = A u to rounding, within few iterations."""
    model = compiled(name)
    rng = np.random.default_rng(1)
    for _ in range(5):
        u = rng.uniform(0.0, 0.1, model.m) * model.upper
        found = equilibrium(model, u=u)
        r = unbalanced(model, found.q, u)
        assert np.abs(r).max() <= 1e-9 * np.abs(u).max()
        assert found.residual == pytest.approx(np.abs(r).max(), rel=1e-6, abs=1e-12)
        assert 0 < found.iterations < 20


@pytest.mark.parametrize(
    'tension, bend, tip',
    [
        (0.5, 0.596831, (0.29721234, 0.02667915)),
        (1.0, 1.193662, (0.29129263, 0.05272033)),
        (2.0, 2.387324, (0.27062606, 0.10127737)),
    ],
)
def test_straight_tendon_bends_to_constant_curvature(tension, bend, tip):
    """A tendon parallel to a rod bends it to kappa = T d / (E I) and shortens it by T / (E A)."""
    rod = {
        'type': 'pcc', 'length': L, 'radius': RADIUS, 'density': 1000.0, 'young_modulus': E,
    }  # fmt: skip
    model = sd.compile_model(
        sd.load_robot(
            {
                'name': 'rod',
                'gravity': [0.0, 0.0, 0.0],
                'bodies': [{'name': 'rod', 'joint': {'type': 'fixed'}, 'body': rod}],
                'actuators': [
                    {
                        'name': 't',
                        'type': 'tendon',
                        'path': [{'body': 'rod', 'offset': [OFFSET, 0.0]}],
                    }
                ],
            }
        )
    )
    q = equilibrium(model, u=[tension]).q
    kappa = tension * OFFSET / (E * np.pi / 4.0 * RADIUS**4)
    shortening = tension / (E * np.pi * RADIUS**2)
    np.testing.assert_allclose(q, [kappa * L, 0.0, -shortening * L], rtol=1e-9, atol=1e-9)
    assert kappa == pytest.approx(bend, abs=5e-7)
    x, y, z = sd.forward_kinematics(model, q=q)[0, :3, 3]
    np.testing.assert_allclose([z, x, y], [*tip, 0.0], atol=1e-8)


def test_first_bending_frequency_converges():
    """Thin chains approach the first frequency 3.5160 sqrt(EI / (rho A L^4)), order two."""
    density, errors = 1000.0, []
    exact = 1.875104068711961**2 * np.sqrt(
        E * np.pi / 4 * RADIUS**4 / (density * np.pi * RADIUS**2 * L**4)
    )
    for count in (4, 8, 16):
        body = {
            'type': 'planar_cc', 'length': L / count, 'radius': RADIUS, 'density': density,
            'young_modulus': E, 'section_inertia': False,
        }  # fmt: skip
        bodies = [
            {'name': f'b{i}', 'joint': {'type': 'fixed'}, 'body': body} for i in range(count)
        ]
        model = sd.compile_model(sd.load_robot({'name': 'beam', 'bodies': bodies}))
        zero = np.zeros(count)
        M = sd.mass_inverse_dynamics(model, q=zero, qd=zero, qdd=zero)[1]
        squares = np.linalg.eigvals(np.linalg.solve(M, model.stiffness)).real
        errors.append(abs(np.sqrt(squares.min()) / exact - 1.0))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 2.0) < 0.2) and errors[-1] < 2e-3


def test_equilibrium_depends_on_the_start():
    """A pendulum has an equilibrium below and one above; the nearer one to the start is found."""
    model = compiled('double_pendulum')
    down, up = (equilibrium(model, u=[0.0, 0.0], q0=[a, 0.1]).q for a in (0.2, np.pi - 0.2))
    np.testing.assert_allclose(down, 0.0, atol=1e-9)
    np.testing.assert_allclose(up, [np.pi, 0.0], atol=1e-9)


@pytest.mark.parametrize(
    'name, arguments',
    [
        ('double_pendulum', {'u': [60.0, 0.0]}),  # more than the weight can balance
        ('pcc_arm', {'u': 1000.0 * np.eye(9)[0]}),
        ('pcc_arm', {'u': np.zeros(9), 'q0': np.full(9, 20.0)}),  # no posture of the model
    ],
)
def test_no_equilibrium_is_an_error(name, arguments):
    """Without an equilibrium NotConvergedError says what failed, how long and how far off."""
    with pytest.raises(NotConvergedError) as caught:
        equilibrium(compiled(name), **arguments)
    assert caught.value.operation == 'equilibrium' and caught.value.iterations > 0
    assert not caught.value.residual < 1e-6
    assert 0.0 <= caught.value.share < 1.0


RIGIDITY = E * np.pi / 4.0 * 0.01**4  # E I of the beams below [N m^2], which are 1 m long


def beam(count, kind='planar_cc'):
    """Return a thin beam of ``count`` equal bodies, clamped, along z, without gravity."""
    body = {
        'type': kind, 'length': 1.0 / count, 'radius': 0.01, 'density': 1000.0,
        'young_modulus': E, 'section_inertia': False,
    }  # fmt: skip
    bodies = [{'name': f'b{i}', 'joint': {'type': 'fixed'}, 'body': body} for i in range(count)]
    return sd.compile_model(
        sd.load_robot({'name': 'beam', 'gravity': [0.0, 0.0, 0.0], 'bodies': bodies})
    )


def lateral(k, frame='base'):
    """Return a force k E I / L^2 along x at the tip: dead, or following the 'body'."""
    return {'tip': sd.Wrench([0.0, 0.0, 0.0, k * RIGIDITY, 0.0, 0.0], None, frame)}


def shape(model, q):
    """Tip angle [rad], shortening and deflection [m] of a beam."""
    x, _, z = sd.forward_kinematics(model, q=q)[-1, :3, 3]
    return np.array([q.sum(), 1.0 - z, x])


# Bisshopp & Drucker (1945): tip angle, shortening, deflection
ELASTICA = {
    0.25: (0.1242924421, 0.0041178184, 0.0827459154),
    1.0: (0.4613519497, 0.0564332363, 0.3017207738),
    2.0: (0.7817498316, 0.1606417208, 0.4934574804),
    5.0: (1.2153681176, 0.3876283607, 0.7137915236),
    10.0: (1.4302855388, 0.5549955978, 0.8106090249),
}


@pytest.mark.parametrize('k', ELASTICA)
def test_dead_load_bends_to_the_elastica(k):
    """Chains of constant curvature approach the elastica with order two; extrapolated, to 1e-6."""
    models = [beam(count) for count in (8, 16, 32)]
    shapes = [shape(m, equilibrium(m, u=[], wrenches=lateral(k)).q) for m in models]
    errors = np.abs(np.array(shapes) - ELASTICA[k])
    assert np.all(np.abs(np.log2(errors[:-1] / errors[1:]) - 2.0) < 0.03)
    assert np.all(errors[-1] < 2e-4)
    extrapolated = (4.0 * shapes[2] - shapes[1]) / 3.0
    np.testing.assert_allclose(extrapolated, ELASTICA[k], atol=2e-6)


@pytest.mark.parametrize('k', [3.0, 10.0])
def test_follower_load_bends_as_its_initial_value_problem(k):
    """Under a follower load the rod solves phi'' = -k cos(phi), at second order."""

    def derivative(s, y):
        phi = y[0]
        return [y[1], k * np.cos(phi), np.cos(phi), np.sin(phi)]

    # from the tip back to the clamp, in the tip's axes: angle, curvature, position along z and x
    y = solve_ivp(derivative, [0.0, 1.0], [0.0] * 4, rtol=1e-12, atol=1e-12).y[:, -1]
    angle = y[0]
    along, across = y[2], y[3]
    wanted = [
        angle,
        1.0 - (np.cos(angle) * along + np.sin(angle) * across),
        np.sin(angle) * along - np.cos(angle) * across,
    ]
    errors = []
    for count in (8, 16, 32):
        model = beam(count)
        found = equilibrium(model, u=[], wrenches=lateral(k, 'body'))
        errors.append(np.abs(shape(model, found.q) - wanted))
    assert np.all(np.abs(np.log2(np.array(errors[:-1]) / errors[1:]) - 2.0) < 0.1)
    assert errors[-1].max() < 5e-3


@pytest.mark.parametrize('t', [0.5, 2.0, np.pi, 2.0 * np.pi])
@pytest.mark.parametrize('count', [1, 4])
def test_pure_moment_bends_to_a_circle(t, count):
    """Constant curvature meets Simo and Vu-Quoc's closed form to 1e-12, a full circle too."""
    model = beam(count)
    found = equilibrium(model, u=[], wrenches={'tip': [0.0, t * RIGIDITY, 0.0, 0.0, 0.0, 0.0]})
    wanted = [t, 1.0 - np.sin(t) / t, (1.0 - np.cos(t)) / t]
    np.testing.assert_allclose(shape(model, found.q), wanted, rtol=0.0, atol=1e-12)


def test_spatial_rods_bend_alike_under_wrenches():
    """A chain of `pcc` bodies, loaded in another plane, ends where `planar_cc` bodies do."""
    flat, spatial = beam(8), beam(8, 'pcc')
    wanted = shape(flat, equilibrium(flat, u=[], wrenches=lateral(5.0)).q)
    force = sd.Wrench([0.0, 0.0, 0.0, 0.0, 5.0 * RIGIDITY, 0.0], None, 'base')
    q = equilibrium(spatial, u=[], wrenches={'tip': force}).q
    x, y, z = sd.forward_kinematics(spatial, q=q)[-1, :3, 3]
    # the rod is extensible: P / (E A) of its length
    np.testing.assert_allclose([1.0 - z, y], wanted[1:], atol=2e-4)
    assert abs(x) < 1e-12


def test_wrenches_at_inner_points_balance():
    """In equilibrium ID(q, 0, 0) with the same wrenches is A u, wherever they act."""
    model = compiled('pcc_arm')
    wrenches = {
        'segment1': sd.Wrench([0.01, 0.0, 0.02, 0.1, -0.1, 0.0], [0.01, 0.0, 0.1]),
        'segment3': sd.Wrench([0.0, 0.0, 0.0, 0.2, 0.1, 0.0], [0.0, 0.005, 0.05], 'base'),
    }
    u = 0.05 * model.upper
    found = equilibrium(model, u=u, wrenches=wrenches)
    zero = np.zeros(model.n)
    nu = sd.inverse_dynamics(model, q=found.q, qd=zero, qdd=zero, wrenches=wrenches)
    A = sd.actuation(model, q=found.q, qd=zero).matrix
    assert np.abs(nu - A @ u).max() < 1e-12 * np.abs(A @ u).max()
    assert np.abs(found.q - equilibrium(model, u=u).q).max() > 0.03


def test_the_ramp_reaches_what_newton_does_not():
    """At a hundred times the linear range's load Newton's method fails and the ramp succeeds."""
    model, k = beam(16), 100.0
    bare = statics.Statics(model, statics.read_wrenches(model, lateral(k)))
    assert not newton(bare, np.zeros(16), np.zeros(0), load_stepping.MAX_ITERATIONS).balanced
    found = equilibrium(model, u=[], wrenches=lateral(k))
    assert found.residual < 1e-12 * k * RIGIDITY
    assert found.iterations < 60

    def clamped(tip):  # theta'' = -k cos(theta) from the tip, theta(1) = tip, theta'(1) = 0
        back = solve_ivp(
            lambda s, y: [y[1], -k * np.cos(y[0])], [1.0, 0.0], [tip, 0.0], rtol=1e-11, atol=1e-12
        )
        return back.y[0, -1]

    tip = brentq(clamped, 1.5705, np.pi / 2.0 - 1e-9)
    assert found.q.sum() == pytest.approx(tip, abs=2e-3)
    assert (found.q > 0.0).all()  # it bends one way only


def test_the_ramp_follows_slow_loading():
    """With several equilibria the ramp finds the one that slow loading leads to."""
    model, q = beam(8), np.zeros(8)
    for k in np.linspace(1.0, 60.0, 60):
        q = equilibrium(model, u=[], wrenches=lateral(k, 'body'), q0=q).q
    found = equilibrium(model, u=[], wrenches=lateral(60.0, 'body'), ramp=True)
    np.testing.assert_allclose(found.q, q, atol=1e-9)


def test_the_ramp_takes_gravity_and_actuation_along():
    """Gravity and actuation are ramped together, and the result is an equilibrium under both."""
    model = compiled('pcc_arm')
    u = 0.4 * model.upper * np.random.default_rng(3).uniform(size=model.m)
    plain, ramped = equilibrium(model, u=u), equilibrium(model, u=u, ramp=True)
    assert np.abs(unbalanced(model, ramped.q, u)).max() < 1e-12 * np.abs(u).max()
    np.testing.assert_allclose(ramped.q, plain.q, atol=1e-10)


def test_a_share_of_the_load_scales_all_loads():
    """A share scales gravity, u and wrenches alike."""
    model, share = compiled('pcc_arm'), 0.3
    q, zero, u = 0.2 * np.ones(9), np.zeros(9), 0.1 * model.upper
    wrenches = {'segment2': [0.1, 0.2, 0.3, 1.0, 2.0, 3.0]}
    bare = statics.Statics(model, statics.read_wrenches(model, wrenches))
    bare.set_load_factor(share)
    k = sd.elastic_force(model, q=q)
    ID = sd.inverse_dynamics(model, q=q, qd=zero, qdd=zero, wrenches=wrenches)
    wanted = k + share * (ID - k - sd.actuation(model, q=q, qd=zero).matrix @ u)
    np.testing.assert_allclose(bare.residual(q, u)[0], wanted, atol=1e-12)


@pytest.mark.parametrize('point', [None, [0.01, -0.005, 0.03]])
@pytest.mark.parametrize('frame', ['body', 'base'])
@pytest.mark.parametrize('name', ['pcc_arm', 'tree', 'hybrid_arm'])
def test_the_tangent_is_the_derivative_of_the_residual(name, frame, point):
    """The tangent is the derivative of the residual under elasticity, gravity and all loads."""
    model = compiled(name)
    q = model.q0 + 0.2 * np.random.default_rng(5).standard_normal(model.n)
    u = np.clip(np.ones(model.m), model.lower, model.upper)
    wrenches = [sd.Wrench([0.1, 0.2, 0.3, 1.0, 2.0, 3.0], point, frame)] * 2
    loads = statics.read_wrenches(model, {model.body_names[-1]: wrenches})
    own = statics.Statics(model, loads)
    own.set_load_factor(0.3)
    expected = gradient(lambda q: own.residual(q, u)[0], q)
    assert np.abs(own.tangent(q, u) - expected).max() < 1e-9 * np.abs(expected).max()


def test_an_impossible_load_says_how_much_of_it_was_balanced():
    """The error on an impossible moment says which share of it was balanced."""
    model, t = beam(1, 'pcc'), 20.0
    moment = {'tip': [0.0, t * RIGIDITY, 0.0, 0.0, 0.0, 0.0]}
    with pytest.raises(
        NotConvergedError, match='no equilibrium found: 0.40.* of the load'
    ) as caught:
        equilibrium(model, u=[], wrenches=moment)
    last = np.polynomial.legendre.leggauss(10)[0][-1]  # the material point that bends most
    limit = 8.0 / (0.5 + 0.5 * last) / t
    assert limit - load_stepping.MIN_LOAD_STEP <= caught.value.share <= limit
    assert caught.value.residual == pytest.approx((1.0 - caught.value.share) * t * RIGIDITY)


def sagging(modulus, gravity=(9.81, 0.0, 0.0), damping=0.5):
    """Return a soft arm of two rods of 0.2 m, along z."""
    rod = {
        'type': 'pcc', 'length': 0.2, 'radius': 0.02, 'density': 1000.0, 'young_modulus': modulus,
        'damping': damping,
    }  # fmt: skip
    bodies = [{'name': f's{i}', 'joint': {'type': 'fixed'}, 'body': rod} for i in range(2)]
    return sd.compile_model(
        sd.load_robot({'name': 'sagging', 'gravity': list(gravity), 'bodies': bodies})
    )


def hanging_energy(q, modulus):
    """Potential energy [J] of the sagging arm bent in its plane, (bend, elongation) twice."""
    length, area = 0.2, np.pi * 0.02**2
    s, weights = np.polynomial.legendre.leggauss(20)
    s, weights = 0.5 * (s + 1.0), 0.5 * weights
    energy = x = angle = 0.0
    for bend, elongation in q.reshape(2, 2):
        # of an arc x = int sin, from its start; sinc keeps a straight rod from dividing by zero
        half = 0.5 * bend * s
        across = (length + elongation) * s * np.sinc(half / np.pi) * np.sin(angle + half)
        energy -= 1000.0 * area * length * 9.81 * weights @ (x + across)
        energy += 0.5 * modulus / length * area * (0.02**2 / 4.0 * bend**2 + elongation**2)
        tip = (length + elongation) * np.sinc(0.5 * bend / np.pi)
        x, angle = x + tip * np.sin(angle + 0.5 * bend), angle + bend
    return energy


@pytest.mark.parametrize('ramp', [False, True])
@pytest.mark.parametrize('modulus', [1e5, 3e4, 1e4, 3e3, 1e3, 300.0, 30.0])
def test_a_soft_arm_hangs(modulus, ramp):
    """The statics of a soft arm find the hanging equilibrium, of least energy, among many."""
    found = equilibrium(sagging(modulus), u=[], ramp=ramp)
    least = minimize(
        hanging_energy, [1.0, 0.01, 0.1, 0.01], (modulus,), 'BFGS', options={'gtol': 1e-9}
    )
    np.testing.assert_allclose(found.q[[0, 2, 3, 5]], least.x, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found.q[[1, 4]], 0.0, atol=1e-9)
    assert found.stable and found.stability > 0.0 and found.residual < 1e-10


@pytest.mark.parametrize(
    'modulus, damping, duration', [(1e5, 0.5, 20.0), (1e4, 3.0, 40.0), (1e3, 10.0, 250.0)]
)
def test_a_soft_arm_hangs_where_it_settles(modulus, damping, duration):
    """The equilibrium is where the simulator comes to rest when the arm is let go."""
    arm = sagging(modulus, damping=damping)
    robot = sd.Simulator(arm, q=np.zeros(6), substep=4e-3)
    robot.step([], duration)
    assert np.abs(robot.qd).max() < 1e-6
    np.testing.assert_allclose(equilibrium(arm, u=[]).q, robot.q, atol=1e-5)


def test_stability_is_the_slowest_squared_frequency():
    """`stability` is (3.516)^2 E I / (rho A L^4) of a beam and negative of a standing pendulum."""
    exact = 1.875104068711961**4 * RIGIDITY / (1000.0 * np.pi * 0.01**2)
    rest = equilibrium(beam(16), u=[])
    assert rest.stability == pytest.approx(exact, rel=5e-3) and rest.stable
    pendulum = compiled('double_pendulum')
    down, up = (equilibrium(pendulum, u=[0.0, 0.0], q0=[a, 0.0]) for a in (0.0, np.pi))
    assert down.stable and down.stability > 1.0
    assert not up.stable and up.stability < -1.0


def test_a_joint_that_stands_anywhere_is_stable():
    """No stiffness is none that pushes: a turntable without gravity about its axis."""
    table = {'type': 'revolute', 'axis': [0.0, 0.0, 1.0]}
    inertia = {'ixx': 0.01, 'iyy': 0.01, 'izz': 0.01}
    body = {'type': 'rigid', 'mass': 1.0, 'inertia': inertia, 'com': [0.1, 0.0, 0.0]}
    robot = {'name': 'table', 'gravity': [0.0, 0.0, -9.81]}
    robot['bodies'] = [{'name': 'plate', 'joint': table, 'body': body}]
    found = equilibrium(sd.compile_model(sd.load_robot(robot)), u=[], q0=[0.7])
    assert found.stable and found.q[0] == 0.7
    assert found.stability == pytest.approx(0.0, abs=1e-9)


def test_a_standing_arm_buckles():
    """Straight up is an equilibrium that says it is not stable; loaded slowly, the arm falls."""
    arm = sagging(3e4, (0.0, 0.0, -9.81))
    straight, fallen = (equilibrium(arm, u=[], ramp=ramp) for ramp in (False, True))
    np.testing.assert_allclose(straight.q[[0, 1, 3, 4]], 0.0, atol=1e-12)
    assert not straight.stable and straight.stability < -10.0
    assert fallen.stable and fallen.residual < 1e-9
    robot = sd.Simulator(arm, q=[0.05, 0.0, 0.0, 0.0, 0.0, 0.0], substep=2e-3)
    robot.step([], 20.0)
    hessians = [np.hypot(q[0], q[1]) for q in (fallen.q, robot.q)]  # it may fall to any side
    assert hessians[0] == pytest.approx(hessians[1], abs=1e-4) and hessians[0] > 1.0
    np.testing.assert_allclose(fallen.q[[2, 5]], robot.q[[2, 5]], atol=1e-6)


def test_flutter_is_not_stable():
    """Beck's column counts as unstable from 20.05 E I / L^2 on, without damping."""
    model = beam(16, 'planar_cc')
    for k, stable in ((19.6, True), (20.5, False)):
        push = {'tip': [0.0, 0.0, 0.0, 0.0, 0.0, -k * RIGIDITY]}
        found = equilibrium(model, u=[], wrenches=push)
        assert found.stable == stable and np.abs(found.q).max() < 1e-12


def test_no_body_rests_inside_out():
    """A start inside out is refused by name, and a load that would turn a rod so, too."""
    arm = sagging(1e3)
    with pytest.raises(
        ArgumentError, match='s1 would be turned inside out, with a stretch of -0.5'
    ):
        equilibrium(arm, u=[], q0=[0.0, 0.0, 0.0, 0.0, 0.0, -0.3])
    press = {'s1': sd.Wrench([0.0, 0.0, 0.0, 0.0, 0.0, -2.0], None)}  # E A is 1.26 N
    with pytest.raises(NotConvergedError) as caught:
        equilibrium(sagging(1e3, (0.0, 0.0, 0.0)), u=[], wrenches=press, ramp=True)
    assert caught.value.share < 0.63 and caught.value.reason


def test_a_falling_robot_has_no_equilibrium():
    """A slide that falls has no equilibrium, and the error says that it moves."""
    inertia = {'ixx': 0.01, 'iyy': 0.01, 'izz': 0.01}
    body = {'type': 'rigid', 'mass': 1.0, 'inertia': inertia}
    robot = {'name': 'slide', 'gravity': [0.0, 0.0, -9.81]}
    robot['bodies'] = [{'name': 'sled', 'joint': {'type': 'prismatic'}, 'body': body}]
    with pytest.raises(
        NotConvergedError, match='share: the robot does not come to rest in .* steps'
    ) as caught:
        equilibrium(sd.compile_model(sd.load_robot(robot)), u=[])
    assert caught.value.share == 0.0 and caught.value.residual == pytest.approx(9.81)


def test_a_newton_step_too_large_to_square_is_no_numpy_warning():
    """A leg that falls over is refused as one without equilibrium; warnings are errors here."""
    model = compiled('foot_shank')
    with pytest.raises(NotConvergedError, match='does not come to rest'):
        equilibrium(model, command=np.zeros(model.m))
