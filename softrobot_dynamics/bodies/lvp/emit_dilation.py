# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The dilation of sections and its derivatives, traced; see ``dilation_rows``.

The dilation is f = e(a) h(b) m(lambda) with a = 1 + source / (x1^2 + x2^2), e = sqrt(a),
m = lambda^(-1/2), b = 2/3 (kappa_x x2 - kappa_y x1) e(a) lambda^(-3/2) and h = 1 / w, w^3 - w = b.
Third derivatives of these, written out, would be several times as long as with the derivatives of
e, h and m in closed form: each of these functions is a tower of symbols, one for each derivative.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from softrobot_dynamics.annotations import Vector
from softrobot_dynamics.bodies.lvp import dilation_rows as rows
from softrobot_dynamics.bodies.lvp.section_rows import DILATING_COUNT, DILATING_STRAINS
from softrobot_dynamics.tracing import traversal
from softrobot_dynamics.tracing.differentiate import tangent
from softrobot_dynamics.tracing.emit import BLOCK, Emitter, indented
from softrobot_dynamics.tracing.graph import as_node, is_constant, Node, Symbol, symbol, SYMBOLIC

DILATION_ORDERS = 3  # of derivatives of the dilation


def emit_dilation(moved: Iterable[int]) -> tuple[Emitter, str]:
    """Return the emitted parts of a dilation, and the source of ``dilation(C, z, U)``."""
    nodes = {row: node for row, node in dilation(moved).items() if not is_constant(node, 0.0)}
    code = Emitter(nodes.values())
    stored = [f'U[{row * BLOCK} + k] = {code.name(node)}' for row, node in nodes.items()]
    return code, _DILATION.format(block=BLOCK, point=indented(code.point + stored, 8))


def with_rows(table: Vector, more: Sequence[Vector]) -> Vector:
    """Return a blocked table with more rows in each block, flat."""
    blocks = np.array(more).reshape(len(more), -1, BLOCK).transpose(1, 0, 2)
    return np.concatenate([table.reshape(len(blocks), -1, BLOCK), blocks], axis=1).ravel()


def dilation(moved: Iterable[int]) -> dict[int, Node]:
    """Return the rows of a dilation, {row: node}, for the strains that are differentiated."""
    return _Dilation(frozenset(moved)).rows()


class _Dilation:
    """
    Nodes of the dilation and of its derivatives.

    Symbols: ('x', 0), ('x', 1), and ('z', row) for strains and rates, see ``dilation_rows``.
    """

    def __init__(self, moved: frozenset[int]) -> None:
        self.slots = [z for z, strain in enumerate(DILATING_STRAINS) if strain in moved]
        rest = [0.0, 0.0, 1.0, 0.0]
        kx, ky, stretch, source = (
            symbol('z', rows.STRAIN + DILATING_STRAINS[z]) if z in self.slots else as_node(rest[z])
            for z in range(DILATING_COUNT)
        )
        x1, x2 = symbol('x', 0), symbol('x', 1)
        e, h, m, n = (symbol(kind, 0) for kind in 'ehmn')
        self.stretch, self.square = stretch, as_node(1.0) + source / (x1 * x1 + x2 * x2)
        self.bend = (kx * x2 - ky * x1) * (2.0 / 3.0) * e * n
        self.dilation = e * h * m

    def rows(self) -> dict[int, Node]:
        """Return all rows, each a node of points and strains."""
        along, push = self._along(rows.STRAIN_RATE), self._along(rows.STRAIN_ACCELERATION)
        by_derivative = self._along(rows.DERIVATIVE)
        by_derivative_rate = self._along(rows.DERIVATIVE_RATE)

        def values(f: Node) -> list[Node]:
            """Return f, its derivatives by x1 and x2 and along the backbone."""
            return [
                f,
                *(self._derivative(f, {('x', i): 1.0}) for i in range(2)),
                self._derivative(f, by_derivative),
            ]

        def both(f: Node) -> list[Node]:
            """Return the values, and their derivatives by time; f once more."""
            rate = self._derivative(f, along)
            second = self._derivative(rate, along) + self._derivative(f, push)
            rates = values(rate)
            rates[3] = rates[3] + self._derivative(f, by_derivative_rate)
            return [*values(f), *rates, second]

        found = dict(enumerate(both(self.dilation)))
        for z in self.slots:
            by_z = self._derivative(self.dilation, self._unit(z))
            first = rows.by_strain.py_func(z)
            found |= {first + i: node for i, node in enumerate(both(by_z))}
            for y in (y for y in self.slots if y <= z):
                first = rows.by_pair.py_func(y, z)
                nodes = values(self._derivative(by_z, self._unit(y)))
                found |= {first + i: node for i, node in enumerate(nodes)}
        nodes = traversal.substitute(found.values(), self._functions())
        return dict(zip(found, nodes))

    def _along(self, first: int) -> dict[Symbol, Node | float]:
        """Return the direction of strains whose rates, or derivatives, are rows from the first."""
        every = first == rows.STRAIN_RATE  # of all strains, not only of those that grow
        return {
            ('z', rows.STRAIN + DILATING_STRAINS[z]): symbol(
                'z', first + (DILATING_STRAINS[z] if every else z)
            )
            for z in self.slots
        }

    def _unit(self, z: int) -> dict[Symbol, Node | float]:
        return {('z', rows.STRAIN + DILATING_STRAINS[z]): 1.0}

    def _derivative(self, node: Node, direction: Mapping[Symbol, Node | float]) -> Node:
        """Return the derivative of a node along a direction, functions included."""
        seeds = dict(direction)
        functions = (self.square, 'e'), (self.stretch, 'mn'), (self.bend, 'h')
        for argument, kinds in functions:  # the last depends on the others
            (moved,) = tangent([argument], seeds)
            seeds |= {
                (kind, k): symbol(kind, k + 1) * moved
                for kind in kinds
                for k in range(DILATION_ORDERS + 1)
            }
        return tangent([node], seeds)[0]

    def _functions(self) -> dict[Symbol, Node]:
        """Return the derivatives of e, m, n = lambda^(-3/2) and h, up to the third."""
        e, m = SYMBOLIC.sqrt(self.square), 1.0 / SYMBOLIC.sqrt(self.stretch)
        s, inverse = 0.5 / e, m * m
        n = m * inverse
        found = {'e': [e, s, -2.0 * s**3, 12.0 * s**5]}
        for kind, own, power in (('m', m, -0.5), ('n', n, -1.5)):
            found[kind] = [as_node(own)]
            for k in range(DILATION_ORDERS):
                found[kind].append(found[kind][-1] * inverse * (power - k))
        known = {(kind, k): as_node(x) for kind in found for k, x in enumerate(found[kind])}
        (bend,) = traversal.substitute([self.bend], known)
        w = SYMBOLIC.cubic(bend)
        h, r = 1.0 / w, 1.0 / (3.0 * w * w - 1.0)  # r = dw/db, dr/db = -6 w r^3, w h = 1
        g, s = h * h, r * r
        derivatives = (
            -r * g,
            2.0 * s * h * (3.0 * r + g),
            -6.0 * s * r * (18.0 * s + 5.0 * r * g + g * g),
        )
        known |= {('h', k): as_node(x) for k, x in enumerate((h, *derivatives))}
        return known


_DILATION = """

@kernel
def dilation(C, z, U):
    for k in range({block}):
{point}
"""
