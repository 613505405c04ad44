# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Contract tests of every registered kind of reference, of users' packages too."""

from dataclasses import dataclass
from pathlib import Path
import pickle

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.dynamics.arguments import body_index
from softrobot_dynamics.errors import ArgumentError, MissingMethodError, SoftRobotError
from softrobot_dynamics.references.contract import REFERENCES, register, Trajectory, trajectory
from softrobot_dynamics.schema.fields import number
from softrobot_dynamics.schema.parameters import parameter
from softrobot_dynamics.schema.parsing import Problems
from support.robots import compiled

GUIDE = Path(__file__).parents[2] / 'docs' / 'parameters.md'
CORNERS = [0.05, 0.0, 0.58, 0.0, 0.05, 0.58, 0.05, 0.0, 0.58]
EXAMPLES = {
    'setpoint': {'setpoint': [0.002] * 9},
    'spline': {'spline.times': [0.0, 1.0], 'spline.values': [0.0] * 9 + [0.002] * 9},
    'file': {'file.path': str(Path(__file__).with_name('circle.csv')), 'file.periodic': True},
    'path': {
        'path.bodies': ['segment3'], 'path.times': [0.0, 1.0, 2.0], 'path.points': CORNERS,
        'path.periodic': True,
    },
}  # fmt: skip
"""Parameters by kind, where the defaults say nothing; for the shipped soft arm."""

every_kind = pytest.mark.parametrize('name', REFERENCES.names())


def example(name):
    """Return one reference of a kind."""
    given = EXAMPLES.get(name, {})
    return trajectory({'reference.type': name, **{f'reference.{k}': v for k, v in given.items()}})


def ours(name):
    """Tell whether a kind is one of this package, so that its example must do."""
    return REFERENCES.get(name).__module__.startswith('softrobot_dynamics.')


@pytest.mark.quick
@every_kind
def test_every_reference_declares_sound_parameters(name):
    """Every parameter of a reference has a description, a name and a place in the guide."""
    for each in REFERENCES.get(name).parameters():
        assert len(each.words) > 5 and not each.words.endswith('.')
        assert each.path == f'reference.{name}.{each.name}' or each.path == f'reference.{name}'
        guide = GUIDE.read_text(encoding='utf-8')
        assert not ours(name) or f'`{each.path}`' in guide or f'`.{each.name}`' in guide


@pytest.mark.quick
@every_kind
def test_every_reference_goes_to_another_process_and_back(name):
    """Every kind of reference can be pickled, as for planning in another process."""
    try:
        made = example(name)
    except SoftRobotError:
        assert not ours(name)
        return
    assert pickle.loads(pickle.dumps(made)) == made


def check_smooth(reference, count):
    """Value and rate are continuous from piece to piece, and from one period to the next."""
    breaks, coefficients = reference.breaks, reference.coefficients
    assert np.isfinite(coefficients).all() and (np.diff(breaks) > 0.0).all()
    assert coefficients.shape == (6, len(breaks) - 1, count)
    powers = np.diff(breaks)[:, None] ** np.arange(6)
    ends = np.einsum('kp,pki->ki', powers, coefficients)
    rates = np.einsum('kp,pki->ki', powers[:, :5] * np.arange(1, 6), coefficients[1:])
    begins, first_rates = coefficients[0], coefficients[1]
    if reference.period:
        begins = np.vstack([begins, begins[:1] + reference.drift])
        first_rates = np.vstack([first_rates, first_rates[:1]])
    count = len(begins) - 1
    scale = 1.0 + np.abs(begins).max()
    np.testing.assert_allclose(ends[:count], begins[1:], atol=1e-9 * scale)
    np.testing.assert_allclose(rates[:count], first_rates[1:], atol=1e-8 * scale)


@every_kind
def test_every_reference_is_smooth_and_leads_tips_where_it_says(name):
    """Value and rate of a reference are continuous, and its postures reach its targets."""
    arm = compiled('pcc_arm')
    controlled = np.arange(arm.m)[::-1]
    try:
        made = example(name)
        motion = made.plan(arm, controlled, arm.q0)
    except SoftRobotError:
        assert not ours(name)  # another's may be for another robot
        return
    if motion is None:
        return
    check_smooth(motion.reference, arm.m)
    targets = made.targets()
    if targets is not None:
        times = motion.reference.breaks[: len(motion.postures.q)]
        indices = [body_index(arm, body) for body in targets.bodies]
        tips = [sd.forward_kinematics(arm, q=q)[indices, :3, 3] for q in motion.postures.q]
        np.testing.assert_allclose(tips, targets.points(times), atol=1e-5)


@pytest.mark.quick
def test_a_kind_with_parameters_that_cannot_be_is_not_registered():
    """A kind with a parameter per actuator, or outside of `reference`, is refused."""
    for words in ({'each': 'actuator'}, {'group': 'gains'}):

        @dataclass(frozen=True)
        class Wrong(Trajectory):
            speed: float = parameter(number('m/s', default=1.0), 'How fast it goes', **words)

        with pytest.raises(ArgumentError, match='speed'):
            register('wrong')(Wrong)
        assert 'wrong' not in REFERENCES.names()


def kind(**fields):
    """Return a class of references with some fields, (annotation, what stands there)."""
    members = {name: value for name, (_, value) in fields.items()}
    members |= {'__annotations__': {name: kind for name, (kind, _) in fields.items()}}
    return dataclass(frozen=True)(
        type('Mine', (Trajectory,), {**members, 'plan': lambda *_: None})
    )


def test_fields_with_defaults_are_parameters_however_they_are_written():
    """Fields with defaults become parameters, by `parameter`, `fields` or plain Python."""
    mine = kind(
        told=(float, parameter(number('m', above=0.0, default=0.1), 'How wide')),
        bounded=(float, number('s', at_least=0.5, default=2.0)),
        gain=(float, 0.25),
        laps=(int, 3),
        back=(bool, False),
        body_name=(str, 'tip'),
    )
    mine.type_name = 'mine'
    found = {p.path: (p.default, p.words) for p in mine.parameters()}
    assert found == {
        'reference.mine.told': (0.1, 'How wide'),
        'reference.mine.bounded': (2.0, 'bounded'),
        'reference.mine.gain': (0.25, 'gain'),
        'reference.mine.laps': (3, 'laps'),
        'reference.mine.back': (False, 'back'),
        'reference.mine.body_name': ('tip', 'body name'),
    }
    assert mine() == mine(told=0.1, bounded=2.0, gain=0.25)
    problems = Problems()
    by_name = {p.name: p for p in mine.parameters()}
    assert by_name['gain'].read(1, 1, problems) == 1.0 and not problems
    by_name['bounded'].read(0.1, 1, problems)
    by_name['laps'].read(0.5, 1, problems)
    assert [problem.path for problem in problems] == [
        'reference.mine.bounded', 'reference.mine.laps'
    ]  # fmt: skip


@pytest.mark.parametrize('field', [(float, number('m')), (list, None)], ids=['none', 'no number'])
def test_a_field_that_can_be_no_parameter_is_refused_at_registration(field):
    """A field that cannot be a parameter is refused by name, with how to write it."""
    with pytest.raises(ArgumentError, match='width.*parameter.*default'):
        register('unsound')(kind(width=field))
    assert 'unsound' not in REFERENCES.names()


def test_a_kind_that_does_not_plan_is_refused_at_registration():
    """A kind without the method of planning is refused with both names."""
    with pytest.raises(MissingMethodError, match='Idle has no method plan'):
        register('idle')(dataclass(frozen=True)(type('Idle', (Trajectory,), {})))
