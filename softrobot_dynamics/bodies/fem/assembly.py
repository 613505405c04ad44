# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Mass, stiffness and its change with the displacement, of an isotropic elastic solid."""

import numpy as np
from scipy.sparse import coo_array

MASS_ORDER = 3  # of the rule for inertia; with quadratic elements eigenvalues keep their order
STRAIN_ORDER = 2  # of the rule for elasticity, exact for these elements in small strain


def mass_matrix(elements, density):
    """Mass matrix (3 N, 3 N), sparse [kg]; unknowns node by node."""
    inside, coordinates, weights = elements.quadrature(MASS_ORDER)
    count, shapes = len(elements.connectivity), elements.shapes(coordinates)
    shapes, weights = shapes.reshape(count, -1, 10), density * weights.reshape(count, -1)
    scalar = np.einsum('tq,tqa,tqb->tab', weights, shapes, shapes)
    return _assembled(elements, np.einsum('tab,ij->taibj', scalar, np.eye(3)))


def stiffness_matrix(elements, lame):
    """Stiffness matrix (3 N, 3 N), sparse [N/m], for Lame constants (lambda, mu) [Pa]."""
    inside, coordinates, weights = elements.quadrature(STRAIN_ORDER)
    slopes = np.sqrt(weights)[:, None, None] * elements.slopes(inside, coordinates)
    rows = slopes.reshape(len(elements.connectivity), -1, 30)
    moments = (np.swapaxes(rows, 1, 2) @ rows).reshape(-1, 10, 3, 10, 3)
    traces = np.einsum('takbk->tab', moments)
    blocks = lame[0] * moments + lame[1] * np.einsum('taibj->tajbi', moments)
    blocks += lame[1] * np.einsum('tab,ij->taibj', traces, np.eye(3))
    return _assembled(elements, blocks)


def second_order_force(elements, lame, first, second):
    """
    Second derivative (3 N,) of the elastic force along two displacements (N, 3), at rest [N/m^2].

    Of a St Venant-Kirchhoff solid, P = F C : E: with A and B the gradients of the displacements
    it is A C:sym(B) + B C:sym(A) + C:sym(A^T B).
    """
    inside, coordinates, weights = elements.quadrature(STRAIN_ORDER)
    A, B = (elements.gradients(each, inside, coordinates) for each in (first, second))
    stress = A @ hooke(B, lame) + B @ hooke(A, lame) + hooke(np.swapaxes(A, 1, 2) @ B, lame)
    slopes = elements.slopes(inside, coordinates)
    result = np.zeros_like(first)
    forces = np.einsum('k,kij,kaj->kai', weights, stress, slopes)
    np.add.at(result, elements.connectivity[inside], forces)
    return result.ravel()


def hooke(strain, lame):
    """Stress (..., 3, 3) of the symmetric part of a strain."""
    trace = np.trace(strain, axis1=-2, axis2=-1)[..., None, None]
    return lame[0] * trace * np.eye(3) + lame[1] * (strain + np.swapaxes(strain, -1, -2))


def _assembled(elements, blocks):
    """Sparse sum of element matrices (T, 10, 3, 10, 3)."""
    unknowns = (3 * elements.connectivity[:, :, None] + np.arange(3)).reshape(-1, 30)
    rows, columns = np.repeat(unknowns, 30, axis=1), np.tile(unknowns, 30)
    size = 3 * len(elements.nodes)
    entries = blocks.ravel(), (rows.ravel(), columns.ravel())
    return coo_array(entries, shape=(size, size)).tocsc()
