# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Finite-element matrices against another program and against exact energies."""

import numpy as np
import pytest
from softrobot_dynamics.bodies.fem.assembly import (
    mass_matrix,
    MASS_QUADRATURE_ORDER,
    stiffness_matrix,
)
from softrobot_dynamics.bodies.fem.elements import Elements
from softrobot_dynamics.bodies.meshes import Mesh
from softrobot_dynamics.materials.contract import lame
from support.solids import box, RUBBER

LAME = lame(RUBBER.young_modulus, RUBBER.poisson_ratio)


@pytest.fixture(scope='module')
def elements():
    """Elements of a box with no right angle, and with unequal ones."""
    mesh = box((2, 3, 4), (0.03, 0.04, 0.25))
    bent = mesh.points + 0.2 * np.sin(9.0 * mesh.points[:, [1, 2, 0]]) * mesh.points[:, [2, 0, 1]]
    return Elements(Mesh(bent, mesh.tetrahedra))


def test_matrices_are_those_of_scikit_fem(elements):
    """Stiffness and mass matrices equal those of scikit-fem entry by entry."""
    skfem = pytest.importorskip('skfem')
    from skfem.helpers import dot
    from skfem.models.elasticity import linear_elasticity

    mesh = skfem.MeshTet(elements.mesh.points.T.copy(), elements.mesh.tetrahedra.T.copy())
    shapes = skfem.ElementVector(skfem.ElementTetP2())
    reference = Mesh(np.vstack([np.zeros(3), np.eye(3)]), np.arange(4)[None])
    points, weights = reference.quadrature(MASS_QUADRATURE_ORDER)
    elastic = skfem.Basis(mesh, shapes, intorder=2)
    inertial = skfem.Basis(mesh, shapes, quadrature=(points.T, weights))
    np.testing.assert_allclose(elastic.doflocs.T, elements.nodes.repeat(3, axis=0), atol=1e-16)
    mass = skfem.BilinearForm(lambda u, v, _: RUBBER.density * dot(u, v))
    for found, wanted in (
        (stiffness_matrix(elements, LAME), linear_elasticity(*LAME).assemble(elastic)),
        (mass_matrix(elements, RUBBER.density), mass.assemble(inertial)),
    ):
        assert found.shape == wanted.shape == 2 * (3 * len(elements.nodes),)
        assert abs(found - wanted).max() < 1e-13 * abs(wanted).max()


def test_energies_of_a_homogeneous_strain_are_exact(elements):
    """Energies of a homogeneous strain and of a velocity are exact, of a rotation zero."""
    K, M = stiffness_matrix(elements, LAME), mass_matrix(elements, RUBBER.density)
    volume, derivative = (
        elements.mesh.volumes().sum(),
        np.random.default_rng(3).normal(size=(3, 3)),
    )
    strain = 0.5 * (derivative + derivative.T)
    wanted = volume * (LAME[0] * np.trace(strain) ** 2 + 2.0 * LAME[1] * np.sum(strain**2))
    moved, turned = (
        (elements.nodes @ A.T).ravel() for A in (derivative, derivative - derivative.T)
    )
    np.testing.assert_allclose(moved @ (K @ moved), wanted, rtol=1e-12)
    np.testing.assert_allclose(K @ turned, 0.0, atol=1e-13 * np.abs(K @ moved).max())
    velocity = np.tile([1.0, -2.0, 0.5], len(elements.nodes))
    np.testing.assert_allclose(velocity @ (M @ velocity), RUBBER.density * volume * 5.25)
