# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Wrap rotation vectors: the same pose, far from the map's singularity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.dynamics.arguments import checked

if TYPE_CHECKING:
    from softrobot_dynamics.joints.contract import Joint
    from softrobot_dynamics.model.model import CompiledModel


def recentred(model: CompiledModel, *, q: ArrayLike, qd: ArrayLike) -> tuple[Vector, Vector]:
    """
    Return (q, qd), (n,) each, of the same poses and velocities with short rotation vectors.

    A rotation vector r of a joint becomes r (1 - 2 pi k / |r|), at most pi long. One that a spring
    or an actuator acts along stays as it is, as for those another vector is another force.
    """
    q, qd = checked('q', q, (model.n,)).copy(), checked('qd', qd, (model.n,)).copy()
    wrap_in_place(wrapped_joints(model), q, qd)
    return q, qd


def wrapped_joints(model: CompiledModel) -> list[tuple[slice, Joint]]:
    """Return pairs (coordinates, joint) of the joints whose rotation vectors are wrapped."""
    pairs = []
    for module, own, _ in model.description.coordinate_slices():
        names = {f'{module.joint_name}/{c}' for c in module.joint.wrapped_coordinates}
        if names and names.isdisjoint(model.actuator_names):
            pairs.append((own, module.joint))
    return pairs


def wrap_in_place(pairs: Sequence[tuple[slice, Joint]], q: Vector, qd: Vector) -> None:
    """Wrap the rotation vectors of (q, qd), in place, at the pairs of :func:`wrapped_joints`."""
    for part, joint in pairs:
        q[part], qd[part] = joint.wrap(q[part], qd[part])
