# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Shapes at rest of rods whose higher modes move no tip while the rod is straight."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from support.scaled import model_of, rod, Scale

pytestmark = pytest.mark.quick

SCALES = (Scale(), Scale(length=1e-3, modulus=2e5, density=8.0), Scale(length=1e2, modulus=1e-3))


@pytest.mark.parametrize('push', [0.0, 0.5])
@pytest.mark.parametrize('scale', SCALES)
def test_the_shape_of_a_rod_is_drawn_to_where_its_tip_is_seen(scale, push):
    """A rod that is pulled twice as much as is known, or pushed, is found within the noise."""
    model = model_of(rod(), scale)
    body, units = model.body_names[-1], model.scales.units
    u = np.array([2.0, 0.3, 0.0]) * scale.moment / scale.length
    wrench = sd.Wrench([0.0, 0.0, 0.0, 0.0, push * scale.force, 0.0], frame='base')
    more = 1.0 if push else 2.0
    wanted = sd.equilibrium(model, u=more * u, wrenches={body: wrench}).q
    seen = sd.frame(model, q=wanted)
    noise = {'position_noise': 1e-3 * scale.length, 'orientation_noise': 0.01}
    camera = {'name': 'camera', 'type': 'pose', 'body': body, **noise}
    disturbance = {'force': scale.force, 'moment': 0.02 * scale.moment}
    fit = sd.ShapeFit(model, {'sensors': [camera], 'disturbance': disturbance})
    found = fit({'camera': seen}, u=u)
    off = sd.frame(model, q=found.q)[:3, 3] - seen[:3, 3]
    assert np.linalg.norm(off) < 0.2e-3 * scale.length
    assert np.linalg.norm(sd.frame(model, q=model.q0)[:3, 3] - seen[:3, 3]) > 0.01 * scale.length
    deviations = np.sqrt(np.diag(found.covariance)) / units
    assert (np.abs(found.q - wanted) / units < deviations).all()
    assert (deviations > 1e-5).all() and (deviations < 0.05).all()
    assert found.square < 1.0
