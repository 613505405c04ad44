# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The kernels of a robot's derivatives and Hessians, compiled when derivatives are needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from softrobot_dynamics.actuators.contract import FibreSegment, Segment
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.bodies.contract import Body
from softrobot_dynamics.compiling.binding import address
from softrobot_dynamics.joints.contract import Joint
from softrobot_dynamics.recursion.actuation_hessians import Hessians
from softrobot_dynamics.recursion.module_derivatives import (
    CONSTANT,
    DerivativeKernels,
    DIFFERENCES,
)

if TYPE_CHECKING:
    from softrobot_dynamics.description.robot import RobotDescription

# arguments of the kernels of joints, bodies and lengths
HESSIANS = 'P, q, out, S'
JOINT, BODY = 'P, q, qd, qdd, D', 'P, q, qd, qdd, motion, D, S'


def derivative_kernels(description: RobotDescription, units: Vector) -> DerivativeKernels:
    """Return :class:`DerivativeKernels` of a robot, compiled; ``units`` (n,) of coordinates."""
    addresses, starts, numbers, scratch = [], [], [np.zeros(1)], 0
    for module in description.modules:
        for part, arguments in ((module.joint, JOINT), (module.body, BODY)):
            kind, own, room = _kernel(part, arguments)
            addresses.append(kind)
            starts.append(sum(map(len, numbers)))
            numbers.append(own)
            scratch = max(scratch, room)
    table = np.array(addresses, dtype=np.uint64).reshape(-1, 2)
    places = np.array(starts, dtype=np.int64).reshape(-1, 2)
    return DerivativeKernels(table, places, np.concatenate(numbers), scratch, units)


def length_hessians(segments: Sequence[Segment], n: int) -> Hessians:
    """Return the :class:`Hessians` of rows of segments, compiled; ``n`` coordinates of a robot."""
    addresses, starts, numbers, scratch = [], [], [np.zeros(1)], 1
    for segment in segments:
        kernel = segment.hessians() if isinstance(segment, FibreSegment) else None
        starts.append(sum(map(len, numbers)))
        addresses.append(0)
        if kernel is not None:
            addresses[-1] = address(kernel.module, kernel.function, HESSIANS)
            numbers.append(kernel.parameters)
            scratch = max(scratch, kernel.scratch)
    table, places = np.array(addresses, dtype=np.int64), np.array(starts, dtype=np.int64)
    return Hessians(table, places, np.concatenate(numbers), np.zeros(n * n), np.zeros(scratch))


def _kernel(part: Joint | Body, arguments: str) -> tuple[int, Vector, int]:
    """Address or what stands for it, numbers and scratch."""
    count = part.freedoms() if isinstance(part, Joint) else part.coordinates()
    if not count or getattr(part, 'screw', False):
        return CONSTANT, np.zeros(0), 0
    kernel = part.derivatives_kernel()
    if kernel is None:
        return DIFFERENCES, np.zeros(0), 0
    found = address(kernel.module, kernel.function, arguments)
    return found, kernel.parameters, kernel.scratch
