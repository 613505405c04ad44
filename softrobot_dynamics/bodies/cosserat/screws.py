# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Twists and frames in any arithmetic: exponentials, products."""

from softrobot_dynamics.annotations import FrameFormula, Math, Value, Values
from softrobot_dynamics.bodies.frames import cross


def exponential(twist: Values, math: Math) -> FrameFormula:
    """Rotation (nine entries, row-major) and origin of exp(twist)."""
    p, u = twist[:3], twist[3:]
    z = p[0] * p[0] + p[1] * p[1] + p[2] * p[2]
    c2, c3 = math.stumpff(2, z), math.stumpff(3, z)
    c1 = 1.0 - z * c3
    once = cross(p, u)
    twice = cross(p, once)
    origin = [a + c2 * b + c3 * c for a, b, c in zip(u, once, twice)]
    hat = [0.0, -p[2], p[1], p[2], 0.0, -p[0], -p[1], p[0], 0.0]
    one = [1.0 - c2 * z, 0.0, 0.0]
    rotation = [
        one[abs(i // 3 - i % 3)] + c1 * hat[i] + c2 * p[i // 3] * p[i % 3] for i in range(9)
    ]
    return rotation, origin


def compose(outer: FrameFormula, inner: FrameFormula) -> FrameFormula:
    """Frame ``inner``, given in ``outer``, in the frame that ``outer`` is given in."""
    (R, p), (S, u) = outer, inner
    rotation = [
        R[3 * i] * S[j] + R[3 * i + 1] * S[3 + j] + R[3 * i + 2] * S[6 + j]
        for i in range(3)
        for j in range(3)
    ]
    origin = [p[i] + R[3 * i] * u[0] + R[3 * i + 1] * u[1] + R[3 * i + 2] * u[2] for i in range(3)]
    return rotation, origin


def fibre_velocity(strain: Values, x: Values, derivative: Values) -> list[Value]:
    """Return the derivative by x3 (3 values) of a curve through x, in the moving frame."""
    kappa, gamma = strain[:3], strain[3:]
    return [
        gamma[0] - kappa[2] * x[1] + derivative[0],
        gamma[1] + kappa[2] * x[0] + derivative[1],
        gamma[2] + kappa[0] * x[1] - kappa[1] * x[0],
    ]


def magnus(mean: Values, derivative: Values) -> list[Value]:
    """Twist (6 values) of Magnus' fourth-order step, of the moments of a strain over the step."""
    turn, shift = cross(mean[:3], derivative[:3]), cross(mean[3:], derivative[:3])
    both = [u + v for u, v in zip(shift, cross(mean[:3], derivative[3:]))]
    return [u + v for u, v in zip(mean, turn + both)]
