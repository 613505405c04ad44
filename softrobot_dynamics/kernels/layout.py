# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Layout of the flat workspace, shared by emitted kernels and the recursion.

Every joint and every body owns one contiguous slab. Both begin with a *frame*, the motion of an
outer frame B relative to an inner frame A (joint: parent's tip -> distal frame; body: distal
frame -> tip), n coordinates:

====================  ======  ==================================================================
R                     9       rotation of B in A, row-major
t                     3       origin of B in A [m]
angular bias          3       (d/dt Jw) qd, in B [rad/s^2]
linear bias           3       (d/dt Jt) qd, in A [m/s^2]
angular Jacobian Jw   3 n     in B, coordinate by coordinate: w_rel = sum_j Jw_j qd_j
linear Jacobian Jt    3 n     in A: dt/dt = sum_j Jt_j qd_j
====================  ======  ==================================================================

A body's slab goes on with what the recursion needs of it, all in its distal joint frame S_J:

====================  ======  ==================================================================
inertia               10      m, first moment (3), xx yy zz xy xz yz of the inertia about S_J
bias wrench           6       moment about S_J, force, of velocity-product accelerations
coupling H            6 n     per coordinate: int p x J dm, int J dm
mass                  n n     int J_i . J_j dm
generalized bias      n       int J_i . a dm
elastic force         n       s(q)
damping force         n       d(q, qd)
====================  ======  ==================================================================

The *derivatives* of a joint or a body are derivatives by its own q_k and qd_k, where the motion of
its inner frame stays. Twists are spatial, (angular, linear), at the inner frame's origin in its
axes: S_j that of the outer frame along coordinate j. All of

====================  ======  ==================================================================
dS_j / dq_k           6 n n   of each k, coordinate by coordinate
d2S_k / dt2           6 n     along qd and qdd
====================  ======  ==================================================================

and for a body, with a the acceleration of its matter and F, Q what it takes to accelerate it,

====================  ======  ==================================================================
dF / dq_k             6 n     moment about S_J and force
dF / dqd_k            6 n
spin N_k              3 n     2 int (w x p + J qd) x J_k dm: of Q_k by a turning of S_J
dQ_j / dq_k           n n     of each k
dQ_j / dqd_k          n n     of each k
spin                  9       e -> 2 int p x (e x J qd) dm, row-major
====================  ======  ==================================================================
"""

from typing import NamedTuple

from softrobot_dynamics.compiling.jit import inlined

ROTATION, ORIGIN, ANGULAR_BIAS, LINEAR_BIAS, JACOBIAN = 0, 9, 12, 15, 18


def frame_size(n: int) -> int:
    """Length of a frame with n coordinates; not for kernels."""
    return JACOBIAN + 6 * n


@inlined
def inertia_offset(n):
    """Offset of a body's ten inertia numbers in its slab."""
    return JACOBIAN + 6 * n


@inlined
def wrench_offset(n):
    """Offset of the bias wrench."""
    return 28 + 6 * n


@inlined
def coupling_offset(n):
    """Offset of the coupling H."""
    return 34 + 6 * n


@inlined
def mass_offset(n):
    """Offset of the body's own mass block."""
    return 34 + 12 * n


@inlined
def bias_offset(n):
    """Offset of the generalized bias; the elastic and the damping force follow it."""
    return 34 + 12 * n + n * n


@inlined
def body_size(n):
    """Length of a body's slab."""
    return 34 + 15 * n + n * n


class Slab(NamedTuple):
    """Offsets in a body's slab, and its length, for code that is not compiled."""

    inertia: int
    wrench: int
    coupling: int
    mass: int
    bias: int
    elastic: int
    damping: int
    size: int


def slab(n: int) -> Slab:
    """Return the :class:`Slab` of a body of n coordinates."""
    bias = bias_offset.py_func(n)
    return Slab(
        inertia=inertia_offset.py_func(n),
        wrench=wrench_offset.py_func(n),
        coupling=coupling_offset.py_func(n),
        mass=mass_offset.py_func(n),
        bias=bias,
        elastic=bias + n,
        damping=bias + 2 * n,
        size=body_size.py_func(n),
    )


@inlined
def second_twists_offset(n):
    """Offset of the second derivatives by time of the twists, in the derivatives of a part."""
    return 6 * n * n


@inlined
def force_derivatives_offset(n):
    """Offset of dF/dq; the rest of a body's follows. Also the length of a joint's derivatives."""
    return 6 * n * n + 6 * n


@inlined
def spins_offset(n):
    """Offset of the spins N_k."""
    return 6 * n * n + 18 * n


@inlined
def own_derivatives_offset(n):
    """Offset of dQ/dq, then dQ/dqd."""
    return 6 * n * n + 21 * n


@inlined
def spin_offset(n):
    """Offset of the spin matrix."""
    return 8 * n * n + 21 * n


def derivatives_size(n: int) -> int:
    """Length of a body's derivatives; not for kernels."""
    return 8 * n * n + 21 * n + 9
