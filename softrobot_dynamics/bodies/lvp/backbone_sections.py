# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Sums over the sections of a body: from momenta and bias forces of each to the body's slab."""

from softrobot_dynamics.bodies.lvp.backbone import ORIGIN, STRAINS
from softrobot_dynamics.bodies.lvp.section_rows import (
    accelerations,
    ANGULAR,
    BIASES,
    CENTRE,
    COORDINATES,
    DILATING_COUNT,
    ELASTIC,
    ETA,
    FORCE,
    INERTIA,
    MOMENT,
    momenta,
    ORIGIN_DERIVATIVE,
    PAIRS,
    ROWS_PER_COORDINATE,
    slot,
    turn,
    VISCOUS,
    weighted_dot,
)
from softrobot_dynamics.compiling.jit import kernel, reduction
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.lanes import LANES
from softrobot_dynamics.kernels.reductions import dot


@kernel
def add_sections(n, strains, shapes, derivatives, G, M, rates, qd, w, V, W):
    """
    Add 16 sections to a body's slab W, but for its frame.

    ``shapes`` and ``derivatives`` (n rows) of the coordinates, frames G (21 + 6 n rows, zero where
    a coordinate moves nothing), moments M and ``rates`` (7 rows) of the strains; V is scratch.
    """
    # eleven arguments: a record of those of the stations was slower by some 4 % of a body
    own = V[COORDINATES * LANES :]
    turn(G, M, V)
    momenta(n, strains, shapes, G, M, V, own)
    accelerations(n, G, M, rates, qd, w, V)
    first = layout.inertia_offset(n)
    _rigid_sums(G, M, V, W[first : first + 10], W[first + 10 : first + 16])
    _inertial_sums(n, strains, shapes, G, M, V, own, W)
    _forces(n, strains, shapes, derivatives, M, W[layout.bias_offset(n) + n :])


@kernel
def _inertial_sums(n, strains, shapes, G, M, V, own, W):
    """Coupling, mass and bias of all coordinates."""
    L = LANES
    coupling, block, bias = (
        layout.coupling_offset(n),
        layout.mass_offset(n),
        layout.bias_offset(n),
    )
    for j in range(n):
        phi, z = shapes[j * L : (j + 1) * L], slot(strains[j])
        mine = own[ROWS_PER_COORDINATE * L * j : ROWS_PER_COORDINATE * L * (j + 1)]
        _coupling(mine[ANGULAR * L :], G, W[coupling + 6 * j : coupling + 6 * j + 6])
        W[bias + j] += dot(V[MOMENT * L : BIASES * L], mine[ETA * L :])
        if z >= 0:
            W[bias + j] += dot(phi, V[(BIASES + z) * L :])
        for i in range(j + 1):
            value = dot(mine[ORIGIN_DERIVATIVE * L :], own[ROWS_PER_COORDINATE * L * i :])
            y = slot(strains[i])
            if y >= 0 and z >= 0:
                pair = PAIRS + DILATING_COUNT * min(y, z) + max(y, z)
                value += weighted_dot(shapes[i * L : (i + 1) * L], phi, M[pair * L :])
            W[block + n * i + j] += value
            if i < j:
                W[block + n * j + i] += value


@kernel
def _forces(n, strains, shapes, derivatives, M, out):
    """Elastic forces (n,), then viscous ones."""
    L = LANES
    for j in range(n):
        phi, derivative = shapes[j * L : (j + 1) * L], derivatives[j * L : (j + 1) * L]
        strain, z = int(strains[j]), slot(strains[j])
        out[j] += dot(phi, M[(ELASTIC + strain) * L :])
        out[n + j] += dot(phi, M[(VISCOUS + strain) * L :])
        if z >= 0:
            out[j] += dot(derivative, M[(ELASTIC + STRAINS + z) * L :])
            out[n + j] += dot(derivative, M[(VISCOUS + STRAINS + z) * L :])


@reduction
def _rigid_sums(G, M, V, inertia, wrench):
    """Mass, first moment, inertia about the joint frame's origin, and the bias wrench."""
    L = LANES
    m = m0 = m1 = m2 = xx = yy = zz = xy = xz = yz = 0.0
    f0 = f1 = f2 = t0 = t1 = t2 = 0.0
    for k in range(L):
        o0, o1, o2 = G[ORIGIN * L + k], G[(ORIGIN + 1) * L + k], G[(ORIGIN + 2) * L + k]
        u0, u1, u2 = V[CENTRE * L + k], V[(CENTRE + 1) * L + k], V[(CENTRE + 2) * L + k]
        h0, h1, h2 = M[k] * o0 + u0, M[k] * o1 + u1, M[k] * o2 + u2
        m += M[k]
        m0 += h0
        m1 += h1
        m2 += h2
        s0, s1, s2 = h0 * o0 + u0 * o0, h1 * o1 + u1 * o1, h2 * o2 + u2 * o2
        xx += V[INERTIA * L + k] + s1 + s2
        xy += V[(INERTIA + 1) * L + k] - o0 * h1 - u0 * o1
        xz += V[(INERTIA + 2) * L + k] - o0 * h2 - u0 * o2
        yy += V[(INERTIA + 3) * L + k] + s0 + s2
        yz += V[(INERTIA + 4) * L + k] - o1 * h2 - u1 * o2
        zz += V[(INERTIA + 5) * L + k] + s0 + s1
        a0, a1, a2 = V[FORCE * L + k], V[(FORCE + 1) * L + k], V[(FORCE + 2) * L + k]
        f0 += a0
        f1 += a1
        f2 += a2
        t0 += V[MOMENT * L + k] + o1 * a2 - o2 * a1
        t1 += V[(MOMENT + 1) * L + k] + o2 * a0 - o0 * a2
        t2 += V[(MOMENT + 2) * L + k] + o0 * a1 - o1 * a0
    for i, value in enumerate((m, m0, m1, m2, xx, yy, zz, xy, xz, yz)):
        inertia[i] += value
    for i, value in enumerate((t0, t1, t2, f0, f1, f2)):
        wrench[i] += value


@reduction
def _coupling(momentum, G, out):
    """Int p x J dm and int J dm of one coordinate, into out (6,)."""
    L = LANES
    t0 = t1 = t2 = f0 = f1 = f2 = 0.0
    for k in range(L):
        o0, o1, o2 = G[ORIGIN * L + k], G[(ORIGIN + 1) * L + k], G[(ORIGIN + 2) * L + k]
        a0, a1, a2 = momentum[3 * L + k], momentum[4 * L + k], momentum[5 * L + k]
        f0 += a0
        f1 += a1
        f2 += a2
        t0 += momentum[k] + o1 * a2 - o2 * a1
        t1 += momentum[L + k] + o2 * a0 - o0 * a2
        t2 += momentum[2 * L + k] + o0 * a1 - o1 * a0
    for i, value in enumerate((t0, t1, t2, f0, f1, f2)):
        out[i] += value
