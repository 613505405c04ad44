# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Derivatives of the stress forces of a block of points, by deformation gradients.

With d = f (x1, x2) the deformation gradient is linear in the four values X = (f, df/dx1, df/dx2,
df/ds) of the dilation, and in the strains,

    F = [ f + x1 X1    x1 X2        x1 X3 - kz d2 + gx ]
        [ x2 X1        f + x2 X2    x2 X3 + kz d1 + gy ]
        [ 0            0            lambda + kx d2 - ky d1 ].

So its derivatives, traced, need those of X (:mod:`softrobot_dynamics.bodies.lvp.emit_dilation`),
and the stress works along second derivatives of F as four numbers do along those of X.
"""

import numpy as np
from softrobot_dynamics.annotations import Value
from softrobot_dynamics.bodies.lvp.backbone import STRAINS
from softrobot_dynamics.bodies.lvp.dilation_rows import by_pair, by_strain, RATES, STRAIN_RATE
from softrobot_dynamics.bodies.lvp.section_rows import DILATING_STRAINS, slot
from softrobot_dynamics.compiling.jit import kernel, reduction
from softrobot_dynamics.kernels.reductions import BLOCK
from softrobot_dynamics.tracing.differentiate import derivatives_along, direction, tangent
from softrobot_dynamics.tracing.graph import as_node, Node, Symbol
from softrobot_dynamics.tracing.loops import LaneRows, traced_loop
from softrobot_dynamics.tracing.programs import dot

B = BLOCK

CURVATURE_WORKS, WORK_ROWS = 4, 7
"""LaneRows of work of the stress: along f, X1, X2, X3; along f and each curvature."""
UNITS = np.eye(STRAINS)


def _gradient(
    places: LaneRows, Z: LaneRows, U: LaneRows
) -> tuple[list[Node], dict[Symbol, Value]]:
    """Return F (9) of points (2 rows) with strains Z, dilation U, and how it changes by time."""
    x1, x2 = places.rows(0, 2)
    (kx, ky, kz, gx, gy, stretch), X = Z.rows(0, 6), U.rows(0, 4)
    f, f1, f2, f3 = X
    d1, d2 = f * x1, f * x2
    F = [
        *(f + x1 * f1, x1 * f2, x1 * f3 - kz * d2 + gx),
        *(x2 * f1, f + x2 * f2, x2 * f3 + kz * d1 + gy),
        *(as_node(0.0), as_node(0.0), stretch + kx * d2 - ky * d1),
    ]
    return F, direction((Z.rows(0, 6), Z.rows(STRAIN_RATE, 6)), (X, U.rows(RATES, 4)))


@traced_loop(B)
def fill_gradients(places, Z, U, F):
    """F and dF/dt, nine rows each."""
    gradient, by_time = _gradient(places, Z, U)
    F.write(0, *derivatives_along(gradient, by_time, 1))


@kernel
def fill_columns(n, strains, shapes, derivatives, places, rows, G, moved):
    """dF/dq_j of all coordinates into G, and their derivatives by time, nine rows each."""
    Z, U = rows
    for j in range(n):
        unit, dilated = UNITS[int(strains[j])], U[by_strain(max(slot(strains[j]), 0)) * B :]
        phi, derivative = shapes[j * B : (j + 1) * B], derivatives[j * B : (j + 1) * B]
        out, rate = G[9 * B * j : 9 * B * (j + 1)], moved[9 * B * j : 9 * B * (j + 1)]
        _fill_column(unit, phi, derivative, places, Z, U, dilated, out, rate)


@traced_loop(B)
def _fill_column(unit, phi, derivative, places, Z, U, dilated, out, rate):
    """dF/dq_j and its derivative by time; ``unit`` (7,) is 1 for the strain that q_j moves."""
    gradient, by_time = _gradient(places, Z, U)
    share = sum(unit.number(strain) for strain in DILATING_STRAINS)
    values = [share * x for x in dilated.rows(0, 4)]
    X = [phi[0] * x for x in values]
    X[3] = X[3] + derivative[0] * values[0]
    strains = [unit.number(strain) * phi[0] for strain in range(6)]
    column = tangent(gradient, direction((Z.rows(0, 6), strains), (U.rows(0, 4), X)))
    by_time |= direction((dilated.rows(0, 4), dilated.rows(RATES, 4)))
    out.write(0, column)
    rate.write(0, tangent(column, by_time))


@kernel
def add_bent_stress(n, strains, shapes, derivatives, places, rows, S, out):
    """
    Add the work of forces along second derivatives of F, and of the dilation, to out (n n,).

    ``rows``: strains, dilation, stress (9 rows, times the volume), and e and force of the points,
    3 rows each; S is scratch, 7 rows.
    """
    Z, U, stress, arm, force = rows
    _fill_works(places, Z, U, stress, arm, force, S)
    for k in range(n):
        own = shapes[k * B : (k + 1) * B], derivatives[k * B : (k + 1) * B]
        for j in range(k + 1):
            other = shapes[j * B : (j + 1) * B], derivatives[j * B : (j + 1) * B]
            value = _second_work(int(strains[k]), int(strains[j]), own, other, U, S)
            out[n * k + j] += value
            if j < k:
                out[n * j + k] += value


@traced_loop(B)
def _fill_works(places, Z, U, stress, arm, force, S):
    """Fill the rows of work: derivatives of that of a stress along F, and of a force along f e."""
    gradient, _ = _gradient(places, Z, U)
    work = dot(stress.rows(0, 9), gradient) + dot(arm.rows(0), force.rows(0)) * U[0]
    by_value = [tangent([work], {x.value: 1.0})[0] for x in U.rows(0, 4)]
    S.write(0, by_value)
    S.write(CURVATURE_WORKS, [tangent(by_value[:1], {x.value: 1.0})[0] for x in Z.rows(0, 3)])


@reduction
def _second_work(strain, other_strain, own, other, U, works):
    """Sum of the work along the second derivative by two coordinates that move these strains."""
    y, z = slot(strain), slot(other_strain)
    dilates, other_dilates = 1.0 if y >= 0 else 0.0, 1.0 if z >= 0 else 0.0
    turns, other_turns = (
        other_dilates if strain < 3 else 0.0,
        dilates if other_strain < 3 else 0.0,
    )
    y, z, both = max(y, 0), max(z, 0), dilates * other_dilates
    by_y, by_z, pair = U[by_strain(y) * B :], U[by_strain(z) * B :], U[by_pair(y, z) * B :]
    turning = works[(CURVATURE_WORKS + min(strain, 2)) * B :]
    other_turning = works[(CURVATURE_WORKS + min(other_strain, 2)) * B :]
    (phi, derivative), (other_phi, other_derivative), total = own, other, 0.0
    for k in range(len(phi)):
        w0, w1, w2, w3 = works[k], works[B + k], works[2 * B + k], works[3 * B + k]
        value = w0 * pair[k] + w1 * pair[B + k] + w2 * pair[2 * B + k] + w3 * pair[3 * B + k]
        bent = turns * turning[k] * by_z[k] + other_turns * other_turning[k] * by_y[k]
        mixed = phi[k] * other_derivative[k] + derivative[k] * other_phi[k]
        total += phi[k] * other_phi[k] * (both * value + bent) + mixed * both * w3 * pair[k]
    return total
