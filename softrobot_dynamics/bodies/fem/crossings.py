# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Find where a curve crosses from one element of a mesh into the next."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.bodies.fem.elements import Elements

_TIE = 1e-12  # of barycentric coordinates: a curve within a face stays in its element
_STEPS, _HALVINGS = 4, 46  # steps per element, and how far a crossing is narrowed down
_SHORT = 1e-7  # share of the curve: a shorter piece belongs to the one before it


def crossings(
    elements: Elements, at: Callable[[float], Vector], start: float, end: float
) -> list[float]:
    """
    Return ``start``, the parameters at which a curve changes its element, and ``end``.

    ``at`` gives a point (3,) [m]. Elements are convex and the curve is nearly straight within
    one, so that it leaves each once; a point outside of the mesh belongs to the nearest element.
    """
    found, here = [start], _owner(elements, at(start))
    for a, b in _steps(elements, at, start, end):
        while not _stays(elements, here, at(b)):
            _, a = _narrowed(elements, here, at, a, b)
            found.append(a)
            here = _owner(elements, at(a))
    least = _SHORT * (end - start)
    apart = [s for last, s in pairwise(found) if s - last > least and end - s > least]
    return [start, *apart, end]


def _steps(
    elements: Elements, at: Callable[[float], Vector], start: float, end: float
) -> list[tuple[float, float]]:
    """Return steps [(from, to)] along a curve, shorter than elements usually are."""
    chord = np.array([at(s) for s in np.linspace(start, end, 65)])
    way = float(np.linalg.norm(np.diff(chord, axis=0), axis=1).sum())
    size = float(np.cbrt(np.median(elements.mesh.volumes())))
    count = max(2, int(np.ceil(_STEPS * way / size)))
    grid = np.linspace(start, end, count + 1).tolist()
    return list(zip(grid, grid[1:]))


def _narrowed(
    elements: Elements, here: int, at: Callable[[float], Vector], a: float, b: float
) -> tuple[float, float]:
    """Return two close parameters between ``a``, still in the element, and ``b``, beyond it."""
    for _ in range(_HALVINGS):
        middle = 0.5 * (a + b)
        if _stays(elements, here, at(middle)):
            a = middle
        else:
            b = middle
    return a, b


def _owner(elements: Elements, point: Vector) -> int:
    return int(np.argmax(elements.depths(point)))


def _stays(elements: Elements, here: int, point: Vector) -> bool:
    depths = elements.depths(point)
    return bool(depths[here] >= depths.max() - _TIE)
