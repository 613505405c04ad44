# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Planar inextensible rods with weight as initial value problems, for shooting."""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve

GRAVITY = 9.81


def rod(length, EI, rhoA, start, loads, stations=()):
    """
    Return (x, z, angle, m, f_x, f_z) at the end of a rod, and (K, 6) at stations [m].

    ``start`` is (x, z, angle) where it begins, ``loads`` (m, f_x, f_z) the moment about y and the
    force with which what is beyond s = 0 acts on the section there. Angles are from z towards x.
    """

    def slope(s, y):
        c, n = np.cos(y[2]), np.sin(y[2])
        # m' = -(t x f)_y with the tangent t = (sin, 0, cos)
        return [n, c, y[3] / EI, -(c * y[4] - n * y[5]), 0.0, rhoA * GRAVITY]

    found = solve_ivp(slope, (0.0, length), [*start, *loads], rtol=1e-11, atol=1e-12,
                      method='DOP853', dense_output=True)  # fmt: skip
    return found.y[:, -1], np.array([found.sol(s) for s in stations])


def shoot(gap, guess):
    """Return the loads at which all gaps are zero, and check that they are."""
    answer = fsolve(gap, guess, xtol=1e-13)
    assert np.abs(gap(answer)).max() < 1e-9
    return answer
