# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Parameters of a robot file from motions: derivatives, recovery, confidence, files."""

import functools
import json

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics import cli
from softrobot_dynamics.errors import ArgumentError, SimulationDivergedError, UnknownNameError
from softrobot_dynamics.identification.confidence import confidence, without
from softrobot_dynamics.identification.fit_parameters import read_parameters
from softrobot_dynamics.identification.fitting import fitted, identify
from softrobot_dynamics.identification.mapping import read_mapping, read_motion
from softrobot_dynamics.identification.motion_prediction import (
    MAX_SENSITIVITY_STEP,
    MotionPredictor,
)
from softrobot_dynamics.identification.motions import Coordinate, held, motion, read_record
from softrobot_dynamics.identification.postures import Marker
from softrobot_dynamics.identification.validation import cross_validate
from softrobot_dynamics.recordings.reading import Recording
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator
from support.recorded import write_recording
from support.robots import compiled
from support.servos import servo

ENDS = tuple(Marker(f'end {k}', f'segment{k}', (0.0, 0.0, 0.2)) for k in (1, 3))
TRUTH = {'young_modulus': 4.7e5, 'damping': 0.12, 'delay': 0.024}
FIT = ['young_modulus', 'damping', 'delay=0..0.1']
NOISE = 1e-3  # [m]
SWUNG = {'upper_bar.mass': 1.3, 'lower_bar.mass': 0.8}


def soft():
    """Return the arm of the robot file, which is wrong, with actuators that are late."""
    return sd.vary(compiled('pcc_arm').description, {'delay': 0.01, 'lag': 0.02})


def stairs(count, m, seed=0, each=10, size=6.0):
    """Return commands (count, m) that jump now and then."""
    u = np.random.default_rng(seed).uniform(0.0, size, (-(-count // each), m))
    return np.repeat(u, each, axis=0)[:count]


def simulated(robot, t, u, q=None, qd=None):
    """Return the states (T, 2, n) of a robot in the simulator that the nodes have."""
    model = sd.compile_model(robot)
    at_rest = sd.equilibrium(model, command=u[0]).q if q is None else q
    own, states = ActuatedSimulator(model, q=at_rest, qd=qd), []
    own.begin_under(u[0])
    for k, pause in enumerate(np.diff(t, append=2.0 * t[-1] - t[-2])):
        states.append((own.q.copy(), own.qd.copy()))
        own.step(u[k], pause)
    return np.array(states)


def ends(robot, q):
    """Return the ends of segments 1 and 3 (T, 2, 3) [m]."""
    model = sd.compile_model(robot)
    return np.array([sd.forward_kinematics(model, q=row)[[0, 2], :3, 3] for row in q])


@functools.cache
def waving():
    """Return times, commands and where the ends of the true arm are, exactly."""
    t = 0.01 * np.arange(50)
    u, true = stairs(len(t), 9), sd.vary(soft(), TRUTH)
    return t, u, ends(true, simulated(true, t, u)[:, 0])


def measured(seed=0, **options):
    """Return a motion of the true arm with noise, of which not all was seen."""
    t, u, positions = waving()
    rng = np.random.default_rng(seed)
    seen = positions + rng.normal(0.0, NOISE, positions.shape)
    seen[rng.random(seen.shape[:2]) < 0.2] = np.nan
    return motion(soft(), t, u, markers=ENDS, positions=seen, **options)


@functools.cache
def swinging():
    """Return times, torques and angles of the true double pendulum that nothing holds."""
    t = 0.02 * np.arange(60)
    u = stairs(len(t), 2, 1, size=8.0)
    robot = sd.vary(compiled('double_pendulum').description, SWUNG)
    return t, u, simulated(robot, t, u, [0.4, -0.9], [1.0, 0.5])[:, 0]


def differences(predictor, z, columns):
    """Return differences of whole simulations by some of z, (., T, C)."""
    steps = 1e-4 * np.eye(len(z))[columns]
    return [(predictor.points(z + h) - predictor.points(z - h)) / 2e-4 for h in steps]


def errors(predictor, z, columns, true):
    """Return how far derivatives are from differences of whole simulations, as shares of these."""
    derivatives = predictor.derivatives(z)
    return np.array([
        np.abs(derivatives[..., k] - each).max() / np.abs(each).max()
        for k, each in zip(columns, true, strict=True)
    ])  # fmt: skip


@pytest.mark.parametrize('start', ['rest', 'free'])
def test_derivatives_are_those_of_whole_simulations(start):
    """Derivatives by parameters and free states converge to those of whole simulations."""
    parameters = read_parameters(soft(), [*FIT, 'density', 'segment2.length', 'lag'])
    t, u, positions = (part[:30] for part in waving())
    length = Coordinate('t1')
    given = {'markers': ENDS, 'positions': positions, 'coordinates': [length]}
    data = motion(soft(), t, u, values=np.zeros((30, 1)), start=start, horizon=0.15, **given)
    x = np.array([0.1, -0.1, 0.1337, 0.05, 0.02, 0.1])
    found, true = [], {}
    for step, stride in (1e-3, MAX_SENSITIVITY_STEP), (1e-3, 1e-3), (5e-4, 5e-4):
        predictor = MotionPredictor(parameters, data, step, stride)
        z = predictor.begin(x)
        columns = [*range(6), 7, len(z) - 1]
        if step not in true:  # of which alone whole simulations depend
            true[step] = differences(predictor, z, columns)
        found.append(errors(predictor, z, columns, true[step]))
    assert len(z) == 6 + 18 * (1 + (start == 'free'))
    assert found[0].max() < 1.6e-2
    assert found[1].max() < 4e-3 and (found[2] < 0.5 * found[1]).all()


def test_derivatives_know_cables_that_are_held():
    """Derivatives include held cables: stiff ones, some of which become slack."""
    robot = sd.load_robot(
        servo({'compliance': 2e-4, 'pretension': 20.0, 'radius': 0.01, 'offset': 0.0})
    )
    fit = ['compliance', 'pretension', 't1.drive.offset=-0.5..0.5', 'young_modulus']
    u = stairs(12, 3, 2, each=4, size=2.0) - 1.0
    tip = {'markers': [Marker('tip', 'arm', (0.0, 0.0, 0.2))], 'positions': np.zeros((12, 1, 3))}
    predictor = MotionPredictor(
        read_parameters(robot, fit), motion(robot, 0.02 * np.arange(12), u, **tip), 2.5e-4, 2.5e-4
    )
    x = predictor.parameters.start
    assert errors(predictor, x, range(4), differences(predictor, x, range(4))).max() < 1e-2


def test_damping_modulus_and_delay_are_found_again():
    """Damping, modulus and delay are found within narrow intervals; the residual is noise."""
    found = identify(soft(), measured(), FIT, loss='linear')
    assert [e.lower < TRUTH[e.name] < e.upper for e in found.estimates] == [True] * 3
    assert not found.unidentifiable and found.rms == pytest.approx(np.sqrt(3.0) * NOISE, rel=0.1)
    assert max(e.upper / e.lower for e in found.estimates) < 1.4


def test_a_parameter_at_its_bound_does_not_block_others():
    """A delay at its bound of zero does not keep the other parameters from their values."""
    stiff = sd.vary(soft(), {'delay': 0.0, 'young_modulus': '×1.5'})
    found = identify(stiff, measured(), FIT, loss='linear')
    assert [e.lower < TRUTH[e.name] < e.upper for e in found.estimates] == [True] * 3


def test_blocks_of_time_validate_a_fit():
    """Each block of time is predicted by a fit of the others, no better than by all."""
    data = measured(blocks=3)
    found = identify(soft(), data, ['young_modulus', 'damping', 'delay'], loss='linear')
    checked = cross_validate(found, loss='linear')
    assert checked.x.shape == (3, 3) and 0.97 * found.rms < checked.rms < 1.2 * found.rms
    assert (checked.intervals[:, 0] < checked.intervals[:, 1]).all()
    first = data.named(data.names[0])
    others = data.only([k for k in range(len(data)) if k not in first])
    assert np.isnan(others.positions[first]).all() and len(others) == len(data)


def test_masses_of_a_free_pendulum_are_found():
    """Masses of a free pendulum and free states each half second are found under noise."""
    t, u, q = swinging()
    robot = compiled('double_pendulum').description
    each = [Coordinate(name) for name in robot.coordinate_names]
    given = {'coordinates': each, 'start': 'free', 'horizon': 0.5}
    found = identify(robot, motion(robot, t, u, values=q, **given), list(SWUNG), loss='linear')
    assert {e.name: e.value for e in found.estimates} == pytest.approx(SWUNG, rel=1e-3)
    off = np.random.default_rng(3).normal(0.0, 2e-3, q.shape)
    noisy = identify(robot, motion(robot, t, u, values=q + off, **given), list(SWUNG))
    assert [e.lower < SWUNG[e.name] < e.upper for e in noisy.estimates] == [True] * 2
    assert len(noisy.states) == 12 and noisy.rms < 2.1e-3
    with pytest.raises(ArgumentError, match='postures'):
        noisy.suggest()


@pytest.mark.quick
def test_nuisance_parameters_widen_intervals():
    """Intervals are those of a fit of all parameters, whichever are called nuisance."""
    rng = np.random.default_rng(0)
    derivatives, residuals = rng.normal(size=(40, 5)), 0.01 * rng.normal(size=40)
    every = confidence(derivatives, residuals)
    own, spent = without(derivatives[:, :2], np.hstack([derivatives[:, 2:], np.zeros((40, 3))]))
    assert spent == 3
    assert confidence(own, residuals, spent=spent).half == pytest.approx(every.half[:2])
    assert confidence(derivatives[:, :2], residuals).half.max() < 0.99 * every.half[:2].max()


MAPPING = """
time: {column: ms, unit: ms}
commands: {shoulder: {column: first, unit: N m}, elbow: {column: second}}
coordinates:
  - {name: shoulder, column: a, unit: deg, noise: 0.001}
  - {name: elbow, column: b}
markers: [{name: hand, body: lower_bar, point: [0, 0, -1], columns: [x, y, z], noise: 0.001}]
start: free
"""


@pytest.fixture
def files(tmp_path):
    """Write a table and a mapping of the true pendulum, with gaps; return both."""
    t, u, q = swinging()
    model = compiled('double_pendulum')
    lines, before = ['ms,first,second,a,b,x,y,z'], [None, None]
    for k, (moment, torques, angles) in enumerate(zip(t, u, q)):
        told = ['' if a == b else repr(float(a)) for a, b in zip(torques, before)]
        before = torques
        hand = sd.forward_kinematics(model, q=angles)[-1][:3, 3] if k % 3 else [''] * 3
        cells = [np.rad2deg(angles[0]), angles[1] if k % 2 else '', *hand]
        lines.append(','.join([str(1e3 * moment + 5e3), *told, *map(str, cells)]))
    table, mapping = tmp_path / 'swing.csv', tmp_path / 'swing.yaml'
    table.write_text('\n'.join(lines), encoding='utf-8')
    mapping.write_text(MAPPING, encoding='utf-8')
    return table, mapping


def test_the_command_finds_masses_in_a_table(files, tmp_path, capsys):
    """The command finds masses from a table with gaps in markers and angles."""
    pytest.importorskip('matplotlib')
    table, mapping = files
    out = {name: tmp_path / name for name in ('fitted.yaml', 'found.json', 'off.png')}
    arguments = ['identify', 'double_pendulum', str(table), '--mapping', str(mapping)]
    arguments += ['--fit', ','.join(SWUNG), '--loss', 'linear']
    arguments += ['--json', str(out['found.json'])]
    assert cli.main([*arguments, '--picture', str(out['off.png'])]) == 0
    said = capsys.readouterr().out
    assert 'upper_bar.mass 1.' in said and 'lower_bar.mass 0.' in said
    assert 'shoulder is off by' in said and 'markers are off by' in said
    found = json.loads(out['found.json'].read_text())
    assert [e['value'] for e in found['estimates']] == pytest.approx([*SWUNG.values()], rel=1e-3)
    assert found['kind'] == 'motion' and found['count'] == 60
    assert out['off.png'].stat().st_size > 10_000


@pytest.mark.quick
def test_tables_of_motions_are_read_in_their_units(files):
    """A table is read in its units from its first time; a missing command stays as before."""
    table, mapping = files
    robot = compiled('double_pendulum').description
    t, u, q = swinging()
    data = read_motion(robot, table, read_mapping(mapping), horizon=0.5)
    assert data.times == pytest.approx(t) and data.commands == pytest.approx(u)
    assert data.values[:, 0] == pytest.approx(q[:, 0])
    assert (
        data.values[1::2, 1] == pytest.approx(q[1::2, 1]) and np.isnan(data.values[::2, 1]).all()
    )
    assert np.isnan(data.positions[::3]).all() and np.isfinite(data.positions[1::3]).all()
    assert data.starts.tolist() == [0, 25, 50] and not data.rest
    assert held(np.array([[np.nan, 1.0], [2.0, np.nan]])).tolist() == [[0.0, 1.0], [2.0, 1.0]]


def record(path, facts):
    """Write what a controller would have recorded of the true pendulum."""
    t, u, q = swinging()
    stamp, told = np.round(1e9 * t).astype(np.int64) + 7 * 10**18, u.copy()
    told[0] = np.nan  # no command yet
    columns = {'stamp': stamp, 't': t, 'q': q, 'qd': 0.0 * q, 'u': told}
    columns['mode'] = np.ones(len(t), dtype=int)
    write_recording(path, Recording(columns, facts, (), True))


def test_a_recording_of_a_node_is_a_motion(tmp_path):
    """A node's recording is a motion from its first command on; another robot's is refused."""
    pytest.importorskip('mcap')
    robot, path = compiled('double_pendulum').description, tmp_path / 'run.mcap'
    names = {'coordinate_names': list(robot.coordinate_names)}
    names['actuator_names'] = list(robot.actuator_names)
    record(path, {'node': 'controller', 'robot': 'double_pendulum', **names})
    data = read_record(robot, path)
    t, u, q = swinging()
    assert data.times == pytest.approx(t[1:] - t[1], abs=1e-6) and (data.commands == u[1:]).all()
    assert data.values == pytest.approx(q[1:]) and data.starts.tolist() == [0]
    found = tmp_path / 'found.json'
    arguments = ['identify', 'double_pendulum', str(path), '--fit', ','.join(SWUNG)]
    assert cli.main([*arguments, '--horizon', '0.6', '--json', str(found)]) == 0
    values = [e['value'] for e in json.loads(found.read_text())['estimates']]
    assert values == pytest.approx([*SWUNG.values()], rel=1e-3)
    with pytest.raises(ArgumentError, match='coordinate_names'):
        read_record(compiled('pcc_arm').description, path)


@pytest.mark.quick
@pytest.mark.parametrize(('changes', 'words'), [
    ({'times': [0.0, 0.0, 1.0]}, 'times'), ({'times': [0.0]}, 'times'),
    ({'commands': np.zeros((3, 1))}, 'commands'), ({'values': np.zeros((3, 1))}, 'values'),
    ({'values': None}, 'values'), ({'values': np.full((3, 2), np.inf)}, 'values'),
    ({'coordinates': []}, 'markers'), ({'start': 'moving'}, 'rest, free'),
    ({'horizon': 0.0}, 'horizon'), ({'blocks': 0}, 'blocks'),
    ({'coordinates': [Coordinate('thumb')] * 2}, 'shoulder'),
    ({'coordinates': [Coordinate('elbow', 0.0)] * 2}, 'noise of elbow'),
])  # fmt: skip
def test_wrong_motions_are_refused(changes, words):
    """A wrong motion is refused with what would be right."""
    robot = compiled('double_pendulum').description
    given = {'times': [0.0, 0.5, 1.0], 'commands': np.zeros((3, 2)), 'values': np.zeros((3, 2))}
    given['coordinates'] = [Coordinate(name) for name in robot.coordinate_names]
    with pytest.raises((ArgumentError, UnknownNameError), match=words):
        motion(robot, **{**given, **changes})


@pytest.mark.parametrize(('arguments', 'words'), [
    (['swing.csv'], '--mapping'),
    (['swing.csv', '--mapping', 'held.yaml', '--horizon', '1'], 'time'),
])  # fmt: skip
def test_wrong_options_are_refused(files, capsys, monkeypatch, arguments, words):
    """A table without a mapping and invalid parts are refused."""
    table = files[0]
    monkeypatch.chdir(table.parent)
    (table.parent / 'held.yaml').write_text(
        'markers: [{body: lower_bar, point: [0, 0, -1], columns: [x, y, z]}]\ncommands: {}\n'
    )
    assert cli.main(['identify', 'double_pendulum', *arguments, '--fit', 'mass']) == 2
    assert words in capsys.readouterr().err


def test_robots_that_cannot_be_fitted_are_named():
    """Joints with changing coordinates, and diverging robots, are refused by name."""
    free = sd.load_robot({
        'name': 'stone', 'actuators': [], 'bodies': [{
            'name': 'stone', 'joint': {'type': 'free'},
            'body': {'type': 'rigid', 'mass': 1.0},
        }],
    })  # fmt: skip
    each = [Coordinate(free.coordinate_names[0])]
    given = {'coordinates': each, 'values': np.zeros((2, 1)), 'start': 'free'}
    with pytest.raises(ArgumentError, match='spherical'):
        identify(free, motion(free, [0.0, 1.0], np.zeros((2, 0)), **given), ['mass'])
    robot = compiled('double_pendulum').description
    wild = motion(
        robot, [0.0, 1e-3, 2e-3], np.full((3, 2), 1e300),
        coordinates=[Coordinate('elbow')], values=np.zeros((3, 1)), start='free',
    )  # fmt: skip
    with pytest.raises(SimulationDivergedError):
        fitted(read_parameters(robot, ['mass']), wild, [np.zeros(1)])


@pytest.mark.quick
def test_values_before_the_first_command_are_left_out(tmp_path):
    """Values before the first command are left out unless an initial command is given."""
    table, mapping = tmp_path / 'wave.csv', tmp_path / 'wave.yaml'
    text = 'time: {column: t}\ncommands: {t1: {column: a}, t2: {column: b}}\n'
    text += 'coordinates: [{name: t3, column: y}]\n'
    mapping.write_text(text, encoding='utf-8')
    table.write_text('t,a,b,y\n1,,,3\n2,5,,4\n3,,6,5\n4,7,,6\n', encoding='utf-8')
    robot = compiled('pcc_arm').description
    found = read_motion(robot, table, read_mapping(mapping))
    assert found.times == pytest.approx([0.0, 1.0]) and found.skipped == pytest.approx(2.0)
    assert found.commands[:, :2] == pytest.approx(np.array([[5.0, 6.0], [7.0, 6.0]]))
    assert found.values.ravel() == pytest.approx([5.0, 6.0]) and not found.rest
    mapping.write_text(text + 'start: rest\n', encoding='utf-8')
    assert read_motion(robot, table, read_mapping(mapping)).rest
    table.write_text('t,a,b,y\n1,,,3\n2,5,,4\n', encoding='utf-8')
    with pytest.raises(ArgumentError, match='commands'):
        read_motion(robot, table, read_mapping(mapping))


def test_angles_within_a_turn_are_unwrapped_in_time():
    """Wrapped angles of unlimited joints are unwrapped over gaps; lengths stay."""
    rigid = {'type': 'rigid', 'mass': 1.0}
    joints = {'type': 'revolute'}, {'type': 'prismatic'}
    bodies = [
        {'name': name, 'joint': {'name': f'{name}j', **joint}, 'body': rigid}
        for name, joint in zip('ab', joints)
    ]
    robot = sd.load_robot({'name': 'r', 'bodies': bodies})
    t = 0.1 * np.arange(60)
    angle, known = 4.0 * t, np.arange(60) != 8
    values = np.c_[(angle + np.pi) % (2.0 * np.pi) - np.pi, 100.0 * np.sin(9.0 * t)]
    values[~known, 0] = np.nan
    found = motion(
        robot, t, np.zeros((60, 0)), values=values,
        coordinates=[Coordinate('aj'), Coordinate('bj')],
    )  # fmt: skip
    np.testing.assert_allclose(found.values[known, 0], angle[known], atol=1e-12)
    assert np.isnan(found.values[8, 0]) and np.array_equal(found.values[:, 1], values[:, 1])
