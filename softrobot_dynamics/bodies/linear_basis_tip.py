# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Derivatives of the twists of a tip frame made of three points linear in q."""

from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.point_frames import add_scaled, frame_derivatives, three


@kernel
def tip_derivatives(n, tip, weights, S, D):
    """
    Fill the first derivatives D of a body, those of its tip's twists.

    ``tip`` 9 (n + 1) numbers of [o, u, v]; ``weights``: (1, q), (0, qd), (0, qdd); S is room.
    """
    m = n + 1
    here, moved = _points(tip, weights[:m]), _points(tip, weights[m : 2 * m])
    pushed = _points(tip, weights[2 * m : 3 * m])
    frame_derivatives(n, tip[9:], (here, moved, pushed), weights[m + 1 : 2 * m], S, D)


@inlined
def _points(tip, weights):
    """O, u and v with these weights of the tip's numbers."""
    o, u, v = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(len(weights)):
        o = add_scaled(o, three(tip, 9 * i), weights[i])
        u = add_scaled(u, three(tip, 9 * i + 3), weights[i])
        v = add_scaled(v, three(tip, 9 * i + 6), weights[i])
    return o, u, v
