# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Stiffness and damping of a robot at the posture where it is, kept up to date in small bits."""

from typing import Any, NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.compiling.addresses import NOTHING, run
from softrobot_dynamics.compiling.binding import cached, entry
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.recursion.contract import Model
from softrobot_dynamics.recursion.differences import displace, store_columns
from softrobot_dynamics.recursion.passes import forward, FULL
from softrobot_dynamics.recursion.passive import passive_forces


class Near(NamedTuple):
    """The matrices of a :class:`Linearisation`, and what kernels need to keep them up to date."""

    K: Matrix  # (n, n)
    D: Matrix  # (n, n)
    parts: Integers  # (., 2) first coordinate and coordinates of each body to be measured
    turn: Integers  # (2,) the next column of each part, and the largest number of them
    q: Vector  # (n,) where columns are measured
    qd: Vector  # (n,)
    here: Vector  # (n,) elastic force where the robot is
    there: Vector  # (n,) where it is displaced
    damping: Vector  # (n,)
    zero: Vector  # (n,) zeros


class Linearisation:
    """
    Derivatives of the elastic force by q and of the damping force by qd, in its own arrays.

    Attributes: ``stiffness`` and ``damping`` (n, n). They are the model's, constant, for a linear
    robot. Otherwise each :meth:`refresh` evaluates the robot once and replaces one column of every
    body with a strain energy, so that all are as old as one body has coordinates at most; the
    columns of both are measured at once, damping forces being linear in qd. ``evaluate`` is the
    Evaluator whose robot serves for that. ``near`` and ``follow`` are the same for kernels: the
    :class:`Near`, and the Entry of :func:`follow` by q and qd, for robots that are not linear.
    """

    def __init__(self, model: Model, evaluate: Any) -> None:
        self.stiffness, self.damping = model.stiffness.copy(), model.damping.copy()
        parts, self._evaluate = model.nonlinear, evaluate
        turn = np.array([0, parts[:, 1].max(initial=0)])
        n = model.n
        self.near = Near(
            K=self.stiffness,
            D=self.damping,
            parts=parts,
            turn=turn,
            q=np.zeros(n),
            qd=np.zeros(n),
            here=np.zeros(n),
            there=np.zeros(n),
            damping=np.zeros(n),
            zero=np.zeros(n),
        )
        self.follow = NOTHING
        self._nonlinear = not model.linear
        if self._nonlinear:
            self.follow = entry(follow, robot=evaluate.robot, near=self.near)
            self._follow = cached(run, entry=self.follow)

    def begin(self, q: Vector) -> None:
        """Replace all columns by those at q (n,); the next :meth:`refresh` begins anew."""
        if self._nonlinear:
            self.near.turn[0] = 0
            for _ in range(self.near.turn[1]):
                self._evaluate(q, self.near.zero)
                self._follow(q, self.near.zero)

    def refresh(self, q: Vector, qd: Vector) -> None:
        """Replace the next columns by those at q; the robot was evaluated last at (q, qd)."""
        if self._nonlinear:
            self._follow(q, qd)


@kernel
def follow(robot, near, q, qd):
    """Replace the next columns after a forward pass at (q, qd), which is then lost."""
    j = near.turn[0]
    near.turn[0] = (j + 1) % near.turn[1]
    passive_forces(robot, q, qd, near.here, near.damping)
    displace(near.parts, j, q, near.q, near.qd)
    forward(robot, near.q, near.qd, near.zero, FULL)
    passive_forces(robot, near.q, near.qd, near.there, near.damping)
    store_columns(near.parts, j, near.here, near.there, near.damping, near.K, near.D)
