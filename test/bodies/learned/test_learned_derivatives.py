# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Derivatives of learned bodies by their own coordinates, against many digits."""

import numpy as np
from oracles import derivatives
import pytest
from softrobot_dynamics.bodies.learned.body import Learned
from softrobot_dynamics.kernels.reductions import BLOCK
from softrobot_dynamics.materials.neo_hookean import NeoHookean
from support.derivative_checks import assert_body_derivatives
from support.weights import network

RUBBER = NeoHookean(young_modulus=2e5, poisson_ratio=0.4, damping=0.03)
SPRING = {'stiffness_matrix': ((0.4, 0.1), (0.1, 0.3)), 'damping': 0.2}


HEAVY = [5, 15]  # points: the oracle takes a while


class Few(Learned):
    """A learned body with masses at two material points, in two blocks."""

    def material_points(self):
        """Return them, and before them a block without mass."""
        points, masses = super().material_points()
        order = [0] * BLOCK + HEAVY
        return points[order], np.concatenate([np.zeros(BLOCK), masses[HEAVY]])


@pytest.mark.parametrize('n, hidden, activation, fields', [
    (1, (3,), 'sin', {}),
    (2, (5,), 'softplus', SPRING),
    (3, (4, 7, 5), 'tanh', {'material': RUBBER}),
    (2, (9, 4), 'tanh', {'material': NeoHookean(young_modulus=2e5, poisson_ratio=0.4)}),
    (4, (6, 5), 'silu', {}),
], ids=['sin', 'softplus', 'tanh-damped', 'tanh-elastic', 'silu'])  # fmt: skip
def test_derivatives_of_networks(n, hidden, activation, fields):
    """
    Kernel derivatives are exact for networks of any size, activation and elasticity.

    Each activation at least once: with any elasticity all go through one routine for a unit.
    """
    body = Few(network(n, hidden, activation), radius=(0.02, 0.016), density=1070.0, **fields)
    points, masses = (part[BLOCK:] for part in body.material_points())
    assert_body_derivatives(body, [(derivatives.vector(x), m) for x, m in zip(points, masses)])


def test_networks_share_the_machine_code_of_their_derivatives():
    """Networks of other weights, sizes and coordinates share the code of derivatives."""
    kernels = [
        Learned(network(n, hidden), radius=(0.02, 0.016), density=1070.0).derivatives_kernel()
        for n, hidden in ((1, (3,)), (6, (16, 16)))
    ]
    assert len({(kernel.module, kernel.function) for kernel in kernels}) == 1
