# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Vectors, frames and polynomials in any arithmetic: of numbers, arrays or symbols."""

from softrobot_dynamics.annotations import FrameFormula, Math, Value, Values


def frame_of_points(origin: Values, a: Values, b: Values, math: Math) -> FrameFormula:
    """Frame (R, t), nine entries and three, of three points by Gram-Schmidt [P, (5)-(7)]."""
    n1 = _unit([u - v for u, v in zip(a, origin)], math)
    n3 = _unit(cross(n1, [u - v for u, v in zip(b, origin)]), math)
    return [c[i] for i in range(3) for c in (n1, cross(n3, n1), n3)], list(origin)


def cross(a: Values, b: Values) -> list[Value]:
    """Vector product (3 values)."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def horner(coefficients: Values, x: Value) -> Value:
    """Return the value of a polynomial, lowest power first."""
    value = coefficients[-1]
    for a in coefficients[-2::-1]:
        value = value * x + a
    return value


def _unit(v: Values, math: Math) -> Values:
    norm = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    return [c / norm for c in v]
