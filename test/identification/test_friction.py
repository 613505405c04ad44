# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Friction of tendons from held postures and their last sliding directions."""

import functools

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError, DescriptionError
from softrobot_dynamics.identification.fit_parameters import read_parameters
from softrobot_dynamics.identification.fitting import identify
from softrobot_dynamics.identification.mapping import read_mapping, read_postures
from softrobot_dynamics.identification.postures import Marker, postures, read_ways, ways_by_rows
from softrobot_dynamics.identification.prediction import Predictor
from support.robots import rod

FIT = ['young_modulus', 'friction=0..1']
TRUTH = {'young_modulus': 5e5, 'friction': 0.2}
MARKERS = [Marker('tip', 'far', (0.0, 0.0, 0.2)), Marker('middle', 'near', (0.02, 0.0, 0.2))]
U = np.array([
    [3.0, 0.0], [7.0, 0.0], [11.0, 0.0], [6.0, 0.0], [0.0, 0.0],
    [0.0, 5.0], [0.0, 10.0], [2.0, 10.0], [2.0, 4.0],
])  # fmt: skip
"""(P, m) [N], one after the other."""


@functools.cache
def arm():
    """Return a hanging arm of two rods, with one tendon along both and one along the first."""
    bodies = [{'name': n, 'joint': {'type': 'fixed'}, 'body': rod()} for n in ('near', 'far')]
    long = [{'body': n, 'offset': [0.015, 0.0]} for n in ('near', 'far')]
    short = [{'body': 'near', 'offset': [0.0, 0.015]}]
    actuators = [
        {'name': name, 'type': 'tendon', 'path': path, 'friction': 0.0, 'limits': [0, 12]}
        for name, path in (('t1', long), ('t2', short))
    ]
    return sd.load_robot({'name': 'arm', 'gravity': [0.0, 0.0, 9.81], 'bodies': bodies,
                          'actuators': actuators})  # fmt: skip


def held(sliding, noise=0.0, u=U):
    """Return postures of the true arm, which slid so, by whole solves."""
    positions = places(sliding, tuple(map(tuple, u)))
    off = noise * np.random.default_rng(3).standard_normal(positions.shape)
    return postures(arm(), u, MARKERS, positions + off, sliding=sliding)


@functools.cache
def places(sliding, u):
    """Return where the markers of the true arm are, (P, 2, 3) [m], under tensions (P, m) [N]."""
    model, positions = sd.compile_model(sd.vary(arm(), TRUTH)), np.empty((len(u), 2, 3))
    for i, (row, way) in enumerate(zip(u, read_ways(sliding, np.array(u)))):
        q = sd.equilibrium(model, u=row, sliding=way).q
        for k, m in enumerate(MARKERS):
            positions[i, k] = sd.frame(model, q=q, body=m.body, point=m.point)[:3, 3]
    return positions


@functools.cache
def exact(sliding):
    """Return the fit to postures without noise."""
    return identify(arm(), held(sliding), FIT, loss='linear')


@pytest.mark.parametrize('sliding', ['rows', 'in'])
def test_friction_is_found_beside_the_modulus(sliding):
    """Friction and modulus are identified exactly without noise, within intervals with it."""
    found = exact(sliding)
    assert {e.name: e.value for e in found.estimates} == pytest.approx(TRUTH, rel=1e-4)
    assert not found.unidentifiable and found.rms < 1e-7
    found = identify(arm(), held(sliding, noise=1e-4), FIT, loss='linear')
    for e in found.estimates:
        assert e.lower < TRUTH[e.name] < e.upper and e.upper - e.lower < 0.5 * TRUTH[e.name]


def test_derivatives_are_those_of_whole_solves():
    """Derivatives equal differences of equilibria, pulled, released and without friction."""
    predictor = Predictor(read_parameters(arm(), [*FIT, 't2.path.y=0.01..0.02']), held('rows'))
    h = 1e-4
    for x in (np.array([0.05, 0.3, 1.5]), np.array([0.0, 0.0, 1.5])):
        derivatives = predictor.derivatives(x)
        for k, step in enumerate(h * np.eye(len(x))):
            least = x - step if x[k] > 0.0 or k != 1 else x
            ends = predictor.points(x + step), predictor.points(least)
            difference = (ends[0] - ends[1]) / (x + step - least)[k]
            far = np.abs(derivatives[..., k] - difference).max()
            assert far < (1e-4 if k != 1 or x[1] else 1e-3) * np.abs(difference).max()


def test_unobservable_friction_is_reported():
    """Friction is reported as not shown without sliding directions or turns of the route."""
    data = held('none')
    found = identify(arm(), data, FIT, loss='linear')
    assert np.isnan(found.estimates[1].lower) and 'friction' in ' '.join(found.unidentifiable)
    assert found.estimates[0].value == pytest.approx(TRUTH['young_modulus'], rel=1e-4)
    straight = held('in', u=np.zeros((3, 2)))
    found = identify(arm(), straight, ['friction=0..1'], loss='linear')
    assert np.isnan(found.estimates[0].lower) and found.unidentifiable


def test_friction_is_not_below_zero():
    """Data for negative friction lead to zero, and negative bounds are refused."""
    model = sd.compile_model(sd.vary(arm(), {'friction': 0.2}))
    tips = [sd.equilibrium(model, u=u, sliding='out').q for u in U]
    positions = [[sd.forward_kinematics(model, q=q)[-1][:3, 3]] for q in tips]
    data = postures(arm(), U, MARKERS[:1], positions, sliding='in')
    found = identify(arm(), data, ['friction=0..1'], loss='linear')
    assert found.estimates[0].at_bound and 0.0 <= found.estimates[0].value < 1e-2
    with pytest.raises(DescriptionError, match='friction'):
        identify(arm(), data, ['friction=-1..1'])


def test_proposed_postures_include_friction():
    """Proposed postures show most of the friction and are computed with it."""
    found = exact('in')
    before = np.linalg.slogdet(found.derivatives.T @ found.derivatives)[1]
    more = [found._derivatives_under(u) for u in found.suggest(candidates=8, count=2)]
    assert all(np.abs(derivatives[:, 1]).max() > 1e-3 for derivatives in more)
    after = found.derivatives.T @ found.derivatives + sum(s.T @ s for s in more)
    assert np.linalg.slogdet(after)[1] > before + 0.2


@pytest.mark.quick
def test_sliding_directions_follow_the_order_of_rows():
    """Rising commands slide in, falling out, equal ones as before; noise changes nothing."""
    u = np.array([[0.0, 5.0], [1.0, 5.0], [3.0, 4.0], [2.95, 4.0], [3.0, 4.5], [2.0, 6.0]])
    expected = [[0, 1], [1, 1], [1, -1], [-1, -1], [1, 1], [-1, 1]]
    assert ways_by_rows(u).tolist() == expected
    expected = [[0, 1], [1, 1], [1, -1], [1, -1], [1, -1], [-1, 1]]
    assert ways_by_rows(u, [0.1, 0.6]).tolist() == expected
    drifting = np.array([[1.0], [0.96], [0.92], [0.88], [0.84]])  # less than `least` each time
    assert ways_by_rows(drifting, 0.1).ravel().tolist() == [1, 1, 1, -1, -1]


TABLE = """\
u1,u2,slid,x,y,z
0,200,none,0,0,0.4
3,200,in,0,0,0.4
2.8,100,-1,0,0,0.4
1,100,,0,0,0.4
"""
MAPPING = """
commands:
  t1: {column: u1, unit: N, least: 0.5MORE}
  t2: {column: u2, unit: mN}
markers: [{body: far, point: [0, 0, 0.2], columns: [x, y, z]}]
"""


def read(tmp_path, table=TABLE, more='', rest=''):
    """Return the postures of a table."""
    files = tmp_path / 'held.csv', tmp_path / 'held.yaml'
    files[0].write_text(table, encoding='utf-8')
    files[1].write_text(MAPPING.replace('MORE', more) + rest, encoding='utf-8')
    return read_postures(arm(), files[0], read_mapping(files[1]))


@pytest.mark.quick
def test_the_mapping_gives_the_sliding_direction(tmp_path):
    """The mapping gives the direction as one word, by the order of rows, or by a column."""
    assert not read(tmp_path).sliding.any()
    assert (read(tmp_path, rest='sliding: out').sliding == -1.0).all()
    by_rows = read(tmp_path, rest='sliding: rows')
    assert by_rows.sliding.tolist() == [[0, 1], [1, 1], [1, -1], [-1, -1]]
    assert by_rows.only([2]).sliding.tolist() == [[1, -1]]
    by_column = read(tmp_path, more=', sliding: slid', rest='sliding: rows')
    assert by_column.sliding.tolist() == [[0, 1], [1, 1], [-1, -1], [0, -1]]


@pytest.mark.quick
def test_wrong_sliding_directions_are_refused(tmp_path):
    """Wrong directions are refused with file, row and column and what would be right."""
    with pytest.raises(ArgumentError, match=r'column slid, row 2: .*inward.*in, out or none'):
        read(tmp_path, TABLE.replace('in,', 'inward,'), ', sliding: slid')
    with pytest.raises(DescriptionError, match='sliding: .*up.*rows'):
        read(tmp_path, rest='sliding: up')
    with pytest.raises(DescriptionError, match='least: .*-1'):
        read(tmp_path, more='}\n  t3: {column: u3, least: -1')
    with pytest.raises(DescriptionError, match='sliding: .*simulation of a motion'):
        read(tmp_path, rest='sliding: in\ntime: {column: t}')
    with pytest.raises(DescriptionError, match=r'commands\.t1\.sliding'):
        read(tmp_path, more=', sliding: slid', rest='time: {column: t}')
    with pytest.raises(ArgumentError, match='sliding.*2.0'):
        postures(arm(), U, MARKERS, np.zeros((len(U), 2, 3)), sliding=np.full(U.shape, 2.0))
