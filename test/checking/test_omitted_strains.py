# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The report of `softrobot check` on strains that rods leave out, within the actuators' limits."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.checking.omitted_strains import worst_omitted
from softrobot_dynamics.checking.report import examine
from support.pulled_rods import BENDING, described, LENGTH, RADIUS, rod


def test_a_soft_rod_that_cannot_shorten_is_asked_about():
    """The report says how far the tip would move, under which tendons, and what to add."""
    model = sd.compile_model(rod(1e6, limit=5.0))
    worst = {each.omitted.name: each for each in worst_omitted(model)}['gamma_z']
    assert worst.load == '5 N on right, left and winding together'
    least = 15.0 / (1e6 * np.pi * RADIUS**2) * LENGTH  # all three draw it in
    assert worst.omitted.shift > 0.8 * least
    assert 'rod leaves out gamma_z: under 5 N on right, left and winding' in worst.question
    assert worst.question.endswith('add `gamma_z: {basis: legendre, order: 0}`?')
    lines = [each for each in examine(model) if each.name.startswith('shift by gamma_z')]
    assert [line.question for line in lines] == [worst.question] and lines[0].unit == 'mm'


@pytest.mark.parametrize('kind', ['cosserat', 'pcc', 'planar_cc'])
def test_a_stiff_rod_is_not_asked_about(kind):
    """Each rod has a line, of the strain that matters most, without a question."""
    found = list(worst_omitted(sd.compile_model(rod(1e9, kind=kind))))
    assert [each.omitted.body for each in found] == ['rod'] and not found[0].question


def test_a_rod_that_has_all_strains_leaves_nothing_out():
    """The report has no line on omitted strains for a rod that has all strains."""
    every = (*BENDING, 'kappa_z', 'gamma_x', 'gamma_y', 'gamma_z')
    assert list(worst_omitted(sd.compile_model(rod(4e5, every)))) == []


def test_weight_alone_is_a_load_and_tendons_without_limits_do_not_pull():
    """A rod that hangs lengthens by rho g L^2 / (2 E); tensions without end are not guessed."""
    robot = described(2e4)
    robot['gravity'] = [0.0, 0.0, 9.81]
    for actuator in robot['actuators']:
        del actuator['limits']
    worst = next(worst_omitted(sd.compile_model(sd.load_robot(robot))))
    lengthened = 1000.0 * 9.81 * LENGTH**2 / (2.0 * 2e4)
    assert worst.load == 'its weight alone' and worst.omitted.name == 'gamma_z'
    assert worst.omitted.shifts[0, 0, 2] == pytest.approx(lengthened, rel=1e-6)
    assert 'lengthen' in worst.question
