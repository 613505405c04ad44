# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Chain rule of an activation over a block of points."""

import numpy as np
import pytest
from softrobot_dynamics.bodies.learned import chain_rule
from softrobot_dynamics.kernels.reductions import BLOCK


@pytest.fixture
def derivatives():
    """Return f to f''' (4, BLOCK), and dz/da to d3z / da db dc by name."""
    rng = np.random.default_rng(2)
    names = 'a', 'b', 'c', 'ab', 'ac', 'bc', 'abc'
    return rng.normal(size=(4, BLOCK)), {name: rng.normal(size=BLOCK) for name in names}


def test_a_first_derivative(derivatives):
    """df/da = f' z_a in every lane."""
    D, z = derivatives
    wanted = D[1] * z['a']
    chain_rule.first(D.ravel(), z['a'])
    assert z['a'] == pytest.approx(wanted, rel=1e-14)


def test_a_second_derivative(derivatives):
    """d2f / da db = f'' z_a z_b + f' z_ab in every lane."""
    D, z = derivatives
    wanted = D[2] * z['a'] * z['b'] + D[1] * z['ab']
    chain_rule.second(D.ravel(), *(z[name] for name in ('a', 'b', 'ab')))
    assert z['ab'] == pytest.approx(wanted, rel=1e-13, abs=1e-14)


def test_a_third_derivative(derivatives):
    """d3f / da db dc by the formula of Faa di Bruno in every lane."""
    D, z = derivatives
    mixed = z['ab'] * z['c'] + z['ac'] * z['b'] + z['bc'] * z['a']
    wanted = D[3] * z['a'] * z['b'] * z['c'] + D[2] * mixed + D[1] * z['abc']
    chain_rule.third(D.ravel(), *z.values())
    assert z['abc'] == pytest.approx(wanted, rel=1e-13, abs=1e-14)
