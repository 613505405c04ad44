# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Chain rule of an activation f(z), by up to three parameters, for a block of points.

Parameters a, b, c are any of which z is a function: coordinates, places, time. ``D``: f, f', f'',
f''' of z, BLOCK numbers each; z_a is dz/da, z_ab the second derivative, and so on. Each loop turns
its last argument into that derivative of f(z), so that of lower order must come after it.
"""

from softrobot_dynamics.kernels.reductions import BLOCK
from softrobot_dynamics.tracing.differentiate import direction, tangent
from softrobot_dynamics.tracing.graph import Node
from softrobot_dynamics.tracing.loops import LaneRows, traced_loop


@traced_loop(BLOCK)
def first(D, z_a):
    """Turn z_a into df(z)/da."""
    z_a.write(0, _derivative(D, a=z_a))


@traced_loop(BLOCK)
def second(D, z_a, z_b, z_ab):
    """Turn z_ab into d2f(z) / da db."""
    z_ab.write(0, _derivative(D, a=z_a, b=z_b, ab=z_ab))


@traced_loop(BLOCK)
def third(D, z_a, z_b, z_c, z_ab, z_ac, z_bc, z_abc):
    """Turn z_abc into d3f(z) / da db dc."""
    z_abc.write(0, _derivative(D, a=z_a, b=z_b, c=z_c, ab=z_ab, ac=z_ac, bc=z_bc, abc=z_abc))


def _derivative(D: LaneRows, **z: LaneRows) -> list[Node]:
    """Differentiate f(z) by all parameters, given the derivatives of z by each, by two, ..."""
    found = D.rows(0, 1)
    for by in max(z, key=len):
        moved = [derivative * z[by][0] for derivative in D.rows(1, 3)]
        known = [([z[a][0]], [z[a + by][0]]) for a in z if a + by in z]
        found = tangent(found, direction((D.rows(0, 3), moved), *known))
    return found
