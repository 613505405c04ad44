# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The error of the order of a body's model in the report of `softrobot check`."""

import json

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics import cli
from softrobot_dynamics.bodies.contract import BODIES
from softrobot_dynamics.checking import discretisation_error as module
from softrobot_dynamics.checking.discretisation_error import tip_deviations

LENGTH, RADIUS, DENSITY, MODULUS = 0.2, 0.01, 1000.0, 1e8
ARC = {'type': 'pcc', 'length': LENGTH, 'radius': RADIUS, 'density': DENSITY,
       'young_modulus': MODULUS}  # fmt: skip
TENDON = {'name': 't', 'type': 'tendon', 'path': [{'body': 'b', 'offset': [0.008, 0.0]}],
          'limits': [0.0, 20.0]}  # fmt: skip


def robot(body, gravity=(9.81, 0.0, 0.0), actuators=(), turned=0.0):
    """Return a model of one body on a wall, perhaps turned about y."""
    joint = {'type': 'fixed', 'origin': {'rpy': [0.0, turned, 0.0]}}
    bodies = [{'name': 'b', 'joint': joint, 'body': body}]
    description = {'name': 'r', 'gravity': list(gravity), 'bodies': bodies}
    return sd.compile_model(sd.load_robot({**description, 'actuators': list(actuators)}))


@pytest.mark.parametrize('kind', ['pcc', 'planar_cc', 'cosserat'])
def test_the_weight_of_a_stiff_arm_bends_one_arc_too_little(kind):
    """One arc sinks by q L^4 / (12 E I), where a cantilever sinks by q L^4 / (8 E I)."""
    body = {**ARC, 'type': kind}
    if kind == 'cosserat':
        body['section'] = {'type': 'circular', 'radius': body.pop('radius')}
        body['strains'] = dict.fromkeys(('kappa_x', 'kappa_y'), {'basis': 'legendre'})
    ((name, error, worst, finer),) = tip_deviations(robot(body))
    load = DENSITY * np.pi * RADIUS**2 * 9.81
    sag = load * LENGTH**3 / (24.0 * MODULUS * np.pi / 4 * RADIUS**4)
    assert error == pytest.approx(sag, rel=1e-3) and sag < 2e-3
    assert name == 'b' and worst == 'gravity' and finer.startswith('cosserat, ')


def test_gravity_is_that_of_the_posture():
    """A hanging arm is not bent by its weight, and one that stands out from a wall is."""
    ((_, hangs, _, _),) = tip_deviations(robot(ARC, turned=np.pi / 2))
    ((_, stands, _, _),) = tip_deviations(robot(ARC))
    assert hangs < 1e-3 * stands


def test_a_tendon_along_the_axis_bends_an_arc():
    """A tendon along the axis bends a weightless rod to an arc: the finer rod differs hardly."""
    ((_, error, _, _),) = tip_deviations(robot(ARC, gravity=(0.0, 0.0, 0.0), actuators=[TENDON]))
    assert error < 1e-6


def test_a_soft_arm_is_asked_about(tmp_path, capsys):
    """The report names body, load, error and a better order, in words and as JSON."""
    soft = {**ARC, 'young_modulus': 2e5}
    bodies = [{'name': name, 'joint': {'type': 'fixed'}, 'body': soft} for name in ('one', 'two')]
    file, report = tmp_path / 'soft.yaml', tmp_path / 'report.json'
    content = {'name': 'soft', 'gravity': [9.81, 0.0, 0.0], 'bodies': bodies}
    file.write_text(json.dumps(content), encoding='utf-8')
    assert cli.main(['check', str(file), '--json', str(report)]) == 0
    found = json.loads(report.read_text(encoding='utf-8'))[str(file)]
    lines = [each for each in found if each['name'].startswith('tip of ')]
    assert [line['name'].split(' beside')[0] for line in lines] == ['tip of one', 'tip of two']
    assert all(line['value'] > 5.0 and line['unit'] == '%' for line in lines)
    assert all('should be below 5% of its length' in line['question'] for line in lines)
    said = capsys.readouterr().out
    assert 'tip of one beside cosserat, 9 coordinates, worst under gravity' in said


def test_a_finer_model_has_no_more_energy():
    """A finer model has more coordinates, and no more energy at rest under the same weight."""
    for name in ('pcc', 'planar_cc'):
        kind = BODIES.get(name)
        assert kind.finer is not BODIES.get('rigid').finer
    coarse = robot({**ARC, 'young_modulus': 1e6})
    fine = robot(coarse.description.modules[0].body.finer())
    finest = robot(fine.description.modules[0].body.finer())
    energies = []
    for model in (coarse, fine, finest):
        q = sd.equilibrium(model, u=[]).q
        energies.append(sd.elastic_energy(model, q=q) + sd.potential_energy(model, q=q))
    assert coarse.n < fine.n < finest.n
    assert energies[0] > energies[1] > energies[2]
    assert energies[1] - energies[2] < 0.01 * (energies[0] - energies[1])


def test_equal_bodies_are_examined_once(monkeypatch):
    """Equal bodies are examined once, and each is reported with its own actuators."""
    counted = []
    compared = module._compared
    monkeypatch.setattr(module, '_compared', lambda *a: counted.append(a) or compared(*a))
    bodies = [{'name': n, 'joint': {'type': 'fixed'}, 'body': ARC} for n in ('one', 'two')]
    path = [{'body': 'one', 'offset': [0.008, 0.0]}]
    tendons = [{**TENDON, 'name': 'first', 'path': path}]
    tendons.append({**TENDON, 'name': 'second', 'path': [{**path[0], 'body': 'two'}]})
    described = {'name': 'r', 'gravity': [0.0, 0.0, 9.81], 'bodies': bodies, 'actuators': tendons}
    found = list(tip_deviations(sd.compile_model(sd.load_robot(described))))
    assert len(counted) == 1 and found[0].error == found[1].error
    assert [each.worst for each in found] == ['first at 10 N', 'second at 10 N']
