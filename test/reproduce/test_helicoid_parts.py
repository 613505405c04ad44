# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Parts of the helicoid's system: tetrahedra without a mesh file, a continuous law."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.references.piecewise import spline
from softrobot_dynamics.reproduce.continuous import ContinuousLaw
from softrobot_dynamics.reproduce.tetrahedra import Bricks
from support.robots import compiled

SIZE = 0.1, 0.02, 0.012  # length, outer and inner radius [m]


def test_bricks_fill_the_cylinder():
    """Bricks have the cylinder's volume, and their second moments converge to its."""
    length, outer, inner = SIZE
    volume = np.pi * (outer**2 - inner**2) * length
    errors = []
    for rule in (Bricks(), Bricks(38, 2, 48)):
        points, volumes = rule.points(*SIZE)
        assert volumes.sum() == pytest.approx(volume, rel=1e-12)
        assert len(volumes) == 6 * rule.axial * rule.radial * rule.angular
        assert np.abs(volumes @ points[:, :2]).max() < 1e-12 * volume
        second = volumes @ points[:, 0] ** 2
        errors.append(abs(second / (volume * (outer**2 + inner**2) / 4.0) - 1.0))
    assert 0.05 > errors[0] > 3.0 * errors[1]


def test_the_continuous_law_has_the_acceleration_it_asks_for():
    """The error decays by the gains, and the command gives the demanded acceleration."""
    model = compiled('double_pendulum')
    times = np.linspace(0.0, 1.0, 20)
    reference = spline(times, np.column_stack([np.sin(times), times**2]))
    law = ContinuousLaw(model, reference, 30.0, 6.0)
    q, t = np.array([0.4, -0.3]), np.linspace(0.0, 0.5, 26)
    found = law.follow(q, np.zeros(2), t, 1e-6)
    gap, rate = q - law.desired(0.0)[0], -law.desired(0.0)[1]
    turning = np.sqrt(30.0 - 9.0)
    wave = np.outer(np.cos(turning * t), gap)
    wave += np.outer(np.sin(turning * t), (rate + 3.0 * gap) / turning)
    np.testing.assert_allclose(found.errors, np.exp(-3.0 * t)[:, None] * wave, atol=1e-5)
    state = np.concatenate([q, np.zeros(2)])
    qdd, u = law.answer(0.0, state)
    np.testing.assert_allclose(
        qdd, sd.forward_dynamics(model, q=q, qd=np.zeros(2), u=u), atol=1e-9
    )
