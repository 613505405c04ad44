# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Fifty-digit arithmetic for traced formulas; derivatives by differences in still more digits."""

import mpmath

DIGITS = 50
_STEP = mpmath.mpf(10) ** -60  # of the differences; errors of its square


class Precise:
    """The functions a formula may call, for mpmath numbers."""

    pi = mpmath.pi
    number = staticmethod(mpmath.mpf)
    arctan2 = staticmethod(mpmath.atan2)

    def __getattr__(self, name):
        return getattr(mpmath, name)

    @staticmethod
    def step(a):
        """1 where a > 0, else 0."""
        return mpmath.mpf(a > 0)

    @staticmethod
    def positive(a):
        """Return a > 0."""
        return a

    @staticmethod
    def stumpff(k, z):
        """c_k(z) by its series, which converges everywhere."""
        term = total = 1 / mpmath.factorial(k)
        while abs(term) > mpmath.eps * abs(total):
            k += 2
            term *= -z / (k * (k - 1))
            total += term
        return total

    @staticmethod
    def cubic(a):
        """Largest root w of w^3 - w = a, by its closed form."""
        third = mpmath.acos(3 * mpmath.sqrt(3) / 2 * a) / 3
        return mpmath.re(2 / mpmath.sqrt(3) * mpmath.cos(third))


PRECISE = Precise()


def derivatives(function, q, qd):
    """
    Values, Jacobian and bias of a formula ``function(q) -> list``, in fifty digits and more.

    Returns lists of mpmath numbers: f, [df/dq_j for each j], and the second derivative along qd.
    """
    with mpmath.workdps(4 * DIGITS):
        q, qd = [mpmath.mpf(x) for x in q], [mpmath.mpf(x) for x in qd]

        def along(direction, share):
            return function([a + share * _STEP * b for a, b in zip(q, direction)])

        value = function(q)
        units = [[float(i == j) for i in range(len(q))] for j in range(len(q))]
        jacobian = [
            [(a - b) / (2 * _STEP) for a, b in zip(along(e, 1), along(e, -1))] for e in units
        ]
        second = [
            (a - 2 * v + b) / _STEP**2 for a, v, b in zip(along(qd, 1), value, along(qd, -1))
        ]
        return value, jacobian, second
