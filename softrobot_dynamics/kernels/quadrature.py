# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Quadrature points and weights."""

from collections.abc import Sequence
import functools
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.polynomial import legendre
from softrobot_dynamics.annotations import Matrix, Vector


def gauss_legendre(count: int, start: float = 0.0, end: float = 1.0) -> tuple[Vector, Vector]:
    """Gauss-Legendre points and weights, (count,) each, on [start, end]."""
    points, weights = _rule(count)
    half = 0.5 * (end - start)
    return start + half * (points + 1.0), half * weights


def composite(ends: Sequence[float], count: int) -> tuple[Vector, Vector]:
    """Gauss points and weights, ``count`` between each two of ``ends``."""
    parts = [gauss_legendre(count, a, b) for a, b in pairwise(ends)]
    points, weights = (np.concatenate(part) for part in zip(*parts))
    return points, weights


class Collocation(NamedTuple):
    """
    Matrices for a function given at ``count`` Gauss points of [0, 1], exact for polynomials.

    ``weights`` (count,) integrate it over [0, 1]; the rows of ``integration_matrix``
    (count, count) from 0 up to each point; ``derivatives`` (count + 2, count) differentiate it at
    each point, at 0 and at 1, and ``hessians`` (count, count) twice at each point.
    """

    weights: Vector
    integration_matrix: Matrix
    derivatives: Matrix
    hessians: Matrix


@functools.cache
def collocation(count: int) -> Collocation:
    """Return the :class:`Collocation` of ``count`` points, by Legendre polynomials."""
    points, weights = _rule(count)
    each = np.eye(count)
    values = legendre.legval(points, each).T  # (points, polynomials)
    to_series = np.linalg.inv(values)
    first = legendre.legder(each, scl=2.0) if count > 1 else np.zeros((1, 1))
    second = legendre.legder(each, 2, scl=2.0) if count > 2 else np.zeros((1, count))
    integral = legendre.legint(each, lbnd=-1.0, scl=0.5)
    ends = np.concatenate([points, [-1.0, 1.0]])
    return Collocation(
        0.5 * weights,
        legendre.legval(points, integral).T @ to_series,
        legendre.legval(ends, first).T @ to_series,
        legendre.legval(points, second).T @ to_series,
    )


@functools.cache
def _rule(count: int) -> tuple[Vector, Vector]:
    """Gauss-Legendre points and weights, (count,) each, on [-1, 1]: an eigenvalue problem."""
    points, weights = np.polynomial.legendre.leggauss(count)
    return points, weights


def cylinder_points(
    length: float, outer: float, inner: float, axial: int, radial: int, angular: int
) -> tuple[Matrix, Vector]:
    """
    Points (K, 3) [m] and volumes (K,) [m^3] of a cylinder along +z, solid or hollow.

    Gauss rules with ``axial`` points in x3 and ``radial`` points in r^2 between the radii
    ``inner`` and ``outer`` [m], and ``angular`` equal angles (k + 1/2) 2 pi / angular: exact for
    polynomials up to the degrees 2 axial - 1 in x3, min(4 radial - 1, angular - 1) in the section.
    K = axial radial angular; points of a section follow each other.
    """
    s, along = gauss_legendre(axial, 0.0, length)
    section, areas = annulus_points(outer, inner, radial, angular)
    points = np.column_stack([np.tile(section, (axial, 1)), np.repeat(s, len(areas))])
    return points, np.outer(along, areas).ravel()


def annulus_points(outer: float, inner: float, radial: int, angular: int) -> tuple[Matrix, Vector]:
    """Points (K, 2) [m] and areas (K,) [m^2] of the section of :func:`cylinder_points`."""
    squares, across = gauss_legendre(radial, inner**2, outer**2)
    angles = (np.arange(angular) + 0.5) * (2.0 * np.pi / angular)
    radius, angle = np.meshgrid(np.sqrt(squares), angles, indexing='ij')
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
    return points.reshape(-1, 2), np.outer(across, np.full(angular, np.pi / angular)).ravel()


def rod_points(
    length: float, radii: Sequence[float], density: float, count: int, section_inertia: bool
) -> tuple[Matrix, Vector]:
    """
    Points (K, 3) [m] and masses (K,) [kg] of a rod along +z with radii (base, tip).

    ``count`` Gauss points along the length. With section inertia three points at radius R / sqrt 2
    stand for each disc: they have its mass, centre and second moments, so that every integrand of
    second degree in the section, hence all inertia of a rigid section, is integrated exactly.
    """
    s, weights = gauss_legendre(count, 0.0, length)
    radius = radii[0] + (radii[1] - radii[0]) * s / length
    mass = weights * density * np.pi * radius**2
    if not section_inertia:
        return np.column_stack([0.0 * s, 0.0 * s, s]), mass
    angles = 2.0 * np.pi * np.arange(3) / 3.0
    ring = radius[:, None] / np.sqrt(2.0)
    points = np.stack(
        np.broadcast_arrays(ring * np.cos(angles), ring * np.sin(angles), s[:, None]), axis=-1
    )
    return points.reshape(-1, 3), np.repeat(mass / 3.0, 3)
