# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Laws in phases, by a controller's parameters: read, planned, and run over real DDS."""

import re

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.configuration import build
from softrobot_dynamics.configuration.parameter_files import controller_files, controller_values
from softrobot_dynamics.errors import (
    ArgumentError,
    DescriptionError,
    ExcessiveReferenceError,
    UnknownNameError,
)
from support.robots import compiled

FILE = """
/**:
  controller:
    ros__parameters:
      phases: [one, both]
      one: {duration: 0.4, parts: [lower]}
      both: {parts: [lower, upper]}
      reference.ramp_time: 0.2
      lower:
        controlled: [t1, t2, t3]
        gains.p: 80.0
        reference: {type: spline, spline: {times: [0.0, 0.4], values: [0.0, 0.0, 0.0, -2e-3, -2e-3, -2e-3]}}
      upper:
        controller: pd_plus
        controlled: [t4, t5, t6]
        pd_plus: {p: 25.0, t5.p: 30.0}
        reference: {type: setpoint, setpoint: [-1e-3, -1e-3, -1e-3], ramp_time: 0.1}
"""  # noqa: E501


def read(folder, *changes, text=FILE):
    """Return the values of a parameter file in which some words are others."""
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file = folder / 'controller.yaml'
    file.write_text(text, encoding='utf-8')
    return controller_values(sd.load_robot('pcc_arm'), [file])


@pytest.mark.quick
def test_parts_have_the_parameters_of_their_laws(tmp_path):
    """A part has its law's parameters under the part's name; those of the loop exist once."""
    values, unknown = read(tmp_path, ('gains.p: 80', 'gians.p: 80'))
    assert unknown == ('lower.gians.p (did you mean lower.gains.p?)',)
    values, unknown = read(tmp_path)
    assert unknown == () and values['lower.gains.p'] == 80.0 and values['upper.pd_plus.p'] == 25.0
    assert 'delay' in values and 'lower.delay' not in values and 'gains.p' not in values
    settings = build.settings_for(compiled('pcc_arm'), values)
    lower, upper = settings.laws
    assert (lower.p[:3] == 80.0).all() and upper.p.tolist() == [25.0, 30.0, 25.0]


@pytest.mark.quick
@pytest.mark.parametrize('old, new, words', [
    ('[one, both]', '[one, one]', 'phases: .*different names'),
    ('[one, both]', '[one, "two words"]', 'phases: .*letters'),
    ('phases: [one, both]', 'phases: [one, both]\n      controlled: [t1]',
     'controlled: .*each part has its own'),
    ('duration: 0.4', 'duration: -1.0', 'one.duration'),
    ('duration: 0.4, ', '', r'one.duration: .*a number > 0'),
    ('parts: [lower]', 'parts: []', 'one.parts: .*one or more parts'),
    ('parts: [lower]', 'parts: [gains.p]', 'one.parts: .*letters'),
    ('parts: [lower]', 'parts: [reference]', 'one.parts: .*none that a parameter'),
    ('[t4, t5, t6]', '[t3, t5, t6]', 'both.parts: .*lower has t3 already'),
    ('parts: [lower, upper]', 'parts: [lower, uper]',
     'both.parts: .*lower has t1, t2, t3 already, and uper.controlled is not set'),
    ('[t4, t5, t6]', '[t4, t5, tt6]', 'upper.controlled: .*did you mean t6'),
    ('gains.p: 80.0', 'gains.p: -80.0', 'lower.gains.p: -80'),
    ('type: setpoint', 'type: setpiont', 'upper.reference.type'),
])  # fmt: skip
def test_impossible_phases_are_refused(old, new, words, tmp_path):
    """Impossible phases are refused with the name of the parameter."""
    with pytest.raises(DescriptionError) as refused:
        read(tmp_path, (old, new))
    assert any(re.search(words, str(p)) for p in refused.value.problems), refused


@pytest.mark.quick
def test_an_unknown_law_is_refused(tmp_path):
    """An unknown law of a part is refused with the known names."""
    with pytest.raises(UnknownNameError, match='pd_plus'):
        read(tmp_path, ('controller: pd_plus', 'controller: pd_pluss'))


def test_phases_are_planned_one_after_the_other(tmp_path):
    """Phases are planned in order with all parts, and errors name the phase."""
    model, (values, _) = compiled('pcc_arm'), read(tmp_path)
    planned = build.plan_of(model, values, model.q0)
    first, second = planned.reference.references
    assert first.breaks.tolist() == [0.0, 0.4] and second.coefficients[0, 0, 0] == -1e-3
    assert planned.reference.ramps == (0.2, 0.1) and planned.remarks == ()
    assert {place for _, _, place in planned.places} == {0, 1}
    q, u, _ = planned.places[-1]  # both hold what they shall, the rest is slack
    y = sd.actuation(model, q=q, qd=np.zeros(model.n)).coordinates
    assert y[:6] == pytest.approx([-2e-3] * 3 + [-1e-3] * 3) and not u[6:].any()
    far, _ = read(tmp_path, ('[-1e-3, -1e-3, -1e-3]', '[-30e-3, -30e-3, -30e-3]'))
    with pytest.raises(ExcessiveReferenceError, match='effort of t'):
        build.plan_of(model, far, model.q0)
    for old, new, words in (
        ('setpoint: [-1e-3, -1e-3, -1e-3]', 'setpoint: [-1e-3]', ' upper.reference.setpoint'),
        ('times: [0.0, 0.4]', 'times: [0.4]', ' lower.reference.spline.times'),
    ):
        wrong, _ = read(tmp_path, (old, new))
        with pytest.raises((ArgumentError, DescriptionError), match=words):
            build.plan_of(model, wrong, model.q0)


COMMANDS = ('controller: pd_plus', 'controller: feed_forward'), ('pd_plus: {p: 25.0, t5.p: 30.0}',
            'feed_forward: {command: 1.0}')  # fmt: skip


def test_commands_in_time_are_planned_without_postures(tmp_path):
    """A reference of commands is checked against limits of u, without postures."""
    model = compiled('pcc_arm')
    setpoint = '{type: setpoint, setpoint: [-1e-3, -1e-3, -1e-3], ramp_time: 0.1}'
    told = '{type: spline, spline: {times: [0.0, 0.2], values: [0, 0, 0, 1, 1, 1]}}'
    values, _ = read(tmp_path, *COMMANDS, (setpoint, told))
    planned = build.plan_of(model, values, model.q0)
    assert planned.remarks == () and planned.places[-1][1][3:6].tolist() == [2.0] * 3
    law = build.law_of(model, values)
    assert law.controlled.tolist() == [0, 1, 2]
    found = sd.closed_loop(model, law, planned.reference, 0.8, start=sd.Start(u=np.zeros(model.m)))
    assert found.u[-1, 3:6] == pytest.approx([2.0] * 3) and not found.u[:400, 3:].any()
    high = told.replace('1, 1, 1', '1e3, 1, 1').replace('[0, 0, 0,', '[0.0, 0.0, 0.0,')
    with pytest.raises(ExcessiveReferenceError, match='effort of t4'):
        build.plan_of(model, read(tmp_path, *COMMANDS, (setpoint, high))[0], model.q0)
    beyond = COMMANDS[1][0], 'feed_forward: {t4.command: -3.0}'
    values, _ = read(tmp_path, COMMANDS[0], beyond, (setpoint, '{type: hold}'))
    (remark,) = build.plan_of(model, values, model.q0).remarks
    words = 'reference at t = 0 s: effort of t4 [N] would have to be -3, with limits 0 to 40'
    assert remark == f'upper: followed as far as the limits allow: {words}'
    beyond = COMMANDS[1][0], 'feed_forward: {command: 900.0}'
    with pytest.raises(ExcessiveReferenceError, match='effort of t4 .* 900, with limits'):
        build.plan_of(
            model, read(tmp_path, COMMANDS[0], beyond, (setpoint, '{type: hold}'))[0], model.q0
        )
    circle = '{type: circle, circle: {body: tip, center: [0.0, 0.0, 0.57], radius: 0.1}}'
    with pytest.raises(ArgumentError, match='follow it, not a tip'):
        build.plan_of(model, read(tmp_path, *COMMANDS, (setpoint, circle))[0], model.q0)


def test_the_papers_second_simulation():
    """Three laws in three phases, as shipped; from the posture that the paper begins in."""
    model = compiled('hybrid_arm')
    values, _ = controller_values(
        model.description, controller_files('hybrid_arm', model.description, None)
    )
    values = {**values, 'robot': 'hybrid_arm', 'arm.reference.ramp_time': 0.0}
    law, planned = build.law_of(model, values), build.plan_of(model, values, model.q0)
    assert planned.remarks == ()
    q0 = sd.equilibrium(model, u=planned.places[0][1], q0=planned.places[0][0]).q
    found = sd.closed_loop(
        model, law, planned.reference, 7.0, start=sd.Start(q=q0), plant=sd.Plant(delay=5e-4)
    )
    error = np.full((len(found.t), model.m), np.nan)
    error[:, law.controlled] = found.y[:, law.controlled] - found.y_d
    assert np.abs(error[:, :6]).max() < 2e-3  # [rad], while all that it carries moves
    assert np.isnan(error[:3000, 6:]).all() and np.isnan(error[:, 9]).all()
    assert np.abs(error[-1, 6:9]).max() < 1e-4  # [m] of 40 mm
    assert found.q[-1, 6:9] == pytest.approx([-np.pi / 2, np.pi / 4, -0.02], abs=5e-3)
    assert (found.u[:5000, 9] == 0.0).all() and found.u[-1, 9] == 2e6
    assert (found.u >= model.lower).all() and (found.u <= model.upper).all()
    steps = np.abs(np.diff(found.u, axis=0))
    assert (steps <= model.rate_limit * law.period * (1 + 1e-9)).all()
