# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Layout of blocks of rows: strains of points, and the dilation of their sections.

A point (x1, x2) of a section lies at d = f (x1, x2) in its plane. The *dilation* f depends on the
point and on the strains ``section_rows.DILATING``. Of it the derivatives of a body need four
values, f, df/dx1, df/dx2 and df/ds, each with derivatives by strains and by time.
"""

from softrobot_dynamics.bodies.lvp.section_rows import DILATING_COUNT, slot
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels.reductions import BLOCK

B = BLOCK

# rows of strains: all seven, d/ds of the growing ones; both by time; growing ones twice by time
STRAIN, DERIVATIVE, STRAIN_RATE, DERIVATIVE_RATE, STRAIN_ACCELERATION, STRAIN_ROWS = (
    0,
    7,
    11,
    18,
    22,
    26,
)

# rows of the dilation: its four values, the same by time, and f twice by time; these nine by each
# growing strain; the four by each pair of them
VALUES, RATES, ACCELERATION, BY_STRAIN = 0, 4, 8, 9
PAIRS = BY_STRAIN * (1 + DILATING_COUNT)
DILATION_ROWS = PAIRS + 4 * (DILATING_COUNT * (DILATING_COUNT + 1) // 2)


@inlined
def by_strain(z):
    """First of nine rows of derivatives by the dilating strain of slot z."""
    return BY_STRAIN * (1 + z)


@inlined
def by_pair(y, z):
    """First of four rows of second derivatives by the dilating strains of two slots."""
    a, b = min(y, z), max(y, z)
    return PAIRS + 4 * (a * (2 * DILATING_COUNT - 1 - a) // 2 + b)


@kernel
def lay_strains(n, strains, shapes, derivatives, states, Z):
    """Fill the rows Z of a block: ``shapes`` and ``derivatives`` (n rows), states (q, qd, qdd)."""
    q, qd, qdd = states
    Z[:] = 0.0
    for k in range(B):
        Z[5 * B + k] = 1.0  # the factor of length, lambda
    for j in range(n):
        row, z, phi = int(strains[j]), slot(strains[j]), shapes[j * B : (j + 1) * B]
        _add(q[j], phi, Z[(STRAIN + row) * B :])
        _add(qd[j], phi, Z[(STRAIN_RATE + row) * B :])
        if z >= 0:
            derivative = derivatives[j * B : (j + 1) * B]
            _add(q[j], derivative, Z[(DERIVATIVE + z) * B :])
            _add(qd[j], derivative, Z[(DERIVATIVE_RATE + z) * B :])
            _add(qdd[j], phi, Z[(STRAIN_ACCELERATION + z) * B :])


@kernel
def _add(value, row, out):
    """Add a row times a number, up to its length: a literal would unroll the loop."""
    for k in range(len(row)):
        out[k] += value * row[k]
