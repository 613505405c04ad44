# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The source texts' systems, each at a reduced length, and the command that runs them."""

import json

import numpy as np
import pytest
from softrobot_dynamics import cli
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.reproduce.outcome import as_json, Check, page, SystemResult
from softrobot_dynamics.reproduce.systems import hybrid_arm, load_system, system_names, toy
from softrobot_dynamics.schema.yaml_files import read_yaml
from support.robots import reference

SHARE = 0.02  # of the full length


@pytest.fixture(scope='module', params=system_names())
def done(request):
    """Return a system and what it came to."""
    found = load_system(request.param)
    return found, found.run(share=SHARE)


def test_a_system_is_reproduced(done):
    """Every check of a system holds and names its independent source."""
    _, outcome = done
    assert outcome.checks and not [check for check in outcome.checks if not check.holds]
    assert all(check.reference and check.tolerance >= 0.0 for check in outcome.checks)


def test_a_system_is_drawn_from_its_data_and_written(done, tmp_path):
    """A system is drawn into a PNG file and written as JSON from its data alone."""
    found, outcome = done
    assert json.loads(json.dumps(as_json(outcome)))['holds'] is True
    picture = pytest.importorskip('softrobot_dynamics.reproduce.picture')
    picture.draw_system(found.draw, outcome.data, tmp_path / 'figure.png')
    assert (tmp_path / 'figure.png').stat().st_size > 10_000


def test_a_motion_can_be_filmed(done):
    """The data of a moving system give a film with postures in increasing time."""
    found, outcome = done
    if hasattr(found, 'film'):
        pytest.importorskip('PIL')
        film = found.film(outcome.data)
        assert film.q.shape == (len(film.t), film.model.n) and np.diff(film.t).min() > 0.0
        assert np.abs(np.diff(film.q, axis=0)).max() > 0.0


def test_a_motion_is_written_as_an_animation(tmp_path, monkeypatch, capsys):
    """`--animate` writes a GIF as long as the motion and one second more."""
    image = pytest.importorskip('PIL.Image')
    found, name = load_system('double_pendulum'), 'double_pendulum'
    outcome = found.run(share=0.05)
    monkeypatch.setattr(found, 'run', lambda tell: outcome)
    assert cli.main(['reproduce', name, '--animate', '--no-plot', '--out', str(tmp_path)]) == 0
    with image.open(tmp_path / f'{name}.gif') as written:
        passed = 0.0
        for frame in range(written.n_frames):
            written.seek(frame)
            passed += 1e-3 * written.info['duration']
        assert passed == pytest.approx(outcome.data['t'][-1] + 1.0, abs=0.1)
        assert min(written.size) > 300
    assert f'{name}.gif' in capsys.readouterr().out


def _heavier(robot):
    robot['bodies'][-1]['body']['mass'] *= 1.0 + 1e-6


def _farther(robot):
    robot['bodies'][-1]['joint']['origin'] = {'xyz': [0.0, 0.0, 0.470001]}


def _longer(robot):
    robot['bodies'][0]['body']['length'] *= 1.0 + 1e-6


@pytest.mark.parametrize(('name', 'change'), [
    ('foot_shank', _heavier), ('tree', _farther), ('toy', _longer), ('scalability', _longer),
])  # fmt: skip
def test_a_changed_robot_is_noticed(name, change, monkeypatch):
    """A change of a mass or length by a millionth makes the checks fail."""
    found, robot = load_system(name), read_yaml(shipped('robots')[name])[0]
    change(robot)
    monkeypatch.setattr(found, 'ROBOT', robot)
    assert not found.run(share=SHARE).holds


@pytest.mark.quick
def test_the_hybrid_arm_has_the_gains_of_its_controller_file():
    """Gains, phases, targets and delay of the reproduced laws are those of the shipped file."""
    file = shipped('controllers')['hybrid_arm']
    values = read_yaml(file)[0]['/**']['controller']['ros__parameters']
    arm, soft, phases = values['arm'], values['soft'], [values[x] for x in values['phases']]
    assert arm['gains'] == hybrid_arm.ARM_GAINS and soft['pd_plus'] == hybrid_arm.SOFT_GAINS
    assert [x['duration'] for x in phases] == list(np.diff(hybrid_arm.PHASE_TIMES))
    last = arm['reference']['spline']['values'][6:]
    np.testing.assert_allclose(last, hybrid_arm.JOINT_GOAL, atol=1e-6)
    assert soft['reference']['setpoint'] == hybrid_arm.TENDONS
    assert soft['reference']['ramp_time'] == hybrid_arm.RAMP_TIMES[1]
    assert values['gripper']['feed_forward']['command'] == hybrid_arm.PRESSURE
    assert values['delay'] == hybrid_arm.DELAY


@pytest.mark.parametrize('state', reference('toy.json')['states'], ids=lambda s: f'q={s["q"]}')
def test_the_toy_equals_its_formulas(state):
    """Integrals and, away from zero, closed formulas of the toy are the reference values."""
    for way in [toy.definitions] + [toy.formulas] * (abs(state['q']) >= toy.SERIES_RANGE):
        _compare(way, state)


def _compare(way, state):
    found = way(state['q'], state['qd'], state['qdd'])
    for name, key in {
        'com': 'p_com', 'grad_v': 'grad_v', 'force': 'Fstar', 'moment': 'Tstar', 'pi': 'pistar',
        'M': 'M', 'c': 'c', 'g': 'g',
    }.items():  # fmt: skip
        wanted = np.atleast_1d(state[key])
        wanted = wanted[1] if name == 'moment' else wanted[::2]  # y; x and z
        scale = max(np.abs(wanted).max(), 1e-5)
        assert np.abs(getattr(found, name) - wanted).max() <= 1e-11 * scale, name


@pytest.mark.quick
def test_a_failed_check_is_reported(monkeypatch, capsys):
    """A failed check or nan gives exit status 1 and a line that says NO."""
    checks = [Check('length', error, 1e-3, 'm', 'a ruler') for error in (1e-4, 2e-3, np.nan)]
    assert [check.holds for check in checks] == [True, False, False]
    monkeypatch.setattr(toy, 'run', lambda tell: SystemResult(tuple(checks), (), {}))
    assert cli.main(['reproduce', 'toy', '--no-plot']) == 1
    assert 'NO: 0.002 m (at most 0.001), a ruler' in capsys.readouterr().out
    sheet = page([('toy', 'a rod', SystemResult(tuple(checks), ('bent',), {}))])
    assert (
        '| length | **0.002 m** | 0.001 m | a ruler |' in sheet and '**not reproduced**' in sheet
    )


def test_the_command_lists_and_runs_systems(tmp_path, capsys):
    """The command lists the systems, runs those named, and writes checks, data and page."""
    assert cli.main(['reproduce']) == 0
    listed = capsys.readouterr().out
    assert all(f'{name} ' in listed for name in system_names())
    file = tmp_path / 'toy.json'
    sheet = tmp_path / 'toy.md'
    arguments = ['--json', str(file), '--page', str(sheet), '--out', str(tmp_path / 'figures')]
    assert cli.main(['reproduce', 'toy', *arguments]) == 0
    found = json.loads(file.read_text())['toy']
    assert found['holds'] and found['data']['q']
    assert 'toy: reproduced' in capsys.readouterr().out
    assert sheet.read_text().count('integrated |') == 2 * len(toy.ToyTerms._fields)


def test_an_unknown_system_is_refused(capsys):
    """An unknown system is refused before anything runs."""
    assert cli.main(['reproduce', 'toy', 'tre']) == 2
    assert 'unknown system' in capsys.readouterr().err
