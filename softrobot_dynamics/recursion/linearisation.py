# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Stiffness and damping of a robot at the posture where it is, kept up to date body by body."""

import math
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.compiling.addresses import EMPTY_ENTRY, Entry, run, run_three
from softrobot_dynamics.compiling.binding import cached, entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.recursion.contract import Model
from softrobot_dynamics.recursion.derivative_passes import (
    allocate_tangents,
    DerivativeArrays,
    derivatives_entry,
)
from softrobot_dynamics.recursion.passes import BODY_COUNT, BODY_FIRST


class LinearisationArrays(NamedTuple):
    """The matrices of a :class:`Linearisation`, and the arrays with which kernels update them."""

    K: Matrix  # (n, n)
    D: Matrix  # (n, n)
    parts: Integers  # (., 3) module, first coordinate and coordinates of each body that varies
    next_part: Integers  # (2,) index of the part to differentiate next, and length of the cycle
    derivatives: Entry
    tangents: DerivativeArrays
    zero: Vector  # (n,) zeros


class Linearisation:
    """
    Derivatives of the elastic force by q and of the damping force by qd, in its own arrays.

    Attributes: ``stiffness`` and ``damping`` (n, n). They are the model's, constant, for a linear
    robot. Otherwise :attr:`follow`, an Entry by q and qd, differentiates a body with a strain
    energy at q, the next time the next, so that all are as old as one has coordinates at most, or
    as there are such bodies; ``arrays`` is the :class:`LinearisationArrays` of that.
    """

    def __init__(self, model: Model) -> None:
        self.stiffness, self.damping = model.stiffness.copy(), model.damping.copy()
        self.follow, self._arrays = EMPTY_ENTRY, None
        if model.linear:
            return
        robot = model.robot()  # never evaluated: nothing moves, and nothing has weight
        t, modules = allocate_tangents(robot, model.derivatives()), robot.modules
        varies = np.flatnonzero(np.isin(modules[:, BODY_FIRST], model.nonlinear[:, 0]))
        parts = np.column_stack([varies, modules[varies][:, [BODY_FIRST, BODY_COUNT]]])
        parts = parts[parts[:, 2] > 0].astype(np.int64)
        self._arrays = LinearisationArrays(
            K=self.stiffness,
            D=self.damping,
            parts=parts,
            next_part=np.array([0, max(len(parts), parts[:, 2].max())]),
            derivatives=derivatives_entry(robot, t, one_sided=True),
            tangents=t,
            zero=np.zeros(model.n),
        )
        self.follow = entry(update_next_body, arrays=self._arrays)
        self._follow = cached(run, 'VECTOR, VECTOR', entry=self.follow)

    def begin(self, q: Vector) -> None:
        """Differentiate all bodies at q (n,); the first one is the next again."""
        if self._arrays is not None:
            self._arrays.next_part[0] = 0
            for _ in range(self._arrays.next_part[1]):
                self._follow(q, self._arrays.zero)


@kernel
def update_next_body(arrays, q, qd):
    """Differentiate the next body, if any, at q (n,)."""
    i, t = arrays.next_part[0], arrays.tangents
    arrays.next_part[0] = (i + 1) % arrays.next_part[1]
    if i < len(arrays.parts):
        module, first, count = arrays.parts[i]
        t.module_range[0], t.module_range[1] = module, module + 1
        run_three(arrays.derivatives, q, arrays.zero, arrays.zero)
        store_body_blocks(t.derivatives[t.places[module, 1] :], first, count, arrays.K, arrays.D)


@kernel
def store_body_blocks(derivatives, first, n, K, D):
    """Set a body's blocks of K and D by its derivatives, if all of them are numbers."""
    own = derivatives[layout.own_derivatives_offset(n) :]
    for k in range(2 * n * n):
        if not math.isfinite(own[k]):
            return
    for k in range(n):
        for j in range(n):
            K[first + j, first + k] = own[n * k + j]
            D[first + j, first + k] = own[n * n + n * k + j]
