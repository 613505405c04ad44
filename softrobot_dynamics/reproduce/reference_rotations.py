# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Rotations about axes, by hand: what the systems check the package with, so nothing of it is used.

Angles may be complex numbers, for derivatives by complex steps, which are exact to rounding.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from softrobot_dynamics.reproduce.outcome import Array

Numbers: TypeAlias = NDArray[np.float64] | NDArray[np.complex128]


class MovingArray(NamedTuple):
    """An array that moves: its value, rate and acceleration."""

    value: Array
    rate: Array
    acceleration: Array

    def __matmul__(self, other: 'MovingArray | Array') -> 'MovingArray':
        """Return the product with another Motion, or with a constant array."""
        a, da, dda = self
        if not isinstance(other, MovingArray):
            return MovingArray(a @ other, da @ other, dda @ other)
        b, db, ddb = other
        return MovingArray(a @ b, da @ b + a @ db, dda @ b + 2.0 * da @ db + a @ ddb)

    def plus(self, other: 'MovingArray') -> 'MovingArray':
        """Return the sum."""
        return MovingArray(*(one + another for one, another in zip(self, other)))


def turn(axis: int, angle: complex) -> Numbers:
    """Return the rotation (3, 3) about x, y or z (0, 1, 2) by an angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    R = np.zeros((3, 3), dtype=np.asarray(angle).dtype)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R[axis, axis] = 1.0
    R[i, i], R[j, j], R[j, i], R[i, j] = c, c, s, -s
    return R


def turning(axis: int, angle: float, rate: float, acceleration: float) -> MovingArray:
    """Return the rotation about an axis by an angle that moves."""
    R = turn(axis, angle).real
    derivative = turn(axis, angle + 0.5 * np.pi).real
    derivative[axis, axis] = 0.0
    curve = -R
    curve[axis, axis] = 0.0
    return MovingArray(R, rate * derivative, acceleration * derivative + rate**2 * curve)


def spin(R: MovingArray) -> tuple[Array, Array]:
    """Return angular velocity [rad/s] and acceleration [rad/s^2], base axes, of a rotation."""
    w = R.rate @ R.value.T
    alpha = R.acceleration @ R.value.T - w @ w
    return vector(w), vector(alpha)


def vector(S: Array) -> Array:
    """Return the vector (3,) of a skew matrix."""
    return np.array([S[2, 1], S[0, 2], S[1, 0]])


def skew(a: Array) -> Array:
    """Return the matrix (3, 3) of the cross product with a (3,)."""
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
