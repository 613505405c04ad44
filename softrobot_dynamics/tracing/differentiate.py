# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Forward differentiation of an expression graph into an expression graph."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from softrobot_dynamics.tracing import graph
from softrobot_dynamics.tracing.graph import constant, is_constant, Node, stumpff, Symbol
from softrobot_dynamics.tracing.graph import SYMBOLIC as m
from softrobot_dynamics.tracing.traversal import topological

ZERO = constant(0.0)

# op -> (node, operands, their tangents) -> tangent of the node
_RULES: dict[str, Callable[[Node, Sequence[Node], Sequence[Node]], Node]] = {
    'add': lambda n, a, d: d[0] + d[1],
    'sub': lambda n, a, d: d[0] - d[1],
    'neg': lambda n, a, d: -d[0],
    'mul': lambda n, a, d: d[0] * a[1] + a[0] * d[1],
    'div': lambda n, a, d: (d[0] - n * d[1]) * (1.0 / a[1]),  # one inverse for all directions
    'power': lambda n, a, d: n.value * a[0] ** (n.value - 1.0) * d[0],
    'step': lambda n, a, d: ZERO,
    'sqrt': lambda n, a, d: d[0] * (0.5 / n),
    'exp': lambda n, a, d: n * d[0],
    'log': lambda n, a, d: d[0] / a[0],
    'sin': lambda n, a, d: m.cos(a[0]) * d[0],
    'cos': lambda n, a, d: -m.sin(a[0]) * d[0],
    'tan': lambda n, a, d: (1.0 + n * n) * d[0],
    'sinh': lambda n, a, d: m.cosh(a[0]) * d[0],
    'cosh': lambda n, a, d: m.sinh(a[0]) * d[0],
    'tanh': lambda n, a, d: (1.0 - n * n) * d[0],
    'arctan2': lambda n, a, d: (a[1] * d[0] - a[0] * d[1]) / (a[0] * a[0] + a[1] * a[1]),
    'positive': lambda n, a, d: d[0],
    'cubic': lambda n, a, d: d[0] * (1.0 / (3.0 * n * n - 1.0)),
    # dc_k/dz = (k c_{k+2} - c_{k+1}) / 2
    'stumpff': lambda n, a, d: (
        (n.value * stumpff(n.value + 2, a[0]) - stumpff(n.value + 1, a[0])) * 0.5 * d[0]
    ),
}


def tangent(outputs: Sequence[Node], seeds: Mapping[Symbol, Node | float]) -> list[Node]:
    """
    Directional derivative of each output.

    ``seeds`` maps ``(kind, index)`` of a symbol to its tangent, a node or a number; symbols not
    named do not move. Returns one node per output.
    """
    tangents: dict[int, Node] = {}
    for node in topological(outputs):
        tangents[id(node)] = _node_tangent(node, tangents, seeds)
    return [tangents[id(node)] for node in outputs]


def derivatives_along(
    outputs: Sequence[Node], seeds: Mapping[Symbol, Node | float], order: int
) -> list[list[Node]]:
    """Return outputs and their directional derivatives up to an order, each a list."""
    found = [list(outputs)]
    for _ in range(order):
        found.append(tangent(found[-1], seeds))
    return found


def direction(*chains: Sequence[Sequence[Node]]) -> dict[Symbol, Node | float]:
    """Return a direction: in each chain of vectors, symbols change by those of the next vector."""
    pairs = (pair for chain in chains for lane in zip(*chain) for pair in pairwise(lane))
    return {node.value: change for node, change in pairs}


def _node_tangent(
    node: Node, tangents: dict[int, Node], seeds: Mapping[Symbol, Node | float]
) -> Node:
    if node.op == 'symbol':
        return graph.as_node(seeds.get(node.value, ZERO))
    moving = [tangents[id(arg)] for arg in node.args]
    if all(is_constant(each, 0.0) for each in moving):
        return ZERO
    return _RULES[node.op](node, node.args, moving)


def kinematic_derivatives(outputs: Sequence[Node], n: int) -> tuple[list[list[Node]], list[Node]]:
    """
    First derivatives by q and the velocity-product term of each output.

    With coordinates ``('q', j)`` and velocities ``('qd', j)`` returns ``(J, b)``: ``J[j][i]`` is
    the node of d output_i / d q_j and ``b[i]`` that of the bias (d/dt dy_i/dq) qd, the second
    derivative along qd. [P, Sec. 4]
    """
    jacobian = [tangent(outputs, {('q', j): 1.0}) for j in range(n)]
    along = {('q', j): graph.symbol('qd', j) for j in range(n)}
    bias = tangent(tangent(outputs, along), along)
    return jacobian, bias
