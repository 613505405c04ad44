# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A rotation shared by several tendons is fitted as one shift."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import UnknownNameError
from softrobot_dynamics.identification.fit_parameters import read_parameters
from softrobot_dynamics.identification.fitting import identify
from softrobot_dynamics.identification.postures import Marker, postures
from support.robots import compiled

TURNED = 't4/t5/t6.path.phase'
TIP = Marker('tip', 'segment3', (0.0, 0.0, 0.2))


def phases(robot):
    """Return the angles [rad] of all tendons, each where it begins."""
    return np.array([entry.actuator.path[0].offset.phase for entry in robot.actuators])


def test_a_shift_is_added_to_the_numbers_of_these_parts_only():
    """Three tendons turn by the same angle, the other six stay."""
    robot = compiled('pcc_arm').description
    change = phases(sd.vary(robot, {TURNED: '+=0.1'})) - phases(robot)
    np.testing.assert_allclose(change, np.repeat([0.0, 0.1, 0.0], 3), atol=1e-15)


def test_numbers_that_differ_share_a_shift_where_bounds_hold_zero():
    """Different numbers share a shift if the bounds contain zero, else a factor."""
    robot = compiled('pcc_arm').description
    shift = read_parameters(robot, [f'{TURNED}=-0.3..0.3']).each[0]
    factor = read_parameters(robot, ['path.phase=0.9..1.1']).each[0]
    assert (shift.shift, shift.factor, shift.nominal) == (True, False, 0.0)
    assert (factor.shift, factor.factor, factor.nominal) == (False, True, 1.0)


def test_a_shift_is_found_again():
    """A rotation shared by three tendons of the measured robot is found."""
    robot = compiled('pcc_arm').description
    real = sd.compile_model(sd.vary(robot, {TURNED: '+=0.12'}))
    tensions = 4.0 * np.eye(9)[3:7]
    held = [sd.equilibrium(real, u=u).q for u in tensions]
    seen = [[sd.forward_kinematics(real, q=q)[-1][:3, 3]] for q in held]
    data = postures(robot, tensions, [TIP], seen)
    found = identify(robot, data, ['young_modulus', f'{TURNED}=-0.3..0.3'])
    assert found.estimates[1].value == pytest.approx(0.12, abs=1e-6)


def test_names_of_no_part_are_refused():
    """A name of no part is refused as any other unknown name."""
    with pytest.raises(UnknownNameError):
        sd.vary(compiled('pcc_arm').description, {'t14/t15.path.phase': '+=0.1'})


def test_rigidities_may_be_varied():
    """A bending rigidity about both axes is varied by a number or a factor."""
    section = {'type': 'rigidities', 'EI': {'x': 0.02, 'y': 0.03}, 'rhoA': 0.1}
    body = {
        'type': 'cosserat', 'length': 0.2, 'section': section,
        'strains': {'kappa_x': {'basis': 'legendre', 'order': 0}},
    }  # fmt: skip
    robot = sd.load_robot({
        'name': 'rod', 'gravity': [0.0, 0.0, -9.81],
        'bodies': [{'name': 'rod', 'joint': {'type': 'fixed'}, 'body': body}],
    })  # fmt: skip
    for change, expected in (('×2', ((0.04,) * 2, (0.06,) * 2)), (0.05, ((0.05,) * 2,) * 2)):
        assert sd.vary(robot, {'EI': change}).modules[0].body.section.EI == expected
