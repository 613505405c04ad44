# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Problems with known answers: the important ones of docs/accuracy.md, at low resolution."""

from dataclasses import replace

import agreement
import equilibria
import motions
import numpy as np
import pytest
import references
import rods
from study import run
import vibrations

CONSTANT = '`cosserat` of constant strain'
LEGENDRE = '`cosserat`, Legendre degree p'
ELASTICA = 'Elastica: dead load at the tip'
CIRCLE = 'Pure tip moment, up to the closed circle'


def solved(module, title, body, resolutions=None, **changes):
    """Return the result of the study of a problem by a body model, both by first words."""
    problem = next(each for each in module.problems() if each.title.startswith(title))
    study = next(each for each in problem.studies if each.body.startswith(body))
    return run(problem, replace(study, resolutions=resolutions or study.resolutions, **changes))


@pytest.mark.parametrize(
    'k, published',
    [
        (0.25, (0.1242924421, 0.0041178184, 0.0827459154)),
        (1.0, (0.4613519497, 0.0564332363, 0.3017207738)),
        (10.0, (1.4302855388, 0.5549955978, 0.8106090249)),
    ],
)
def test_references_of_the_elastica(k, published):
    """Elliptic integrals give published values, and so does shooting for no compliance."""
    np.testing.assert_allclose(references.elastica(k), published, atol=1e-10)
    np.testing.assert_allclose(references.stretching_elastica(k, 0.0), published, atol=1e-10)


def test_references_of_beams():
    """Timoshenko's beam without rotary inertia or shear is Euler and Bernoulli's."""
    thin = references.euler_bernoulli(3, 2.0, 3.0, 0.5)
    np.testing.assert_allclose(
        np.sqrt(thin * 0.5**2 * np.sqrt(1.5)), [1.875104, 4.694091, 7.854757], atol=1e-6
    )
    thick = references.timoshenko(3, 2.0, 3.0, 0.5, 0.0, 0.0)
    np.testing.assert_allclose(thick, thin, rtol=1e-11)


@pytest.mark.parametrize('body', ['`planar_cc`', CONSTANT])
@pytest.mark.parametrize('title', [ELASTICA, 'Self-weight'])
def test_chains_are_of_second_order_at_rest(title, body):
    """Chains of constant curvature converge to the right posture with order two."""
    result = solved(equilibria, title, body, (8, 16, 32), tolerance=2e-4, limit=1e-6)
    assert np.abs(result.orders - 2.0).max() < 0.05
    assert result.passed, result


@pytest.mark.parametrize('body', ['`planar_cc`', CONSTANT, '`cosserat`, degree 2'])
def test_constant_strain_closes_the_circle(body):
    """A rod of constant strain under a tip moment is exact to 1e-12, up to a full turn."""
    assert solved(equilibria, CIRCLE, body).errors[-1] < 1e-12


@pytest.mark.parametrize('title', [ELASTICA, 'Self-weight', 'Elastica of a rod that stretches'])
def test_legendre_strains_converge_fast_at_rest(title):
    """Each two degrees more gain a digit at least, down to 1e-6 and less."""
    errors = solved(equilibria, title, LEGENDRE, (2, 4, 6, 8)).errors
    assert errors[1] < 0.1 * errors[0] and errors[2] < 0.1 * errors[1]
    assert errors[-1] < 1e-7


def test_quadrature_of_a_rod_is_of_fourth_order():
    """The march along a rod converges with order four in its points."""
    result = solved(equilibria, ELASTICA, '`cosserat`, degree 8', (10, 20, 40))
    assert result.orders[-1] == pytest.approx(4.0, abs=0.15) and result.errors[-1] < 1e-6


@pytest.mark.parametrize(
    'title, body',
    [
        ('Bending of a thin rod', '`planar_cc`'),
        ('Bending of a thin rod', CONSTANT),
        ('Axial', CONSTANT),
        ('Torsional', CONSTANT),
        ('Bending of a thick rod that does not shear', '`planar_cc`'),
        ('Bending of a thick rod that shears', CONSTANT),
    ],
)
def test_frequencies_of_chains_are_of_second_order(title, body):
    """Three frequencies of chains converge with order two to Euler's, Rayleigh's, Timoshenko's."""
    result = solved(vibrations, title, body, (16, 32), tolerance=4e-3, limit=1e-4)
    assert result.orders[-1] == pytest.approx(2.0, abs=0.05)
    assert result.passed, result


@pytest.mark.parametrize(
    'title',
    [
        'Bending of a thin',
        'Axial',
        'Torsional',
        'Bending of a thick rod that does',
        'Bending of a thick rod that s',
    ],
)
def test_frequencies_of_legendre_strains_converge_fast(title):
    """Three frequencies to 1e-5 with 9 functions in each strain, to 1e-9 with 12."""
    errors = solved(vibrations, title, LEGENDRE, (8, 11)).errors
    assert errors[0] < 1e-5 and errors[1] < 1e-9


def test_steady_spin_stretches_a_rod_by_the_closed_form():
    """The relative equilibrium of a turning rod is right to 1e-10, beyond the linear formula."""
    result = solved(motions, 'Spin-up: steady', LEGENDRE, (2,))
    assert result.errors[-1] < 1e-10
    assert result.answers[-1].values[0, 0] == pytest.approx(5.143174e-4, rel=2e-7)


def test_spin_up_follows_the_reference():
    """Tip during the spin-up, to 2e-6 of a spectral element in other unknowns."""
    times = np.array([2.0, 4.0, 6.0])
    model = rods.model(rods.gvs(*rods.PLANE, quadrature=20)(motions.SPUN, 4), rods.HINGE)
    tip = motions.spin_up_path(model, times) - [0.0, motions.LENGTH]
    exact = references.spin_up_tip(times, degree=10, rtol=1e-8)
    assert exact[-1, 0] < -0.5  # it bends far
    assert np.abs(tip - exact).max() < 2e-6 * np.abs(exact).max()


def test_flying_rod_keeps_what_it_was_given():
    """Momenta and energy of a flying rod equal the work of its loads, to 1e-8."""
    result = solved_flight((5.0, 6.0))
    assert np.abs(result).max() < 1e-8


def solved_flight(times):
    """Return what momenta and energy lack at times [s], relatively."""
    return motions.flight(times, rtol=1e-9)(rods.gvs(*rods.ALL, quadrature=6), 0).values


@pytest.mark.parametrize('body', ['`cosserat` of constant', '`cosserat` of six'])
def test_constant_strains_move_like_planar_constant_curvature(body):
    """In the plane ID and M of `cosserat` bodies are those of `planar_cc` to 1e-10."""
    assert solved(agreement, 'One rod', body).errors[-1] < 1e-10


def test_stiff_arms_approach_rigid_ones():
    """Joint torques of soft links approach Pinocchio's of rigid ones as 1/E."""
    pytest.importorskip('pinocchio')
    result = solved(
        agreement, 'Rigid limit', '`cosserat`', (1e8, 1e9, 1e10), tolerance=1e-3, limit=1e-5
    )
    assert result.orders == pytest.approx(1.0, abs=0.05)
    assert result.passed, result
