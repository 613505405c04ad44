# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Traverse an expression graph: order it, evaluate it, substitute its symbols."""

from collections.abc import Callable, Collection, Mapping
import functools
from typing import Any

from softrobot_dynamics.annotations import Math
from softrobot_dynamics.tracing.graph import Node, Symbol, symbol, SYMBOLIC


def topological(outputs: Collection[Node]) -> list[Node]:
    """Return all nodes below ``outputs``, operands before the operations that use them."""
    order, seen = [], set()
    stack = [(node, False) for node in reversed(list(outputs))]
    while stack:
        node, expanded = stack.pop()
        if expanded:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            if node.args:
                stack.append((node, True))
                stack += [(arg, False) for arg in reversed(node.args) if id(arg) not in seen]
            else:
                order.append(node)
    return order


def symbol_kinds(order: Collection[Node]) -> dict[int, frozenset[str]]:
    """Return {id(node): frozenset of the symbol kinds below it} for a topological order."""
    kinds: dict[int, frozenset[str]] = {}
    for node in order:
        found = frozenset(node.value[:1]) if node.op == 'symbol' else frozenset()
        for arg in node.args:
            below = kinds[id(arg)]
            if not found:
                found = below
            elif not below <= found:
                found |= below
        kinds[id(node)] = found
    return kinds


def evaluate(outputs: Collection[Node], symbols: Mapping[Symbol, Any], math: Math) -> list[Any]:
    """
    Evaluate nodes with numbers, arrays or any other arithmetic.

    ``symbols`` maps ``(kind, index)`` to a value; ``math`` offers the functions of
    :class:`.graph.Symbolic` for such values (see :mod:`softrobot_dynamics.tracing.arithmetic`).
    Returns one value per output.
    """
    values: dict[int, Any] = {}
    for node in _order(tuple(outputs)):
        values[id(node)] = _apply(node, [values[id(arg)] for arg in node.args], symbols, math)
    return [values[id(node)] for node in outputs]


@functools.lru_cache
def _order(outputs: tuple[Node, ...]) -> list[Node]:
    """Return :func:`topological`; formulas of a kind of body are evaluated for each robot."""
    return topological(outputs)


class _Replaced(dict[Symbol, Node]):
    """Nodes in place of symbols; a symbol not named stays."""

    def __missing__(self, key: Symbol) -> Node:
        return symbol(*key)


def substitute(outputs: Collection[Node], nodes: Mapping[Symbol, Node]) -> list[Node]:
    """Return ``outputs`` with nodes in place of symbols, {(kind, index): node}."""
    return evaluate(outputs, _Replaced(nodes), SYMBOLIC)


def _apply(node: Node, args: list[Any], symbols: Mapping[Symbol, Any], math: Math) -> Any:
    """Return the value of a node from those of its arguments."""
    op = node.op
    if op == 'constant':
        return math.number(node.value)
    if op == 'symbol':
        return symbols[node.value]
    if op == 'stumpff':
        return math.stumpff(node.value, args[0])
    if op == 'power':
        return args[0] ** math.number(node.value)
    binary = _ARITHMETIC.get(op)
    return binary(*args) if binary else getattr(math, op)(*args)


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    'add': lambda a, b: a + b,
    'sub': lambda a, b: a - b,
    'mul': lambda a, b: a * b,
    'div': lambda a, b: a / b,
    'neg': lambda a: -a,
}
