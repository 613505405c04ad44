# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Stiffness and damping of a robot at the posture where it is, kept up to date in small bits."""

import math

import numpy as np
from softrobot_dynamics.kernels.jit import kernel
from softrobot_dynamics.kernels.linalg import copy
from softrobot_dynamics.kinematics.binding import cached
from softrobot_dynamics.passive import passive_forces

STEP = 1e-8  # of the one-sided differences [unit of the coordinate]


class Linearisation:
    """
    Derivatives of the elastic force by q and of the damping force by qd, in its own arrays.

    Attributes: ``stiffness`` and ``damping`` (n, n). They are the model's, constant, for a linear
    robot. Otherwise each :meth:`refresh` evaluates the robot once and replaces one column of every
    body with a strain energy, so that all are as old as one body has coordinates at most; the
    columns of both are measured at once, damping forces being linear in qd. For one thread.
    """

    def __init__(self, model):
        self.stiffness, self.damping = model.stiffness.copy(), model.damping.copy()
        self._parts, self._next = model.nonlinear, 0
        self._columns = int(self._parts[:, 1].max(initial=0))
        if self._columns:
            self._evaluate, self._passive = model.evaluator(), cached(passive_forces)
            self._displace, self._store = cached(displace), cached(store_columns)
            self._q, self._qd = np.zeros((2, model.n))
            self._here, self._there, self._damping = np.zeros((3, model.n))

    def begin(self, q):
        """Replace all columns by those at q (n,); the next :meth:`refresh` begins anew."""
        self._next = 0
        if self._columns:
            self._qd[:] = 0.0
            self._evaluate(q, self._qd)
            self._passive(self._evaluate.robot, q, self._qd, self._here, self._damping)
        for _ in range(self._columns):
            self._column(q)

    def refresh(self, evaluate, q, qd):
        """Replace the next columns by those at q; ``evaluate`` was called last at (q, qd)."""
        if self._columns:
            self._passive(evaluate.robot, q, qd, self._here, self._damping)
            self._column(q)

    def _column(self, q):
        """Replace one column of each body, given the elastic force here."""
        self._displace(self._parts, self._next, q, self._q, self._qd)
        self._evaluate(self._q, self._qd)
        robot = self._evaluate.robot
        self._passive(robot, self._q, self._qd, self._there, self._damping)
        self._store(
            self._parts,
            self._next,
            self._here,
            self._there,
            self._damping,
            self.stiffness,
            self.damping,
        )
        self._next = (self._next + 1) % self._columns


@kernel
def displace(parts, j, q, x, v):
    """Fill x = q + STEP e and v = e, where e is the j-th coordinate of each part."""
    copy(q, x)
    v[:] = 0.0
    for i in range(len(parts)):
        if j < parts[i, 1]:
            x[parts[i, 0] + j] += STEP
            v[parts[i, 0] + j] = 1.0


@kernel
def store_columns(parts, j, here, there, damping, K, D):
    """Set column and row j of each part's blocks of K and D; what is not a number is left out."""
    for i in range(len(parts)):
        first, last = parts[i, 0], parts[i, 0] + parts[i, 1]
        c = first + j
        for r in range(first, last):
            slope = (there[r] - here[r]) / STEP
            if c < last and math.isfinite(slope) and math.isfinite(damping[r]):
                K[r, c] = K[c, r] = slope
                D[r, c] = D[c, r] = damping[r]
