# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Solid rectangular section."""

from dataclasses import dataclass
from math import pi

import numpy as np
from softrobot_dynamics.annotations import Matrix, Value
from softrobot_dynamics.bodies.cosserat.sections.contract import (
    between,
    Properties,
    register,
    RodMaterial,
    Section,
)
from softrobot_dynamics.schema.fields import profile

_ODD_NUMBERS = np.arange(1.0, 31.0, 2.0)  # summation index; terms fall like exp(-pi n)
_ODD_ZETA_5 = 31.0 / 32.0 * 1.0369277551433699  # sum of 1 / n^5 over odd n


@register('rectangular')
@dataclass(frozen=True)
class Rectangular(Section):
    """A rectangle, ``width`` along x and ``height`` along y."""

    width: tuple[float, float] = profile('m')
    height: tuple[float, float] = profile('m')

    def at(self, sigma: Value) -> Properties:
        """See :class:`Section`."""
        w, h = between(self.width, sigma), between(self.height, sigma)
        return Properties(w * h, w * h**3 / 12.0, w**3 * h / 12.0, _torsion(w, h))

    def outline(self, sigma: float, material: RodMaterial) -> Matrix:
        """Return the corners."""
        half = between(self.width, sigma) / 2.0, between(self.height, sigma) / 2.0
        return np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]]) * half


def _torsion(w: Value, h: Value) -> Value:
    """
    Torsion constant [m^4] of a rectangle by the series of Saint-Venant.

    a b^3 (1/3 - 64 b / (pi^5 a) sum tanh(n pi a / 2 b) / n^5) with sides a >= b, n odd
    (Timoshenko & Goodier, Theory of Elasticity, art. 109); the sum is taken of 1 - tanh.
    """
    a, b = np.maximum(w, h), np.minimum(w, h)
    e = np.exp(-np.multiply.outer(pi * a / b, _ODD_NUMBERS))  # 1 - tanh(x / 2) = 2 e / (1 + e)
    total = _ODD_ZETA_5 - np.sum(2.0 * e / (1.0 + e) / _ODD_NUMBERS**5, axis=-1)
    return a * b**3 * (1.0 / 3.0 - 64.0 * b / (pi**5 * a) * total)
