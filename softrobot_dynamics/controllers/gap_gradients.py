# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Derivatives of gaps between surfaces by the coordinates, for laws that keep distances."""

from softrobot_dynamics.compiling.jit import kernel


@kernel
def fill_gap_gradient(contact, i, row):
    """Fill ``row`` (n,) with d(gap)/dq of pair ``i`` of a ContactWorkspace, which is near."""
    n, J, normal = len(row), contact.J[i], contact.normal[i]
    for j in range(n):
        row[j] = normal[0] * J[j] + normal[1] * J[n + j] + normal[2] * J[2 * n + j]
