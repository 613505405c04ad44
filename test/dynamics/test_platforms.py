# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Closed loops in space: a platform on six legs, and a linkage that counting takes for stiff."""

import numpy as np
import softrobot_dynamics as sd
from support.contacts import GRAVITY

MASS, CENTRE = 5.0, np.array([0.02, 0.01, 0.03])  # kg, m in the frame of the platform
START = np.array([0.03, -0.05, 0.8])  # m


def around(radius, degrees):
    """Return places (6, 3) [m] on a circle."""
    angles = np.deg2rad(degrees)
    return radius * np.column_stack([np.cos(angles), np.sin(angles), np.zeros(6)])


FEET = around(0.6, [10, 110, 130, 230, 250, 350])
HIPS = around(0.35, [50, 70, 170, 190, 290, 310])


def body(mass, com, moment):
    """Return a rigid body, by default of equal moments of inertia."""
    inertia = {'ixx': moment, 'iyy': moment, 'izz': moment}
    return {'type': 'rigid', 'mass': mass, 'com': list(com), 'inertia': inertia}


def hexapod(leg=1e-6):
    """Return a platform on six legs of so many kg, between universal and ball joints."""
    robot = {'name': 'hexapod', 'bodies': [], 'closures': [], 'actuators': [], 'initial': {}}
    plate = {'name': 'plate', 'joint': {'type': 'free'}, 'body': body(MASS, CENTRE, 0.3)}
    robot['bodies'].append(plate)
    robot['initial'] |= dict(zip(('plate/x', 'plate/y', 'plate/z'), START.tolist()))
    for i, (foot, hip) in enumerate(zip(FEET, HIPS)):
        way = START + hip - foot
        length = np.linalg.norm(way)
        x, y, z = way / length
        joint = {'type': 'universal', 'origin': {'xyz': foot.tolist()}}
        own = body(leg, (0.0, 0.0, 0.1), 0.01 * leg)
        robot['bodies'] += [
            {'name': f'foot{i}', 'parent': 'base', 'joint': joint, 'body': own},
            {'name': f'leg{i}', 'joint': {'type': 'prismatic', 'axis': [0, 0, 1]}, 'body': own},
        ]
        hip_frame = {'body': 'plate', 'pose': {'xyz': hip.tolist()}}
        frames = [{'body': f'leg{i}'}, hip_frame]
        robot['closures'].append({'name': f'hip{i}', 'type': 'ball', 'frames': frames})
        robot['actuators'].append({'name': f'm{i}', 'type': 'joint', 'joint': f'leg{i}'})
        turns = float(np.arctan2(-y, z)) + 0.01, float(np.arcsin(x)) - 0.01  # not closed yet
        robot['initial'] |= {f'foot{i}/rx': turns[0], f'foot{i}/ry': turns[1]}
        robot['initial'][f'leg{i}'] = float(length)
    return sd.compile_model(sd.load_robot(robot))


def test_a_platform_on_six_legs_has_the_lengths_rates_and_forces_of_its_geometry():
    """Lengths are distances, rates those along the legs, and light legs bear its weight alone."""
    model = hexapod()
    legs = [model.coordinate_names.index(f'leg{i}') for i in range(6)]
    random = np.random.default_rng(0)
    q, qd = sd.assemble(model, q=model.q0, qd=0.3 * random.normal(size=model.n))
    loops = sd.closures(model, q=q)
    assert (loops.mobility, loops.redundant) == (6, ())
    T, J = sd.frame(model, q=q, body='plate'), sd.jacobian(model, q=q, body='plate')
    R, place = T[:3, :3], T[:3, 3]
    turning, moving = R @ J[:3] @ qd, R @ J[3:] @ qd
    arms = HIPS @ R.T
    ways = place + arms - FEET
    lengths = np.linalg.norm(ways, axis=1)
    np.testing.assert_allclose(q[legs], lengths, rtol=1e-12)
    along = ways / lengths[:, None]
    rates = np.einsum('lk,lk->l', along, moving + np.cross(turning, arms))
    np.testing.assert_allclose(qd[legs], rates, atol=1e-12)
    zero = np.zeros(model.n)
    held = sd.closed_inverse_dynamics(model, q=q, qd=zero, qdd=zero)
    pushes = np.vstack([along.T, np.cross(arms, along).T])
    weight = np.array([0.0, 0.0, MASS * GRAVITY])
    expected = np.linalg.solve(pushes, np.concatenate([weight, np.cross(R @ CENTRE, weight)]))
    np.testing.assert_allclose(held.u, expected, rtol=1e-5)


def test_a_linkage_that_counting_takes_for_stiff_moves_and_its_plate_stays_level():
    """Two folding pairs across each other (Sarrus, 1853): of five directions one is redundant."""
    link = {**body(1.0, (0.0, 0.0, 0.2), 0.01), 'tip': {'xyz': [0.0, 0.0, 0.5]}}
    back = {**link, 'tip': {'xyz': [0.0, 0.0, -0.5]}}
    plate = {**link, 'tip': {'xyz': [-0.3, 0.3, 0.0]}}
    rows = [
        ('a', [0, 1, 0], link), ('b', [0, 1, 0], link), ('plate', [0, 1, 0], plate),
        ('c', [1, 0, 0], back), ('d', [1, 0, 0], back),
    ]  # fmt: skip
    bodies = [
        {'name': name, 'joint': {'type': 'revolute', 'axis': axis}, 'body': own}
        for name, axis, own in rows
    ]
    bodies[0]['joint']['origin'] = {'xyz': [0.3, 0.0, 0.0]}
    frames = [{'body': 'd'}, {'body': 'base', 'pose': {'xyz': [0.0, 0.3, 0.0]}}]
    loop = {'name': 'k', 'type': 'pin', 'axis': [1, 0, 0], 'frames': frames}
    start = {'a': 0.7, 'b': -1.39, 'plate': 0.7, 'c': 0.7, 'd': -1.4}
    robot = {'name': 'sarrus', 'bodies': bodies, 'closures': [loop], 'initial': start}
    model = sd.compile_model(sd.load_robot(robot))
    loops = sd.closures(model, q=model.q0)
    assert loops.mobility == 1
    assert len(loops.redundant) == 1 and loops.redundant[0] in ('k/rx', 'k/ry')
    simulator = sd.Simulator(model)
    high = sd.frame(model, q=model.q0, body='plate')[2, 3]
    for _ in range(200):
        simulator.step([], 1e-3)
        assert np.abs(sd.closures(model, q=simulator.q).residual).max() < 1e-9
    T = sd.frame(model, q=simulator.q, body='plate')
    np.testing.assert_allclose(T[:3, :3], np.eye(3), atol=1e-9)
    np.testing.assert_allclose(T[:2, 3], [0.0, 0.3], atol=1e-9)
    assert T[2, 3] < high - 0.05
