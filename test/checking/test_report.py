# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The report of `softrobot check`: its figures, and the questions that it asks."""

import json
from pathlib import Path

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics import cli
from softrobot_dynamics.checking.report import examine
from softrobot_dynamics.checking.units import questions
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.schema.yaml_files import read_yaml
from support.robots import compiled

NAME = 'double_pendulum'
OF_THIS_MACHINE = (
    'one tick of the law, 99th percentile',
    'highest rate at which a tick takes at most 80 % of a period (without transport)',
)


def figures(findings):
    """Return {name: Finding}."""
    return {finding.name: finding for finding in findings}


def test_a_good_robot_raises_no_question(tmp_path, capsys):
    """A sound robot raises no question; its modes and eigenvalue are the linear loop's."""
    file = tmp_path / 'report.json'
    assert cli.main(['check', NAME, '--json', str(file)]) == 0
    said = capsys.readouterr().out
    found = {each['name']: each for each in json.loads(file.read_text(encoding='utf-8'))[NAME]}
    asked = [
        each for name, each in found.items() if each['question'] and name not in OF_THIS_MACHINE
    ]
    assert all(name in said for name in found) and not asked
    model = compiled(NAME)
    rest = sd.equilibrium(model, u=np.zeros(2))
    A = sd.linearise(model, q=rest.q, qd=np.zeros(2), u=np.zeros(2)).A
    squares = -np.linalg.eigvals(A[2:, :2]).real
    slowest = found['slowest squared frequency at rest']
    assert slowest['value'] == pytest.approx(squares.min(), rel=1e-6)
    largest = found['largest discrete-time eigenvalue at 1 ms']['value']
    assert 0.9 < largest < 1.0
    tick = found['one tick of the law, 99th percentile']['value']
    rate = found[
        'highest rate at which a tick takes at most 80 % of a period (without transport)'
    ]['value']
    assert 0.0 < tick and rate == pytest.approx(0.8e6 / tick)


def test_an_inverted_pendulum_and_high_gains_are_asked_about(tmp_path):
    """The report asks about an inverted pendulum, and about gains too high for a rate."""
    robot = read_yaml(shipped('robots')[NAME])[0]
    robot['initial'] = {name: np.pi * (k == 0) for k, name in enumerate(joints(robot))}
    model = sd.compile_model(sd.load_robot(robot))
    found = figures(examine(model))
    asked, growth = (
        found['slowest squared frequency at rest'],
        found['growth of motions about rest'],
    )
    assert 'unstable: the robot leaves its rest, e-fold in' in asked.question
    assert 0.0 < growth.value <= (1.0 + 1e-9) * np.sqrt(-asked.value)
    file = tmp_path / 'hard.yaml'
    parameters = 'gains: {p: 1.0e+5, d: 1.0}'
    file.write_text(f'/**: {{ros__parameters: {{{parameters}}}}}', encoding='utf-8')
    told = tmp_path / 'report.json'
    options = '--controller', str(file), '--rate', '100', '--json', str(told)
    assert cli.main(['check', NAME, *options]) == 0
    hard = {each['name']: each for each in json.loads(told.read_text())[NAME]}
    loop = hard['largest discrete-time eigenvalue at 10 ms']
    assert loop['value'] > 1.0 and loop['question'] == 'errors would grow'


def test_gains_of_the_law_task_that_are_too_high_are_asked_about(tmp_path):
    """The report has the eigenvalue of the loop by the law `task`: gains too high are found."""
    told, file, found = tmp_path / 'report.json', tmp_path / 'task.yaml', []
    for p in (100.0, 1e5):
        gains = f'task: {{outputs: {{p: {p}, d: 20.0}}}}'
        file.write_text(f'/**: {{ros__parameters: {{controller: task, {gains}}}}}', 'utf-8')
        options = '--controller', str(file), '--rate', '100', '--json', str(told)
        assert cli.main(['check', NAME, *options]) == 0
        rows = {each['name']: each for each in json.loads(told.read_text())[NAME]}
        found.append(rows['largest discrete-time eigenvalue at 10 ms'])
    assert 0.8 < found[0]['value'] < 1.0 < found[1]['value']
    assert not found[0]['question'] and found[1]['question'] == 'errors would grow'


def test_solutions_that_come_too_rarely_are_asked_about(tmp_path):
    """The report has the eigenvalue of the loop by `predictive`: long intervals are found."""
    told, file, found = tmp_path / 'report.json', tmp_path / 'predictive.yaml', []
    for interval in (0.005, 0.02):
        own = f'predictive: {{interval: {interval}}}'
        file.write_text(f'/**: {{ros__parameters: {{controller: predictive, {own}}}}}', 'utf-8')
        assert cli.main(['check', NAME, '--controller', str(file), '--json', str(told)]) == 0
        rows = {each['name']: each for each in json.loads(told.read_text())[NAME]}
        found.append(rows['largest discrete-time eigenvalue at 1 ms'])
    assert 0.9 < found[0]['value'] < 1.0 < found[1]['value'] < 1.2
    assert not found[0]['question'] and found[1]['question'] == 'errors would grow'


@pytest.mark.parametrize('flags, period, remark', [
    ([], '10', None),
    (['--rate', '500'], '2', 'rate: 100.0 in the parameter file is not used: --rate 500.0'),
    (['--rate', '100'], '10', None),
])  # fmt: skip
def test_the_rate_of_a_parameter_file_is_that_of_the_verdict(
    flags, period, remark, tmp_path, capsys
):
    """The verdict uses the file's rate, or that of a flag, as the report says."""
    file = tmp_path / 'slow.yaml'
    text = '/**: {ros__parameters: {rate: 100.0, robot: ur10e, gians.p: 1.0}}'
    file.write_text(text, encoding='utf-8')
    assert cli.main(['check', NAME, '--report', '--controller', str(file), *flags]) == 0
    said = capsys.readouterr().out
    assert f'largest discrete-time eigenvalue at {period} ms' in said
    assert remark in said if remark else 'rate: 100.0' not in said
    assert f'robot: ur10e in the parameter file is not used: {NAME} takes precedence' in said
    assert 'gians.p (did you mean gains.p?)' in said


@pytest.mark.parametrize('text, late', [
    ('velocities: differentiated', '4'),
    ('state_topics: [a, b], states: {tick: a, a: {names: [$0]}, b: {rate: 100.0}}', '5'),
    ('state_topics: [a, b], states: {a: {names: [$0]}, b: {rate: 100.0}}', None),
], ids=['estimated', 'an old part', 'a slow tick'])  # fmt: skip
def test_the_verdict_is_that_of_states_as_late_as_they_will_be(text, late, tmp_path, capsys):
    """The eigenvalue is that with the delay of estimated velocities, or of the slowest part."""
    file = tmp_path / 'late.yaml'
    text = text.replace('$0', sd.load_robot(NAME).coordinate_names[0])
    file.write_text(f'/**: {{ros__parameters: {{rate: 1000.0, {text}}}}}', encoding='utf-8')
    assert cli.main(['check', NAME, '--report', '--controller', str(file)]) == 0
    said = capsys.readouterr().out
    assert (f', states {late} ms late' in said) if late else (' ms late' not in said)


def test_every_phase_has_a_verdict(tmp_path, capsys):
    """Gains that let errors grow in the second phase only are found there."""
    file, told = tmp_path / 'phases.yaml', tmp_path / 'report.json'
    file.write_text(
        """/**: {ros__parameters: {phases: [one, two], one: {duration: 1.0, parts: [soft]},
        two: {duration: 1.0, parts: [hard]}, soft: {controller: pfbl, gains: {p: 25.0, d: 10.0}},
        hard: {controller: pfbl, gains: {p: 1.0e+5, d: 1.0}}}}""",
        encoding='utf-8',
    )
    options = '--controller', str(file), '--rate', '100', '--json', str(told)
    assert cli.main(['check', NAME, *options]) == 0
    found = {each['name']: each for each in json.loads(told.read_text())[NAME]}
    asked = {
        phase: found[f'largest discrete-time eigenvalue at 10 ms, phase {phase}']['question']
        for phase in ('one', 'two')
    }
    assert asked == {'one': '', 'two': 'errors would grow'}


def test_the_verdict_on_a_led_tip_says_that_it_is_about_other_motions_too(capsys):
    """Nine coordinates move while a tip stays: their growth is in the eigenvalue of the loop."""
    law = str(Path(__file__).parents[2] / 'examples' / 'predictive' / 'pcc_arm.yaml')
    said = ', motions that leave the tip in place included'
    assert cli.main(['check', 'pcc_arm', '--report', '--controller', law]) == 0
    assert f'largest discrete-time eigenvalue at 1 ms{said}' in capsys.readouterr().out


def test_a_robot_without_a_parameter_file_is_reported_on(tmp_path, capsys):
    """A robot without a parameter file is reported under the default law, if it has actuators."""
    robot = read_yaml(shipped('robots')[NAME])[0] | {'name': 'mine'}
    file = tmp_path / 'mine.yaml'
    file.write_text(json.dumps(robot), encoding='utf-8')
    assert cli.main(['check', str(file), '--report']) == 0
    said = capsys.readouterr().out
    assert (
        'no parameter file: default parameters of pfbl' in said
        and 'one tick of the law, median' in said
    )
    assert 'largest discrete-time eigenvalue at 1 ms' in said
    file.write_text(json.dumps({**robot, 'actuators': []}), encoding='utf-8')
    assert cli.main(['check', str(file), '--report']) == 0
    assert 'law' not in capsys.readouterr().out


def joints(robot):
    """Return the names of the joints of a robot's mapping."""
    return [body['joint'].get('name', body['name']) for body in robot['bodies']]


@pytest.mark.quick
def test_numbers_in_other_units_draw_a_question():
    """A modulus in kPa, a density in g/cm^3 or a length in mm draws a question."""
    robot = read_yaml(shipped('robots')['pcc_arm'])[0]
    wrong = {'young_modulus': 100.0, 'density': 1.0, 'length': 200.0}
    first = robot['bodies'][0]
    first['body'] = {**first['body'], **wrong}  # the mapping itself is that of all segments
    asked = list(questions(sd.load_robot(robot)))
    assert [words.split(' =')[0] for words in asked] == [
        'segment1: young_modulus', 'segment1: density', 'segment1: length'
    ]  # fmt: skip
    names = sorted(set(shipped('robots')) - {'toy'})  # whose numbers are ones
    assert [list(questions(sd.load_robot(name))) for name in names] == [[] for _ in names]
    assert 'young_modulus = 1 Pa' in ' '.join(questions(sd.load_robot('toy')))
