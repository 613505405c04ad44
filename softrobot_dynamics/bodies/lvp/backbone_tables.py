# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Tables of numbers that :mod:`softrobot_dynamics.bodies.lvp.backbone` reads."""

from collections.abc import Sequence
import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.polynomial import polyval
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.jit import inlined
from softrobot_dynamics.kernels.quadrature import gauss_legendre

NODES = 16  # 15 Gauss-Legendre points and the tip
# offset in a body's numbers of the strain that each coordinate moves
STRAINS_AT = 4 + NODES * NODES


class Numbers(NamedTuple):
    """Numbers that the backbone of a body reads, as :func:`numbers` made it."""

    length: float  # [m]
    outer2: float  # [m^2] squared radius that bends may not fold
    inner2: float  # [m^2] squared radius that sources may not close
    degree: int  # of the curvatures in s / L, and one
    nodes: Vector  # (16,) s / L
    integrals: Vector  # (15 * 16,) [m] from 0 to each node
    strains: Vector  # (n,) which strain a coordinate moves
    shapes: Vector  # (n * 16,) by how much, at the nodes
    table: Vector  # (n * degree,) the same by coefficients, lowest first


@inlined
def read_numbers(n, B):
    """Return the :class:`Numbers` in B, flat."""
    N = NODES
    first = STRAINS_AT + n
    return Numbers(
        length=B[0],
        outer2=B[1],
        inner2=B[2],
        degree=int(B[3]),
        nodes=B[4 : 4 + N],
        integrals=B[4 + N : 4 + N * N],
        strains=B[STRAINS_AT:first],
        shapes=B[first : first + N * n],
        table=B[first + N * n :],
    )


def node_tables(length: float) -> tuple[Vector, Matrix]:
    """
    Nodes s / L (16,), and the matrix (15, 16) [m] of integrals from 0 to each node.

    Row k of the matrix belongs to the value at node k; that at the tip is not needed.
    """
    nodes, integrals = _of_length_one()
    return nodes.copy(), length * integrals


@functools.cache
def _of_length_one() -> tuple[Vector, Matrix]:
    nodes, weights = gauss_legendre(NODES - 1)
    inner, shares = gauss_legendre(NODES)  # exact for the interpolant through the nodes
    integrals = [node * shares @ lagrange(nodes, node * inner) for node in nodes]
    return np.append(nodes, 1.0), np.array([*integrals, weights]).T


def lagrange(nodes: Vector, points: Vector) -> Matrix:
    """Values (K, N) of the Lagrange polynomials of ``nodes`` (N,) at ``points`` (K,)."""
    gaps = nodes[:, None] - nodes + np.eye(len(nodes))
    scale = 1.0 / gaps.prod(axis=1)  # barycentric
    offsets = np.asarray(points)[:, None] - nodes
    hit = np.abs(offsets) < 1e-15
    values = scale / np.where(hit, 1.0, offsets)
    values /= values.sum(axis=1, keepdims=True)
    return np.where(hit.any(axis=1, keepdims=True), hit, values)


def numbers(
    length: float, outer: float, inner: float, strains: Sequence[Any], polynomials: Sequence[Any]
) -> Vector:
    """
    Return the numbers that ``backbone`` reads, flat.

    ``outer`` and ``inner`` [m] are the radii: bends must not fold the one, sources not close the
    other; ``strains`` (n,) index the strain that each coordinate moves, in the order kappa_x,
    kappa_y, kappa_z, gamma_x, gamma_y, lambda, source; ``polynomials`` hold the coefficients of
    the shape, in powers of s / L, lowest first.
    """
    nodes, integrals = node_tables(length)
    shapes = [polyval(nodes, p) for p in polynomials]
    degree = max([1, *(len(p) for z, p in zip(strains, polynomials) if z < 3)])
    table = [[*p[:degree], *[0.0] * (degree - len(p))] for p in polynomials]
    head = [length, outer**2, inner**2, degree]
    return np.concatenate([head, nodes, *integrals, strains, *shapes, *table])
