# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Mass, stiffness and its change with the displacement, of an isotropic elastic solid.

A finite-element library gives the same matrices, in more time and memory
(``benchmarks/elements.py``).
"""

from typing import Any

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.bodies.fem.elements import Elements

MASS_QUADRATURE_ORDER = 3  # with quadratic elements eigenvalues keep their order
STIFFNESS_QUADRATURE_ORDER = 2  # exact for these elements in small strain


def mass_matrix(elements: Elements, density: float) -> Any:
    """Mass matrix (3 N, 3 N), sparse [kg]; unknowns node by node."""
    from scipy.sparse import eye, kron  # late: scipy is slow to import

    inside, coordinates, weights = elements.quadrature(MASS_QUADRATURE_ORDER)
    count, shapes = len(elements.connectivity), elements.shapes(coordinates)
    shapes, weights = shapes.reshape(count, -1, 10), density * weights.reshape(count, -1)
    products = np.swapaxes(weights[:, :, None] * shapes, 1, 2) @ shapes
    pairs = _Pairs(elements)
    return kron(pairs.matrix(pairs.summed(products)[None, None]), eye(3), format='csc')


def stiffness_matrix(elements: Elements, lame: tuple[float, float]) -> Any:
    """Stiffness matrix (3 N, 3 N), sparse [N/m], for Lame constants (lambda, mu) [Pa]."""
    inside, coordinates, weights = elements.quadrature(STIFFNESS_QUADRATURE_ORDER)
    derivatives = np.sqrt(weights)[:, None, None] * elements.derivatives(inside, coordinates)
    derivatives = np.moveaxis(
        derivatives.reshape(len(elements.connectivity), -1, 10, 3), -1, 0
    ).copy()
    pairs = _Pairs(elements)
    sums = np.array(
        [[pairs.summed(a.swapaxes(1, 2) @ b) for b in derivatives] for a in derivatives]
    )
    blocks = lame[0] * sums + lame[1] * sums.swapaxes(0, 1)
    blocks[range(3), range(3)] += lame[1] * np.trace(sums)
    return pairs.matrix(blocks)


def second_order_force(
    elements: Elements, lame: tuple[float, float], first: Matrix, second: Matrix
) -> Vector:
    """
    Second derivative (3 N,) of the elastic force along two displacements (N, 3), at rest [N/m^2].

    Of a St Venant-Kirchhoff solid, P = F C : E: with A and B the gradients of the displacements
    it is A C:sym(B) + B C:sym(A) + C:sym(A^T B).
    """
    inside, coordinates, weights = elements.quadrature(STIFFNESS_QUADRATURE_ORDER)
    A, B = (elements.gradients(each, inside, coordinates) for each in (first, second))
    stress = A @ hooke(B, lame) + B @ hooke(A, lame) + hooke(np.swapaxes(A, 1, 2) @ B, lame)
    derivatives = elements.derivatives(inside, coordinates)
    result = np.zeros_like(first)
    forces = np.einsum('k,kij,kaj->kai', weights, stress, derivatives)
    np.add.at(result, elements.connectivity[inside], forces)
    return result.ravel()


def hooke(strain: Array, lame: tuple[float, float]) -> Array:
    """Stress (..., 3, 3) of the symmetric part of a strain."""
    trace = np.trace(strain, axis1=-2, axis2=-1)[..., None, None]
    return lame[0] * trace * np.eye(3) + lame[1] * (strain + np.swapaxes(strain, -1, -2))


class _Pairs:
    """The P pairs of nodes that share elements: the entries of a sparse symmetric matrix."""

    def __init__(self, elements: Elements) -> None:
        from scipy.sparse import csc_array  # late: scipy is slow to import

        self.size, nodes = len(elements.nodes), elements.connectivity.astype(np.int64)
        numbers = self.size * nodes[:, :, None] + nodes[:, None]
        self.numbers, place = np.unique(numbers, return_inverse=True)
        once = np.ones(place.size), place.ravel(), np.arange(place.size + 1)
        self._sum = csc_array(once, shape=(len(self.numbers), place.size))

    def summed(self, values: Array) -> Vector:
        """Return sums (P,) over elements of values (T, 10, 10), one for each pair in each."""
        return self._sum @ values.ravel()

    def matrix(self, blocks: Array) -> Any:
        """Matrix (d N, d N), sparse, of blocks (d, d, P)."""
        from scipy.sparse import bsr_array  # late: scipy is slow to import

        starts = np.searchsorted(self.numbers, self.size * np.arange(self.size + 1))
        blocks = np.moveaxis(blocks, -1, 0)
        return bsr_array((blocks, self.numbers % self.size, starts)).tocsr().T
