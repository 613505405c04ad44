# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Closed loops scale with a robot's size if gains, period and reference do."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.offline.closed_loop import closed_loop
from softrobot_dynamics.references.piecewise import reaching
from softrobot_dynamics.schema.yaml_files import read_yaml
from support.scaled import law_of, model_of, rigid_arm, Scale, SIZES, tips

FEW = SIZES[1], SIZES[6], SIZES[7]
"""1 mm of 1 MPa and of 1 kPa, 100 m of 200 GPa; laws with longer periods do more in each tick."""
ROBOTS = {
    'pfbl': (read_yaml(shipped('robots')['pcc_arm'])[0], 400.0, 40.0),
    'pd_plus': (rigid_arm(), 100.0, 20.0),
    'computed_torque': (rigid_arm(), 100.0, 20.0),
}


def run(law, scale):
    """Return tips and efforts of a loop that comes to other outputs, in the robot's units."""
    robot, p, d = ROBOTS[law]
    model, T = model_of(robot, scale), scale.time
    unit = scale.force if law == 'pfbl' else scale.moment
    other = np.array([0.5, -0.3]) if law != 'pfbl' else None
    q0 = sd.equilibrium(model, u=np.zeros(model.m)).q
    if other is None:
        q = sd.equilibrium(model, u=np.array([1, 0, 0, 0, 0.6, 0, 0, 0, 0.3]) * scale.force).q
    else:
        q = q0 + other
    begin, end = (sd.actuation(model, q=x, qd=0.0 * x).coordinates for x in (q0, q))
    found = closed_loop(
        model,
        law_of(model, law, 1e-3 * T, p / T**2, d / T),
        reaching(np.array([begin, 0.0 * begin, 0.0 * begin]), end, 0.08 * T),
        0.1 * T,
        start=sd.Start(q=q0, u=np.zeros(model.m)),
        plant=sd.Plant(substep=5e-4 * T),
        progress=lambda *_: None,
    )
    assert found.ok.all()
    places = [tips(model, scale, q)[-1, :3].ravel() for q in found.q[::20]]
    return np.hstack([places, found.u[::20] / unit])


@pytest.mark.parametrize('law', ROBOTS)
@pytest.mark.parametrize('scale', FEW, ids=str)
def test_a_loop_is_the_scaled_one(law, scale):
    """A scaled robot's closed loop has the dimensionless numbers of that of 1 m, for 0.1 s."""
    np.testing.assert_allclose(run(law, scale), run(law, Scale()), atol=1e-6)
