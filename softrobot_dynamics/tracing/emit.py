# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Emit straight-line numba source over blocks of material points from an expression graph.

Every value of a traced formula belongs to one of four levels, by the inputs it depends on:

=========  =====================  ==================================================
offline    constants p            one number in the body's parameters
row        x (and p)              one table row, a number per material point, made once
call       q, qd, qdd (and p)     one number per call, before the loop over points
point      x and q, or z          in the loop, a block of points at a time
=========  =====================  ==================================================

Where z are values of each point that are made anew by every call, before the formula.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
import math
import textwrap
from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Matrix, Vector
from softrobot_dynamics.kernels.reductions import BLOCK
from softrobot_dynamics.tracing import traversal
from softrobot_dynamics.tracing.arithmetic import NUMERIC
from softrobot_dynamics.tracing.graph import Node, Symbol

MAX_SERIES_ARGUMENT = 64.0  # vectorised Stumpff series: good for angles up to 8 rad, NaN beyond
SERIES_TERMS = 22
FAMILY_SIZE = 8  # Stumpff functions that are computed at once
PER_CALL, PER_POINT = frozenset(('q', 'qd', 'qdd')), frozenset(('x',))
PER_BOTH = frozenset(('z',))  # rows of a block, read as z

_BINARY = {'add': '+', 'sub': '-', 'mul': '*', 'div': '/'}


class TracedTables(NamedTuple):
    """
    Numbers of one traced formula that are computed once per body, before any kernel runs.

    ``scalars`` are the nodes of the offline numbers, ``rows`` those of the table rows.
    """

    scalars: tuple[Node, ...]
    rows: tuple[Node, ...]

    def numbers(self, constants: Mapping[Symbol, float]) -> Vector:
        """Values of the offline numbers, (len(scalars),), for {('p', i): value}."""
        return np.array(traversal.evaluate(self.scalars, constants, NUMERIC), dtype=float)

    def table(
        self, points: Matrix, weights: Vector, constants: dict[Symbol, float], block: int = BLOCK
    ) -> Vector:
        """
        Blocked table, flat: per block the weights, then each row; padded with weight 0.

        ``points`` (K, number of x symbols), ``weights`` (K,). A padding point repeats the last
        one, so that it stays inside the formula's range.
        """
        padding = -len(points) % block
        points = np.concatenate([points, np.repeat(points[-1:], padding, axis=0)])
        weights = np.concatenate([weights, np.zeros(padding)])
        symbols = {('x', i): column for i, column in enumerate(points.T)} | constants
        values = traversal.evaluate(self.rows, symbols, NUMERIC)
        rows = np.empty((1 + len(values), len(weights)))
        rows[0] = weights
        for row, value in zip(rows[1:], values):
            row[:] = value
        return rows.reshape(len(rows), -1, block).transpose(1, 0, 2).ravel()


class Emitter:
    """
    Sorts the nodes below ``outputs`` by level and writes their statements.

    Attributes: ``tables`` (:class:`TracedTables`), ``call`` and ``point`` (lists of statements),
    ``name(node)`` the variable or literal that holds a node. Offline numbers are read from the
    array ``P``, row r by the expression ``row(r)``: by default from ``C``, one block, whose row 0
    are the weights.
    """

    def __init__(
        self,
        outputs: Collection[Node],
        row: Callable[[int], str] = lambda r: f'C[{r * BLOCK} + k]',
    ) -> None:
        order = traversal.topological(outputs)
        kinds = traversal.symbol_kinds(order)
        self._level = {id(node): _level(node, kinds[id(node)]) for node in order}
        self._names = {id(node): f'v{i}' for i, node in enumerate(order)}
        self.call, self.point = [], []
        needed = _inputs(order, outputs, self._level)
        scalars = tuple(n for n in order if id(n) in needed and self._level[id(n)] == 'offline')
        rows = tuple(n for n in order if id(n) in needed and self._level[id(n)] == 'row')
        self.tables = TracedTables(scalars, rows)
        self.call += [f'{self.name(node)} = P[{i}]' for i, node in enumerate(scalars)]
        self.point += [f'{self.name(node)} = {row(i + 1)}' for i, node in enumerate(rows)]
        for node in order:
            if self._level[id(node)] in ('call', 'point'):
                self._emit(node)

    def name(self, node: Node) -> str:
        """Variable or literal that holds the value of a node."""
        return repr(node.value) if node.op == 'constant' else self._names[id(node)]

    def _emit(self, node: Node) -> None:
        vector = self._level[id(node)] == 'point'
        lines = self.point if vector else self.call
        if node.op == 'stumpff' and not vector and node.value < FAMILY_SIZE:
            z = self.name(node.args[0])
            family = f'family_{z} = stumpff_family({z})'  # all orders of one argument at once
            lines += [] if family in lines else [family]
        lines += _statement(node, self.name, vector)


def _level(node: Node, kinds: frozenset[str]) -> str:
    if node.op == 'constant':
        return 'constant'
    if kinds & PER_BOTH:
        return 'point'
    if kinds & PER_CALL:
        return 'point' if kinds & PER_POINT else 'call'
    return 'row' if kinds & PER_POINT else 'offline'


def _inputs(
    order: Collection[Node], outputs: Collection[Node], level: Mapping[int, str]
) -> set[int]:
    """Offline and row nodes that a later level or the caller reads."""
    needed = {id(node) for node in outputs if level[id(node)] in ('offline', 'row')}
    for node in order:
        if level[id(node)] in ('call', 'point'):
            needed |= {id(arg) for arg in node.args if level[id(arg)] in ('offline', 'row')}
    return needed


def _statement(node: Node, name: Callable[[Node], str], vector: bool) -> list[str]:
    """Source lines that compute one node."""
    target, args = name(node), [name(arg) for arg in node.args]
    if node.op == 'symbol':
        kind, index = node.value
        place = f'{index * BLOCK} + k' if kind in PER_BOTH else f'{index}'
        return [f'{target} = {kind}[{place}]']
    if node.op in _BINARY:
        return [f'{target} = {args[0]} {_BINARY[node.op]} {args[1]}']
    if node.op == 'neg':
        return [f'{target} = -{args[0]}']
    if node.op == 'step':
        return [f'{target} = 1.0 if {args[0]} > 0.0 else 0.0']
    if node.op == 'positive':
        return [f'{target} = {args[0]} if {args[0]} > 0.0 else math.nan']
    if node.op == 'power':
        return [f'{target} = {args[0]} ** {node.value!r}']
    if node.op == 'stumpff':
        return [_stumpff(target, node.value, args[0], vector)]
    if node.op in ('sin', 'cos') and vector:
        return [f'{target} = vector_{node.op}({args[0]})']
    if node.op == 'cubic':
        return [f'{target} = cubic({args[0]})']
    function = {'arctan2': 'atan2'}.get(node.op, node.op)
    return [f'{target} = math.{function}({", ".join(args)})']


def _stumpff(target: str, k: int, z: str, vector: bool) -> str:
    if not vector:
        return f'{target} = ' + (f'family_{z}[{k}]' if k < FAMILY_SIZE else f'stumpff({k}, {z})')
    text = repr(1.0 / math.factorial(k + 2 * SERIES_TERMS))
    for j in range(SERIES_TERMS - 1, -1, -1):
        text = f'{1.0 / math.factorial(k + 2 * j)!r} - {z} * ({text})'
    return f'{target} = {text} if abs({z}) <= {MAX_SERIES_ARGUMENT} else math.nan'


def indented(lines: Iterable[str], depth: int) -> str:
    """Return lines of source as one text, indented by ``depth`` spaces; ``pass`` for none."""
    return textwrap.indent('\n'.join(lines) or 'pass', ' ' * depth)
