# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Points of the skin of a body of volume in contact."""

import numpy as np
import pytest
import softrobot_dynamics as sd

LENGTH, RADIUS, MODULUS = 0.1, 0.02, 2e5
BODY = {
    'type': 'lvp',
    'length': LENGTH,
    'outer_radius': RADIUS,
    'density': 960.0,
    'material': {'type': 'incompressible_neo_hookean', 'modulus': MODULUS, 'damping': 0.05},
    'modes': {'stretch': [[1.0]]},
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
    found = sd.equilibrium(model, u=[], q0=[stretch - 1.0 - 0.01])
    touching = sd.contacts(model, q=found.q)
    area = np.pi * RADIUS**2
    radius = module.shapes[0].elements(module.body)[0].radius
    ratio = (stretch * LENGTH - radius) / (LENGTH - radius)  # its spheres do not deform
    lever = LENGTH / (LENGTH - radius)  # points that are pressed move by less than the end
    expected = 2.0 * MODULUS * area * (ratio**-2 - ratio) * lever
    assert touching.force.sum() == pytest.approx(expected, rel=2e-3)
    assert len(touching.gap) > 5
    assert {b for _, b in touching.bodies} == {'plate'}
