# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Discs along soft bodies: frames that move with the material, for what shows frames."""

from __future__ import annotations

from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix, Vector
from softrobot_dynamics.dynamics.calls import placement

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class Disc(NamedTuple):
    """A slice of a soft body, as it is undeformed."""

    name: str  # 'BODY/disc_K', K from 1
    body: int
    radius: float  # [m], the farthest of its outline
    length: float  # [m], of the body that it stands for


class Discs:
    """
    The same number of discs along each soft body of a model, in the order of the bodies.

    They are in the middles of as many slices of one length. A disc's origin is the mean of four
    points around the section, its x and y axes run between these, so that it turns and shears as
    the material does. Bodies without sections, such as meshes, have none.
    """

    def __init__(self, model: CompiledModel, count: int) -> None:
        self._model, self._to_world = model, model.description.base.matrix()
        self._rings: dict[int, Matrix] = {}  # (4 count, 3) material points [m] of a body
        self.discs: list[Disc] = []
        sigma = (np.arange(count) + 0.5) / max(count, 1)
        for i, module in enumerate(model.description.modules):
            body = module.body
            if not (count and body.coordinates() and body.section_path):
                continue
            radii = [np.linalg.norm(body.outline(s), axis=1) for s in sigma]
            self._rings[i] = np.vstack(
                [_ring(r.min(), s * body.length) for r, s in zip(radii, sigma)]
            )
            self.discs += [
                Disc(f'{module.name}/disc_{k + 1}', i, float(r.max()), float(body.length) / count)
                for k, r in enumerate(radii)
            ]

    def at(self, q: Vector) -> Array:
        """Return the frames (D, 4, 4) of the discs at q (n,), in the world frame."""
        placed = placement(self._model, q)
        rings = [placed.points(i, x).positions for i, x in self._rings.items()]
        return self._to_world @ _frames(np.array(rings).reshape(-1, 4, 3))


def _ring(radius: float, s: float) -> Matrix:
    """Return four points (4, 3) [m] around the section at s [m], on the x and y axes."""
    x = [radius, 0.0, -radius, 0.0]
    return np.column_stack([x, np.roll(x, 1), np.full(4, s)])


def _frames(rings: Array) -> Array:
    """Return the frames (D, 4, 4) of rings (D, 4, 3) [m], by Gram and Schmidt."""
    found = np.tile(np.eye(4), (len(rings), 1, 1))
    x = rings[:, 0] - rings[:, 2]
    z = np.cross(x, rings[:, 1] - rings[:, 3])
    x, z = (a / np.linalg.norm(a, axis=1, keepdims=True) for a in (x, z))
    found[:, :3, :3] = np.stack([x, np.cross(z, x), z], axis=2)
    found[:, :3, 3] = rings.mean(axis=1)
    return found
