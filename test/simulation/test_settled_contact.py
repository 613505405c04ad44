# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Steps are counted as unsettled where, and only where, their forces miss the law of contact."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.simulation.integrators import exponential
from support.contact_residual import law_missed
from support.contacts import arm, GRAVITY, thing, world

FLOOR = {'name': 'floor', 'type': 'plane'}
RIGHT, WRONG = 0.9e-2, 1.1e-2  # on the sides of the 1 % from which steps are counted
STEPS = 100


def stack(stiffness, count=10):
    """Return the model of cubes of 0.1 kg on each other."""
    cube = {'type': 'box', 'edges': [0.1, 0.1, 0.1], 'stiffness': stiffness}
    boxes = [thing(f'b{i}', cube, (0, 0, 0.05 + 0.1 * i), 0.1) for i in range(count)]
    return world(boxes, [FLOOR])


def bricks(stiffness, mass):
    """Return the model of a wall of bricks, three and two in a row, that fall into place."""
    brick = {'type': 'box', 'edges': [0.2, 0.1, 0.06], 'stiffness': stiffness, 'friction': 0.6}
    places = [
        (0.205 * (column - 1) + 0.1025 * (row % 2), 0.0, 0.0301 + 0.0601 * row)
        for row in range(4)
        for column in range(3 - row % 2)
    ]
    return world([thing(f'b{i}', brick, place, mass) for i, place in enumerate(places)], [FLOOR])


def pile(kinds, stiffness=None):
    """Return the model of nine spheres, capsules or cylinders that fall on each other."""
    random, things = np.random.default_rng(0), []
    for i in range(9):
        axis = random.normal(size=3)
        axis *= 0.05 / np.linalg.norm(axis)
        shape = {'type': kinds[i % len(kinds)], 'radius': 0.03}
        if shape['type'] != 'sphere':
            shape |= {'start': (-axis).tolist(), 'end': axis.tolist()}
        if stiffness is not None:
            shape['stiffness'] = stiffness
        place = (*random.uniform(-0.03, 0.03, 2), 0.1 + 0.17 * i)
        things.append(thing(f'o{i}', shape, place, 0.3))
    return world(things, [FLOOR])


def cable():
    """Return the model of a cable of 20 bodies that falls over a hard peg."""
    body = {
        'type': 'planar_cc', 'length': 0.025, 'radius': 5e-3, 'density': 1000.0,
        'young_modulus': 4e6, 'damping': 0.1,
    }  # fmt: skip
    shape = {'type': 'rod', 'friction': 0.4, 'stiffness': 1e6}
    bodies = [
        {'name': f'b{i}', 'joint': {'type': 'fixed'}, 'body': body, 'collision': shape}
        for i in range(20)
    ]
    peg = {'name': 'peg', 'type': 'cylinder', 'radius': 0.03, 'friction': 0.4}
    peg |= {'start': [0.08, -0.1, 0.25], 'end': [0.08, 0.1, 0.25]}
    robot = {'name': 'cable', 'gravity': [GRAVITY, 0, 0], 'bodies': bodies}
    return sd.compile_model(sd.load_robot({**robot, 'environment': [peg]}))


def beside_wall():
    """Return the model of an arm that is pulled against a rough wall."""
    wall = {'name': 'wall', 'type': 'plane', 'point': [0.03, 0, 0], 'normal': [-1, 0, 0]}
    return arm([{**wall, 'friction': 0.8, 'stiffness': 1e6}], friction=0.8)


def in_tube():
    """Return the model of an arm in a narrow tube that it is pulled against."""
    tube = {'name': 'tube', 'type': 'tube', 'start': [0, 0, -0.1], 'end': [0, 0, 0.9]}
    return arm([{**tube, 'radius': 0.024, 'friction': 0.6, 'stiffness': 1e6}], friction=0.6)


def grasp():
    """Return the model of the hand of lift_ball."""
    files = shipped('scenes')
    robot = sd.load_robot(str(files['lift_ball.robot']))
    return sd.compile_model(sd.surround(robot, str(files['lift_ball.surroundings'])))


SCENES = {
    'stack': (lambda: stack(1e7), 1e-2, 0.0),
    'hard stack': (lambda: stack(1e9), 1e-3, 0.0),
    'hardest bricks': (lambda: bricks(1e10, 2.0), 1e-3, 0.0),
    'pile': (lambda: pile(['sphere', 'capsule', 'cylinder']), 1e-2, 0.0),
    'hard cylinders': (lambda: pile(['cylinder'], 1e7), 5e-3, 0.0),
    'cable on a peg': (cable, 2e-3, 0.0),
    'arm on a wall': (beside_wall, 2e-3, 12.0),
    'arm in a tube': (in_tube, 5e-3, 15.0),
    'grasp': (grasp, 2e-3, 6.0),
}


def judged(monkeypatch, model, dt, u, steps=STEPS):
    """Return the simulator after steps, by how much each missed the law, and if it counted."""
    kept, system_of = [], exponential.system_of
    monkeypatch.setattr(
        exponential, 'system_of', lambda model: kept.append(system_of(model)) or kept[-1]
    )
    simulator = sd.Simulator(model, substep=dt)
    command = [0.0 if name == 'lift' else u for name in model.actuator_names]
    missed, counted = [], []
    for _ in range(steps):
        before, unsettled, parts = simulator.q.copy(), simulator.unsettled, simulator.substeps
        simulator.step(command, dt)
        if simulator.substeps == parts + 1:  # else it met a stop of a joint on the way
            missed.append(law_missed(simulator, kept[-1], before, dt))
            counted.append(simulator.unsettled > unsettled)
    return simulator, np.array(missed), np.array(counted)


@pytest.mark.filterwarnings('ignore:forces of contact missed')
@pytest.mark.parametrize('scene', SCENES)
def test_steps_have_their_law_or_are_counted(monkeypatch, scene):
    """By dense linear algebra forces are right to 1 % in all steps but those that are counted."""
    make, dt, u = SCENES[scene]
    _, missed, counted = judged(monkeypatch, make(), dt, u)
    assert (missed > 0.0).sum() >= 20  # it does touch
    assert missed[~counted].max() < WRONG
    assert (missed[counted] > RIGHT).all()
    assert counted.sum() <= 2


@pytest.mark.filterwarnings('ignore:forces of contact missed')
def test_bricks_too_hard_for_their_step_are_counted_and_stay_where_they_are(monkeypatch):
    """Where many steps have no solution to 1 %, each is counted, and no brick is thrown."""
    simulator, missed, counted = judged(monkeypatch, bricks(1e10, 2.0), 5e-3, 0.0)
    assert counted.sum() >= 10
    assert missed[~counted].max() < WRONG
    assert (missed[counted] > RIGHT).all()
    assert np.abs(simulator.qd).max() < 0.1
    assert np.abs(simulator.q[1:].reshape(-1, 6)[:, 3:]).max() < 1e-2  # rad
