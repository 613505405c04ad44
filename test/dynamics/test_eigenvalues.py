# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Quadratic eigenvalue problems with known eigenvalues and known errors."""

import numpy as np
import pytest
from softrobot_dynamics.dynamics.eigenvalues import Pencil
from softrobot_dynamics.dynamics.stability import Linearised

pytestmark = pytest.mark.quick


def pencil(rates, units, mixing=0.0, seed=0):
    """
    Return a Pencil with known eigenvalues in coordinates of so many different units.

    ``rates`` are (squared frequency, damping), one of each block x'' + d x' + k x, or (2, 2)
    matrices K, D. Blocks are mixed by a triangular matrix of ones and numbers up to ``mixing``.
    """
    rng, n = np.random.default_rng(seed), sum(len(np.atleast_1d(K)) for K, _ in rates)
    K, D, first = np.zeros((n, n)), np.zeros((n, n)), 0
    for stiffness, damping in rates:
        own = slice(first, first + len(np.atleast_1d(stiffness)))
        K[own, own], D[own, own] = np.atleast_2d(stiffness), np.atleast_2d(damping)
        first = own.stop
    T = np.eye(n) + np.triu(rng.uniform(-mixing, mixing, (n, n)), 1)
    T = T * 10.0 ** rng.uniform(-units, units, n)
    return Pencil(T.T @ T, T.T @ D @ T, T.T @ K @ T, np.zeros(n))


FLUTTER = np.array([[900.0, 100.0], [-100.0, 900.0]])  # s^2 = -900 +- 100 i: grows by 1.66 1/s
GROWTH = np.sqrt(-900.0 + 100.0j)


@pytest.mark.parametrize('units', [0.0, 8.0])
@pytest.mark.parametrize('unit', [1e-6, 1.0, 1e6])
def test_slow_growth_beside_fast_damping(unit, units):
    """Growth of 1.7 1/s is found beside rates of 1e14 1/s, whatever the units of all."""
    rates = [(unit**2 * FLUTTER, np.zeros((2, 2))), (unit**2 * 4e3, 2.0 * unit)]
    rates += [(unit**2 * 10.0**k, unit * 10.0 ** (k - 2)) for k in (8, 12, 16)]
    found = pencil(rates, units).growing()
    assert len(found) == 1 and found[0] == pytest.approx(unit * GROWTH, rel=1e-9)


def test_growth_is_distinguished_from_rounding():
    """Growth by a millionth of a frequency is found; free and undamped motions have none."""
    for growth in (1e-6, -1e-6, 0.0):
        D = -2.0 * growth * np.eye(2)
        swings = np.array([[900.0, 0.0], [1.0, 400.0]])
        rates = [(swings, D), (0.0, 0.0), (0.0, 0.0), (1e10, 0.0)]
        found = pencil(rates, 3.0, 0.5, 3).growing()
        assert len(found) == (2 if growth > 0.0 else 0)
        assert found.real == pytest.approx(growth, rel=1e-3)


def test_free_coordinates_do_not_grow_by_what_their_stiffness_is_good_to():
    """A stiffness of -1e-6 that is accurate to 1e-6 counts as free, otherwise as unstable."""
    own = pencil([(FLUTTER + FLUTTER.T, np.zeros((2, 2))), (-1e-6, 0.0)], 0.0)
    assert own.growing() == pytest.approx([1e-3], rel=1e-6)
    assert not len(own._replace(noise=np.array([0.0, 0.0, 1e-6])).growing())


def test_all_eigenvalues():
    """All eigenvalues, slow and fast, are right relative to their own size."""
    rates = [(4.0 * 10.0**k, 5.0 * 10.0 ** (k / 2)) for k in range(-4, 18, 4)]
    wanted = np.sort([-z * 10.0 ** (k / 2) for k in range(-4, 18, 4) for z in (1.0, 4.0)])
    found = pencil(rates, 3.0).eigenvalues()
    assert found.imag == pytest.approx(0.0, abs=1e-300)
    assert found.real == pytest.approx(wanted[::-1], rel=1e-6)


def test_slow_modes_of_thin_rods():
    """The slowest of squared frequencies that differ by 1e24 is right to 1e-9, and its sign."""
    for slowest in (1e-4, -1e-4):
        own = pencil([(slowest, 0.0), (3.0, 0.0), (1e8, 0.0), (1e20, 0.0)], 6.0)
        found = Linearised(own.K, own.D, own.M, own.noise).stability()
        assert found.smallest == pytest.approx(slowest, rel=1e-9)
        assert found.stable == found.stands == (slowest > 0.0)
        assert found.growth == pytest.approx(np.sqrt(max(-slowest, 0.0)), rel=1e-9)


def test_damping_that_gives_energy():
    """A robot with symmetric stiffness is not stable where its damping drives it."""
    own = pencil([(100.0, -0.1), (1e6, 1.0)], 2.0)
    found = Linearised(own.K, own.D, own.M, own.noise).stability()
    assert found.stands and not found.stable
    assert found.growth == pytest.approx(0.05, rel=1e-9)
