# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Derivatives of rods by their own coordinates, against many digits."""

from oracles import derivatives
import pytest
from softrobot_dynamics.bodies.cosserat.body import Cosserat
from support.cosserat import BENT, rod
from support.derivative_checks import assert_body_derivatives

VARYING = {
    'kappa_x': {'basis': 'monomial'},
    'kappa_y': {'basis': 'legendre', 'order': 1},
    'gamma_z': {'basis': 'legendre', 'order': 1},
}
CONSTANT = {name: {'basis': 'monomial'} for name in ('kappa_y', 'kappa_z', 'gamma_x', 'gamma_z')}


class Remembered(Cosserat):
    """A rod that evaluates a frame once for all points of its section."""

    def _frame(self, sigma, q, math):
        known = self.__dict__.setdefault('known', {})
        key = sigma, *q
        if key not in known:
            known[key] = super()._frame(sigma, q, math)
        return known[key]


@pytest.mark.parametrize('strains', [VARYING, CONSTANT], ids=['varying', 'constant'])
def test_derivatives_of_rods(strains):
    """Derivatives of rods are exact for strains within steps and for all others."""
    body = Remembered(**vars(rod(strains, quadrature=2, reference_strain=BENT)))
    points, masses = body.material_points()
    assert_body_derivatives(
        body, [(derivatives.vector(x), mass) for x, mass in zip(points, masses)]
    )
