# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Blend a new reference in: it takes over smoothly from the one before."""

from typing import NamedTuple

from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.references.piecewise import Reference, sample


class BlendedReference(NamedTuple):
    """A reference and the one it takes over from, blended smoothly during ``ramp`` [s]."""

    previous: Reference
    current: Reference
    start: float  # both references' time zero [s]
    ramp: float  # [s]


@kernel
def sample_plan(plan, t, out, scratch):
    """
    Fill out (3, m) with the blended y_d, rate and acceleration at t [s]; ``scratch`` (3, m).

    The blend s(x) = 10 x^3 - 15 x^4 + 6 x^5 keeps two derivatives continuous.
    """
    sample(plan.current, t - plan.start, out)
    x = (t - plan.start) / plan.ramp if plan.ramp > 0.0 else 1.0
    if x < 1.0:
        x = max(x, 0.0)
        sample(plan.previous, t - plan.start, scratch)
        s = x * x * x * (10.0 - x * (15.0 - 6.0 * x))
        s1 = 30.0 * x * x * (1.0 - x) * (1.0 - x) / plan.ramp
        s2 = 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / (plan.ramp * plan.ramp)
        for i in range(out.shape[1]):
            gap, gap1 = out[0, i] - scratch[0, i], out[1, i] - scratch[1, i]
            gap2 = out[2, i] - scratch[2, i]
            out[0, i] = scratch[0, i] + s * gap
            out[1, i] = scratch[1, i] + s * gap1 + s1 * gap
            out[2, i] = scratch[2, i] + s * gap2 + 2.0 * s1 * gap1 + s2 * gap
