# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot identify` reads tables and writes a report, JSON, a picture and a robot file."""

import json

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics import cli
from softrobot_dynamics.cli import identification_report
from softrobot_dynamics.cli.identification_report import lines_of
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.errors import ArgumentError, DescriptionError, UnknownNameError
from softrobot_dynamics.identification.mapping import read_mapping, read_postures
from softrobot_dynamics.identification.robot_files import require_writable, write_fitted
from support.robots import compiled

MAPPING = """
commands:
  t1: {column: first, unit: mN}
  t5: {column: second}
markers:
  - {name: tip, body: segment3, point: [0, 0, 0.2], columns: [x, y, z], unit: mm}
frame: world
name: posture
"""


@pytest.fixture
def files(tmp_path):
    """Write a mapping and a table of the true arm, some of whose modulus is lost; return both."""
    model = sd.compile_model(sd.vary(compiled('pcc_arm').description, {'young_modulus': 4.5e5}))
    lines = ['posture,first,second,x,y,z,note']
    for k, tension in enumerate(np.linspace(1.0, 8.0, 4)):
        u = np.zeros(9)
        u[0], u[4] = tension, 2.0
        q = sd.equilibrium(model, u=u).q
        T = model.description.base.matrix()
        tip = T[:3, :3] @ sd.forward_kinematics(model, q=q)[-1][:3, 3] + T[:3, 3]
        where = ','.join(f'{1e3 * v!r}' for v in tip.tolist())
        lines.append(f'p{k},{1e3 * tension},2.0,{where},held')
    table, mapping = tmp_path / 'held.csv', tmp_path / 'mapping.yaml'
    table.write_text('\n'.join([*lines, 'lost,0,0,,,,']), encoding='utf-8')
    mapping.write_text(MAPPING, encoding='utf-8')
    return table, mapping


def test_the_command_finds_and_writes_the_truth(files, tmp_path, capsys):
    """The command finds the true values and writes them with their origin into the file."""
    pytest.importorskip('matplotlib')
    table, mapping = files
    out = {name: tmp_path / name for name in ('fitted.yaml', 'found.json', 'residuals.png')}
    arguments = ['identify', 'pcc_arm', str(table), '--mapping', str(mapping)]
    arguments += [
        '--fit',
        'young_modulus',
        '--cross-validate',
        '--output',
        str(out['fitted.yaml']),
    ]
    arguments += ['--json', str(out['found.json']), '--picture', str(out['residuals.png'])]
    assert cli.main(arguments) == 0
    assert 'young_modulus 4.5e+05' in capsys.readouterr().out
    found = json.loads(out['found.json'].read_text())
    assert found['estimates'][0]['value'] == pytest.approx(4.5e5, rel=1e-6)
    assert found['cross_validation']['rms'] < 1e-6 < 1e-4 < found['rms_before']
    assert out['residuals.png'].stat().st_size > 10_000
    robot = sd.load_robot(str(out['fitted.yaml']))
    assert [m.body.young_modulus for m in robot.modules] == pytest.approx([4.5e5] * 3)
    before = shipped('robots')['pcc_arm'].read_text().splitlines()
    after = out['fitted.yaml'].read_text().splitlines()
    head = [line for line in after if line.startswith('# pcc_arm with numbers fitted')]
    assert head and 'held.csv, 5 postures' in head[0]
    kept = after[len(after) - len(before) :]
    changed = [(a, b) for a, b in zip(before, kept) if a != b]
    assert len(changed) == 1 and '6.0e+5  ' in changed[0][0] and '# Pa' in changed[0][1]


def test_tables_are_read_in_their_units(files):
    """Tables are read in their units and frame; an empty cell is a marker that was not seen."""
    table, mapping = files
    robot = compiled('pcc_arm').description
    data = read_postures(robot, table, read_mapping(mapping))
    assert data.names == ('p0', 'p1', 'p2', 'p3', 'lost')
    assert data.commands[3, [0, 4]].tolist() == [8.0, 2.0] and data.commands.sum() == 26.0
    assert 0.4 < data.positions[0, 0, 2] < 0.7 and np.isnan(data.positions[4]).all()


@pytest.mark.quick
def test_a_fit_is_reported():
    """The report has errors in mm before and after, factors, bounds and what is not shown."""
    number = {'name': 'density', 'value': 1.2, 'lower': 1.1, 'upper': 1.3, 'factor': True}
    summary = {
        'kind': 'postures',
        'estimates': [{**number, 'at_bound': True}, {**number, 'name': 'damping', 'lower': None}],
        'unidentifiable': ['damping'],
        'rms': 1.9e-3,
        'rms_of_markers': {'tip': 2e-3},
        'rms_of_all_markers': [2e-3, 3e-3],
        'rms_of_coordinates': {},
        'rms_before': 3.1e-3,
        'choice': {'names': ['density']},
        'cross_validation': {
            'rms': 2.5e-3,
            'rms_of_all_markers': 2.5e-3,
            'intervals': {'density': [1.0, 1.4]},
        },
        'suggested': [{'t1': 2.0, 't2': 0.0}],
    }
    assert lines_of(summary) == [
        'density ×1.2, 95 % ×1.1 to ×1.3, at its bound',
        'damping: these postures do not determine it',
        'not determined by these postures: damping',
        'markers are off by 2 mm rms, 3 mm with the robot file',
        'worth fitting, by postures left out: density',
        'on postures left out: 2.5 mm rms; intervals from them',
        '  density 1 to 1.4',
        'hold next: t1 2, t2 0',
    ]
    more = {'kind': 'motion', 'rms_of_markers': {}, 'rms_of_coordinates': {'elbow': (0.1, 0.2)}}
    lines = lines_of({**summary, **more})
    assert 'damping: this motion does not determine it' in lines
    assert 'elbow is off by 0.1 rms, 0.2 with the robot file' in lines
    assert 'on blocks of time left out: 0.0025 rms; intervals from them' in lines


@pytest.mark.parametrize(('old', 'new', 'words'), [
    ('first,', '1st,', 'column.*first'), ('p1,', 'p1,x', 'row 2, column first'),
    ('p2,', 'p2,nan', 'row 3'), ('posture,', 'first,', 'once'),
])  # fmt: skip
def test_wrong_tables_are_refused(files, old, new, words):
    """A wrong table is refused with line and column."""
    table, mapping = files
    table.write_text(table.read_text().replace(old, new, 1), encoding='utf-8')
    with pytest.raises(ArgumentError, match=words):
        read_postures(compiled('pcc_arm').description, table, read_mapping(mapping))


@pytest.mark.parametrize('text', ['', 'a,b\n', '\x00', '"'], ids=repr)
def test_no_table_is_refused(files, text):
    """An empty table, one of names alone and one that is no text are refused."""
    table, mapping = files
    table.write_text(text, encoding='utf-8')
    with pytest.raises(ArgumentError, match='held.csv|column'):
        read_postures(compiled('pcc_arm').description, table, read_mapping(mapping))


@pytest.mark.parametrize(('old', 'new', 'words'), [
    ('mN', 'lbf', 'commands.t1.unit'), ('unit: mm', 'unit: inch', 'unit'),
    ('[x, y, z]', '[x, y]', 'three names'), ('[x, y, z]', 'x', 'columns'),
    ('world', 'camera', 'frame'), ('markers', 'marker', 'markers'), ('t1: {', 't1: [{', 'YAML'),
    ('{column: second}', '7', 'commands.t5'), ('t1', 'thumb', 'actuator'),
    ('segment3', 'hand', 'body'),
])  # fmt: skip
def test_wrong_mappings_are_refused(files, old, new, words):
    """A wrong mapping is refused with its entry."""
    table, mapping = files
    mapping.write_text(MAPPING.replace(old, new, 1), encoding='utf-8')
    with pytest.raises((DescriptionError, UnknownNameError), match=words):
        read_postures(compiled('pcc_arm').description, table, read_mapping(mapping))


def test_a_shared_yaml_entry_is_not_written(tmp_path):
    """If an alias shares an entry among parts, a fit of one part is refused beforehand."""
    source, output = shipped('robots')['pcc_arm'], tmp_path / 'fitted.yaml'
    robot = sd.vary(sd.load_robot(source), {'segment1.density': 0.5})
    for write in (
        lambda: write_fitted(source, output, robot, ['segment1.density'], []),
        lambda: require_writable(source, output, robot, ['segment1.density']),
    ):
        with pytest.raises(ArgumentError, match='segment1.density'):
            write()
    assert list(tmp_path.iterdir()) == []


LEFT_OUT = """
name: finger
bodies:
  - name: link
    joint: {name: hinge, type: revolute, axis: [0, 1, 0]}   # stiff
    body: {type: rigid, mass: 0.1, com: [0, 0, 0.1]}
  - name: tip
    joint:
      type: fixed
    body: {type: pcc, length: 0.1, radius: 0.01, density: 1000.0, young_modulus: 1.0e+5}
actuators:
  - name: t1        # its name
    type: tendon
    path: [{body: tip, offset: [0.01, 0.0]}]
  - {name: m, type: joint, joint: hinge}
"""


def test_numbers_left_at_their_defaults_get_entries(tmp_path):
    """Numbers at their defaults get entries in either form of a mapping; the rest stays."""
    source, output = tmp_path / 'finger.yaml', tmp_path / 'fitted.yaml'
    source.write_text(LEFT_OUT, encoding='utf-8')
    changes = {'hinge.stiffness': 0.3, 'tip.damping': 0.02, 't1.lag': 0.011, 'm.delay': 0.002}
    robot = sd.vary(sd.load_robot(source), changes)
    require_writable(source, output, robot, list(changes))
    assert not output.exists()
    write_fitted(source, output, robot, list(changes), [])
    assert sd.load_robot(output).digest == robot.digest
    kept = [line for line in LEFT_OUT.splitlines() if 'hinge' not in line and 'pcc' not in line]
    assert all(line in output.read_text(encoding='utf-8').splitlines() for line in kept)
    assert '    lag: 0.011\n' in output.read_text(encoding='utf-8')


def test_a_file_that_cannot_be_written_is_known_before_the_fit(tmp_path, files, monkeypatch):
    """A file that cannot be written is reported before the fit begins."""
    table, mapping = files
    monkeypatch.setattr(
        identification_report, 'identify', lambda *args, **kwargs: pytest.fail('fitted')
    )
    line = ['identify', 'pcc_arm', str(table), '--mapping', str(mapping), '--output']
    assert cli.main([*line, str(tmp_path / 'x.yaml'), '--fit', 'segment1.young_modulus']) != 0
    assert not (tmp_path / 'x.yaml').exists()
