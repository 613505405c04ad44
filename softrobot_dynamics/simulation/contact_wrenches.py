# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Wrenches of contact on the bodies of a robot and on objects, from forces at points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.annotations import Array, Matrix
from softrobot_dynamics.simulation.contact_snapshot import ContactReading

if TYPE_CHECKING:
    from softrobot_dynamics.model.model import CompiledModel


class ContactWrenches:
    """The bodies and objects of a model that have shapes: ``names``, and the wrenches on them."""

    def __init__(self, model: CompiledModel) -> None:
        modules = model.description.modules
        self._bodies = [i for i, module in enumerate(modules) if module.shapes]
        self.names = tuple(modules[i].name for i in self._bodies)
        plan = model.contact_plan
        pairs = () if plan is None else plan.names
        where = {name: k for k, name in enumerate(self.names)}
        self._sides = np.array([[where.get(name, -1) for name in pair] for pair in pairs])
        self._sides = self._sides.reshape(-1, 2)  # -1: of the environment

    def wrenches(self, reading: ContactReading, tips: Array) -> Matrix:
        """
        Return the wrenches (K, 6), moment [N m] first, of all contacts on the K bodies.

        Each is about the origin and in the axes of the frame at the body's tip. ``tips``
        (N, 4, 4): those frames of all bodies of the model, in the base frame.
        """
        found = np.zeros((len(self.names), 6))
        for side, sign in ((0, 1.0), (1, -1.0)):
            for k, point, force in zip(
                self._sides[reading.pairs, side], reading.points, reading.forces
            ):
                if k >= 0:
                    tip = tips[self._bodies[k]]
                    turned = sign * tip[:3, :3].T @ force
                    found[k, 3:] += turned
                    found[k, :3] += np.cross(tip[:3, :3].T @ (point - tip[:3, 3]), turned)
        return found


def object_columns(model: CompiledModel) -> list[int]:
    """Return the columns of q (n,) that are those of objects."""
    return [
        column
        for module, joint, body in model.description.coordinate_slices()
        if module.is_object
        for column in range(joint.start, body.stop)
    ]
