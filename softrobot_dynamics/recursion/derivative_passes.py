# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The recursion differentiated: dID/dq and dID/dqd in closed form, in one pass there and back.

Inverse dynamics ID(q, qd, qdd) contain M(q) qdd, so these include the derivatives of M.

A change of the coordinate q_k displaces all matter beyond it along the twist S_k, and changes the
acceleration of a point p by the field (d2S_k/dt2)(p) + 2 (dS_k/dt)_w x dp/dt, besides turning it;
one of qd_k changes it by 2 (dS_k/dt)(p) + 2 (S_k)_w x dp/dt. So what the matter beyond a frame has
to say is its inertia I, the matrix B = 2 int (p x (. x dp/dt), . x dp/dt) dm and the wrench F that
accelerates it, all of which add up along the tree. With the wrench of each coordinate,

    C_k = I d2S_k/dt2 + B (dS_k/dt)_w + S_k x* F   by q_k,   2 I dS_k/dt + B (S_k)_w   by qd_k,

the force along a coordinate j before k changes by S_j . C_k; that along k itself by one before it,
as its twist and all beyond move along, by (I S_k) . d2S_j/dt2 + (B^T S_k) . (dS_j/dt)_w. For rigid
bodies these are the formulas of Singh, Russell and Wensing (2022). A body that deforms adds to B
what its matter moves in it, and to C_k and I S_k what its own coordinates do by themselves: see
:mod:`softrobot_dynamics.recursion.module_derivatives`.
"""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Integers, Matrix, Vector
from softrobot_dynamics.compiling.addresses import EMPTY_ENTRY, Entry, run_three
from softrobot_dynamics.compiling.binding import entry
from softrobot_dynamics.compiling.jit import inlined, kernel
from softrobot_dynamics.kernels import layout
from softrobot_dynamics.kernels.spatial import between, move_wrench, read_six
from softrobot_dynamics.recursion.composite_inertia import add_composite_inertia, COMPOSITE
from softrobot_dynamics.recursion.derivative_backward import (
    add_body_derivatives,
    add_springs,
    fill_block,
    fill_columns,
    fill_rows,
    ROWS,
)
from softrobot_dynamics.recursion.mimic_reduction import add_folded
from softrobot_dynamics.recursion.module_derivatives import (
    CONSTANT,
    DerivativeKernels,
    difference_derivatives,
    DIFFERENCES,
    evaluate_derivatives,
    Work,
)
from softrobot_dynamics.recursion.passes import (
    backward,
    BODY_COLUMN,
    BODY_COUNT,
    BODY_SLAB,
    forward,
    FULL,
    JOINT_COLUMN,
    JOINT_COUNT,
    JOINT_NUMBERS,
    JOINT_POSE,
    JOINT_WRENCH,
    PARENT,
    poses,
    Robot,
    STATE,
    TIP_POSE,
    TIP_WRENCH,
)
from softrobot_dynamics.recursion.twists import last_tip, MOTION, propagate_twists


class DerivativeArrays(NamedTuple):
    """Arrays for :func:`tangent_entries` of one robot; for one thread at a time."""

    by_state: Matrix  # (n, 2 n) the result, dID/dq and dID/dqd
    full: (
        Matrix  # (n_x, 2 n_x) the same by columns; by_state itself where no joint follows another
    )
    stiffness: Matrix  # (n_x, n_x) room for that of lines by columns; (0, 0) likewise
    force: Vector  # (n,) ID itself
    columns: Matrix  # (ROWS, n_x) of each column
    motions: Vector  # (.,) V and A of all frames
    composite: Vector  # (.,) I and B of what is beyond each frame
    derivatives: Vector  # (.,) of all parts
    places: Integers  # (N, 2) where those of joint and body are in it; 0: they need none
    module_range: Integers  # (2,) modules whose derivatives are filled next: first, end
    kernels: DerivativeKernels
    work: Work


def allocate_tangents(robot: Robot, kernels: DerivativeKernels) -> DerivativeArrays:
    """Return :class:`DerivativeArrays` for a robot and its model's kernels of derivatives."""
    columns = len(robot.coordinates)
    n = int(robot.coordinates.max()) + 1
    by_state, follow = np.zeros((n, 2 * n)), columns > n
    counts = robot.modules[:, [JOINT_COUNT, BODY_COUNT]].astype(int)
    N, own = len(counts), int(counts.max())
    needed = kernels.addresses != CONSTANT
    sizes = [
        layout.derivatives_size(count) for count in np.where(needed, counts, 0).ravel().tolist()
    ]
    starts = np.cumsum([1, *sizes])
    work = Work(
        x=np.zeros(2 * own),
        y=np.zeros((4, 7 * own + 12)),
        W=np.zeros(STATE + layout.slab(own).size),
        S=np.zeros(kernels.scratch),
    )
    return DerivativeArrays(
        by_state=by_state,
        full=np.zeros((columns, 2 * columns)) if follow else by_state,
        stiffness=np.zeros((columns, columns) if follow else (0, 0)),
        force=np.zeros(n),
        columns=np.zeros((ROWS, columns)),
        motions=np.zeros((2 * N + 2) * MOTION),
        composite=np.zeros((N + 1) * COMPOSITE),
        derivatives=np.zeros(starts[-1]),
        places=np.where(needed, starts[:-1].reshape(N, 2), 0).astype(np.uint32),
        module_range=np.array([0, N]),
        kernels=kernels,
        work=work,
    )


class DerivativeEntries(NamedTuple):
    """
    Entries by q, qd and qdd that fill :class:`DerivativeArrays`, after a forward pass.

    The first three, one after the other, are the same as ``after``.
    """

    wrenches: Entry  # ID, and the poses
    derivatives: Entry  # those of the modules in ``t.module_range``
    accumulate: Entry  # ``t.by_state``, when all derivatives are there
    after: Entry
    whole: Entry  # and the forward pass before


def tangent_entries(
    robot: Robot, t: DerivativeArrays, one_sided: bool = False
) -> DerivativeEntries:
    """
    Return the :class:`DerivativeEntries` that fill ``t.by_state``, and ``t.force`` with ID.

    ``one_sided``: those of bodies that are differenced are.
    """
    stages = {
        'wrenches': entry(inverse_dynamics_pass, robot=robot, t=t),
        'derivatives': derivatives_entry(robot, t, one_sided),
        'accumulate': entry(accumulate, robot=robot, t=t),
    }
    after = entry(differentiate, t=t, **stages)
    return DerivativeEntries(
        **stages, after=after, whole=entry(tangents, robot=robot, after=after)
    )


def derivatives_entry(robot: Robot, t: DerivativeArrays, one_sided: bool = False) -> Entry:
    """Return the Entry of the derivatives alone, see :class:`DerivativeEntries`."""
    differenced = EMPTY_ENTRY
    if (t.kernels.addresses == DIFFERENCES).any():
        differenced = entry(difference_derivatives, robot=robot, one_sided=one_sided, t=t)
    return entry(fill_derivatives, robot=robot, differenced=differenced, t=t)


@kernel
def tangents(robot, after, q, qd, qdd):
    """Differentiate ID(q, qd, qdd) by q and qd."""
    forward(robot, q, qd, qdd, FULL)
    run_three(after, q, qd, qdd)


@kernel
def differentiate(wrenches, derivatives, accumulate, t, q, qd, qdd):
    """Run all :class:`DerivativeEntries` after a forward pass, whose terms are kept."""
    t.module_range[0], t.module_range[1] = 0, len(t.places)
    run_three(wrenches, q, qd, qdd)
    run_three(derivatives, q, qd, qdd)
    run_three(accumulate, q, qd, qdd)


@kernel
def inverse_dynamics_pass(robot, t, q, qd, qdd):
    """Fill ID, and the wrenches and poses of all frames, after a forward pass."""
    backward(robot, q, qd, qdd, FULL, t.force)
    poses(robot)


@kernel
def fill_derivatives(robot, differenced, t, q, qd, qdd):
    """Fill the derivatives of the modules in ``t.module_range``."""
    evaluate_derivatives(robot, t, q, qd, qdd)
    if differenced.address != 0:
        run_three(differenced, q, qd, qdd)


@kernel
def accumulate(robot, t, q, qd, qdd):
    """Fill ``t.by_state`` from all derivatives: twists of frames, then composites beyond each."""
    propagate_twists(robot, t, qd, qdd)
    _accumulate(robot, t, qd)
    if len(t.full) > len(t.by_state):
        t.by_state[:] = 0.0
        add_folded(robot.coordinates, t.full, t.by_state)


@kernel
def _accumulate(robot, t, qd):
    """Backward pass: composites beyond each frame, and the forces along columns."""
    N = len(robot.modules)
    t.full[:] = 0.0  # branches of a tree do not see each other
    t.composite[:] = 0.0
    for i in range(N - 1, -1, -1):
        m, s, beyond = robot.modules[i], np.uint32(i * STATE), np.uint32(i * COMPOSITE)
        joint, body, before = s + JOINT_POSE, s + TIP_POSE, m[PARENT] * STATE + TIP_POSE
        n, first, derivatives = m[BODY_COUNT], m[BODY_COLUMN], t.places[i, 1]
        if n > 0:
            part = n, first, derivatives
            F = _wrench(robot, body, s + TIP_WRENCH)
            fill_columns(t, part, beyond, F)
            fill_block(robot, t, part, joint, F)
            add_body_derivatives(robot, t, part, m[BODY_SLAB], joint, t.motions[2 * i * MOTION :])
            fill_rows(robot, t, i, part)
        add_composite_inertia(robot, t, i, qd)
        n, first, derivatives = m[JOINT_COUNT], m[JOINT_COLUMN], t.places[i, 0]
        if n > 0:
            part = n, first, derivatives
            F = _wrench(robot, joint, s + JOINT_WRENCH)
            fill_columns(t, part, beyond, F)
            fill_block(robot, t, part, before, F)
            add_springs(robot, t, part, m[JOINT_NUMBERS])
            fill_rows(robot, t, i, part)
        for c in range(COMPOSITE):
            t.composite[m[PARENT] * COMPOSITE + c] += t.composite[beyond + c]


@inlined
def _wrench(robot, pose, g):
    """Wrench W[g:g+6] at a frame's origin in it, in base axes about the last tip."""
    W = robot.W
    return move_wrench(W, pose, between(W, last_tip(robot), pose), read_six(W, g))
