# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Kernels of derivatives: the derivatives of traced bodies and joints by their own coordinates.

See :mod:`softrobot_dynamics.kernels.layout`. All come from tangents of the formulas themselves, so
they are exact; ``('qdd', j)`` are the accelerations of coordinates.
"""

from collections.abc import Mapping, Sequence

from softrobot_dynamics.kernels.derivative_sums import derivative_rows
from softrobot_dynamics.kernels.reductions import BLOCK
from softrobot_dynamics.tracing import graph
from softrobot_dynamics.tracing.differentiate import tangent
from softrobot_dynamics.tracing.emit import Emitter
from softrobot_dynamics.tracing.graph import Node, Symbol
from softrobot_dynamics.tracing.programs import dot, HEADER, loop, TracedKernel
from softrobot_dynamics.tracing.traversal import topological

MAX_NODES = 6000  # of a formula that is worth its compilation


def body_derivatives(
    position: Sequence[Node],
    tip: tuple[Sequence[Node], Sequence[Node]],
    n: int,
    forces: Sequence[Node] = (),
) -> TracedKernel | None:
    """
    Return the kernel ``derivatives(P, q, qd, qdd, motion, D, S)`` of a body, None if too long.

    Arguments as of ``programs.body_terms``, and P alike. The kernel fills D given the motion
    (w, dw/dt, a) of the joint frame in itself.
    """
    jacobian = [tangent(position, _unit(k)) for k in range(n)]
    cloud = [*position, *_rate(position, n), *_second(position, n)]
    for column in jacobian:
        cloud += [*column, *_rate(column, n), *_second(column, n)]
    for k in range(n):
        for j in range(k + 1):
            cloud += tangent(jacobian[k], _unit(j))
    stiff = [node for k in range(n) for node in _sums(tangent(forces, _unit(k)), n)]
    damped = [tangent(forces[n:], {('qd', k): 1.0}) for k in range(n)] if forces else []
    stress = stiff + [node for column in damped for node in column]
    frame = twist_nodes(*tip, n)
    if len(topological([*cloud, *frame, *stress])) > MAX_NODES:
        return None
    code = Emitter([*cloud, *frame, *stress])
    used = (derivative_rows(n) + 6) * BLOCK
    rows = [f'S[{i * BLOCK} + k] = {code.name(node)}' for i, node in enumerate(cloud)]
    rows += [
        f'S[{used + i * BLOCK} + k] = C[k] * ({code.name(node)})' for i, node in enumerate(stress)
    ]
    slots = twist_slots(code, frame)
    room = used + len(stress) * BLOCK
    source = _DERIVATIVES.format(
        n=n,
        matrices=2 * n * n + 1,
        scratch=room,
        stress=_ADD_STRESS.format(used=used, count=2 * n * n, n=n) if stress else '',
        **loop(code, rows, slots),
    )
    return TracedKernel(HEADER + _IMPORTS + source, code.tables, room + 9)


def twist_nodes(rotation: Sequence[Node], origin: Sequence[Node], n: int) -> list[Node]:
    """Nodes of dS_j / dq_k, k by k, and of d2S_k / dt2, for the twists S of a traced frame."""
    twists = [_twist(rotation, origin, _unit(j)) for j in range(n)]
    nodes = [node for k in range(n) for twist in twists for node in tangent(twist, _unit(k))]
    return nodes + [node for twist in twists for node in _second(twist, n)]


def twist_slots(code: Emitter, nodes: Sequence[Node]) -> list[str]:
    """Statements that fill the derivatives D with :func:`twist_nodes`."""
    return [f'D[{i}] = {code.name(node)}' for i, node in enumerate(nodes)]


def _twist(
    rotation: Sequence[Node], origin: Sequence[Node], seeds: Mapping[Symbol, Node | float]
) -> list[Node]:
    """Spatial twist of a frame along a direction: vee(dR R^T), and dt less what that turns."""
    rows, turned = (
        [x[3 * i : 3 * i + 3] for i in range(3)] for x in (rotation, tangent(rotation, seeds))
    )
    w = [dot(turned[2], rows[1]), dot(turned[0], rows[2]), dot(turned[1], rows[0])]
    shift, t = tangent(origin, seeds), origin
    return w + [
        shift[i] + t[(i + 1) % 3] * w[(i + 2) % 3] - t[(i + 2) % 3] * w[(i + 1) % 3]
        for i in range(3)
    ]


def _unit(j: int) -> dict[Symbol, Node | float]:
    return {('q', j): 1.0}


def _rate(outputs: Sequence[Node], n: int, kind: str = 'qd') -> list[Node]:
    """Return derivatives by time, ``kind`` being the rates of coordinates."""
    return tangent(outputs, {('q', j): graph.symbol(kind, j) for j in range(n)})


def _second(outputs: Sequence[Node], n: int) -> list[Node]:
    """Second derivatives by time."""
    pairs = zip(_rate(_rate(outputs, n), n), _rate(outputs, n, 'qdd'))
    return [a + b for a, b in pairs]


def _sums(forces: Sequence[Node], n: int) -> list[Node]:
    """Elastic and damping forces together."""
    return [a + b for a, b in zip(forces[:n], forces[n:])]


_IMPORTS = """\
from softrobot_dynamics.kernels.layout import own_derivatives_offset
from softrobot_dynamics.kernels.derivative_sums import initialise_derivatives, derivative_block
"""
_DERIVATIVES = """

@kernel
def derivatives(P, q, qd, qdd, motion, D, S):
    blocks = int(P[0])
    K = P[1:{matrices}]
    T = P[{matrices} + {scalars}:]
    P = P[{matrices}:{matrices} + {scalars}]
{call}
    initialise_derivatives({n}, K, D)
    zero = S[{scratch}:{scratch} + 9]
    S = S[:{scratch}]
    for block in range(blocks):
        C = T[block * {row_count} * {block}:(block + 1) * {row_count} * {block}]
        for k in range({block}):
{point}
        derivative_block({n}, C[:{block}], motion, zero, S, D)
{stress}"""

_ADD_STRESS = """\
        sum_rows({count}, S[{used}:], D[own_derivatives_offset({n}):])
"""
