# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The zero dynamics against closed forms and simulations."""

import math

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError
from support.robots import compiled, SHIPPED


def pendulum(angle):
    """Return the zero dynamics of the double pendulum, elbow held straight, at an angle."""
    model = compiled('double_pendulum')
    return model, sd.zero_dynamics(model, q=[angle, 0.0], controlled=model.actuator_names[1:])


@pytest.mark.quick
def test_a_stiff_pendulum_swings_below_and_falls_above():
    """With the elbow held, the rates are those of one pendulum below and above."""
    model, below = pendulum(0.0)
    M = sd.mass_inverse_dynamics(model, q=np.zeros(2), qd=np.zeros(2), qdd=np.zeros(2))[1]
    derivative = sd.gravity_force(model, q=[1e-6, 0.0])[0] / 1e-6
    damping = sd.damping_force(model, q=np.zeros(2), qd=[1.0, 0.0])[0]
    wanted = np.roots([M[0, 0], damping, derivative])
    assert np.sort_complex(below) == pytest.approx(np.sort_complex(wanted), rel=1e-6)
    above = pendulum(math.pi)[1]
    wanted = np.roots([M[0, 0], damping, -derivative])
    assert above[0].real == pytest.approx(wanted.real.max(), rel=1e-6) and above[0].real > 1.0


@pytest.mark.parametrize('name', SHIPPED)
def test_as_many_rates_as_the_outputs_leave(name):
    """There are two rates per remaining coordinate; shipped robots are stable or have none."""
    model = compiled(name)
    found = sd.zero_dynamics(model, q=model.q0)
    J = sd.actuation(model, q=model.q0, qd=np.zeros(model.n)).jacobian
    assert len(found) == 2 * (
        model.n - np.linalg.matrix_rank(J / np.abs(J).max(axis=1, keepdims=True))
    )
    assert (found.real < 0.1).all()


@pytest.mark.quick
def test_unknown_outputs_are_named():
    """An unknown output is refused with the known names."""
    with pytest.raises(ArgumentError, match='controlled.*knee'):
        sd.zero_dynamics(compiled('double_pendulum'), q=[0.0, 0.0], controlled=['knee'])
