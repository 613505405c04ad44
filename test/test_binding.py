# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Arguments given to a program once: a call with the others does the same."""

from typing import NamedTuple

import numpy as np
from robots import compiled, states
from softrobot_dynamics.kernels.jit import kernel
from softrobot_dynamics.kinematics.binding import cached
from softrobot_dynamics.recursion import FULL, inverse_dynamics


class Inner(NamedTuple):
    """What another NamedTuple holds."""

    x: np.ndarray
    factor: float


class Outer(NamedTuple):
    """A NamedTuple that holds another."""

    inner: Inner
    y: np.ndarray


@kernel
def add(a, outer, b, out):
    """Sum of all arguments."""
    out[0] = a + outer.inner.factor * outer.inner.x[0] + outer.y[0] + b


def test_a_robot_may_be_given_once():
    """Inverse dynamics of a given robot into a given matrix is that of a call with them."""
    model = compiled('pcc_arm')
    ((q, qd, qdd),) = states(model, 1)
    Q, M, given = np.zeros((2, model.n)), np.zeros((2, model.n, model.n)), model.robot()
    cached(inverse_dynamics)(model.robot(), FULL, True, Q[0], M[0], q, qd, qdd)
    program = cached(inverse_dynamics, robot=given, M=M[1])
    program(FULL, True, Q[1], q, qd, qdd)
    assert np.array_equal(*Q) and np.array_equal(*M) and M.any() and given.W.any()


def test_tuples_within_tuples_may_be_given():
    """The others stay in their order, whatever is given, and what is given may be changed."""
    outer, out = Outer(Inner(np.array([3.0]), 10.0), np.array([0.5])), np.zeros(1)
    program = cached(add, b=100.0, outer=outer)
    program(1000.0, out)
    assert out[0] == 1130.5
    outer.y[0] = 0.25
    program(1000.0, out)
    assert out[0] == 1130.25
    cached(add)(1000.0, outer, 100.0, out)
    assert out[0] == 1130.25
