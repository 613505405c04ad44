# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Parameters of position drives from held postures."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.identification.fitting import identify
from softrobot_dynamics.identification.mapping import read_mapping, read_postures
from softrobot_dynamics.identification.postures import Marker, postures
from support.servos import servo, tips_under

DRIVE = {'compliance': 2e-4, 'pretension': 20.0, 'radius': 0.01, 'offset': 0.0}
TRUTH = {'compliance': 3e-4, 'pretension': 26.0, 't1.drive.offset': 0.05, 'young_modulus': 5e5}
TIP = Marker('tip', 'arm', (0.0, 0.0, 0.2))
U = np.random.default_rng(2).uniform(-1.5, 1.5, (6, 3))


def test_compliance_pretension_and_an_offset_are_found():
    """Compliance, pretension, an offset and the modulus are found, with slack cables too."""
    robot = sd.load_robot(servo(DRIVE))
    true = sd.vary(robot, TRUTH)
    model, positions = sd.compile_model(true), tips_under(true, U)
    q = [sd.equilibrium(model, command=u).q for u in U]
    assert min(sd.efforts(model, q=a, command=u).min() for a, u in zip(q, U)) == 0.0
    fit = ['compliance', 'pretension', 't1.drive.offset=-0.5..0.5', 'young_modulus']
    found = identify(robot, postures(robot, U, [TIP], positions), fit, loss='linear')
    got = {e.name: e.value for e in found.estimates}
    assert got == pytest.approx({name: TRUTH[name] for name in got}, rel=1e-4)
    assert not found.unidentifiable and found.rms < 1e-8


def test_columns_have_the_unit_of_the_command(tmp_path):
    """Columns are in units of the command, such as degrees; newtons are refused."""
    robot = sd.load_robot(servo(DRIVE))
    table, mapping = tmp_path / 'held.csv', tmp_path / 'held.yaml'
    table.write_text('phi,x,y,z\n90.0,0,0,0.2\n', encoding='utf-8')
    text = """
commands: {t1: {column: phi, unit: UNIT}}
markers: [{body: arm, point: [0, 0, 0.2], columns: [x, y, z]}]
"""
    mapping.write_text(text.replace('UNIT', 'deg'), encoding='utf-8')
    found = read_postures(robot, table, read_mapping(mapping))
    assert found.commands[0] == pytest.approx([0.0, 0.5 * np.pi, 0.0])
    mapping.write_text(text.replace('UNIT', 'mN'), encoding='utf-8')
    with pytest.raises(ArgumentError, match=r'commands\.t1\.unit.*rad, deg'):
        read_postures(robot, table, read_mapping(mapping))
