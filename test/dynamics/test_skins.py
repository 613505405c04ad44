# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Points of the skin of a body of volume in contact."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from support.cylinders import ROD

LENGTH, RADIUS, MODULUS = 0.1, 0.02, 2e5
BODY = {
    'type': 'lvp',
    'length': LENGTH,
    'outer_radius': RADIUS,
    'density': 960.0,
    'material': {'type': 'incompressible_neo_hookean', 'modulus': MODULUS, 'damping': 0.05},
    'modes': ROD,
    'quadrature': {'axial': 4, 'radial': 2, 'angular': 8},
}


def pressed(height):
    """Return the model of an upright cylinder below a plate at a height [m]."""
    module = {'name': 'c', 'joint': {'type': 'fixed'}, 'body': BODY, 'collision': {'type': 'skin'}}
    plate = {'name': 'plate', 'type': 'plane', 'point': [0, 0, height], 'normal': [0, 0, -1]}
    around = {'gravity': [0, 0, 0], 'environment': [{**plate, 'stiffness': 1e7, 'friction': 0.0}]}
    return sd.compile_model(sd.load_robot({'name': 'r', 'bodies': [module], **around}))


@pytest.mark.parametrize('stretch', [0.95, 0.8])
def test_a_volume_pressed_between_plates_pushes_back_as_rubber_does(stretch):
    """The force is that of a neo-Hookean cylinder, 2 C A (1 / stretch^2 - stretch)."""
    model = pressed(stretch * LENGTH)
    module = model.description.modules[0]
    found = sd.equilibrium(model, u=[], q0=[stretch - 1.0 - 0.01, 0.0, 0.0])
    touching = sd.contacts(model, q=found.q)
    area = np.pi * RADIUS**2
    radius = module.shapes[0].elements(module.body)[0].radius
    ratio = (stretch * LENGTH - radius) / (LENGTH - radius)  # its spheres do not deform
    lever = LENGTH / (LENGTH - radius)  # points that are pressed move by less than the end
    expected = 2.0 * MODULUS * area * (ratio**-2 - ratio) * lever
    assert touching.force.sum() == pytest.approx(expected, rel=2e-3)
    assert len(touching.gap) > 5
    assert {b for _, b in touching.bodies} == {'plate'}


SURFACE = {'type': 'skin', 'points': 60, 'friction': 0.0, 'stiffness': 4e3}
BENT = {**BODY, 'modes': 'table_4'}
POSTURE = np.array([0.2, 0.2, 4.0, -0.15, 0.5, 1.0, 0.02, -0.03])
DEEP = 5e-4  # m


def around(environment):
    """Return the model of a bent cylinder of rubber with a skin in an environment."""
    module = {'name': 'c', 'joint': {'type': 'fixed'}, 'body': BENT, 'collision': SURFACE}
    rest = {'gravity': [0, 0, 0], 'environment': environment}
    return sd.compile_model(sd.load_robot({'name': 'r', 'bodies': [module], **rest}))


def obstacles(centres, radius):
    """Yield obstacles that spheres overlap, and their distance (K,) from places (K, 3)."""
    middle = centres.mean(axis=0)

    def most(*way):
        return centres[np.argmax(centres @ way)]

    way = np.array([-0.8, 0.0, 0.6])
    height = (centres @ way).min() - radius + DEEP
    yield (
        {
            'name': 'plane',
            'type': 'plane',
            'point': (height * way).tolist(),
            'normal': way.tolist(),
        },
        lambda x: x @ way - height,
    )
    ball = most(-1.0, 0.0, 0.0) - [0.03 + radius - DEEP, 0.0, 0.0]
    yield (
        {'name': 'sphere', 'type': 'sphere', 'centre': ball.tolist(), 'radius': 0.03},
        lambda x: np.linalg.norm(x - ball, axis=1) - 0.03,
    )
    half = np.array([0.02, 0.01, 0.015])
    box = most(0.0, 1.0, 0.0) + [0.0, half[1] + radius - DEEP, 0.0]

    def from_box(x):
        off = np.abs(x - box) - half
        return np.linalg.norm(np.maximum(off, 0.0), axis=1) + np.minimum(off.max(axis=1), 0.0)

    yield (
        {
            'name': 'box',
            'type': 'box',
            'edges': (2 * half).tolist(),
            'pose': {'xyz': box.tolist()},
        },
        from_box,
    )
    inner = np.linalg.norm((centres - middle)[:, :2], axis=1).max() + radius - DEEP
    ends = [[*middle[:2], middle[2] + z] for z in (-0.2, 0.2)]
    yield (
        {'name': 'tube', 'type': 'tube', 'start': ends[0], 'end': ends[1], 'radius': inner},
        lambda x: inner - np.linalg.norm((x - middle)[:, :2], axis=1),
    )


def test_forces_on_a_skin_are_derivatives_of_the_energy_of_its_springs():
    """Forces of a plane, sphere, box and tube on a skin are derivatives of its springs' energy."""
    bare = around([{'name': 'far', 'type': 'plane', 'point': [0.0, 0.0, -9.0]}])
    module = bare.description.modules[0]
    elements = module.shapes[0].elements(module.body)
    inner, radius = np.array([e.points[0] for e in elements]), elements[0].radius

    def places(q):
        return sd.material_points(bare, q=q, body='c', points=inner).positions

    rows, distances = zip(*obstacles(places(POSTURE), radius))
    model = around([{**row, 'friction': 0.0} for row in rows])
    found = sd.contacts(model, q=POSTURE)

    def energy(q):
        gaps = np.concatenate([distance(places(q)) - radius for distance in distances])
        return 0.5 * SURFACE['stiffness'] * (np.minimum(gaps, 0.0) ** 2).sum()

    for row, distance in zip(rows, distances):
        own = np.sort(distance(places(POSTURE)) - radius)
        theirs = [g for g, b in zip(found.gap, found.bodies) if row['name'] in b and g < 0.0]
        assert len(theirs) > 0
        np.testing.assert_allclose(theirs, own[own < 0.0], atol=1e-12)
    steps = 1e-6 * np.where(np.abs(POSTURE) < 0.3, 1.0, 10.0)
    slopes = [
        (energy(POSTURE - e) - energy(POSTURE + e)) / (2.0 * e.max()) for e in np.diag(steps)
    ]
    scale = np.abs(slopes).max()
    np.testing.assert_allclose(found.generalized_force, slopes, atol=1e-6 * scale)
