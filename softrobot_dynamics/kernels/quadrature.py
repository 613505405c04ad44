# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Quadrature points and weights."""

import numpy as np


def gauss_legendre(count, start=0.0, end=1.0):
    """Gauss-Legendre points and weights, (count,) each, on [start, end]."""
    points, weights = np.polynomial.legendre.leggauss(count)
    half = 0.5 * (end - start)
    return start + half * (points + 1.0), half * weights


def rod_points(length, radii, density, count, section_inertia):
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
