# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A rod that ends in a point: radius 0 at the tip."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics import cli
from softrobot_dynamics.errors import DescriptionError
import yaml

pytestmark = pytest.mark.quick

LENGTH, RADIUS, DENSITY, MODULUS = 0.3, 0.01, 1000.0, 1e7
KAPPA = {'basis': 'legendre', 'order': 2}
OWN = {
    'pcc': lambda tip: {'radius': [RADIUS, tip]},
    'cosserat': lambda tip: {
        'section': {'type': 'circular', 'radius': [RADIUS, tip]},
        'strains': {'kappa_x': KAPPA, 'kappa_y': KAPPA},
    },
}


def robot(kind, tip):
    """Return the mapping of a cone that stands slanted, with a radius [m] at its tip."""
    common = {'length': LENGTH, 'density': DENSITY, 'young_modulus': MODULUS, 'damping': 0.1}
    body = {'type': kind, **common, **OWN[kind](tip)}
    joint = {'type': 'fixed', 'origin': {'rpy': [1.2, 0.0, 0.0]}}
    tendon = {'name': 't', 'type': 'tendon', 'path': [{'body': 'a', 'offset': [0.005, 0.0]}]}
    bodies = [{'name': 'a', 'joint': joint, 'body': body}]
    return {'name': 'cone', 'bodies': bodies, 'actuators': [tendon | {'limits': [0.0, 5.0]}]}


@pytest.mark.parametrize('kind', OWN)
def test_a_pointed_cone_is_the_limit_of_blunt_ones(kind):
    """A pointed cone has the weight of a cone, and the posture to which blunt ones converge."""
    model, blunt = (sd.compile_model(sd.load_robot(robot(kind, tip))) for tip in (0.0, 1e-6))
    rest, near = (sd.equilibrium(each, u=[0.001]) for each in (model, blunt))
    assert rest.stable and np.abs(rest.q).max() > 0.05
    assert rest.q == pytest.approx(near.q, abs=1e-3)
    bodies = {'name': 'm', 'joint': {'type': 'prismatic', 'axis': [0, 0, 1]},
              'body': robot(kind, 0.0)['bodies'][0]['body']}  # fmt: skip
    sliding = sd.compile_model(sd.load_robot({'name': 'r', 'bodies': [bodies]}))
    _, mass = sd.mass_inverse_dynamics(sliding, **dict.fromkeys(
        ('q', 'qd', 'qdd'), np.zeros(sliding.n)))  # fmt: skip
    assert mass[0, 0] == pytest.approx(DENSITY * np.pi * RADIUS**2 * LENGTH / 3.0, rel=1e-12)


@pytest.mark.parametrize('kind', OWN)
def test_the_report_of_a_pointed_cone_has_all_its_lines(kind, tmp_path, capsys):
    """Shapes, sections and the loop at the robot's rate are there without a warning."""
    (tmp_path / 'cone.yaml').write_text(yaml.safe_dump(robot(kind, 0.0)), encoding='utf-8')
    assert cli.main(['check', str(tmp_path / 'cone.yaml'), '--report']) == 0
    assert 'highest rate' in capsys.readouterr().out
    wrong = robot(kind, -0.001)
    with pytest.raises(DescriptionError, match=r'radius\[1\]: -0.001'):
        sd.load_robot(wrong | {'bodies': wrong['bodies']})
    both = robot(kind, 0.0)
    body = both['bodies'][0]['body']
    (body if kind == 'pcc' else body['section'])['radius'] = 0.0
    with pytest.raises(DescriptionError, match='> 0'):
        sd.load_robot(both)
