# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Forces and accelerations of a robot that was evaluated, as integrators need them."""

from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.linalg import cholesky, solve_lower, solve_lower_transposed


@kernel
def save_start(terms, force, b):
    """Keep what every attempt at a step needs of the terms where it starts, b.F (n,) and b.M."""
    generalized_force(terms, force, b.F)
    for i in range(len(b.F)):
        for j in range(len(b.F)):
            b.M[i, j] = terms.M[i, j]


@kernel
def generalized_force(terms, force, F):
    """Fill F (n,) with the generalized force under ``force`` (m,) along y."""
    for i in range(len(F)):
        F[i] = -terms.h[i]
    for k in range(len(force)):
        push = force[k]
        for i in range(len(F)):
            F[i] += terms.J[k, i] * push


@kernel
def acceleration(terms, force, a):
    """Fill a (n,) under ``force`` (m,) along y; M is used up, and 1 if it is no mass matrix."""
    generalized_force(terms, force, a)
    if cholesky(terms.M) != 0:
        return 1
    solve_lower(terms.M, a)
    solve_lower_transposed(terms.M, a)
    return 0
