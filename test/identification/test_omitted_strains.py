# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Omitted strains of rods: their size, and how far they would move the robot."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.identification.fitting import identify
from softrobot_dynamics.identification.motions import Coordinate, motion
from softrobot_dynamics.identification.omitted_in_fit import omitted_strain_questions
from softrobot_dynamics.identification.omitted_strains import release, ReleasedRobot
from support.pulled_rods import BENDING, held, LENGTH, RADIUS, rod, tip

AREA = np.pi * RADIUS**2


def omitted(description, u):
    """Return {strain: Omitted} of the rod at rest under u (3,) [N]."""
    model = sd.compile_model(description)
    q = sd.equilibrium(model, u=u).q
    return {each.name: each for each in ReleasedRobot(model).omitted(q, np.array(u))}


@pytest.mark.parametrize('kind', ['cosserat', 'planar_cc'])
def test_two_opposite_tendons_shorten_a_rod_by_their_load_over_its_rigidity(kind):
    """The mean strain is -2 T / (E A), and the tip moves by that of the length."""
    found = omitted(rod(1e6, kind=kind), [2.0, 2.0, 0.0])['gamma_z']
    strain = -4.0 / (1e6 * AREA)
    assert found.strain == pytest.approx(strain, rel=1e-9)
    assert found.shifts[0, 0] == pytest.approx([0.0, 0.0, strain * LENGTH], abs=1e-12)
    assert found.order == 0 and found.shift == pytest.approx(-strain * LENGTH, rel=1e-9)


@pytest.mark.parametrize(('kind', 'has', 'name', 'u'), [
    ('cosserat', BENDING, 'gamma_z', (2.0, 1.0, 0.0)),
    ('cosserat', BENDING, 'kappa_z', (0.5, 0.0, 1.0)),
    ('cosserat', (*BENDING, 'gamma_z'), 'gamma_x', (0.5, 0.0, 1.0)),
    ('pcc', (*BENDING, 'gamma_z'), 'kappa_z', (0.5, 0.0, 1.0)),
    ('planar_cc', ('kappa_y',), 'gamma_z', (2.0, 1.0, 0.0)),
])  # fmt: skip
def test_the_same_rod_with_the_strain_moves_by_that_to_first_order(kind, has, name, u):
    """The predicted motion equals that of a rod with the strain to first order in the load."""
    errors = []
    for modulus in (4e6, 8e6):
        without = rod(modulus, has, kind)
        found = omitted(without, u)[name].shifts[0, 0]
        models = map(sd.compile_model, (rod(modulus, (*has, name)), without))
        moved = np.subtract(*(tip(model, np.array(u)) for model in models))
        errors.append(np.linalg.norm(found - moved) / np.linalg.norm(moved))
    assert errors[0] < 0.1 and errors[1] < max(0.6 * errors[0], 1e-9)


@pytest.mark.parametrize('kind', ['pcc', 'planar_cc', 'cosserat'])
def test_a_released_robot_rests_where_it_did_in_the_coordinates_it_had(kind):
    """With more coordinates the posture is the same, and only the new ones are loaded."""
    description, u = rod(kind=kind), np.array([0.6, 0.3, 0.4])
    model, (more, embedding) = sd.compile_model(description), release(description)
    released, q = sd.compile_model(more), sd.equilibrium(model, u=u).q
    tips = (sd.forward_kinematics(m, q=at) for m, at in ((model, q), (released, embedding @ q)))
    assert next(tips) == pytest.approx(next(tips), abs=1e-12)
    zero = np.zeros(released.n)
    h = sd.inverse_dynamics(released, q=embedding @ q, qd=zero, qdd=zero)
    own = embedding.any(axis=1)
    there = sd.actuation(released, q=embedding @ q, qd=0.0 * released.q0)
    left = h - there.matrix @ u
    assert np.abs(left[own]).max() < 1e-8 < 1e-3 < np.abs(left[~own]).max()


def test_strains_of_unknown_rigidity_are_left_out():
    """For a section of given rigidities without torsion and shear only stretch remains."""
    section = {'type': 'rigidities', 'rhoA': 0.3, 'rhoI': 8e-6, 'EI': 3e-3, 'EA': 120.0}
    strains = dict.fromkeys(BENDING, {'basis': 'legendre'})
    body = {'type': 'cosserat', 'length': LENGTH, 'section': section, 'strains': strains}
    bodies = [{'name': 'rod', 'joint': {'type': 'fixed'}, 'body': body}]
    robot = sd.load_robot({'name': 'measured', 'bodies': bodies})
    assert robot.modules[0].body.omitted_strains() == ('gamma_z',)


PULLS = np.array([[0.5, 0.0, 0.0], [0.0, 0.8, 0.0], [1.5, 1.2, 0.0], [2.0, 2.0, 0.3]])


def test_a_fit_asks_about_the_shortening_that_its_model_leaves_out():
    """A fit without shortening asks about that strain and names the load."""
    data = held(rod(4e5, (*BENDING, 'gamma_z')), PULLS, noise=2e-4)
    found = identify(rod(4e5), data, ['young_modulus'], loss='linear')
    each = {doubt.omitted.name: doubt for doubt in omitted_strain_questions(found)}
    asked = each['gamma_z']
    assert 1e-3 < asked.rms and '2 N on right' in asked.question and 'shorten' in asked.question
    assert 'add `gamma_z: {basis: legendre, order: 0}`?' in asked.question
    assert not each['gamma_x'].question


@pytest.mark.parametrize('has', [BENDING, (*BENDING, 'gamma_z')])
def test_a_fit_of_a_stiff_rod_asks_nothing(has):
    """A stiff rod draws no question, as its strains matter less than the residual."""
    data = held(rod(1e8, has), PULLS, noise=2e-4)
    found = identify(rod(1e8), data, ['young_modulus=9e7..1.1e8'], loss='linear')
    assert not any(doubt.question for doubt in omitted_strain_questions(found))


def test_a_fit_to_a_motion_asks_about_rest_under_its_largest_commands():
    """A fit to a motion without markers examines the tips at rest under its largest commands."""
    true, t = rod(4e5, (*BENDING, 'gamma_z')), 0.02 * np.arange(20)
    u = np.outer(np.sin(np.pi * t / t[-1]), [1.5, 1.2, 0.0])
    simulator = sd.Simulator(sd.compile_model(rod(4e5)))
    names, seen = [Coordinate(name) for name in rod().coordinate_names], []
    for row in u:
        seen.append(simulator.q.copy())
        simulator.step(row, 0.02)
    data = motion(true, t, u, coordinates=names, values=seen)
    found = identify(rod(4e5), data, ['young_modulus'], loss='linear')
    asked = [doubt for doubt in omitted_strain_questions(found) if doubt.question]
    assert [doubt.omitted.name for doubt in asked] == ['gamma_z']
    assert '1.49 N on right, 1.2 N on left' in asked[0].question
