# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Restitution of contact: the damping with which two surfaces part at a fraction of their speed.

By the law of Hunt and Crossley (1975), f = k d (1 + c d'), surfaces that meet at a speed v [m/s]
part at e v, whatever their mass and stiffness, if c = a / v, where a depends on the restitution e
alone (:func:`dissipation`).
"""

import math

from softrobot_dynamics.compiling.jit import inlined
from softrobot_dynamics.recursion.contact_pairs import DAMPING, RESTITUTION

_LEAST_RESTITUTION = 0.01  # that of smaller ones: a grows without bound towards 0


@inlined
def impact_damping(contact, i):
    """Return c [s/m] of a pair i that overlaps; fill its speed of approach when it begins to."""
    number = contact.numbers[i]
    if contact.onset[i] == 0.0:
        contact.onset[i] = max(-contact.speed[i], contact.min_restitution_speed)
    if number[RESTITUTION] < 0.0:
        return number[DAMPING]
    return number[RESTITUTION] / contact.onset[i]


def dissipation(restitution: float) -> float:
    """
    Return a = c v such that surfaces that meet at v part at ``restitution`` v.

    It solves a - ln(1 + a) = -e a - ln(1 - e a), by bisection. A restitution below 0.01 counts as
    0.01.
    """
    e = max(_LEAST_RESTITUTION, restitution)
    if e >= 1.0:
        return 0.0
    low, high = 0.0, (1.0 - 1e-14) / e
    for _ in range(200):
        a = 0.5 * (low + high)
        lost = a - math.log1p(a) + e * a + math.log1p(-e * a)
        if lost > 0.0:
            low = a
        else:
            high = a
    return 0.5 * (low + high)
