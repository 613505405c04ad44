# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Choice of strains, orders and parameters by cross-validation over postures."""

import json

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics import cli
from softrobot_dynamics.errors import ArgumentError, UnknownNameError
from softrobot_dynamics.identification.fitting import identify
from softrobot_dynamics.identification.model_selection import choose
from softrobot_dynamics.identification.strains import read_strains, with_strains
from support.pulled_rods import BENDING, described, held, rod

ALONE = np.array([[0.6, 0.0, 0.0], [1.1, 0.0, 0.0], [0.0, 0.7, 0.0], [0.0, 1.2, 0.0]])
TOGETHER = np.array([[2.0, 2.4, 0.0], [3.0, 2.5, 0.0]])


def chosen(robot, data, texts):
    """Return the choice among the modulus and strains of these texts."""
    found = identify(robot, data, ['young_modulus'], loss='linear')
    return choose(found, strains=read_strains(robot, texts), loss='linear')


def unseen(robot, data, there):
    """Return the error [m] on other postures of a robot fitted to these."""
    found = identify(robot, data, ['young_modulus'], loss='linear')
    model, off = sd.compile_model(found.robot), []
    for u, seen in zip(there.commands, there.positions):
        tip = sd.forward_kinematics(model, q=sd.equilibrium(model, u=u).q)[-1][:3, 3]
        off.append(np.linalg.norm(tip - seen[-1]))
    return float(np.sqrt(np.mean(np.square(off))))


def test_a_relevant_strain_is_chosen():
    """A strain that single tendons hardly show is chosen, and predicts the pull of both."""
    true = rod(4e5, (*BENDING, 'gamma_z'))
    data = held(true, ALONE, noise=1e-3)
    choice = chosen(rod(5e5), data, ['rod.gamma_z', 'rod.kappa_z'])
    assert choice.names == ('rod.gamma_z=0', 'young_modulus')
    assert choice.numbers == ('young_modulus',) and len(choice.errors) == 2
    there = held(true, TOGETHER)
    assert unseen(choice.description, data, there) < 0.1 * unseen(rod(5e5), data, there)


def test_strains_of_a_stiff_rod_are_not_chosen():
    """Further strains of a stiff rod, which nothing shows, are not chosen."""
    data = held(rod(1e8, (*BENDING, 'gamma_z')), 5.0 * ALONE, noise=1e-4)
    assert chosen(rod(2e8), data, ['gamma_z', 'kappa_z']).names == ('young_modulus',)


def test_an_order_is_raised_where_postures_show_it():
    """A winding tendon, which bends a rod unevenly, raises the order of the strain."""
    true = rod(4e5, order=1)
    pulls = np.array([[0.0, 0.0, t] for t in (0.4, 0.7, 1.0, 1.3)])
    data = held(true, pulls, noise=1e-5)
    choice = chosen(rod(5e5), data, ['kappa_x=2', 'kappa_y=2'])
    assert {'kappa_x=1', 'kappa_y=1'} <= set(choice.names)
    assert not {'kappa_x=2', 'kappa_y=2'} & set(choice.names)
    orders = dict(choice.description.modules[0].body.strains)
    assert [orders[c].order for c in (0, 1)] == [1, 1]


@pytest.mark.parametrize(('text', 'error', 'words'), [
    ('arm.gamma_z', UnknownNameError, 'rod'),
    ('gamma_z=first', ArgumentError, 'highest order'),
    ('rod.gamma_z=-1', ArgumentError, 'highest order'),
])  # fmt: skip
def test_wrong_strains_are_refused(text, error, words):
    """A wrong strain is refused with what would be right."""
    with pytest.raises(error, match=words):
        read_strains(rod(), [text])


def test_only_rods_that_a_file_writes_by_strains_have_them_chosen():
    """A `pcc` body is refused with the advice to write it as `cosserat`."""
    with pytest.raises(ArgumentError, match='cosserat'):
        read_strains(rod(kind='pcc'), ['gamma_x'])


def test_no_more_than_the_order_wanted_is_added():
    """Model selection adds no more than the wanted order, and keeps the orders of the file."""
    robot = rod(order=1)
    (strain,) = read_strains(robot, ['kappa_x=3'])
    body = with_strains(robot, {strain: 0}).modules[0].body
    assert body.coordinates() == robot.modules[0].body.coordinates()


def test_the_command_asks_chooses_and_writes_the_strain(tmp_path, capsys):
    """The command asks about a missing strain, then chooses it and writes it to the file."""
    data = held(rod(4e5, (*BENDING, 'gamma_z')), ALONE, noise=5e-4)
    file, table, mapping, out = (tmp_path / n for n in ('r.yaml', 't.csv', 'm.yaml', 'o.yaml'))
    file.write_text(json.dumps(described(5e5)), encoding='utf-8')
    lines = ['right,left,x,y,z'] + [
        ','.join(map(str, [*u[:2], *p[1]])) for u, p in zip(data.commands, data.positions)
    ]
    table.write_text('\n'.join(lines), encoding='utf-8')
    marker = '{name: tip, body: rod, point: [0, 0, 0.2], columns: [x, y, z]}'
    commands = '{right: {column: right}, left: {column: left}}'
    mapping.write_text(f'commands: {commands}\nmarkers: [{marker}]\n', encoding='utf-8')
    given = ['identify', str(file), str(table), '--mapping', str(mapping), '--loss', 'linear']
    assert cli.main([*given, '--fit', 'young_modulus']) == 0
    said = capsys.readouterr().out
    assert '? rod leaves out gamma_z' in said and 'on left it would shorten' in said
    fit = ['--choose', '--fit', 'young_modulus,rod.gamma_z=0', '--output', str(out)]
    assert cli.main([*given, *fit]) == 0
    said = capsys.readouterr().out
    assert 'rod.gamma_z=0, young_modulus' in said and 'leaves out gamma_z' not in said
    body = sd.load_robot(str(out)).modules[0].body
    assert 'gamma_z_0' in body.coordinates() and body.young_modulus == pytest.approx(4e5, rel=0.1)
    assert cli.main([*given, '--fit', 'young_modulus,rod.gamma_z']) == 2
    assert '--choose' in capsys.readouterr().err
