# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Rods in contact beside boundary-value problems and closed forms."""

import numpy as np
import pytest
from scipy.integrate import solve_bvp
import softrobot_dynamics as sd
from softrobot_dynamics.dynamics.wrenches import Wrench
from support.contacts import GRAVITY, thing, world

LENGTH, RADIUS, DENSITY, BENDING = 1.0, 5e-3, 1000.0, 0.0128  # m, m, kg/m^3, N m^2
WEIGHT = DENSITY * np.pi * RADIUS**2 * GRAVITY  # N/m
FALL = 0.2  # m from the axis of the rod to where it lies


def chain(lengths, collision, bending=BENDING, options=(), **more):
    """Return the description of a chain of planar arcs along z, each with a collision shape."""
    rod = {
        'type': 'planar_cc',
        'radius': RADIUS,
        'density': DENSITY,
        'young_modulus': bending / (0.25 * np.pi * RADIUS**4),
    }
    bodies = [
        {'name': f'b{i}', 'joint': {'type': 'fixed'}, 'body': {**rod, 'length': length}}
        for i, length in enumerate(lengths)
    ]
    for body in bodies:
        body['body'] = {**body['body'], **dict(options)}
        body['collision'] = collision
    return sd.compile_model(sd.load_robot({'name': 'rod', 'bodies': bodies, **more}))


def lying(bending=BENDING):
    """
    Return what solves the elastica from a clamp to where it lies flat on a smooth floor.

    Unknown is its length up to there, s = length sigma; y are angle, curvature, place across the
    clamp, and force along gravity.
    """

    def slopes(sigma, y, p):
        angle, curvature, _, force = y
        rates = [curvature, -force * np.cos(angle) / bending, np.sin(angle), 0.0 * angle - WEIGHT]
        return p[0] * np.array(rates)

    def ends(a, b, p):
        return np.array([a[0], a[2], b[0], b[1], b[2] - FALL])

    sigma, guess = np.linspace(0.0, 1.0, 60), (72.0 * bending * FALL / WEIGHT) ** 0.25
    first = np.array([np.sin(np.pi * sigma), np.cos(np.pi * sigma), FALL * sigma, 0.4 - sigma])
    found = solve_bvp(slopes, ends, sigma, first, p=[guess], tol=1e-8, max_nodes=20000)
    assert found.success
    return found


def test_a_rod_sags_onto_a_floor_as_the_boundary_value_problem_with_an_obstacle_has_it():
    """Shape, length that is free, and force of the floor are those of the elastica."""
    floor = {'name': 'floor', 'type': 'plane', 'point': [FALL + RADIUS, 0, 0]}
    floor = {**floor, 'normal': [-1, 0, 0], 'friction': 0.0, 'stiffness': 1e4}
    collision = {'type': 'rod', 'tolerance': 2e-3, 'friction': 0.0}
    model = chain(
        [LENGTH / 24] * 24,
        collision,
        options={'damping': 0.3},
        gravity=[GRAVITY, 0, 0],
        environment=[floor],
    )
    exact = lying()
    free = exact.p[0]
    joints = np.minimum(LENGTH / 24 * np.arange(25) / free, 1.0)
    simulator = sd.Simulator(model, q=0.99 * np.diff(exact.sol(joints)[0]))
    for _ in range(3000):
        simulator.step([], 1e-3)
    assert np.abs(simulator.qd).max() < 1e-3
    frames = sd.forward_kinematics(model, q=simulator.q)
    places = np.array([T[:3, 3] for T in frames])
    s = LENGTH / 24 * np.arange(1, 25)
    expected = np.where(s < free, exact.sol(np.minimum(s / free, 1.0))[2], FALL)
    np.testing.assert_allclose(places[:, 0], expected, atol=5e-3 * FALL)
    touching = sd.contacts(model, q=simulator.q, qd=simulator.qd)
    carried = WEIGHT * LENGTH - exact.sol(0.0)[3]
    assert touching.force.sum() == pytest.approx(carried, rel=5e-3)
    along = np.sqrt(1.0 - np.sin(exact.sol(np.linspace(0, 1, 500))[0]) ** 2).mean() * free
    first = touching.points[touching.force > 0.0, 2].min()
    assert first == pytest.approx(along, abs=1.5 * LENGTH / 24)


@pytest.mark.filterwarnings('ignore:forces of contact')  # while the belt is tightened
@pytest.mark.parametrize('turns', [1.0, -1.0])
def test_a_belt_round_a_turning_cylinder_obeys_the_capstan_law(turns):
    """
    Over half a turn of a cylinder that slides below it a belt's tension grows by e^(mu pi).

    Friction is below a belt of some thickness, its tension in the middle: the exponent is less by
    the ratio of the radii.
    """
    mu, load, wheel, count = 0.3, 2.0, 0.1, 12
    arc = np.pi * (wheel + RADIUS)
    lengths = [0.2] + [arc / count] * count + [0.2]
    centre = [wheel + RADIUS, 0.0, 0.2]
    peg = {'name': 'peg', 'type': 'cylinder', 'radius': wheel, 'friction': mu, 'stiffness': 1e5}
    peg |= {'start': [centre[0], -0.1, 0.2], 'end': [centre[0], 0.1, 0.2]}
    peg['motion'] = {'angular_velocity': [0.0, 2.0 * turns, 0.0], 'centre': centre}
    model = chain(
        lengths,
        {'type': 'rod', 'friction': mu, 'tolerance': 2e-3},
        bending=2e-5,
        options={'damping': 0.1},
        gravity=[0, 0, 0],
        environment=[peg],
    )
    q = np.zeros(model.n)
    q[1 : 1 + count] = 0.98 * np.pi / count
    simulator = sd.Simulator(model, q=q)
    contact, total = simulator._stepper.acts.contact, 0.0
    for i in range(500):
        pull = Wrench([0, 0, 0, 0, 0, -load * min(1.0, (i + 1) / 200)], None, 'base')
        simulator.step([], 1e-3, {model.body_names[-1]: pull})
        total += contact.pushes[contact.force > 0.0, 2].sum() / 200 if i >= 300 else 0.0
    held = total - load  # tension of the side that is clamped
    law = np.exp(turns * mu * np.pi * wheel / (wheel + RADIUS))
    assert held / load == pytest.approx(law, rel=0.03)


def test_an_arm_pulled_in_a_tube_stays_within_its_wall():
    """A heavy chain that a moment at its tip lifts comes to rest in a tube, nowhere outside."""
    tube = {'name': 'tube', 'type': 'tube', 'start': [0, 0, -0.1], 'end': [0, 0, 1.1]}
    tube = {**tube, 'radius': 0.03, 'friction': 0.2}
    collision = {'type': 'rod', 'friction': 0.2}
    around = {'gravity': [GRAVITY, 0, 0], 'environment': [tube]}
    model = chain([LENGTH / 8] * 8, collision, options={'damping': 0.3}, **around)
    wrench = {model.body_names[-1]: [0.0, -0.05, 0.0, 0.0, 0.0, 0.0]}
    simulator = sd.Simulator(model)
    for _ in range(1500):
        simulator.step([], 1e-3, wrench)
    frames = sd.forward_kinematics(model, q=simulator.q)
    off = np.array([np.hypot(T[0, 3], T[1, 3]) for T in frames])
    assert off.max() < 0.03 - RADIUS + 0.02 * RADIUS
    found = sd.contacts(model, q=simulator.q, qd=simulator.qd)
    assert found.force.sum() > 0.5 * WEIGHT * LENGTH
    assert np.abs(simulator.qd).max() < 1e-2


@pytest.mark.parametrize('depth', [0.2, 0.9])
@pytest.mark.parametrize(
    'shape',
    [{'type': 'sphere', 'radius': 0.05}, {'type': 'box', 'edges': [0.1, 0.1, 0.1]}],
    ids=lambda shape: shape['type'],
)
def test_energy_stays_bounded_where_a_state_begins_deep_in_something(shape, depth):
    """A solid pushed into a floor never has more energy than the weight and the spring hold."""
    floor = {'name': 'floor', 'type': 'plane'}
    model = world([thing('o', {**shape, 'stiffness': 1e5}, (0, 0, 0.1))], [floor])
    simulator = sd.Simulator(model)
    deep = depth * 0.05
    simulator.q[3] = 0.05 - deep
    pushing = sd.contacts(model, q=simulator.q).force.sum()
    spring = 0.5 * pushing * deep
    for _ in range(600):
        simulator.step([], 1e-3)
        qd = simulator.qd[1:]
        moving = 0.5 * (qd[:3] @ qd[:3]) + 0.5 * 0.4 * 0.05**2 * (qd[3:] @ qd[3:])
        assert moving <= 1e-3 * spring
    assert 0.05 - deep < simulator.q[3] < 0.0505
