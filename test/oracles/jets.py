# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Second-order Taylor arithmetic: differentiation that is exact to rounding.

A formula p = f(x, q) called with jets and :data:`JETS` gives p, dp/dt and d2p/dt2 along a motion
q(t) = q + qd t + qdd t^2 / 2. Base values may be complex, so that one more derivative can be taken
by a complex step.
"""

import math

import numpy as np


class Jet:
    """A number or array with its first and second derivative by one parameter t."""

    __array_ufunc__ = None  # numpy leaves array * jet to the jet

    def __init__(self, value, first=0.0, second=0.0):
        self.value, self.first, self.second = value, first, second

    def __add__(self, other):
        if not isinstance(other, Jet):
            return Jet(self.value + other, self.first, self.second)
        return Jet(self.value + other.value, self.first + other.first, self.second + other.second)

    def __mul__(self, other):
        a, b = self, other
        if not isinstance(b, Jet):
            return Jet(a.value * b, a.first * b, a.second * b)
        return Jet(
            a.value * b.value,
            a.first * b.value + a.value * b.first,
            a.second * b.value + 2 * a.first * b.first + a.value * b.second,
        )

    def __pow__(self, exponent):
        v, e = self.value, exponent
        return self.through(v**e, e * v ** (e - 1), e * (e - 1) * v ** (e - 2))

    def __neg__(self):
        return Jet(-self.value, -self.first, -self.second)

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return other + -self

    def __truediv__(self, other):
        if not isinstance(other, Jet):
            return Jet(self.value / other, self.first / other, self.second / other)
        v = other.value
        return self * other.through(1 / v, -1 / v**2, 2 / v**3)

    def __rtruediv__(self, other):
        return jet(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def through(self, value, first, second):
        """Jet of g(self), for g and its first two derivatives at the value."""
        return Jet(value, first * self.first, second * self.first**2 + first * self.second)


def jet(value):
    """Return ``value`` itself if it is a jet, else the jet of a constant."""
    return value if isinstance(value, Jet) else Jet(value)


def stumpff(first, last, z):
    """
    Return [c_k(z)] for k from ``first`` to ``last``, of real or complex z.

    For |z| < 4 by the series of the last two, whose next term is less than 1e-21, and
    c_k = 1 / k! - z c_{k+2}; beyond by sine and cosine.
    """
    z = np.asarray(z) + 0.0
    near = np.abs(z) < 4.0
    close, found = np.where(near, z, 0.0), {}
    for k in range(last, first - 1, -1):
        if k < last - 1:
            found[k] = 1.0 / math.factorial(k) - close * found[k + 2]
            continue
        total = np.ones_like(z)  # k! times the series, by Horner's rule: a power takes long
        for j in range(13, 0, -1):
            total = 1.0 - total * close / ((k + 2 * j - 1) * (k + 2 * j))
        found[k] = total / math.factorial(k)
    if not near.all():
        far = np.where(near, 5.0, z) + 0j
        root = np.sqrt(far)
        beyond = [np.cos(root), np.sin(root) / root]
        for k in range(2, last + 1):
            beyond.append((1.0 / math.factorial(k - 2) - beyond[k - 2]) / far)
        for k, value in found.items():
            other = beyond[k] if np.iscomplexobj(z) else beyond[k].real
            found[k] = np.where(near, value, other)
    return [found[k] for k in range(first, last + 1)]


class JetFunctions:
    """The functions a formula may call, for jets."""

    pi = math.pi
    number = staticmethod(float)

    @staticmethod
    def sqrt(a):
        return jet(a) ** 0.5

    @staticmethod
    def sin(a):
        v = jet(a).value
        return jet(a).through(np.sin(v), np.cos(v), -np.sin(v))

    @staticmethod
    def cos(a):
        v = jet(a).value
        return jet(a).through(np.cos(v), -np.sin(v), -np.cos(v))

    @staticmethod
    def exp(a):
        e = np.exp(jet(a).value)
        return jet(a).through(e, e, e)

    @staticmethod
    def log(a):
        v = jet(a).value
        return jet(a).through(np.log(v), 1 / v, -1 / v**2)

    @classmethod
    def tan(cls, a):
        return cls.sin(a) / cls.cos(a)

    @classmethod
    def sinh(cls, a):
        return 0.5 * (cls.exp(a) - cls.exp(-a))

    @classmethod
    def cosh(cls, a):
        return 0.5 * (cls.exp(a) + cls.exp(-a))

    @classmethod
    def tanh(cls, a):
        return cls.sinh(a) / cls.cosh(a)

    @staticmethod
    def arctan2(y, x):
        y, x = jet(y), jet(x)
        derivative = (y.first * x.value - y.value * x.first) / (x.value**2 + y.value**2)
        turn = x * Jet(y.first, y.second) - y * Jet(x.first, x.second)
        return Jet(np.arctan2(y.value, x.value), derivative, (turn / (x * x + y * y)).first)

    @staticmethod
    def step(a):
        return np.heaviside(np.real(jet(a).value), 0.0)

    @staticmethod
    def positive(a):
        return a

    @staticmethod
    def stumpff(k, z):
        """By dc_k/dz = (k c_{k+2} - c_{k+1}) / 2, twice."""
        c, c1, c2, c3, c4 = stumpff(k, k + 4, jet(z).value)
        second = 0.25 * (k * ((k + 2) * c4 - c3) - ((k + 1) * c3 - c2))
        return jet(z).through(c, 0.5 * (k * c2 - c1), second)

    @staticmethod
    def cubic(a):
        v = np.asarray(jet(a).value)
        w = 2.0 / np.sqrt(3.0) * np.cos(np.arccos(1.5 * np.sqrt(3.0) * v.real) / 3.0)
        for _ in range(6):  # to the last digit, and to the imaginary part
            w = w - (w**3 - w - v) / (3 * w**2 - 1)
        derivative = 1 / (3 * w**2 - 1)
        return jet(a).through(w, derivative, -6 * w * derivative**3)


JETS = JetFunctions()
