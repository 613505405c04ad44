# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Position drives of tendons: their entries in a robot file, commands and efforts."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError, DescriptionError
from support.robots import compiled
from support.servos import servo

C, T0, SPOOL, OFFSET = 2e-4, 5.0, 0.012, 0.3
DRIVE = {'compliance': C, 'pretension': T0, 'radius': SPOOL, 'offset': OFFSET}
BENT = np.array([0.3, -0.2, -0.004])


@pytest.mark.parametrize(
    'fields, place, words',
    [
        ({'command': 'angle'}, 'command', 'one of tension, position'),
        ({'drive': None}, 'drive', 'compliance'),
        ({'command': 'tension'}, 'drive', 'none, as tensions are commanded'),
        ({'drive': {}}, 'drive.compliance', 'number'),
        ({'drive': {'compliance': 0.0}}, 'drive.compliance', '> 0'),
        ({'drive': {**DRIVE, 'radius': 0.0}}, 'drive.radius', 'other than 0'),
        ({'drive': {**DRIVE, 'pretension': -1.0}}, 'drive.pretension', '>= 0'),
        ({'drive': {**DRIVE, 'tension': [-1.0, 5.0]}}, 'drive.tension', '0 <= low'),
        ({'drive': {**DRIVE, 'spool': 0.1}}, 'drive.spool', 'radius'),
        ({'opposite': []}, 'opposite', 'not empty'),
        ({'opposite': [{'body': 'nobody', 'offset': [0, 0]}]}, 'opposite[0].body', 'arm'),
        ({'opposite': [{'body': 'arm'}]}, 'opposite[0].offset', 'points'),
        (
            {'opposite': [{'body': 'arm', 'offset': [-0.01, 0]}], 'friction': 0.1},
            'friction',
            'two tendons on one motor',
        ),
        (
            {
                'opposite': [{'body': 'arm', 'offset': [-0.01, 0]}],
                'drive': {**DRIVE, 'tension': [1.0, 5.0]},
            },
            'drive.tension',
            'two tendons on one motor',
        ),
    ],
)
def test_an_impossible_drive_is_refused(fields, place, words):
    """An impossible drive is refused with the place in the file and what would be right."""
    robot = servo(DRIVE)
    robot['actuators'][1].update(fields)
    with pytest.raises(DescriptionError) as caught:
        sd.load_robot(robot)
    (problem,) = caught.value.problems
    assert problem.path == f'actuators[1].{place}' and words in problem.expected


def test_a_pair_needs_a_drive():
    """Two tendons of which the tension is commanded are two actuators."""
    robot = servo(DRIVE, pairs=True)
    del robot['actuators'][0]['command'], robot['actuators'][0]['drive']
    with pytest.raises(DescriptionError, match='command: position'):
        sd.load_robot(robot)


@pytest.mark.parametrize('radius, unit', [(None, 'm'), (SPOOL, 'rad'), (-SPOOL, 'rad')])
def test_the_relation_of_command_and_tension(radius, unit):
    """T = max(0, T0 + (r (u - offset) + y) / C); a negative spool is wound the other way."""
    model = sd.compile_model(sd.load_robot(servo({**DRIVE, 'radius': radius})))
    assert {q.unit for q in model.commands} == {unit} and {q.unit for q in model.efforts} == {'N'}
    y = sd.actuation(model, q=BENT, qd=0.0 * BENT).coordinates
    u, r = np.array([0.1, 0.35, -0.2]), radius or 1.0
    tension = np.maximum(0.0, T0 + (r * (u - OFFSET) + y) / C)
    found = sd.efforts(model, q=BENT, command=u)
    assert found == pytest.approx(tension, rel=1e-12) and found.max() > 0.0 == found.min()
    asked = np.array([3.0, 0.0, 40.0])
    back = sd.commands(model, q=BENT, u=asked)
    assert back == pytest.approx(OFFSET + ((asked - T0) * C - y) / r, rel=1e-12)


def test_two_tendons_on_one_motor():
    """A motor draws in one of two opposite tendons and pays out the other; either may be slack."""
    model = sd.compile_model(sd.load_robot(servo(DRIVE, pairs=True)))
    each = sd.compile_model(sd.load_robot(servo(DRIVE, count=4)))
    y = sd.actuation(each, q=BENT, qd=0.0 * BENT).coordinates  # at 0, 90, 180 and 270 degrees
    assert sd.actuation(model, q=BENT, qd=0.0 * BENT).coordinates == pytest.approx(
        0.5 * (y[:2] - y[2:]), abs=1e-15
    )
    for u in (-0.9, 0.25, 0.9):
        way = SPOOL * (u - OFFSET)
        one, other = (np.maximum(0.0, T0 + (w + x) / C) for w, x in ((way, y[:2]), (-way, y[2:])))
        assert sd.efforts(model, q=BENT, command=[u, u]) == pytest.approx(one - other, rel=1e-12)
        if abs(u) == 0.9:
            assert min(one.min(), other.min()) == 0.0
    for asked in ([-30.0, 2.0], [0.0, 60.0]):
        u = sd.commands(model, q=BENT, u=asked)
        assert sd.efforts(model, q=BENT, command=u) == pytest.approx(asked, abs=1e-12)


def test_commands_of_all_others_are_their_efforts():
    """Commands of actuators without position drives are their efforts; arguments are checked."""
    model = compiled('pcc_arm')
    u = np.arange(9.0)
    assert np.array_equal(sd.efforts(model, q=np.zeros(9), command=u), u)
    assert np.array_equal(sd.commands(model, q=np.zeros(9), u=u), u)
    with pytest.raises(ArgumentError, match='command'):
        sd.efforts(model, q=np.zeros(9), command=u[1:])


def test_limits_have_the_unit_of_the_command():
    """Limits and rates are in rad, those of efforts in N; on loss the command is held."""
    more = {'limits': [-1.0, 2.0], 'rate_limit': 3.0}
    drive = {**DRIVE, 'tension': [0.0, 25.0]}
    model = sd.compile_model(sd.load_robot(servo(drive, pairs=True, **more)))
    assert (model.lower[0], model.upper[0], model.rate_limit[0]) == (-1.0, 2.0, 3.0)
    assert (model.effort_lower[0], model.effort_upper[0]) == (-25.0, 25.0)
    assert model.description.actuators[0].actuator.safe_command == 'hold'
    one = sd.load_robot(servo(drive)).actuators[0].actuator
    assert one.effort_limits({}) == (0.0, 25.0) and not one.goes_slack


@pytest.mark.quick
def test_a_pair_of_tendons_within_a_body_has_no_part_elsewhere():
    """The passages of an actuator through one body are those of both its paths."""
    robot = sd.load_robot('servo_arm')
    both = robot.actuators[2].actuator
    for body in ('segment1', 'segment2'):
        own = both.within(body)
        assert [p.body for p in (*own.path, *own.opposite)] == [body, body]
    assert robot.actuators[0].actuator.within('segment2') is None
