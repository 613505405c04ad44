# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Terms of a robot at one state (M, h, y, J, bias), and their arrays."""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.compiling.addresses import run, run_three
from softrobot_dynamics.compiling.jit import kernel


class Terms(NamedTuple):
    """All a controller or a simulator needs of a robot at one state; arrays to be filled."""

    h: Vector  # (n,) c + g + s = ID(q, qd, 0)
    M: Matrix  # (n, n)
    y: Vector  # (m,) actuation coordinates, absolute
    J: Matrix  # (m, n) dy/dq
    bias: Vector  # (m,) (dJ/dt) qd


def allocate_terms(n: int, m: int) -> Terms:
    """Return :class:`Terms` for n coordinates and m actuators."""
    return Terms(
        h=np.zeros(n), M=np.zeros((n, n)), y=np.zeros(m), J=np.zeros((m, n)), bias=np.zeros(m)
    )


@kernel
def evaluate_terms(recursion, transmission, lines, zero, q, qd):
    """Fill all :class:`Terms` at (q, qd), by the entries that fill each; see Evaluator."""
    run_three(recursion, q, qd, zero)
    run(transmission, q, qd)
    if lines.address != 0:
        run(lines, q, qd)
