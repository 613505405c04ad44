# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Pressure in a cavity: its volume by the divergence theorem, virtual work, an inflated tube."""

import numpy as np
from oracles import volumes
import pytest
from scipy.optimize import root
import softrobot_dynamics as sd
from softrobot_dynamics.errors import DescriptionError
from support.cylinders import (
    BODIES_OF,
    C,
    hollow,
    mapping,
    MIXED,
    postures,
    reach,
    robot,
    SILICONE,
)
from support.differences import gradient, gradient_by_rows

PRESSURE = {'name': 'p', 'type': 'pressure', 'body': 'b', 'limits': [0.0, 1e6]}
ROD = {'type': 'pcc', 'length': 0.1, 'radius': 0.01, 'density': 1e3, 'young_modulus': 1e5}


def test_the_oracle_knows_a_cylinder():
    """The oracle's volume of a cavity at rest is that of a cylinder."""
    body = BODIES_OF['mixed']()
    assert volumes.cavity(body, np.zeros(7)) == pytest.approx(np.pi * 0.012**2 * 0.1, rel=1e-14)


@pytest.mark.parametrize('name', ['table_5', 'mixed'])
def test_the_coordinate_is_the_growth_of_the_volume(name):
    """A pressure's y is the growth of the volume within wall and ends, also in strong bends."""
    body = BODIES_OF[name]()
    model = robot(mapping_of(body), actuators=[PRESSURE])
    rest = volumes.cavity(body, np.zeros(model.n))
    for q, qd in zip(postures(body, 4, seed=1), postures(body, 4, seed=2)):
        found = sd.actuation(model, q=q, qd=qd)
        growth = volumes.cavity(body, q) - rest  # [m^3], so small that abs=1e-12 would be much
        assert found.coordinates[0] == pytest.approx(growth, rel=1e-11, abs=0.0)
        derivative = gradient_by_rows(lambda x: volumes.cavity(body, x), q, 1e-3 * reach(body)[-1])
        scale = np.abs(derivative).max()
        np.testing.assert_allclose(found.jacobian[0], derivative, rtol=0, atol=1e-8 * scale)
        np.testing.assert_allclose(found.matrix[:, 0], derivative, rtol=0, atol=1e-8 * scale)
        assert found.velocities[0] == pytest.approx(derivative @ qd, rel=1e-7)
        assert found.bias[0] == pytest.approx(0.0, abs=1e-12 * scale)


def mapping_of(body):
    """Return the mapping that describes one of the shared hollow bodies."""
    own = (
        {'modes': MIXED, 'material': SILICONE} if body.modes != 'table_5' else {'modes': 'table_5'}
    )
    return mapping(inner_radius=0.012, **own)


def test_an_inflated_tube_is_in_equilibrium():
    """An inflated tube has the stretch and source that the tube's energy in closed form gives."""
    modes = {'stretch': [[1.0]], 'source': [[1e-4]]}
    fields = {'inner_radius': 0.012, 'modes': modes, 'quadrature': {'axial': 2, 'radial': 8}}
    model = robot(mapping(**fields), gravity=[0.0, 0.0, 0.0], actuators=[PRESSURE])
    r, weights = np.polynomial.legendre.leggauss(30)
    r, weights = 0.016 + 0.004 * r, 0.004 * weights
    area = 2.0 * np.pi * r * weights

    def energy(stretch, source):  # per length
        wide = (r**2 + source) / (stretch * r**2)  # square of the hoop stretch
        return C * area @ (stretch**2 + wide + 1.0 / (wide * stretch**2) - 3.0)

    for p in (1e4, 1e5):
        found = sd.equilibrium(model, u=np.array([p])).q

        def balance(x, p=p):
            derivative = gradient(lambda y: energy(1.0 + y[0], 1e-4 * y[1]), x, 1e-3)
            return (derivative - [0.0, p * np.pi * 1e-4]) / C / area.sum()

        wanted = root(balance, [0.0, 0.1], tol=1e-13).x
        assert wanted[1] > 0.05 and wanted[0] != 0.0
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9)


def test_what_has_no_cavity_cannot_be_inflated():
    """Rods, solids and hollow bodies of constant cavity volume refuse a pressure."""
    for body in (ROD, mapping(), mapping(inner_radius=0.01)):
        with pytest.raises(DescriptionError) as caught:
            robot(body, actuators=[PRESSURE])
        (problem,) = caught.value.problems
        words = "actuators[0].body: 'b', expected a body with a cavity: there is none"
        assert str(problem) == words
    with pytest.raises(DescriptionError, match='the name of a body: b'):
        robot(mapping(), actuators=[{**PRESSURE, 'body': 'c'}])


def test_a_pressure_pushes_and_is_safe_at_zero():
    """A pressure has a positive sign, limits and a safe command of zero."""
    model = robot(mapping_of(hollow(modes='table_5')), actuators=[PRESSURE])
    assert model.signs[0] == 1.0 and (model.lower[0], model.upper[0]) == (0.0, 1e6)
    assert model.description.actuators[0].actuator.safe == 'zero'
    zero = np.zeros(2)
    qdd = sd.forward_dynamics(model, q=zero, qd=zero, u=np.array([1e5]))
    assert qdd[1] > 0.0
