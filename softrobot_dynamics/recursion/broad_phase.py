# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Broad phase of contact: which pairs of elements may be near, and are measured in every evaluation.

All pairs are measured only when a node has moved by more than a ``margin`` since the last time
that they were; in between, only those that may have come near (Verlet, Computer experiments on
classical fluids, Physical Review 159, 1967).
"""

import math

from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.linalg import copy
from softrobot_dynamics.recursion.contact_pairs import KIND, measure, POINT_TUBE
from softrobot_dynamics.recursion.solid_pairs import measure_solids


@kernel
def update_candidates(contact):
    """Select the pairs that may come near anew, if a node has moved by more than the margin."""
    if _has_moved(contact):
        _select_candidates(contact)


@inlined
def measure_pair(contact, i):
    """Fill gap, normal and point of a pair; of a pair of solids all rows with the first."""
    g = contact.solids.group_of[i]
    if g < 0:
        measure(contact, i)
    elif contact.solids.groups[g, 0] == i:
        measure_solids(contact, g)


@kernel
def _has_moved(contact):
    """Tell whether a node has moved, with what turns with it, by more than the margin."""
    limit = contact.margin * contact.margin
    for i in range(len(contact.frames)):
        T, before = contact.frames[i], contact.placed[i]
        x, y, z = T[3] - before[3], T[7] - before[7], T[11] - before[11]
        moved = x * x + y * y + z * z
        if contact.extent[i] > 0.0:
            turned = 0.0
            for k in range(12):
                if k % 4 != 3:
                    turned += (T[k] - before[k]) ** 2
            moved = (math.sqrt(moved) + math.sqrt(turned) * contact.extent[i]) ** 2
        if not moved <= limit:
            return True
    return False


@kernel
def _select_candidates(contact):
    """Measure all pairs; note those that may be near before a node moves by the margin."""
    count, limit = 0, contact.detection_distance + 2.0 * contact.margin
    for i in range(len(contact.pairs)):
        measure_pair(contact, i)
        contact.speed[i] = contact.force[i] = 0.0
        g = contact.solids.group_of[i]
        apart = contact.gap[i] if g < 0 else contact.solids.min_distance[g]
        if apart < limit or contact.pairs[i, KIND] == POINT_TUBE:  # it ends abruptly
            count += 1
            contact.candidates[count] = i
        else:
            contact.onset[i] = contact.lasting[i] = 0.0
            contact.pushes[i, :] = 0.0
    contact.candidates[0] = count
    for i in range(len(contact.frames)):
        copy(contact.frames[i], contact.placed[i])
