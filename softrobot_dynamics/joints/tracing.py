# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The kernel of a traced motion between two constant transforms."""

import textwrap

import numpy as np
from softrobot_dynamics.annotations import Value, Values, Vector
from softrobot_dynamics.compiling.cache import load_module
from softrobot_dynamics.compiling.jit import Kernel, kernel
from softrobot_dynamics.kernels.layout import ANGULAR_BIAS, JACOBIAN, LINEAR_BIAS, ORIGIN
from softrobot_dynamics.kernels.spatial import move_twist, read_six, rotate, rotate_back
from softrobot_dynamics.tracing.derivative_kernels import twist_nodes, twist_slots
from softrobot_dynamics.tracing.emit import Emitter
from softrobot_dynamics.tracing.graph import as_node, Symbol
from softrobot_dynamics.tracing.programs import frame_nodes, frame_slots, HEADER

BEFORE_JOINT, AFTER_JOINT = 0, 12  # where the constant transforms begin, R (9) and t (3) each


def motion_kernel(
    label: str,
    motion: tuple[Values, Values, Value | None],
    constants: dict[Symbol, float],
    numbers: Vector,
    n: int,
) -> Kernel:
    """
    Return the :class:`Kernel` ``motion(P, q, qd, W)`` of a joint's frame from its traced motion.

    ``motion`` of ``n`` coordinates: nine nodes of the rotation, row-major; three of the origin
    [m]; one that is positive where the coordinates hold, or None: elsewhere the frame is NaN.
    ``constants``: {symbol: value} of its other symbols; ``numbers`` (3 n + 24,): the springs and
    both constant transforms, which come first in P; ``label`` names the module.
    """
    rotation, origin, margin = motion
    nodes = frame_nodes(list(map(as_node, rotation)), list(map(as_node, origin)), n)
    guard = [] if margin is None else [as_node(margin)]
    code = Emitter([*nodes, *guard])
    slots = frame_slots(code, nodes, n)
    for node in guard:
        slots += [f'if not {code.name(node)} > 0.0:', f'    W[:{len(nodes)}] = math.nan']
    body = textwrap.indent('\n'.join(code.call + slots), ' ' * 4)
    module = load_module(HEADER + _MOTION.format(n=n, first=3 * n, body=body), label)
    parameters = np.concatenate([numbers, code.tables.numbers(constants)])
    return Kernel(module.__name__, 'motion', parameters)


def derivatives_kernel(
    label: str,
    motion: tuple[Values, Values, Value | None],
    constants: dict[Symbol, float],
    numbers: Vector,
    n: int,
) -> Kernel:
    """
    Return the kernel ``derivatives(P, q, qd, qdd, D)`` of a joint; for arguments see above.

    It fills the joint's derivatives D, see :mod:`softrobot_dynamics.kernels.layout`.
    """
    rotation, origin, _ = motion
    nodes = twist_nodes(list(map(as_node, rotation)), list(map(as_node, origin)), n)
    code = Emitter(nodes)
    body = textwrap.indent('\n'.join(code.call + twist_slots(code, nodes)), ' ' * 4)
    source = _DERIVATIVES.format(n=n, count=n * n + n, first=3 * n, body=body)
    module = load_module(HEADER + source, f'{label}_derivatives')
    parameters = np.concatenate([numbers, code.tables.numbers(constants)])
    return Kernel(module.__name__, 'derivatives', parameters)


_MOTION = """
from softrobot_dynamics.joints.tracing import place


@kernel
def motion(P, q, qd, W):
    C, P = P[{first}:{first} + 24], P[{first} + 24:]
{body}
    place({n}, C, qd, W)
"""

_DERIVATIVES = """
from softrobot_dynamics.joints.tracing import place_twists


@kernel
def derivatives(P, q, qd, qdd, D):
    C, P = P[{first}:{first} + 24], P[{first} + 24:]
{body}
    place_twists({count}, C, D)
"""


@kernel
def place_twists(count, C, D):
    """Turn twists in D, six numbers each, into those in front of the constant transform C[:12]."""
    for k in range(count):
        moved = move_twist(C, 0, (C[9], C[10], C[11]), read_six(D, 6 * k))
        for c in range(6):
            D[6 * k + c] = moved[c]


@kernel
def place(n, C, qd, W):
    """
    Turn the frame W of a motion with n coordinates into that of before @ motion @ after.

    C holds both constant transforms (24); W as in :mod:`softrobot_dynamics.kernels.layout`.
    """
    p, c, t = ANGULAR_BIAS, LINEAR_BIAS, AFTER_JOINT + ORIGIN
    t0, t1, t2 = C[t], C[t + 1], C[t + 2]
    w0 = w1 = w2 = 0.0  # relative angular velocity, in the moved frame
    for j in range(n):
        k = JACOBIAN + 3 * j
        x = k + 3 * n
        g0, g1, g2 = W[k], W[k + 1], W[k + 2]
        w0, w1, w2 = w0 + g0 * qd[j], w1 + g1 * qd[j], w2 + g2 * qd[j]
        r0, r1, r2 = rotate(W, 0, g1 * t2 - g2 * t1, g2 * t0 - g0 * t2, g0 * t1 - g1 * t0)
        W[x], W[x + 1], W[x + 2] = rotate(C, BEFORE_JOINT, W[x] + r0, W[x + 1] + r1, W[x + 2] + r2)
        W[k], W[k + 1], W[k + 2] = rotate_back(C, AFTER_JOINT, g0, g1, g2)
    p0, p1, p2 = W[p], W[p + 1], W[p + 2]
    u0, u1, u2 = w1 * t2 - w2 * t1, w2 * t0 - w0 * t2, w0 * t1 - w1 * t0
    r0, r1, r2 = rotate(
        W,
        0,
        p1 * t2 - p2 * t1 + w1 * u2 - w2 * u1,
        p2 * t0 - p0 * t2 + w2 * u0 - w0 * u2,
        p0 * t1 - p1 * t0 + w0 * u1 - w1 * u0,
    )
    W[c], W[c + 1], W[c + 2] = rotate(C, BEFORE_JOINT, W[c] + r0, W[c + 1] + r1, W[c + 2] + r2)
    W[p], W[p + 1], W[p + 2] = rotate_back(C, AFTER_JOINT, p0, p1, p2)
    _place_pose(C, W)


@kernel
def _place_pose(C, W):
    """Pose W[0:12] between both constant transforms, in place."""
    o, t = ORIGIN, AFTER_JOINT + ORIGIN
    x, y, z = rotate(W, 0, C[t], C[t + 1], C[t + 2])
    x, y, z = rotate(C, BEFORE_JOINT, W[o] + x, W[o + 1] + y, W[o + 2] + z)
    W[o], W[o + 1], W[o + 2] = C[o] + x, C[o + 1] + y, C[o + 2] + z
    for i in range(3):
        x, y, z = W[3 * i], W[3 * i + 1], W[3 * i + 2]
        for j in range(3):
            k = AFTER_JOINT + j
            W[3 * i + j] = x * C[k] + y * C[k + 3] + z * C[k + 6]
    for j in range(3):
        W[j], W[3 + j], W[6 + j] = rotate(C, BEFORE_JOINT, W[j], W[3 + j], W[6 + j])
