# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The surfaces of collision shapes: those on bodies, of objects and of the environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.bodies.skins import circle, EMPTY_SURFACE, joined, Surface
from softrobot_dynamics.collision.contract import (
    BOX,
    CYLINDER,
    Element,
    HULL,
    PLANE,
    SEGMENT,
    TUBE,
)

if TYPE_CHECKING:
    from softrobot_dynamics.description.modules import Module
    from softrobot_dynamics.description.robot import RobotDescription

_BOX_CORNERS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
_BOX_FACES = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
                   [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]])  # fmt: skip
_PLANE_SQUARES = 4  # along the side of a plane


def of_body(module: Module) -> Surface:
    """Return the surface of a body's shapes, points of its material; that of a rod is its skin."""
    shapes = [shape for shape in module.shapes if shape.fixed]
    return merged([surface_of(e) for shape in shapes for e in shape.elements(module.body)])


def of_environment(description: RobotDescription, seen: Matrix) -> list[Surface]:
    """
    Return the surface of each obstacle, in the base frame.

    A plane is drawn as a square about the places ``seen`` (K, 3) [m], base frame.
    """
    return [
        merged([surface_of(e, seen) for e in obstacle.shape.elements(None)])
        for obstacle in description.environment
    ]


def surface_of(element: Element, seen: Matrix | None = None) -> Surface:
    """Return the surface of an element; of a plane a square about places ``seen`` (K, 3) [m]."""
    if element.kind == SEGMENT:
        return joined(rounded(element.points[0], element.points[-1], element.radius))
    if element.kind == BOX:
        return Surface(
            element.points[0] + _BOX_CORNERS * element.half @ element.axes.T, _BOX_FACES
        )
    if element.kind == CYLINDER:
        return _cylinder(element)
    if element.kind == HULL:
        corners = element.faces[:, 4:].reshape(-1, 3)
        triangles = np.arange(len(corners)).reshape(-1, 3)
        return Surface(element.points[0] + corners @ element.axes.T, triangles)
    if element.kind == TUBE:
        return _tube(element)
    if element.kind == PLANE and seen is not None:
        return _square(element, seen)
    return EMPTY_SURFACE


def merged(surfaces: Sequence[Surface]) -> Surface:
    """Return several surfaces as one."""
    if not surfaces:
        return EMPTY_SURFACE
    first = np.cumsum([0, *(len(each.points) for each in surfaces[:-1])])
    triangles = [each.triangles + k for each, k in zip(surfaces, first)]
    return Surface(np.concatenate([s.points for s in surfaces]), np.concatenate(triangles))


def rounded(start: Vector, end: Vector, radius: float) -> list[Matrix]:
    """Return the rings (P, 3) [m] of a pipe between points (3,) [m], round at both ends."""
    length = float(np.linalg.norm(end - start))
    direction = (end - start) / length if length > 1e-9 else np.array([0.0, 0.0, 1.0])
    first = np.cross(direction, np.eye(3)[np.argmin(np.abs(direction))])
    first /= np.linalg.norm(first)
    axes = np.array([first, np.cross(direction, first)])
    angles = np.linspace(0.0, np.pi / 2, 7)
    round_end = radius * np.sin(angles), radius * np.cos(angles)
    along = np.concatenate([-round_end[0][::-1], length + round_end[0]])
    across = np.concatenate([round_end[1][::-1], round_end[1]])
    return [start + a * direction + b * circle(1.0) @ axes for a, b in zip(along, across)]


def _tube(element: Element) -> Surface:
    """Return the inner surface of a tube, whose outer side is that of what may be in it."""
    ring = np.column_stack([circle(element.radius), np.zeros(len(circle(1.0)))])
    ends = np.linspace(-element.half[2], element.half[2], 2 + round(2.0 * element.half[2] / 0.02))
    rings = [element.points[0] + (ring + [0.0, 0.0, z]) @ element.axes.T for z in ends]
    points, triangles = joined(rings)
    return Surface(points, triangles[:, ::-1])


def _cylinder(element: Element) -> Surface:
    """Return the surface of a cylinder with flat ends."""
    z, circles = element.half[2], (circle(r) for r in (0.0, *[element.radius] * 2, 0.0))
    rings = [np.column_stack([c, np.full(len(c), h)]) for c, h in zip(circles, (-z, -z, z, z))]
    return joined([element.points[0] + ring @ element.axes.T for ring in rings])


def _square(element: Element, seen: Matrix) -> Surface:
    """Return a square of a plane below places (K, 3) [m], a third wider than these."""
    local = (seen - element.points[0]) @ element.axes
    low, high = local[:, :2].min(axis=0), local[:, :2].max(axis=0)
    half = 0.65 * float(max((high - low).max(), 0.5 * np.ptp(seen, axis=0).max()))
    sides = np.linspace(-half, half, _PLANE_SQUARES + 1)
    x, y = np.meshgrid(*((low + high) / 2.0 + sides[:, None]).T, indexing='ij')
    local = np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)])
    k = np.arange(x.size).reshape(x.shape)
    a, b, c, d = (each.ravel() for each in (k[:-1, :-1], k[1:, :-1], k[1:, 1:], k[:-1, 1:]))
    triangles = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    return Surface(element.points[0] + local @ element.axes.T, triangles)
