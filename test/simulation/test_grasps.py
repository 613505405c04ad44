# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Soft fingers that hold and lift several objects at once, by friction."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.simulation.integrators import exponential
from support.contact_residual import law_missed
from support.contacts import GRAVITY, thing

MU, TOP, RISE, STEP = 0.9, 0.23, 0.06, 2e-3  # -, m (z is down), m, s
PALM, CIRCLE = 0.08, 0.035  # m
MASSES = {'a': 0.02, 'b': 0.03}  # kg


def fingers(name, x, length):
    """Return the modules of three fingers about a place across the slide, and their tendons."""
    body = {'type': 'pcc', 'length': length, 'radius': [0.011, 0.008], 'density': 1070.0,
            'young_modulus': 6e5, 'poisson_ratio': 0.5, 'damping': 0.05}  # fmt: skip
    modules, tendons = [], []
    for i, angle in enumerate(2.0 * np.pi / 3.0 * np.arange(3)):
        place = [x + CIRCLE * np.cos(angle), CIRCLE * np.sin(angle), PALM]
        joint = {'type': 'fixed', 'origin': {'xyz': place, 'rpy': [0.0, 0.0, angle + np.pi]}}
        finger = {'name': f'{name}{i}', 'parent': 'slide', 'joint': joint, 'body': body}
        modules.append({**finger, 'collision': {'type': 'rod', 'friction': MU}})
        path = [{'body': finger['name'], 'offset': {'radius': 0.0065, 'phase': 0.0}}]
        tendons.append({'name': finger['name'], 'type': 'tendon', 'path': path})
    return modules, tendons


def ball(name, radius, x, height):
    """Return a ball whose lowest place is so high above where it lies."""
    shape = {'type': 'sphere', 'radius': radius, 'friction': MU}
    return thing(name, shape, (x, 0.0, TOP - radius - height), MASSES[name])


def lifting(hands, balls, pedestals):
    """Return the model of hands on one slide above balls on pedestals, z down."""
    slide = {'name': 'slide', 'joint': {'type': 'prismatic', 'axis': [0, 0, -1], 'damping': 40.0},
             'body': {'type': 'rigid', 'mass': 0.5}}  # fmt: skip
    modules, actuators = [slide], [{'name': 'lift', 'type': 'joint', 'joint': 'slide'}]
    for hand in hands:
        own, tendons = fingers(*hand)
        modules, actuators = modules + own, actuators + tendons
    under = [
        {'name': f'under{i}', 'type': 'cylinder', 'start': [x, 0, TOP], 'end': [x, 0, TOP + 0.1],
         'radius': 0.01, 'friction': 0.6}
        for i, x in enumerate(pedestals)
    ]  # fmt: skip
    return sd.compile_model(
        sd.load_robot({'name': 'lifting', 'gravity': [0, 0, GRAVITY], 'bodies': modules,
                       'actuators': actuators, 'objects': balls, 'environment': under})
    )  # fmt: skip


def two_hands():
    """Return a hand on each of two balls."""
    balls = [ball('a', 0.024, -0.08, 0.0), ball('b', 0.02, 0.08, 0.0)]
    return lifting([('l', -0.08, 0.14), ('r', 0.08, 0.14)], balls, [-0.08, 0.08])


def one_hand():
    """Return a hand of longer fingers about two balls, one on the other."""
    balls = [ball('a', 0.018, 0.0, 0.0), ball('b', 0.022, 0.0, 0.036)]
    return lifting([('f', 0.0, 0.165)], balls, [0.0])


def lifted(simulator, until, then):
    """Close the fingers in 1 s, lift in another; call ``then`` before each step after that."""
    model, weight = simulator.model, 0.0
    for module in model.description.modules:
        weight += GRAVITY * float(module.body.material_points()[1].sum())
    for step in range(round(until / STEP)):
        t = step * STEP
        share = np.clip(t - 1.0, 0.0, 1.0)
        place = RISE * share * share * (3.0 - 2.0 * share)
        if t >= 2.0:
            then(t)
        lift = weight + 400.0 * (place - simulator.q[0])
        simulator.step([lift] + [3.0 * min(1.0, 1.5 * t)] * (model.m - 1), STEP)


@pytest.mark.parametrize('scene', [two_hands, one_hand])
def test_two_objects_are_held_at_once(monkeypatch, scene):
    """In the air forces of contact on each are its weight, within the cones, and nothing slips."""
    systems, system_of = [], exponential.system_of
    monkeypatch.setattr(
        exponential, 'system_of', lambda model: systems.append(system_of(model)) or systems[-1]
    )
    model = scene()
    simulator = sd.Simulator(model, substep=STEP)
    start, states = simulator.q.copy(), []
    lifted(simulator, 3.5, lambda t: states.append(simulator.q.copy()))
    assert law_missed(simulator, systems[-1], states[-1], STEP) < 1e-6
    assert simulator.unsettled == 0
    assert simulator.q[0] == pytest.approx(RISE, abs=1e-3)
    assert np.abs(simulator.qd).max() < 1e-5
    contact, plan = simulator.contact, model.contact_plan
    for name, mass in MASSES.items():
        here = [model.coordinate_names.index(f'{name}/{c}') for c in ('x', 'y', 'z')]
        assert start[here[2]] - simulator.q[here[2]] > 0.8 * RISE
        late = np.array(states[len(states) // 2 :])[:, here[0] : here[0] + 6]
        assert np.ptp(late, axis=0).max() < 1e-6  # m, rad
        force, moment, others = np.zeros(3), np.zeros(3), set()
        for i in np.flatnonzero(contact.force > 0.0):
            if name not in plan.names[i]:
                continue
            first, second = plan.names[i]
            push = contact.pushes[i] if first == name else -contact.pushes[i]
            along = abs(push @ contact.normal[i])
            assert np.linalg.norm(push - push @ contact.normal[i] * contact.normal[i]) < MU * along
            force, moment = force + push, moment + np.cross(contact.point[i], push)
            others.add(second if first == name else first)
        assert len(others) == 3 and not others & {'under0', 'under1', *MASSES}
        weight = np.array([0.0, 0.0, mass * GRAVITY])
        np.testing.assert_allclose(force, -weight, atol=1e-6 * weight[2])
        centre = simulator.q[here]
        np.testing.assert_allclose(moment, np.cross(centre, force), atol=1e-8 * weight[2])
